// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/access"
)

// logs are the logs of two cells, as a feed reads them.
type logs struct {
	mu    sync.Mutex
	last  changelog.Watermark
	reads int
	err   error
}

func (l *logs) write(id cell.ID, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last[id] += changelog.Seq(n)
}

func (l *logs) read(_ context.Context, after changelog.Watermark, _ time.Duration) (list []changes.Change, next changelog.Watermark, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	if l.err != nil {
		return nil, nil, l.err
	}
	for id, last := range l.last {
		for seq := after[id] + 1; after != nil && seq <= last; seq++ {
			list = append(list, changes.Change{Cell: id, Change: changelog.Change{Seq: seq, Kind: changelog.Put}})
		}
	}
	return list, maps.Clone(l.last), nil
}

// recorder records the output of a feed, for a test that reads it while the feed runs.
type recorder struct {
	*httptest.ResponseRecorder
	mu sync.Mutex
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ResponseRecorder.Write(p)
}

func (r *recorder) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ResponseRecorder.Flush()
}

func (r *recorder) flushed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Flushed
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Body.String()
}

func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Body.Reset()
}

// started runs a feed in a bubble of its own.
func started(t *testing.T, l *logs, at changelog.Watermark) (rec *recorder, stop func() error) {
	t.Helper()
	rec = &recorder{ResponseRecorder: httptest.NewRecorder()}
	f := &feed{w: rec, control: http.NewResponseController(rec), at: at, read: l.read}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.follow(ctx) }()
	synctest.Wait()
	return rec, func() error { cancel(); return <-done }
}

// kindsOf returns the kinds of the events so far.
func kindsOf(rec *recorder) (kinds []string) {
	for line := range strings.Lines(rec.text()) {
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			kinds = append(kinds, strings.TrimSpace(kind))
		}
	}
	return kinds
}

var (
	here  = cell.ID{}
	there = cell.ID{Index: 1}
)

func TestFeed_SaysWhereItBeginsAndGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &logs{last: changelog.Watermark{here: 7, there: 2}}
		rec, stop := started(t, l, nil)
		if got, want := rec.text(), "event: start\nid: g0-0:7,g0-1:2\ndata: {\"watermark\":\"g0-0:7,g0-1:2\"}\n\n"; got != want || !rec.flushed() {
			t.Errorf("begins with %q, want %q", got, want)
		}
		rec.forget()
		l.write(there, 2)
		<-time.After(feedLate)
		synctest.Wait()
		for _, want := range []string{
			"event: change\nid: g0-0:7,g0-1:3\ndata: {\"cell\":\"g0-1\",\"seq\":\"3\",",
			"event: change\nid: g0-0:7,g0-1:4\ndata: {\"cell\":\"g0-1\",\"seq\":\"4\",",
		} {
			if !strings.Contains(rec.text(), want) {
				t.Errorf("%q is not in %q", want, rec.text())
			}
		}
		if err := stop(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// An idle feed queries less and less often, and sends heartbeats.
func TestFeed_IsQuietButAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &logs{last: changelog.Watermark{here: 7}}
		rec, stop := started(t, l, changelog.Watermark{here: 7})
		<-time.After(time.Minute)
		synctest.Wait()
		most := int(time.Minute/feedLate) + 20
		if l.reads > most || l.reads < most/2 {
			t.Errorf("%d readings in a minute, at most %d are expected", l.reads, most)
		}
		beats := kindsOf(rec)[1:]
		if n := len(beats); n < 15 || n > 20 || !slices.Equal(slices.Compact(beats), []string{EventHeartbeat}) {
			t.Errorf("%d events: %s", n, beats)
		}
		// A skipped number is covered by the next heartbeat.
		rec.forget()
		l.mu.Lock()
		l.last = changelog.Watermark{here: 7, there: 0}
		l.mu.Unlock()
		<-time.After(2 * feedBeat)
		synctest.Wait()
		if !strings.Contains(rec.text(), "event: heartbeat\nid: g0-0:7,g0-1:0\n") {
			t.Errorf("%s", rec.text())
		}
		_ = stop()
	})
}

func TestFeed_FailsBeforeItBegins(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	broken := errors.New("broken")
	f := &feed{w: rec, control: http.NewResponseController(rec), read: (&logs{err: broken}).read}
	if err := f.follow(t.Context()); !errors.Is(err, broken) || f.begun || rec.Body.Len() > 0 || len(rec.Header()) > 0 {
		t.Errorf("%v, begun %v, %v %s", err, f.begun, rec.Header(), rec.Body)
	}
}

func TestFeed_NobodyReads(t *testing.T) {
	t.Parallel()
	w := gone{httptest.NewRecorder()}
	f := &feed{w: w, control: http.NewResponseController(w), read: (&logs{last: changelog.Watermark{here: 1}}).read}
	if err := f.follow(t.Context()); !errors.Is(err, errLeft) {
		t.Errorf("the feed goes on: %v", err)
	}
}

// wire is a connection that records deadlines, and fails on demand.
type wire struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
	err       error
}

func (w *wire) SetWriteDeadline(at time.Time) error {
	w.deadlines = append(w.deadlines, at)
	return nil
}

func (w *wire) FlushError() error { return w.err }

// Each event must be written within a time limit, and a failed flush ends the feed.
func TestFeed_WaitsForNoReaderThatIsStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &wire{ResponseRecorder: httptest.NewRecorder()}
		f := &feed{w: w, control: http.NewResponseController(w), at: changelog.Watermark{here: 1}}
		changes := []changes.Change{{Cell: here, Change: changelog.Change{Seq: 2}},
			{Cell: here, Change: changelog.Change{Seq: 3}}}
		if err := f.write(changes, changelog.Watermark{here: 3}); err != nil {
			t.Fatal(err)
		}
		want := time.Now().Add(streamWrite)
		if len(w.deadlines) != 3 || !w.deadlines[0].Equal(want) || !w.deadlines[2].Equal(want) {
			t.Errorf("the deadlines of three events are %v, want %v", w.deadlines, want)
		}
		if got := w.Header().Get("X-Accel-Buffering"); got != "no" {
			t.Errorf("a proxy may collect events: %q", got)
		}
		w.err = http.ErrNotSupported // it has no network, as in tests
		if err := f.write(changes, changelog.Watermark{here: 3}); err != nil {
			t.Errorf("without anything to flush: %v", err)
		}
		w.err = errors.New("reset by peer")
		if err := f.write(changes, changelog.Watermark{here: 3}); !errors.Is(err, errLeft) || !errors.Is(err, w.err) {
			t.Errorf("the reader is gone: %v", err)
		}
	})
}

// After a change, an idle feed queries again soon, because more changes are likely.
func TestFeed_LooksAgainSoonAfterAChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &logs{last: changelog.Watermark{here: 7}}
		rec, stop := started(t, l, changelog.Watermark{here: 7})
		<-time.After(time.Minute)
		synctest.Wait()
		l.write(here, 1)
		for !strings.Contains(rec.text(), EventChange) {
			<-time.After(time.Millisecond)
			synctest.Wait()
		}
		rec.forget()
		l.write(here, 1)
		<-time.After(2 * feedSoon)
		synctest.Wait()
		if got := kindsOf(rec); !slices.Equal(got, []string{EventChange}) {
			t.Errorf("%v after a change there is %v", 2*feedSoon, got)
		}
		_ = stop()
	})
}

// An event is text, not HTML: characters are not escaped for pages.
func TestFeed_EscapesNothingForPages(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	f := &feed{w: rec, control: http.NewResponseController(rec)}
	if err := f.event(EventChange, nil, map[string]string{"name": "<A&B>"}); err != nil || rec.Body.String() != "event: change\ndata: {\"name\":\"<A&B>\"}\n\n" {
		t.Errorf("%q, %v", rec.Body, err)
	}
}

// A feed can be resumed at the id of any event without missing or repeating a change.
func TestFeed_AnyIDIsAPlaceToGoOnFrom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := &logs{last: changelog.Watermark{here: changelog.Seq(rapid.IntRange(0, 5).Draw(t, "here")),
			there: changelog.Seq(rapid.IntRange(0, 5).Draw(t, "there"))}}
		events := func(at changelog.Watermark) (ids []changelog.Watermark, changes []string) {
			rec := httptest.NewRecorder()
			f := &feed{w: rec, control: http.NewResponseController(rec), at: at}
			found, next, err := l.read(context.Background(), at, 0)
			if err != nil || f.write(found, next) != nil {
				t.Fatal("the feed cannot be written")
			}
			for event := range bytes.SplitSeq(bytes.TrimSpace(rec.Body.Bytes()), []byte("\n\n")) {
				lines := strings.Split(string(event), "\n")
				id, err := changelog.ParseWatermark(strings.TrimPrefix(lines[1], "id: "))
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, id)
				if lines[0] == "event: change" {
					changes = append(changes, lines[2])
				}
			}
			return ids, changes
		}
		ids, all := events(changelog.Watermark{here: 0, there: 0})
		for i, id := range ids {
			_, rest := events(id)
			got := slices.Sorted(slices.Values(slices.Concat(all[:i], rest)))
			if want := slices.Sorted(slices.Values(all)); !slices.Equal(got, want) {
				t.Fatalf("from %v on: %v, want %v", id, got, want)
			}
		}
	})
}

// TestFeed_HasALaneOfItsOwn fills one lane and then the other: event streams wait for feeds, pages for reads.
func TestFeed_HasALaneOfItsOwn(t *testing.T) {
	t.Parallel()
	s := bare(t, &strings.Builder{})
	for _, c := range []class{reads, feeds} {
		s.lanes[c], _, _ = newLane(1, 0, time.Hour)
	}
	s.register(&route{
		needs:  access.Public(),
		method: "GET", path: "/v1/changes", class: reads, answer: ChangeList{},
		handle: func(*call) (any, error) { return ChangeList{}, nil },
		events: func(c *call) error {
			if _, bounded := c.Deadline(); bounded {
				t.Error("a feed has an end of its own")
			}
			_, err := c.w.Write([]byte("event: start"))
			return err
		},
	})
	for _, full := range []class{reads, feeds} {
		leave, err := s.lanes[full].enter(t.Context(), "other", 1)
		if err != nil {
			t.Fatal(err)
		}
		for accept, in := range map[string]class{"application/json": reads, mediaEvents: feeds} {
			rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/changes", nil)
			r.Host = "localhost"
			r.Header.Set("Accept", accept)
			s.ServeHTTP(rec, r)
			if want := map[bool]int{true: 503, false: 200}[in == full]; rec.Code != want {
				t.Errorf("%s with the lane of %v full: %d %s", accept, full, rec.Code, rec.Body)
			}
		}
		leave()
	}
}

func TestWantsEvents(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/event-stream": true, "Text/Event-Stream": true,
		"application/json, text/event-stream;q=0.9": true,
		"text/event-stream;q=0":                     false, "text/event-streams": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/v1/changes", nil)
		r.Header.Set("Accept", accept)
		if got := wantsEvents(r); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

// A truncated page continues where it was cut, in each cell.
func TestUpTo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		after := changelog.Watermark{}
		next := changelog.Watermark{}
		var found []changes.Change
		for _, id := range []cell.ID{here, there} {
			begin := changelog.Seq(rapid.IntRange(0, 3).Draw(t, fmt.Sprint("begin ", id)))
			if rapid.Bool().Draw(t, "named") {
				after[id] = begin
			}
			for range rapid.IntRange(0, 4).Draw(t, fmt.Sprint("changes of ", id)) {
				begin++
				found = append(found, changes.Change{Cell: id, Change: changelog.Change{Seq: begin}})
			}
			next[id] = begin
		}
		kept := rapid.IntRange(0, len(found)).Draw(t, "kept")
		at := upTo(after, found[:kept], found[kept:], next)
		for i, c := range found {
			if seq, ok := at[c.Cell]; (ok && c.Seq <= seq) != (i < kept) {
				t.Fatalf("change %d of %v with %d of %d kept: after that at %v", c.Seq, c.Cell, kept, len(found), at)
			}
		}
		if kept == len(found) && !maps.Equal(at, next) {
			t.Fatalf("%v, want %v", at, next)
		}
	})
}
