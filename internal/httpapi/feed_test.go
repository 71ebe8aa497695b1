// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/httpapi"
)

type event struct{ kind, id, data string }

// feed is an open feed of changes.
type feed struct {
	*running
	in    *bufio.Reader
	leave context.CancelFunc
}

// follow opens a feed over the network; headers are alternating names and values.
func (r *running) follow(query string, headers ...string) *feed {
	r.Helper()
	ctx, leave := context.WithCancel(r.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.addr+"/v1/changes"+query, nil)
	if err != nil {
		r.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{}}
	res, err := client.Do(request)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { leave(); res.Body.Close(); client.CloseIdleConnections() })
	if ct := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || ct != "text/event-stream" || res.Header.Get("Cache-Control") != "no-store" {
		r.Fatalf("%d, %v", res.StatusCode, res.Header)
	}
	return &feed{r, bufio.NewReader(res.Body), leave}
}

// next reads an event, of a kind other than heartbeat.
func (f *feed) next() (e event, err error) {
	for {
		line, err := f.in.ReadString('\n')
		if err != nil {
			return e, err
		}
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); {
		case name == "event":
			e.kind = value
		case name == "id":
			e.id = value
		case name == "data":
			e.data = value
		case e.kind == httpapi.EventHeartbeat:
			e = event{}
		default:
			return e, nil
		}
	}
}

func (f *feed) expect(kind string) event {
	f.Helper()
	e, err := f.next()
	if err != nil || e.kind != kind {
		f.Fatalf("%+v, %v; want %s", e, err, kind)
	}
	return e
}

// created reads changes until an entity has been created, and returns the id of that event.
func (f *feed) created() string {
	f.Helper()
	for {
		e := f.expect(httpapi.EventChange)
		var c changes.Change
		if err := json.Unmarshal([]byte(e.data), &c); err != nil {
			f.Fatal(err)
		}
		if w, err := changelog.ParseWatermark(e.id); err != nil || w[c.Cell] != c.Seq {
			f.Errorf("the event %s has the change %s", e.id, e.data)
		}
		if c.Kind == changelog.Created {
			return e.id
		}
	}
}

func TestFeed_FollowsAndIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1})
	r.diner("a", "before", "Springfield", "")
	f := r.follow("")
	start := f.expect(httpapi.EventStart)
	var mark httpapi.FeedMark
	if err := json.Unmarshal([]byte(start.data), &mark); err != nil || mark.Watermark.String() != start.id || len(mark.Watermark) != 2 {
		t.Errorf("%+v, %v", start, err)
	}
	r.diner("a", "1", "Springfield", "")
	first := f.created()
	r.diner("a", "2", "Shelbyville", "")
	second := f.created()
	f.leave()

	r.diner("a", "3", "Ogdenville", "")
	for _, again := range []*feed{r.follow("", "Last-Event-ID", first), r.follow("?after=" + first), r.follow("?after="+start.id, "Last-Event-ID", first)} {
		if e := again.expect(httpapi.EventStart); e.id != first {
			t.Errorf("begins at %s, not at %s", e.id, first)
		}
		if id := again.created(); id != second {
			t.Errorf("comes to %s, not to %s", id, second)
		}
		again.created()
		again.leave()
	}
	whole := r.follow("?after=")
	whole.expect(httpapi.EventStart)
	for range 4 {
		whole.created()
	}
	whole.leave()
	if w, _ := changelog.ParseWatermark(r.follow("?cell=g0-1").expect(httpapi.EventStart).id); len(w) != 1 {
		t.Errorf("of one cell: %v", w)
	}
	r.stop()
	if err := r.finished(); err != nil {
		t.Error(err)
	}
}

// TestP13_DrainEndsFeeds stops the server under feeds: they get the end event, and nothing is cut off.
func TestP13_DrainEndsFeeds(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1})
	feeds := []*feed{r.follow(""), r.follow("?cell=g0-0")}
	for _, f := range feeds {
		f.expect(httpapi.EventStart)
	}
	r.stop()
	for _, f := range feeds {
		e := f.expect(httpapi.EventEnd)
		var p httpapi.Problem
		if err := json.Unmarshal([]byte(e.data), &p); err != nil || p.Code != httpapi.CodeDraining || p.RequestID == "" {
			t.Errorf("%+v, %v", e, err)
		}
		if _, err := f.next(); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
	}
	if err := r.finished(); err != nil {
		t.Error(err)
	}
}

// Feeds do not block reads and writes, even if only one read or write may run at a time.
func TestFeed_ManyHarmNobody(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1, Running: 1})
	var feeds []*feed
	for range 8 {
		f := r.follow("")
		f.expect(httpapi.EventStart)
		feeds = append(feeds, f)
	}
	r.diner("a", "1", "Springfield", "")
	decode[httpapi.ChangeList](r.get("/v1/changes"))
	for _, f := range feeds {
		f.created()
		f.leave()
	}
	r.stop()
	if err := r.finished(); err != nil {
		t.Error(err)
	}
}

func TestFeed_OfHeadersOnly(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.do(http.MethodHead, "/v1/changes", "", "Accept", "text/event-stream")
	if a.Code != http.StatusOK || a.Header().Get("Content-Type") != "text/event-stream" || a.Body.Len() != 0 {
		t.Errorf("%d %v %s", a.Code, a.Header(), a.Body)
	}
}

// Invalid requests are refused before the feed begins.
func TestFeed_Refuses(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, c := range []struct{ query, last, says string }{
		{"?limit=5", "", "?limit"}, {"?limit=5&after=", "", "?limit"}, {"", "g0-0", "Last-Event-ID"},
		{"?after=", "x:y", "Last-Event-ID"},
		{"?after=x", "", "?after"},
	} {
		if a := f.do(http.MethodHead, "/v1/changes"+c.query, "", "Accept", "text/event-stream", "Last-Event-ID", c.last); a.Code != http.StatusUnprocessableEntity {
			t.Fatalf("%q, %q: %d, and a feed would begin", c.query, c.last, a.Code)
		}
		p := f.do(http.MethodGet, "/v1/changes"+c.query, "", "Accept", "text/event-stream", "Last-Event-ID",
			c.last).refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
		if p.Pointer != c.says && !strings.Contains(p.Detail, c.says) {
			t.Errorf("%q, %q: refused at %q with %q; want %s", c.query, c.last, p.Pointer, p.Detail, c.says)
		}
	}
}
