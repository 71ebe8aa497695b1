// SPDX-License-Identifier: Apache-2.0

package sinks_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/storage"
)

// recorders are the targets of the tests, by the host in URLs such as recorder://name.
var recorders sync.Map

func init() {
	sink.Register(sink.Driver{
		Check: func(*url.URL) error { return nil },
		Open:  func(context.Context, sink.Spec) (sink.Sink, error) { return nil, errors.New("not of states") },
		Changes: func(_ context.Context, s sink.Spec) (sink.ChangeSink, error) {
			r, _ := recorders.Load(s.URL.Host)
			return r.(*sinktest.Recorder), nil
		},
	}, "recorder")
}

// logsAfter returns the changes of all logs after a position.
func logsAfter(t *testing.T, db *locus.DB, after changelog.Watermark) map[cell.ID][]sink.Change {
	t.Helper()
	all := map[cell.ID][]sink.Change{}
	for {
		page, next, err := db.Changes().Read(t.Context(), changes.Query{After: after, Limit: locus.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			all[c.Cell] = append(all[c.Cell], sink.Change{Cell: c.Cell, Change: c.Change})
		}
		if after = next; len(page) < locus.MaxLimit {
			return all
		}
	}
}

// watermark returns the ends of all logs.
func watermark(t *testing.T, db *locus.DB) changelog.Watermark {
	t.Helper()
	tail, err := db.Changes().Source().Tail(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return changelog.Watermark(tail)
}

// recorded waits until a sink has delivered everything.
func recorded(t *testing.T, db *locus.DB, name string) *sinks.Status {
	t.Helper()
	end := watermark(t, db)
	var last *sinks.Status
	until(t, db, name, func(_ []sink.Event, s *sinks.Status) bool {
		last = s
		for id, seq := range end {
			if s.Position.Cells[id].At < seq {
				return s.Paused
			}
		}
		return true
	})
	return last
}

// A sink of changes has every change from its creation on, in order in each cell, however often the server stops and
// the target fails.
func TestP17_ChangesAreDeliveredInOrder(t *testing.T) {
	t.Parallel()
	var failing sync.Mutex
	dice := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	r := &sinktest.Recorder{Fail: func(sink.Change) error {
		failing.Lock()
		defer failing.Unlock()
		if dice.IntN(40) == 0 {
			return errors.New("the target is away")
		}
		return nil
	}}
	recorders.Store("trail", r)
	dir := t.TempDir()
	reopen := func() *locus.DB {
		db, err := locus.Open(t.Context(), dir,
			&locus.Options{Sinks: &sinks.Options{}, Storage: storage.Options{Cells: 3, Scratch: true}})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := reopen()
	put(t, db, "before", "Joes Pizza")
	from := watermark(t, db)
	s, changed, err := db.Sinks().Create(t.Context(),
		sinks.Definition{Name: "trail", To: "recorder://trail", Feed: sinks.Changes})
	if err != nil || !changed || s.Position.Installation == "" {
		t.Fatal(s, changed, err)
	}
	for round := range 4 {
		for i := range 25 {
			put(t, db, fmt.Sprint(round, "/", i%15), fmt.Sprintf("Quill %c%d Books", 'a'+i, round))
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = reopen()
	}
	defer func() { _ = db.Close() }()
	if s := recorded(t, db, "trail"); s.Paused || s.Failed == 0 || s.Letters != 0 {
		t.Errorf("%+v", s)
	}
	got, err := r.All(t.Context())
	if diff := cmp.Diff(logsAfter(t, db, from), got); diff != "" || err != nil {
		t.Errorf("%v; the trail is (-want +got)\n%s", err, diff)
	}
}

// A target that rejects a change pauses its sink; so does a log that no longer has undelivered changes. A resumed sink
// continues, and the reason says what is missing.
func TestChanges_GapsPause(t *testing.T) {
	t.Parallel()
	r := &sinktest.Recorder{}
	recorders.Store("gaps", r)
	db := open(t, t.TempDir())
	defer func() { _ = db.Close() }()
	if _, _, err := db.Sinks().Create(t.Context(), sinks.Definition{Name: "gaps", To: "recorder://gaps", Feed: sinks.Changes}); err != nil {
		t.Fatal(err)
	}
	put(t, db, "1", "Joes Pizza")
	recorded(t, db, "gaps")
	if _, err := db.Sinks().Pause(t.Context(), "gaps"); err != nil {
		t.Fatal(err)
	}
	put(t, db, "1", "Blue Door")
	if err := db.Sinks().TrimForTest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Sinks().Resume(t.Context(), "gaps"); err != nil {
		t.Fatal(err)
	}
	if s := recorded(t, db, "gaps"); !s.Paused || !strings.Contains(s.Reason, "were trimmed before") {
		t.Fatalf("%+v", s)
	}
	from := watermark(t, db)
	if _, err := db.Sinks().Resume(t.Context(), "gaps"); err != nil {
		t.Fatal(err)
	}
	put(t, db, "1", "Green Door")
	if s := recorded(t, db, "gaps"); s.Paused {
		t.Errorf("%+v", s)
	}
	got, err := r.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range logsAfter(t, db, from) {
		if of := got[id]; len(of) < len(want) || cmp.Diff(want, of[len(of)-len(want):]) != "" {
			t.Errorf("cell %v: %+v does not end with %+v", id, of, want)
		}
	}
}

func TestChanges_Refused(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	defer func() { _ = db.Close() }()
	for want, d := range map[string]sinks.Definition{
		"takes states only":      {To: "memory://x", Feed: sinks.Changes},
		"are of all kinds":       {To: "recorder://x", Feed: sinks.Changes, Kind: "place"},
		"want states or changes": {To: "recorder://x", Feed: "all"},
	} {
		d.Name = "x"
		if _, _, err := db.Sinks().Create(t.Context(), d); !errors.Is(err, locus.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}
