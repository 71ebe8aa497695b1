// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
)

func (a answer) page(status int) string {
	a.Helper()
	if ct := a.Header().Get("Content-Type"); a.Code != status || ct != "text/html; charset=utf-8" {
		a.Errorf("answered %d, %s; want %d and a page: %.200s", a.Code, ct, status, a.Body)
	}
	h := a.Header()
	if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self';") || strings.Contains(policy, "unsafe") {
		a.Errorf("policy %q", policy)
	}
	if h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
		a.Errorf("headers %v", h)
	}
	return a.Body.String()
}

// says fails unless a page contains all of these.
func (f *fixture) says(page string, wants ...string) {
	f.Helper()
	for _, want := range wants {
		if !strings.Contains(page, want) {
			f.Errorf("the page does not hold %q", want)
		}
	}
}

func TestConsole_Home(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{Version: "9.8.7"})
	f.says(f.get("/").page(200), "Nothing here yet", "9.8.7", `href="/operations"`)
	f.says(f.get("/operations").page(200), "Nothing here yet", "9.8.7", "curl -s localhost:7070/metrics")
	for _, path := range []string{"/?next=//evil.example", "/?a=b"} { // unknown parameters are ignored
		if a := f.get(path); a.Header().Get("Location") != "" {
			t.Errorf("%s leads to %s", path, a.Header().Get("Location"))
		} else {
			a.page(200)
		}
	}
}

// Parts of every page: the current section in the navigation, a command, the search field, and times that a browser can
// move to the zone of its reader.
func TestConsole_EveryPage(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	put := f.put([4]string{"pos", "1", "Joe's Pizza", "+14155552300"}, [4]string{"web", "1", "Joes Pizza", "415-555-2300"})
	id := put[0].Entity.String()
	f.countHits(3, "page")
	for path, current := range map[string]string{
		"/": `href="/" aria-current="page"`, "/entities": `href="/entities" aria-current="page"`,
		"/entities/" + id: `href="/entities" aria-current="true"`,
		"/entities/" + id + "/what-if?without=pos:1": `href="/entities" aria-current="true"`,
		"/review":  `href="/review" aria-current="page"`,
		"/rollups": `href="/rollups" aria-current="page"`, "/counters": `href="/counters" aria-current="page"`,
		"/ring": `href="/operations" aria-current="true"`, "/operations": `href="/operations" aria-current="page"`,
		"/counters/metric?name=page": `href="/counters" aria-current="true"`, "/kinds": `href="/kinds" aria-current="page"`,
		"/streams": `href="/streams" aria-current="page"`,
	} {
		page := f.get(path).page(200)
		f.says(page, current, `class="command"`, `aria-keyshortcuts="/"`)
		if n := strings.Count(page, "aria-current="); n != 1 {
			t.Errorf("%s: %d entries of the navigation are current", path, n)
		}
		for _, bad := range []string{"<time>", `datetime=""`, `datetime="0001`} {
			page, _, _ := strings.Cut(page, `<template`)
			if strings.Contains(page, bad) {
				t.Errorf("%s has %s", path, bad)
			}
		}
	}
}

// A browser gets a page for an address that does not exist, with the navigation and the status 404.
func TestConsole_NothingIsHere(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, path := range []string{"/nothing", "/kinds/none", "/entities/", "/ring/x", "/a//b", "/<script>", "/static/none.css"} {
		page := f.do(http.MethodGet, path, "", "Accept", "text/html,application/xhtml+xml").page(404)
		f.says(page, "There is no page at this address.", `<nav aria-label="Pages">`, `name="q"`)
		if strings.Contains(page, "<script>") || strings.Contains(page, "aria-current") {
			t.Errorf("%s: %s", path, page)
		}
	}
	f.get("/nothing").refused(404, httpapi.CodeNotFound)
	f.do(http.MethodGet, "/v1/nothing", "", "Accept", "text/html").refused(404, httpapi.CodeNotFound)
}

func TestConsole_Ring(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	put := f.put([4]string{"pos", "<b>", "Joe's Pizza", "+14155552300"})[0]
	f.says(f.get("/operations").page(200), `href="/ring"`)
	f.says(f.get("/ring").page(200), "The ring of cells", `id="g0-0"`, "About the ring", "locus cell list")
	for address, wants := range map[string][]string{
		"pos:<b>": {"Route of <bdi>pos:&lt;b&gt;</bdi>", `class="ray"`, put.PUID.String(),
			"locus route --explain &#39;pos:&lt;b&gt;&#39;"},
		"  pos:<b> ":              {"Route of <bdi>pos:&lt;b&gt;</bdi>", "The key is"},
		"pos:none":                {"nothing is stored there", `class="ray"`},
		put.PUID.String():         {"A puid", "generation 0"},
		"-1":                      {"nothing is stored there", "locus route --explain -- -1", "after a start"},
		put.Entity.String():       {"An entity id", `class="ray"`},
		"nonsense":                {"Not an address", "an address is an entity id, a puid, or SOURCE:KEY", `id="g0-0"`},
		":":                       {"Not an address", `id="g0-0"`},
		"<script>:\x00":           {"Not an address"},
		strings.Repeat("x", 5000): {"Not an address"},
	} {
		f.says(f.get("/ring?address="+url.QueryEscape(address)).page(200), wants...)
	}
	for from, want := range map[string]string{"g0-1": `id="g0-1"`, "g7-9": `id="g0-0"`, "g0-01": "does not name one", "<b>": "does not name one"} {
		f.says(f.get("/ring?from="+url.QueryEscape(from)).page(200), want)
	}
	if body := f.get("/ring?from=g0-1").page(200); strings.Contains(body, `<tr id="g0-0"`) {
		t.Error("the table does not begin with the cell that was asked for")
	}
}

func TestConsole_Search(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	first := f.put([4]string{"pos", "1", "Joe's Pizza", "+14155552300"}, [4]string{"web", "a/b", "Joes Pizza", "415-555-2300"},
		[4]string{"web", "2", "Zebra: the café", ""})
	id := first[0].Entity.String()
	for query, want := range map[string]string{
		"":                                   "Zebra: the café",
		"?q=zeb":                             "Zebra: the café",
		"?q=Zebra%3A+the":                    "Zebra: the café", // looks like SOURCE:KEY but is not
		"?q=14155552300":                     "No results",      // the puid of no cell
		"?q=12345":                           "No results",
		"?q=joe&attribute=name&value=":       "/entities/" + id, // a form with a field left empty
		"?attribute=phones&value=4155552300": "/entities/" + id,
		"?filter=phones:4155552300&has=&has=name&order=": "rank",
		"?q=&filter=phones":              "want ATTRIBUTE:VALUE",
		"?attribute=colour&value=red":    "colour",
		"?q=" + strings.Repeat("x", 257): "longer than 256 bytes",
	} {
		f.says(f.get("/entities"+query).page(200), want)
	}
	for _, address := range []string{id, strings.ToUpper(id), first[0].PUID.String(), "pos:1", "web:a/b", "  pos:1 "} {
		a := f.get("/entities?q=" + url.QueryEscape(address))
		if a.Code != http.StatusSeeOther || a.Header().Get("Location") != "/entities/"+id {
			t.Errorf("%q: %d, Location %q", address, a.Code, a.Header().Get("Location"))
		}
	}
}

// The list without conditions is in the order that its form shows, which is also the order of its command.
func TestConsole_EverythingIsInOrder(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"pos", "1", "Zebra Lounge", ""}, [4]string{"pos", "2", "Joe's Pizza", "415-555-2300"},
		[4]string{"web", "2", "Joe's Pizza", "415-555-2300"})
	inOrder := func(target string) (names string) {
		body := f.get(target).page(200)
		for _, name := range []string{"Zebra Lounge", "Joe&#39;s Pizza"} {
			if !strings.Contains(body, name) {
				t.Errorf("%s is not in %s", name, target)
			}
		}
		if strings.Index(body, "Zebra Lounge") < strings.Index(body, "Joe&#39;s Pizza") {
			return "by id"
		}
		return "best first"
	}
	if got := inOrder("/entities"); got != "best first" {
		t.Errorf("the page says best first and is %s", got)
	}
	f.says(f.get("/entities").page(200), ">best match<", "locus entity list --order best<")
	byID := inOrder("/entities?order=id")
	if of := decode[httpapi.EntityList](f.get("/v1/entities")); (byID == "by id") != (of.Entities[0].Records == 1) {
		t.Errorf("the page by id is %s, the list for programs begins with %d records", byID, of.Entities[0].Records)
	}
}

// A browser gets failures as console pages with a link back; programs get JSON.
func TestConsole_FailuresArePages(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
	for target, status := range map[string]int{
		"/nosuch": 404, "/nosuch/<b>": 404, "/ring/": 404, "/static/nosuch.css": 404, "/decisions": 405, "/entities//": 404,
		"/review?a=%zz": 400,
	} {
		page := f.do(http.MethodGet, target, "", "Accept", browser).page(status)
		f.says(page, `<a class="brand" href="/">`, `<a href="/">Back to the overview</a>`)
		if strings.Contains(page, "<b>") && strings.Contains(target, "<b>") {
			t.Errorf("%s is in the page as it is", target)
		}
		for _, accept := range []string{"", "*/*", "application/json", "application/json, text/html"} {
			if a := f.do(http.MethodGet, target, "", "Accept", accept); a.Code != status || a.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s for %q: %d, %s", target, accept, a.Code, a.Header().Get("Content-Type"))
			}
		}
	}
	f.do(http.MethodGet, "/v1/nosuch", "", "Accept", browser).refused(404, httpapi.CodeNotFound)
	f.do(http.MethodGet, "/nosuch", "", "Accept", browser, "Host", "evil.example").refused(421, httpapi.CodeMisdirected)

	closed := openService(t, t.TempDir(), 0)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	f = &fixture{t, closed, httpapi.New(closed, nil)}
	f.says(f.do(http.MethodGet, "/entities", "", "Accept", browser).page(503), "Back to the overview", "Request ")
	f.get("/entities").refused(503, httpapi.CodeUnavailable)
}

func TestConsole_SearchPages(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	seen := map[string]bool{}
	var records [][4]string
	for i := range 120 {
		name := "Zq" + strings.Repeat("abcdefghij"[i%10:i%10+1], 5+i/10) // no two alike
		records = append(records, [4]string{"pos", name, name, ""})
	}
	f.put(records...)
	next, pages := "/entities?q=zq", 0
	for next != "" && pages < 10 {
		body := f.get(next).page(200)
		pages++
		for line := range strings.SplitSeq(body, "\n") {
			if _, rest, ok := strings.Cut(line, `<li><a href="/entities/`); ok {
				seen[rest[:36]] = true
			}
		}
		_, rest, ok := strings.Cut(body, `" rel="next"`)
		next = ""
		if ok {
			before := strings.TrimSuffix(body, `" rel="next"`+rest)
			next = strings.ReplaceAll(before[strings.LastIndex(before, `"`)+1:], "&amp;", "&")
		}
	}
	if status := decode[cells.Status](f.get("/v1/status")); pages != 3 || int64(len(seen)) != status.Counts.Entities {
		t.Errorf("%d entities on %d pages, there are %d", len(seen), pages, status.Counts.Entities)
	}
	cursor := "/entities?q=other&cursor=" + strings.Repeat("A", 32)
	f.says(f.get(cursor).page(422), "cursor")
}

func TestConsole_Entity(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	results := f.put([4]string{"pos", "1", "Joe's Pizza", "+14155552300"},
		[4]string{"web", "<b>", "Joes Pizza", "415-555-2300"})
	path := "/entities/" + results[0].Entity.String()
	f.says(f.get(path).page(200), "Joe&#39;s Pizza", "2 records from 2 sources", "Why the records match", "web:&lt;b&gt;",
		"times likelier")
	f.says(f.get("/entities/20be0ffc-314a-bd53-7a50-013a65ca76d2").page(404), "Not found",
		"locus route 20be0ffc-314a-bd53-7a50-013a65ca76d2")
	f.says(f.get("/entities/%3Cimg%20src=x%3E").page(422), "<bdi>&lt;img src=x&gt;</bdi>")
	for _, r := range []string{httpapi.RecordPath("pos", "1"), httpapi.RecordPath("web", "<b>")} {
		if a := f.do(http.MethodDelete, r, ""); a.Code != http.StatusOK {
			t.Fatalf("delete %s: %d %s", r, a.Code, a.Body)
		}
	}
	f.says(f.get(path).page(410), "Deleted")
}

// A key may contain anything, including characters that a path would lose: the page of its entity still links to its
// JSON.
func TestConsole_EntityLeadsToItsRecords(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, key := range []string{"1", "a/b c", "..", ".", "%2e", "<b>"} {
		id := f.put([4]string{"pos", key, "Place of " + key, ""})[0].Entity.String()
		_, rest, _ := strings.Cut(f.get("/entities/"+id).page(200), `href="/records/`)
		link, _, _ := strings.Cut(rest, `"`)
		if want := strings.TrimPrefix(httpapi.RecordPath("pos", key), "/v1"); "/records/"+html.UnescapeString(link) != want {
			t.Errorf("the record %q is linked as %q, want %q", key, link, want)
			continue
		}
		if got := decode[httpapi.Record](f.get("/records/" + html.UnescapeString(link))); got.Key != key {
			t.Errorf("the link of the record %q leads to %q", key, got.Key)
		}
	}
}

func TestConsole_FormerIdLeadsOn(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.put([4]string{"pos", "1", "Joe's Pizza", ""})[0].Entity.String()
	b := f.put([4]string{"web", "1", "Bob's Burgers", ""})[0].Entity.String()
	f.put([4]string{"pos", "1", "Joe's Pizza", "+14155552300"}, [4]string{"web", "1", "Joe's Pizza", "+14155552300"})
	f.says(f.get("/entities/"+b).page(200), "<code>"+b+"</code> is a former id", a)
	for address, want := range map[string]string{b: b, a: a, "web:1": a} {
		if to := f.get("/entities?q=" + url.QueryEscape(address)).Header().Get("Location"); to != "/entities/"+want {
			t.Errorf("%s leads to %s", address, to)
		}
	}
}

func TestConsole_Files(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for name, want := range map[string]string{
		"console.css": "text/css; charset=utf-8", "console.js": "text/javascript; charset=utf-8",
		"favicon.svg": "image/svg+xml",
	} {
		a := f.get("/static/" + name)
		if a.Code != 200 || a.Header().Get("Content-Type") != want || a.Header().Get("Cache-Control") != "no-cache" ||
			a.Body.Len() == 0 {
			t.Errorf("%s: %d %v", name, a.Code, a.Header())
		}
		if again := f.do(http.MethodGet, "/static/"+name, "", "If-None-Match", a.Header().Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s asked again: %d", name, again.Code)
		}
		// A page asks by the version, and a browser keeps that: another version is never kept.
		asked := "/static/" + name + "?v=" + strings.Trim(a.Header().Get("ETag"), `"`)
		f.says(f.get("/").page(200), `"`+asked+`"`)
		for path, want := range map[string]string{asked: "private, max-age=31536000, immutable", asked[:len(asked)-1]: "no-cache"} {
			if kept := f.get(path); kept.Code != 200 || kept.Header().Get("Cache-Control") != want {
				t.Errorf("%s: %d %v", path, kept.Code, kept.Header())
			}
		}
	}
	for _, path := range []string{"/static/", "/static", "/static/x.css", "/static/%2e%2e%5c", "/static/../../etc/passwd", "/static/..%2fpage.go"} {
		if a := f.get(path); a.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.Code)
		}
	}
}

func TestConsole_TakesNoWrites(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, path := range []string{"/", "/entities", "/entities/x", "/static/console.css", "/events"} {
		f.do(http.MethodPost, path, "{}").refused(http.StatusMethodNotAllowed, httpapi.CodeMethod)
	}
	f.do(http.MethodGet, "/", "", "Host", "evil.example", "Origin",
		"http://evil.example").refused(http.StatusMisdirectedRequest, httpapi.CodeMisdirected)
}

// liveEvent is the part of an event that tests read.
type liveEvent struct {
	Page  string            `json:"page"`
	Empty bool              `json:"empty"`
	Text  map[string]string `json:"text"`
	Path  map[string]string `json:"path"`
	Joins []struct{ Record, Name, Entity string }
}

// stream opens the event stream of a server that listens.
func stream(t *testing.T, base string) (*http.Response, *bufio.Scanner) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return response, lines
}

// nextEvent reads events until one matches.
func nextEvent(t *testing.T, lines *bufio.Scanner, fits func(liveEvent) bool) liveEvent {
	t.Helper()
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e liveEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v in %q", err, data)
		}
		if fits(e) {
			return e
		}
	}
	t.Fatalf("the stream ended: %v", lines.Err())
	return liveEvent{}
}

func TestConsole_EventsFollowTheWrites(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := setup(t, nil)
	listening := httptest.NewServer(f.server)
	t.Cleanup(listening.Close)
	response, lines := stream(t, listening.URL)
	if ct := response.Header.Get("Content-Type"); ct != "text/event-stream" || response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", response.Header)
	}
	first := nextEvent(t, lines, func(liveEvent) bool { return true })
	if !first.Empty || first.Text["records"] != "0" || first.Text["g0-1.records"] != "0" {
		t.Errorf("first event %+v", first)
	}
	f.put([4]string{"pos", "1", "Joe's Pizza", "+14155552300"})
	f.put([4]string{"web", "1", "Joe's Pizza", "+14155552300"})
	counted, joined := false, false // numbers and matches may come in different events
	nextEvent(t, lines, func(e liveEvent) bool {
		counted = counted || e.Text["records"] == "2" && !e.Empty
		joined = joined || len(e.Joins) == 1
		return counted && joined
	})
	_ = response.Body.Close()

	_, lines = stream(t, listening.URL)
	again := nextEvent(t, lines, func(liveEvent) bool { return true })
	if again.Text["entities"] != "1" || len(again.Joins) != 1 || again.Joins[0].Record != "web:1" {
		t.Errorf("first event of another viewer %+v", again)
	}
}

func TestConsole_StreamsAreBounded(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	listening := httptest.NewServer(f.server)
	t.Cleanup(listening.Close)
	for range 64 {
		response, lines := stream(t, listening.URL)
		if response.StatusCode != http.StatusOK || !lines.Scan() {
			t.Fatalf("status %d", response.StatusCode)
		}
	}
	refused, _ := stream(t, listening.URL)
	if refused.StatusCode != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") == "" {
		t.Errorf("the 65th viewer: %d %v", refused.StatusCode, refused.Header)
	}
	f.good()
}

func TestConsole_StreamsEndWhenTheServerStops(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{Linger: -1})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stopped := make(chan error, 1)
	go func() { stopped <- f.server.Serve(ctx, listener) }()
	_, lines := stream(t, "http://"+listener.Addr().String())
	nextEvent(t, lines, func(liveEvent) bool { return true })
	stop()
	var rest []string
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
	if said := strings.Join(rest, "\n"); !strings.HasSuffix(said, "event: end\ndata: {}\n") || lines.Err() != nil && lines.Err() != io.EOF {
		t.Errorf("the stream ended with %q, %v", said, lines.Err())
	}
}
