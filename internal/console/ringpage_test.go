// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/console"
)

func renderRing(t testing.TB, r console.Ring) *html.Node {
	t.Helper()
	return render(t, func(w io.Writer) error { return console.New("1.2.3").Ring(w, r) })
}

// classes returns the classes of an element.
func classes(n *html.Node) []string {
	v, _ := attribute(n, "class")
	return strings.Fields(v)
}

// carrying returns how many elements have all of these classes.
func carrying(root *html.Node, names ...string) (n int) {
	elements(root, func(e *html.Node) {
		has := classes(e)
		for _, name := range names {
			if !slices.Contains(has, name) {
				return
			}
		}
		n++
	})
	return n
}

// row returns the cells of a table row as texts.
func row(t testing.TB, root *html.Node, c string) (columns []string) {
	t.Helper()
	for n := range byID(t, root, c).ChildNodes() {
		columns = append(columns, text(n))
	}
	return columns
}

func TestRing_StatesAreDrawnAndWritten(t *testing.T) {
	t.Parallel()
	r := ringOf(newGrown(t, 1, 4, 8, 16, 32))
	r.Status.Cells[27].Head.Home = cell.Moving // g2-15
	// it is unavailable
	r.Status.Cells[26] = cells.CellStatus{Stats: cell.Stats{Cell: cell.ID{Gen: 2, Index: 14}, URL: "x"}}
	root := renderRing(t, r)
	bands := byID(t, root, "bands")
	for class, want := range map[string]int{"retired": 4 + 4 + 1, "sealed": 8 + 8, "open": 15, "announced": 32 + 1, "unknown": 1, "rim": 15} {
		if got := carrying(bands, class); got != want { // with its cover, and the group of the band
			t.Errorf("%d elements of the picture are %s, want %d", got, class, want)
		}
	}
	for c, want := range map[string][]string{
		"g0-0": {"g0-0", "0", "postgres://locus@db1/g0_0", "retired", "1", "0x00000000 to 0x3fffffff",
			"-9223372036854775808 to -9223372032559808513", "1,000", "1,000", "0.000023 %", "9"},
		"g1-7": {"g1-7", "1", "postgres://locus@db1/g1_7", "sealed, filter", "1", "0xe0000000 to 0xffffffff",
			"6917529031936049152 to 6917529036231016447", "1,000", "1,000", "0.000023 %", "9"},
		"g2-15": {"g2-15", "2", "postgres://locus@db1/g2_15", "open, moving", "1", "0xf0000000 to 0xffffffff"},
		"g2-14": {"g2-14", "2", "postgres://locus@db1/g2_14", "unavailable", "1", "0xe0000000 to 0xefffffff",
			"6917529036231016448 to 6917529040525983743", "?", "?", "?", "?"},
		"g3-31": {"g3-31", "3", "postgres://locus@db1/g3_31", "announced"},
	} {
		if got := row(t, root, c)[:len(want)]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the line of %s is %q,\n want %q", c, got, want)
		}
	}
	generations := text(byID(t, root, "hoops"))
	for _, want := range []string{"4 retired", "8 sealed", "15 open, 1 unavailable, 1 moving", "15,000 or more", "announced", "2026-11-20 13:00"} {
		if !strings.Contains(generations, want) {
			t.Errorf("the table of generations has no %q: %s", want, generations)
		}
	}
	if got := text(byID(t, root, "ring-when")); got != "g3 starts in 60 min" {
		t.Errorf("it is said that %q", got)
	}
	if strings.Contains(text(root), "hush") {
		t.Error("a secret of a url is shown")
	}
}

func TestRing_ThousandsOfCellsAreDrawnTogether(t *testing.T) {
	t.Parallel()
	r := ringOf(newGrown(t, 0, 16, 512, 16384, 32768))
	r.From = cell.ID{Gen: 2, Index: 16000}
	r.Address = "a b"
	root := renderRing(t, r)
	if n := carrying(root, "piece"); n > 16+512+2*256+20 {
		t.Errorf("%d pieces are drawn", n)
	}
	page := text(root)
	for _, want := range []string{"16,384 cells are drawn as 256 pieces", "32,768 cells are drawn as 256 pieces", "49,680 cells", "16,384 open", "512 sealed"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(page, "512 cells are drawn") {
		t.Error("a band that is drawn singly says that it is not")
	}
	label, stops, near, far := "", 0, "", ""
	elements(byID(t, root, "bands"), func(n *html.Node) {
		if n.Data != "a" {
			return
		}
		if _, no := attribute(n, "tabindex"); !no {
			stops++
		}
		name, _ := attribute(n, "aria-label")
		link, _ := attribute(n, "href")
		switch {
		case strings.HasPrefix(name, "Cells g2-64 to "):
			label, far = name, link
		case strings.HasPrefix(name, "Cells g2-16000 to "):
			near = link
		}
	})
	if label != "Cells g2-64 to g2-127: open, 64,000 records, 1.00 of an even share" ||
		far != "/ring?address=a+b&from=g2-64#g2-64" || near != "#g2-16000" {
		t.Errorf("pieces are %q, linked to %q and %q", label, far, near)
	}
	if stops != 0 {
		t.Errorf("the keyboard stops at %d pieces", stops)
	}
	if rows := byID(t, root, "rows"); len(row(t, root, "g2-16000")) != 11 || carrying(rows, "url") != 512 {
		t.Errorf("the table has %d lines", carrying(rows, "url"))
	}
	links := map[string]string{}
	elements(root, func(n *html.Node) {
		if n.Data == "a" {
			links[text(n)], _ = attribute(n, "href")
		}
	})
	if links["Next cells"] != "/ring?address=a+b&from=g3-128" || links["First cells"] != "/ring?address=a+b" {
		t.Errorf("the table leads on to %q and back to %q", links["Next cells"], links["First cells"])
	}
}

func TestRing_GenerationsThatDoNotFitAreSaid(t *testing.T) {
	t.Parallel()
	counts := make([]uint64, 30)
	for i := range counts {
		counts[i] = 1
	}
	root := renderRing(t, ringOf(newGrown(t, 0, counts...)))
	if n := carrying(byID(t, root, "bands"), "piece"); n != 24 {
		t.Errorf("%d bands are drawn", n)
	}
	if !strings.Contains(text(root), "6 older generations only in the table") || row(t, root, "g0-0") == nil {
		t.Error("it is not said that some are not drawn")
	}
}

func TestRing_WhatChangesCanBeFoundAgain(t *testing.T) {
	t.Parallel()
	parts := 0
	elements(renderRing(t, ringOf(newGrown(t, 1, 4, 8, 16))), func(n *html.Node) {
		if _, ok := attribute(n, "data-again"); ok {
			parts++
			if id, _ := attribute(n, "id"); id == "" {
				t.Errorf("<%s> is to be taken over and has no id", n.Data)
			}
		}
	})
	if parts < 6 {
		t.Errorf("%d parts are kept up to date", parts)
	}
}

// waysOf renders the steps of a way: their marks, titles, states and texts.
func waysOf(t testing.TB, m *cell.Map, r *explain.Route) (steps []string, root *html.Node) {
	t.Helper()
	page := ringOf(m)
	page.Address, page.Route = r.Address, r
	root = renderRing(t, page)
	elements(root, func(n *html.Node) {
		if n.Data == "ol" && strings.Join(classes(n), "") == "steps" {
			for li := range n.ChildNodes() {
				if li.Type == html.ElementNode {
					steps = append(steps, strings.Join(strings.Fields(text(li)), " "))
				}
			}
		}
	})
	return steps, root
}

func TestRing_TheWayOfAKey(t *testing.T) {
	t.Parallel()
	m := newGrown(t, 1, 4, 8, 16, 48, 96)
	key := cell.NewRouter(m).ExplainKey("vendor", "88231")
	key.Saw(3, cell.Open, cell.AnswerNo)
	key.Saw(2, cell.Sealed, cell.AnswerFilterNo)
	key.Saw(1, cell.Sealed, cell.AnswerFound)
	key.TookMS = 0.42
	lo, _ := m.PuidRange(cell.ID{Gen: 1, Index: 4})
	puid, id := entity.PUID(lo+1), id(t, 1)
	steps, root := waysOf(t, m, &explain.Route{Address: "vendor:88231", Key: &key, Found: true, Record: &puid,
		Entity: &id})
	want := []string{
		"Hash 0x80e51c93a7da3c31: XXH64 of source and key.",
		"Place The upper half of the hash, 0x80e51c93, is 50.3 % of the ring.",
		"1 g3-24 open: no Generation 3 is current: it takes new keys.",
		"2 g2-8 sealed: filter says no Older generation 2 may hold it.",
		"3 g1-4 sealed: found Older generation 1 may hold it.",
		"Result The key is here. 2 of 3 directories asked, filters saved 1, 0.4 ms.",
		"New ids Ids for new records here are minted in 0x80800000 to 0x80ffffff, dated from 2026-11-19 12:00:00 UTC until 2026-11-20 13:00:00 UTC, so that they are in the same cell as the key.",
		"Puid computed " + puid.String() + " lies in the range of g1-4: no database is asked.",
	}
	for i, w := range want {
		if i >= len(steps) || steps[i] != w {
			t.Errorf("step %d is %q,\n want %q", i, append(steps, make([]string, 20)...)[i], w)
		}
	}
	for class, n := range map[string]int{"ray": 1, "mint": 1, "found": 2, "filtered": 2, "marker": 1, "here": 2} {
		if got := carrying(root, class); got != n {
			t.Errorf("%d elements are %s, want %d", got, class, n)
		}
	}
	for c, on := range map[string]bool{"g3-24": true, "g2-8": true, "g1-4": true, "g0-2": false, "g1-3": false} {
		if got := strings.Join(classes(byID(t, root, c)), "") == "on"; got != on {
			t.Errorf("the way leads through %s: %v", c, got)
		}
	}
}

func TestRing_TheWayOfAKeyThatNobodyHas(t *testing.T) {
	t.Parallel()
	m := newGrown(t, 0, 4, 8, 16)
	key := cell.NewRouter(m).ExplainKey("vendor", "88231")
	for want, answers := range map[string][]cell.Answer{
		"Result The key is not stored. Its first record would go to g1-4. 1 of 2 directories asked, filters saved 1.": {cell.AnswerNo, cell.AnswerFilterNo},
		"Result It is not known whether the key exists: a cell is unavailable. 2 of 2 directories asked.":             {cell.AnswerNo, cell.AnswerUnavailable},
		"Result The key is not stored. Its first record would go to g1-4. At most 2 probes.":                          {cell.AnswerNotAsked, cell.AnswerNotAsked},
	} {
		k := key
		k.Probes = append([]cell.Probe(nil), key.Probes...)
		k.Saw(1, cell.Open, answers[0])
		k.Saw(0, cell.Sealed, answers[1])
		steps, root := waysOf(t, m, &explain.Route{Address: "vendor:88231", Key: &k})
		if steps[4] != want {
			t.Errorf("%v: %q,\n want %q", answers, steps[4], want)
		}
		if !strings.Contains(text(root), "nothing is stored there") {
			t.Error("it is not said that nothing is stored there")
		}
	}
}

func TestRing_TheWayOfAPuid(t *testing.T) {
	t.Parallel()
	m := newGrown(t, 0, 4, 8, 16)
	lo, hi := m.PuidRange(cell.ID{Gen: 1, Index: 5})
	for puid, want := range map[int64][]string{
		lo + 7:     {"Range The upper half of the puid, counted from the lowest puid, is the number of its range: 2,684,354,561.", "Start The nearest start of a segment at or before it is range 2,684,354,560: segment 10 of the finest generation.", "1 g1-5 computed Its range lies 1 behind the start of the cell: generation 1.", "Used 1,000 of 4,294,967,295 in"},
		hi + 2<<32: {"Range", "Start", "No cell Its range is 3 after a start, but there are only 3 generations."},
		hi + 1<<40: {"Range", "Start", "No cell Its range is 257 after a start, but there are only 3 generations."},
		lo - 1<<32 + 1: {"Range", "Start",
			"No cell Its range would be of generation 0, which has no cell that starts there."},
	} {
		route, err := cell.NewRouter(m).ExplainPuid(puid)
		steps, root := waysOf(t, m, &explain.Route{Address: fmt.Sprint(puid), PUID: &route, Found: err == nil})
		if len(steps) != len(want) {
			t.Errorf("%d: %q", puid, steps)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(steps[i], want[i]) {
				t.Errorf("%d: step %q, want %q", puid, steps[i], want[i])
			}
		}
		if beyond := strings.Contains(text(root), "far beyond the last generation"); beyond != (route.Distance > 3) {
			t.Errorf("%d: beyond the picture: %v", puid, beyond)
		}
	}
}

func TestRing_TheWayOfAnEntityID(t *testing.T) {
	t.Parallel()
	m := newGrown(t, 0, 4, 8, 16)
	for _, c := range []struct {
		id   string
		want []string
	}{
		{"80e51ef9-7a7f-bd53-7a50-01a1f8660d00", []string{"Place The first 32 bits of the id, 0x80e51ef9, is 50.3 % of the ring.", "Time Its last 48 bits: 2026-11-20 10:00:00 UTC.", "1 g1-4 computed Generation 1 started at"}},
		{"80e51ef9-7a7f-bd53-7a50-0fffffffffff",
			[]string{"Place", "Time", "Nowhere yet Its time is after the end of the map"}},
	} {
		route, _ := cell.NewRouter(m).ExplainEntity(parseID(t, c.id))
		steps, _ := waysOf(t, m, &explain.Route{Address: c.id, ID: &route})
		for i, want := range c.want {
			if !strings.HasPrefix(steps[i], want) {
				t.Errorf("%s: step %q, want %q", c.id, steps[i], want)
			}
		}
	}
}

func TestStartsIn(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "has started, about to become current", 0: "has started, about to become current",
		time.Millisecond: "starts in 1 s", 119 * time.Second: "starts in 119 s", 40*time.Minute + 1: "starts in 41 min",
		47*time.Hour + time.Minute: "starts in 48 h", 80 * time.Hour: "starts in 4 days",
	} {
		if got := console.StartsIn(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		records, all int64
		level        int
		words        string
	}{
		{0, 100, 0, "empty"},
		{0, 0, 0, "empty"},
		{1, 100, 1, "0.04 of an even share"},
		{20, 100, 2, "0.80 of an even share"},
		{25, 100, 3, "1.00 of an even share"},
		{30, 100, 4, "1.20 of an even share"},
		{90, 100, 5, "3.60 of an even share"},
	} {
		if level, words := console.Load(c.records, c.all, 0.25); level != c.level || words != c.words {
			t.Errorf("Load(%d of %d) = %d, %q, want %d, %q", c.records, c.all, level, words, c.level, c.words)
		}
	}
}
