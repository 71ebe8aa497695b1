// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/porttest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
)

// TestRing tests the ring page in a real browser, for grown installations.
func TestRing(t *testing.T) {
	t.Parallel()
	inTabs(t, map[string]func(*tab){
		"an address is typed and its way drawn": ringShowsWays,
		"it is kept up to date":                 ringIsFollowed,
		"it is for the keyboard too":            ringByKeyboard,
		"it needs no script":                    ringWithoutScript,
		"nothing is wider than a telephone":     ringIsNarrow,
		"light and dark can be read":            ringCanBeRead,
		"thousands of cells are drawn":          ringOfThousands,
		"growth is drawn as it happens":         ringGrows,
		"what is announced is drawn":            ringAnnounces,
	})
}

func ringShowsWays(tab *tab) {
	in := grown(tab.T, []uint64{4, 8, 16, 48, 96}, 3, 1, 4000)
	key := in.oldest(tab.T)
	tab.exhibit(in)
	tab.open("/ring")
	tab.check(`!document.querySelector(".ray") && document.querySelectorAll(".bands .piece").length === 172`,
		"the bands are not drawn")
	for class, n := range map[string]int{"retired": 4, "sealed": 24} {
		tab.check(`document.querySelectorAll("#bands .cover.`+class+`").length === `+strconv.Itoa(n),
			"not all are drawn that are "+class)
	}
	tab.check(`document.querySelectorAll("#bands .rim").length === 48`, "not all are drawn that are open")
	tab.enter(`.ask input`, key+"\r")
	tab.await(`document.querySelector(".ray")`)
	tab.check(`document.querySelector("h2 bdi").textContent === `+jsString(key), "it is not said whose way it is")
	// Each mark is on the piece of the cell named in its row.
	tab.check(`(() => {
		const lines = [...document.querySelectorAll(".steps li")].filter(li => li.querySelector(".num").textContent);
		const marks = [...document.querySelectorAll(".way circle")];
		document.querySelector(".bands").scrollIntoView();
		return lines.length === 3 && marks.length === 3 && marks.every((circle, i) => {
			const { left, top, width, height } = circle.getBoundingClientRect();
			const under = document.elementFromPoint(left + width / 2, top + height / 2).closest("a");
			return under?.getAttribute("href") === lines[i].querySelector("a").getAttribute("href");
		});
	})()`, "the marks are not where the cells are")
	tab.check(`["no", "filtered", "found"].every((c, i) => document.querySelectorAll(".steps li:has(.num:not(:empty))")[i].className === c)`, "the answers are not in order")
	// A puid is at the start of its cell, one column further right for each generation.
	tab.open("/ring?address=" + strconv.FormatInt(in.puids[key], 10))
	tab.check(`document.querySelector(".strip rect.here").nextElementSibling.textContent.startsWith("g1-")`,
		"the range of the puid is not shown")
	tab.check(`(() => {
		const boxes = [...document.querySelectorAll(".strip rect")].map(r => r.getBoundingClientRect());
		return boxes.length === 18 && boxes.every((a, i) => boxes.every((b, j) => i === j || a.right <= b.left + .1 || b.right <= a.left + .1));
	})()`, "two ranges share a column")
	tab.open("/ring?address=" + url.QueryEscape("<img src=x onerror=alert(1)>:1"))
	tab.check(`!document.querySelector("main img")`, "what was typed became an element")
}

func ringAnnounces(tab *tab) {
	tab.exhibit(grown(tab.T, []uint64{4, 8}, 0, 0, 400))
	tab.open("/ring")
	tab.check(`document.querySelectorAll("#bands .piece.announced").length === 8`, "what is announced is not drawn")
	tab.check(`document.querySelector("#ring-when").textContent === "g1 starts in 41 min"`,
		"it is not said when it starts")
}

// ringGrows watches a real installation grow while keys are put and pages updated.
func ringGrows(tab *tab) {
	tab.stop()
	svc := openService(tab.T, 4, time.Second, nil)
	tab.svc = svc
	tab.Cleanup(func() { tab.stop() }) // before this service is closed
	tab.serve()
	old := tab.put(place("pos", "1", "Joe's Pizza", "+14155552300"))[0]
	tab.open("/ring")
	tab.check(`document.querySelectorAll("#bands .rim").length === 4 && !document.querySelector("#bands .announced")`,
		"there are not four open cells")

	done := make(chan error, 1)
	go func() { done <- svc.Cells().Grow(tab.Context(), cell.Growth{Cells: 8}, nil) }()
	// The open page shows the grown installation without a reload by the user.
	tab.await(`document.querySelectorAll("#bands .cover.sealed").length === 4 && document.querySelectorAll("#bands .rim").length === 8`)
	if err := <-done; err != nil {
		tab.Fatal(err)
	}
	young := tab.put(place("pos", "2", "Zebra Café", ""))[0]
	for address, want := range map[string]string{"pos:1": "no found", "pos:2": "found"} {
		tab.open("/ring?address=" + address)
		tab.check(`[...document.querySelectorAll(".steps li:has(.num:not(:empty))")].map(li => li.className).filter(c => c).join(" ") === `+jsString(want), address+" goes another way")
	}
	for address, gen := range map[string]string{old.PUID.String(): "g0-", young.PUID.String(): "g1-", old.Entity.String(): "g0-", young.Entity.String(): "g1-"} {
		tab.open("/ring?address=" + address)
		tab.check(`document.querySelector(".steps .found a").textContent.startsWith(`+jsString(gen)+`)`,
			address+" is not in "+gen)
	}
	tab.open("/operations")
	tab.await(`document.querySelectorAll(".ring .cell").length === 8 && document.querySelector("[data-text=records]").textContent === "2"`)
	tab.do(chromedp.Navigate("about:blank")) // the server ends before the tab does
}

func ringIsFollowed(tab *tab) {
	in := grown(tab.T, []uint64{4, 8, 16}, 1, 0, 400)
	tab.exhibit(in)
	tab.open("/ring")
	evaluate[bool](tab, `window.before = true`)
	tab.check(`document.querySelectorAll("#bands .cover.sealed").length === 4`, "the older cells are not sealed")
	in.mu.Lock()
	in.cells[cell.ID{Gen: 1, Index: 7}].Head.Keys = cell.Sealed
	in.mu.Unlock()
	tab.await(`document.querySelectorAll("#bands .cover.sealed").length === 5`)
	tab.check(`document.querySelector("#hoops").textContent.includes("7 open, 1 sealed")`,
		"the table is behind the picture")
	tab.await(`!document.querySelector("#stream").checkVisibility()`)
	tab.check(`window.before`, "the page was loaded again")
	tab.stop()
	tab.await(`document.querySelector("#stream").checkVisibility() && document.querySelector("#again.stale")`)
	tab.check(`/Locus does not answer. This is the ring of .* UTC/.test(document.querySelector("#stream").textContent)`,
		"it does not say what happened")
	tab.forgive("ERR_")
}

func ringByKeyboard(tab *tab) {
	tab.exhibit(grown(tab.T, []uint64{4, 8, 16}, 1, 0, 400))
	tab.open("/ring")
	tab.reach(".bands a")
	tab.check(`document.activeElement.matches("#bands a[aria-label^='Cell g0-0: sealed, ']")`,
		"the ring is not reached with the tabulator")
	tab.check(`getComputedStyle(document.activeElement.querySelector(".piece")).strokeWidth === "3px"`,
		"it cannot be seen where the keyboard is")
	tab.do(chromedp.KeyEvent("\r"))
	tab.await(`document.querySelector("tr:target")?.id === "g0-0"`)
}

func ringWithoutScript(tab *tab) {
	tab.withoutScript()
	in := grown(tab.T, []uint64{4, 8, 16}, 1, 0, 400)
	key := in.oldest(tab.T)
	tab.exhibit(in)
	tab.open("/ring")
	tab.enter(`.ask input`, key+"\r")
	tab.await(`document.querySelector(".ray")`)
	tab.check(`document.querySelectorAll(".steps .found").length === 1 && !document.querySelector(".copy:not([hidden])")`,
		"the way is not drawn, or the script ran")
}

// ringPages returns URLs of every kind.
func ringPages(in *installation, key string) []string {
	return []string{
		"/ring", "/ring?address=" + url.QueryEscape(key), "/ring?address=" + strconv.FormatInt(in.puids[key], 10),
		"/ring?address=-1",
		"/ring?address=80e51ef9-7a7f-bd53-7a50-01a1f8660d00", "/ring?address=nonsense",
		"/ring?address=source:" + strings.Repeat("Anoverlongwordwithoutanyspace", 4),
	}
}

func ringIsNarrow(tab *tab) {
	in := grown(tab.T, []uint64{4, 8, 16, 48, 96}, 3, 1, 400)
	pages := ringPages(in, in.oldest(tab.T))
	tab.exhibit(in)
	tab.isNarrow(pages, "#again > *, .panel, .bands")
}

func ringCanBeRead(tab *tab) {
	in := grown(tab.T, []uint64{4, 8, 16, 48, 96}, 3, 1, 400)
	in.cells[cell.ID{Gen: 2, Index: 3}].PUIDRoom = 0 // an unreachable cell
	pages := ringPages(in, in.oldest(tab.T))
	tab.exhibit(in)
	tab.canBeRead(pages, func(scheme string) {
		// Text in pictures is on the panel, or has an outline in the panel's colour.
		tab.check(`[...document.querySelectorAll(".strip text, .bands > text")].every(e => { `+contrast+` return ratio(getComputedStyle(e).fill, e) >= 4.5; })`, "text of a picture is hard to read in "+scheme)
	})
}

func ringOfThousands(tab *tab) {
	in := grown(tab.T, []uint64{16, 512, 16384, 32768}, 2, 0, 2000)
	key := in.oldest(tab.T)
	tab.exhibit(in)
	tab.open("/ring?from=g2-16000&address=" + url.QueryEscape(key))
	tab.check(`document.querySelectorAll("#bands .piece").length === 16 + 512 + 256 + 256`,
		"the pieces are not taken together")
	tab.check(`document.querySelectorAll("#rows tr").length === 512 && document.querySelector("#rows tr").id === "g2-16000"`, "the table does not begin where it was asked to")
	tab.check(`document.querySelectorAll(".way circle").length === 3`, "the way is not drawn")
	tab.click(`a[rel=next]`)
	tab.await(`document.querySelector("#rows tr").id === "g3-128" && location.search.includes("address=")`)
}

// installation is a grown installation made by hand: a map of several generations, and records placed by the map's
// arithmetic.
type installation struct {
	m     *cell.Map
	mu    sync.Mutex // guards cells while pages are requested
	now   time.Time
	cells map[cell.ID]*cells.CellStatus
	puids map[string]int64 // by address
	all   int64
}

// grown puts an equal part of the records into each generation up to the current one. Directories older than floor are
// retired, those between are sealed.
func grown(t *testing.T, counts []uint64, current, floor int, records int64) *installation {
	t.Helper()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	spec := cell.Spec{ID: "0123456789abcdef0123456789abcdef", Epoch: 9, Current: current, Floor: floor,
		Until: now.Add(time.Hour)}
	for i, n := range counts {
		starts := now.AddDate(0, 0, 30*(i-current)-1)
		if i > current {
			starts = now.Add(41 * time.Minute)
		}
		spec.Generations = append(spec.Generations, cell.Generation{
			Cells: n, Starts: starts, URLs: []string{"postgres://db1/locus_g{g}_{i}", "postgres://db2/locus_g{g}_{i}"},
		})
	}
	m, err := cell.NewMap(spec)
	if err != nil {
		t.Fatal(err)
	}
	in := &installation{m: m, now: now, cells: map[cell.ID]*cells.CellStatus{}, puids: map[string]int64{}}
	for _, c := range m.Cells() {
		s := &cells.CellStatus{Stats: cell.Stats{Cell: c, URL: m.URL(c), PUIDRoom: 1<<32 - 1,
			Head: cell.Head{Incarnation: 1, Epoch: 7, KnownEpoch: 9}}}
		switch gen := int(c.Gen); {
		case gen < floor:
			s.Head.Keys = cell.Retired
		case gen < current:
			s.Head.Keys, s.Filter = cell.Sealed, true
		}
		in.cells[c] = s
	}
	for r := range demo.New(1, records).All() {
		home := m.Key(int(in.all*int64(current+1)/records), m.KeyOf(r.Source, r.Key).Position())
		s := in.cells[home]
		s.PUIDs++
		s.Counts.Records++
		lo, _ := m.PuidRange(home)
		in.puids[r.Source+":"+r.Key] = lo + int64(s.PUIDs)
		in.all++
	}
	return in
}

// page returns the console's page of the installation.
func (in *installation) page(address, from string) console.Ring {
	r := console.Ring{Time: in.now, Map: in.m, Address: address, Status: &cells.Status{
		Ready: true, Kinds: []cells.KindStatus{{Kind: "place", Version: 1}}, Epoch: in.m.Epoch(), Generation: in.m.Current(),
		Counts: entity.Counts{Records: in.all},
	}}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, c := range in.m.Cells() {
		r.Status.Cells = append(r.Status.Cells, *in.cells[c])
	}
	r.From, _ = cell.ParseID(from)
	if address != "" {
		r.Route = in.route(address)
	}
	return r
}

// route returns the route that a server would report.
func (in *installation) route(address string) *explain.Route {
	router, r := cell.NewRouter(in.m), &explain.Route{Address: address}
	if id, err := locality.Parse(address); err == nil {
		way, _ := router.ExplainEntity(id)
		r.ID, r.Found = &way, true
		return r
	}
	if puid, err := entity.ParsePUID(address); err == nil {
		way, err := router.ExplainPuid(int64(puid))
		r.PUID, r.Found = &way, err == nil
		return r
	}
	ref, err := records.ParseRef(address)
	if err != nil {
		return nil
	}
	way := router.ExplainKey(ref.Source, ref.Key)
	puid, found := in.puids[address]
	for _, p := range way.Probes {
		state := in.cells[p.Cell].Head.Keys
		switch lo, hi := in.m.PuidRange(p.Cell); {
		case found && puid >= lo && puid <= hi:
			r.Found, r.Record = true, (*entity.PUID)(&puid)
			way.Saw(int(p.Cell.Gen), state, cell.AnswerFound)
		case r.Found:
		case state == cell.Sealed:
			way.Saw(int(p.Cell.Gen), state, cell.AnswerFilterNo)
		default:
			way.Saw(int(p.Cell.Gen), state, cell.AnswerNo)
		}
	}
	way.TookMS, r.Key = 0.4, &way
	return r
}

// oldest returns an address whose key is in the oldest generation that is not retired.
func (in *installation) oldest(t *testing.T) string {
	t.Helper()
	for r := range demo.New(1, in.all).All() {
		c, err := in.m.Puid(in.puids[r.Source+":"+r.Key])
		if err != nil {
			t.Fatal(err)
		}
		if int(c.Gen) == in.m.Floor() {
			return r.Source + ":" + r.Key
		}
	}
	t.Fatal("no key lives there")
	return ""
}

// exhibit serves the pages of an installation at the tab's address, in place of the real server and under its policy.
func (tab *tab) exhibit(in *installation) {
	tab.Helper()
	policy := tab.policy()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ring", func(w http.ResponseWriter, r *http.Request) {
		render(w, policy, func(body io.Writer) error {
			return console.New("").Ring(body, in.page(r.FormValue("address"), r.FormValue("from")))
		})
	})
	tab.display(mux)
}

func render(w http.ResponseWriter, policy string, page func(io.Writer) error) {
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	var body bytes.Buffer
	if err := page(&body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = body.WriteTo(w)
}

// policy returns the content security policy of the real server.
func (tab *tab) policy() string {
	tab.Helper()
	answer, err := http.Get("http://" + tab.addr + "/ring") //nolint:forbidigo // the test's own server
	if err != nil {
		tab.Fatal(err)
	}
	_ = answer.Body.Close()
	policy := answer.Header.Get("Content-Security-Policy")
	if answer.StatusCode != http.StatusOK || !strings.Contains(policy, "default-src 'none'") {
		tab.Fatalf("the real page: %s, policy %q", answer.Status, policy)
	}
	return policy
}

// display serves pages, and their static files, in place of the real server.
func (tab *tab) display(mux *http.ServeMux) {
	tab.Helper()
	tab.stop()
	mux.HandleFunc("GET /static/{file}", func(w http.ResponseWriter, r *http.Request) {
		f, ok := console.Static(r.PathValue("file"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f.Type)
		_, _ = w.Write(f.Body)
	})
	listener := porttest.Listen(tab.T, tab.addr)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: patience}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	tab.stop = sync.OnceFunc(func() {
		_ = server.Shutdown(context.Background())
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			tab.Errorf("serve: %v", err)
		}
	})
}
