// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// hit counts hits of metrics, and fails unless all are counted.
func hit(t testing.TB, s *locus.DB, n int64, metrics ...counter.Metric) {
	t.Helper()
	hits := make([]counter.Hit, len(metrics))
	for i, m := range metrics {
		hits[i] = counter.Hit{Metric: m, N: n}
	}
	answer, err := s.Counters().Add(t.Context(), counter.Batch{Hits: hits})
	if err := errors.Join(append(answer.Results, err)...); err != nil {
		t.Fatal(err)
	}
}

// total returns the count of a metric on these days, which must equal the sum over their hours.
func total(t testing.TB, s *locus.DB, m counter.Metric) int64 {
	t.Helper()
	now := time.Now()
	of, err := s.Counters().Recorder().Series(t.Context(), counter.Query{
		Metrics: []counter.Metric{m}, From: now.Add(-48 * time.Hour), To: now.Add(24 * time.Hour), Step: counter.ByHour,
	})
	if errors.Is(err, counter.ErrNotFound) {
		return 0
	}
	must(t, err)
	sum := int64(0)
	for _, v := range of.Lines[0].Values {
		if v != counter.Null {
			sum += int64(v)
		}
	}
	if sum != int64(of.Lines[0].Total) {
		t.Errorf("%s: the hours have %d, all of them %d", m, sum, of.Lines[0].Total)
	}
	return sum
}

func metrics(n int) []counter.Metric {
	names := make([]counter.Metric, n)
	for i := range names {
		names[i] = counter.Metric(fmt.Sprintf("page /%d.html", i))
	}
	return names
}

// A metric keeps its cell and its counts while cells are added, move, and lose their keys to newer ones. Records and
// metrics live in the same cells without interfering.
func TestCounters_WhereRecordsLive(t *testing.T) {
	t.Parallel()
	for name, places := range map[string]func(*testing.T) (where, to string){
		"file": func(t *testing.T) (string, string) {
			return t.TempDir(), "sqlite:" + filepath.Join(t.TempDir(), "moved.db")
		},
		"server": func(t *testing.T) (string, string) {
			server := pgtest.Shared(t)
			return server.URL(server.Database(t)), server.URL(server.Database(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where, to := places(t)
			s := openAt(t, where, &storage.Options{Cells: 2, Notice: time.Millisecond})
			old, all12 := metrics(8), metrics(12)
			put(t, s, left, right)
			hit(t, s, 3, old...)
			var beside sync.WaitGroup // a metric of the moving cell: its hits wait
			stop := make(chan struct{})
			sent := int64(0)
			beside.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						hit(t, s, 1, "beside 0", "beside 1", "beside 2")
						sent++
					}
				}
			})
			if _, err := s.Cells().Move(t.Context(), cell.ID{Index: 1}, cell.Destination{URL: to}, func(cell.MoveProgress) {}); err != nil {
				t.Error(err)
			}
			must(t, s.Cells().Grow(t.Context(), cell.Growth{Cells: 4}, func(cell.Progress) {}))
			hit(t, s, 4, all12...)
			must(t, s.Cells().Compact(t.Context(), 1, func(cell.Progress) {}))
			hit(t, s, 5, all12...)
			close(stop)
			beside.Wait()
			put(t, s, bridge)
			for _, m := range []counter.Metric{"beside 0", "beside 1", "beside 2"} {
				if got := total(t, s, m); got != sent {
					t.Errorf("%s: %d, want %d", m, got, sent)
				}
			}
			must(t, s.Close())
			s = openAt(t, where, &storage.Options{MustExist: true})
			defer s.Close()
			for i, m := range all12 {
				want := int64(9)
				if i < len(old) {
					want = 12
				}
				if got := total(t, s, m); got != want {
					t.Errorf("%s: %d, want %d", m, got, want)
				}
			}
			if status, err := s.Cells().Status(t.Context()); err != nil || status.Counts.Records != 3 || !status.Ready {
				t.Errorf("%+v, %v", status, err)
			}
			if records, _, err := s.Records().List(t.Context(), records.Query{}); err != nil || len(records) != 3 {
				t.Errorf("%d records, %v", len(records), err)
			}
		})
	}
}

// An unreachable cell fails only its own metrics, and failed hits are not counted. A cell whose reply was lost is
// reported as commit_unknown, and a repeat with the same key counts once.
func TestCounters_OneCellFails(t *testing.T) {
	t.Parallel()
	cells, muted := openMuted(t, true)
	s, err := locus.OpenCells(t.Context(), cells, nil)
	must(t, err)
	defer s.Close()
	hit(t, s, 1, metrics(12)...)
	b := counter.Batch{Key: "k"}
	for _, m := range metrics(24) {
		b.Hits = append(b.Hits, counter.Hit{Metric: m, At: time.Now(), N: 1})
	}
	// add sends the batch and counts the outcomes.
	add := func() (counted, unavailable, unconfirmed int) {
		t.Helper()
		answer, err := s.Counters().Add(t.Context(), b)
		must(t, err)
		for i, err := range answer.Results {
			switch {
			case err == nil:
				counted++
			case errors.Is(err, counter.ErrCommitUnknown) && errors.Is(err, locus.ErrCommitUnknown):
				unconfirmed++
			case errors.Is(err, locus.ErrUnavailable) && !errors.Is(err, locus.ErrCommitUnknown):
				unavailable++
			default:
				t.Errorf("%s: %v", b.Hits[i].Metric, err)
			}
		}
		return counted, unavailable, unconfirmed
	}
	muted.mute.Store(true)
	down, unavailable, unconfirmed := add()
	if down == 0 || unavailable == 0 || unconfirmed > 0 {
		t.Errorf("mute: %d, %d, %d", down, unavailable, unconfirmed)
	}
	muted.mute.Store(false)
	muted.lose.Store(true)
	// If the reply to assigning a metric its place was lost, no hit had been sent yet.
	if counted, unavailable, unconfirmed := add(); counted != down || unavailable == 0 || unconfirmed == 0 {
		t.Errorf("lost: %d, %d, %d", counted, unavailable, unconfirmed)
	}
	muted.lose.Store(false)
	if counted, _, _ := add(); counted != 24 {
		t.Errorf("%d were counted", counted)
	}
	muted.lose.Store(true)
	b.Key = "other"
	if counted, unavailable, unconfirmed := add(); counted != down || unavailable > 0 || unconfirmed == 0 {
		t.Errorf("lost again: %d, %d, %d", counted, unavailable, unconfirmed)
	}
	muted.lose.Store(false)
	if counted, _, _ := add(); counted != 24 {
		t.Errorf("%d were counted", counted)
	}
	for i, m := range metrics(24) {
		want := int64(3)
		if i >= 12 {
			want = 2
		}
		if got := total(t, s, m); got != want {
			t.Errorf("%s: %d, want %d", m, got, want)
		}
	}
}

// A batch with a key, or with a producer and a sequence number, counts once, also after a restart.
func TestCounters_OnceOverARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := time.Now()
	var keyed, produced counter.Batch
	for _, m := range metrics(6) {
		keyed.Hits = append(keyed.Hits, counter.Hit{Metric: m, At: at, N: 2})
	}
	produced.Hits = keyed.Hits
	keyed.Key, produced.Producer, produced.Seq = "k", counter.Producer{1}, 7
	for round := range 2 {
		s := open(t, dir, 3)
		for _, b := range []counter.Batch{keyed, keyed, produced, produced} {
			answer, err := s.Counters().Add(t.Context(), b)
			if err := errors.Join(append(answer.Results, err)...); err != nil {
				t.Fatal(err)
			}
			if round > 0 && !answer.Replayed {
				t.Error("it was counted again")
			}
		}
		for _, m := range metrics(6) {
			if got := total(t, s, m); got != 4 {
				t.Errorf("%s: %d, want 4", m, got)
			}
		}
		must(t, s.Close())
	}
}

// Each hit on a name reserved for self-metrics is rejected.
func TestCounters_OwnNames(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for _, names := range [][]counter.Metric{{"locus.records"}, {"a", "locus.", "b", "locus.x"}, {"locus", "Locus.x", "a"}} {
		b := counter.Batch{Key: counter.Key(names[0])}
		for _, m := range names {
			b.Hits = append(b.Hits, counter.Hit{Metric: m, At: time.Now(), N: 1})
		}
		answer, err := s.Counters().Add(t.Context(), b)
		if err != nil || len(answer.Results) != len(names) {
			t.Fatal(answer, err)
		}
		for i, m := range names {
			var invalid *counter.InvalidError
			own := strings.HasPrefix(string(m), locus.OwnMetrics)
			if errors.As(answer.Results[i], &invalid) != own || own && invalid.Problems[0].Pointer != "/metric" || !own &&
				answer.Results[i] != nil {
				t.Errorf("%s: %v", m, answer.Results[i])
			}
		}
	}
	if a, b := total(t, s, "a"), total(t, s, "locus."); a != 2 || b != 0 {
		t.Errorf("a has %d, locus. %d", a, b)
	}
}

// Locus counts its own work, and the last counts survive Close.
func TestCounters_CountsItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	service := func(opts *locus.Options) *locus.DB {
		cells, err := storage.Open(t.Context(), dir, &storage.Options{Cells: 2, Scratch: true})
		must(t, err)
		s, err := locus.OpenCells(t.Context(), cells, opts)
		must(t, err)
		return s
	}
	s := service(&locus.Options{CountItself: true})
	put(t, s, left, right, bridge)
	hit(t, s, 40, "a", "b")
	s.Counters().CountError()
	remove(t, s, bridge.Ref)
	status, err := s.Cells().Status(t.Context())
	must(t, err)
	merges, splits := status.Counts.Merges, status.Counts.Splits
	if merges == 0 || splits == 0 {
		t.Errorf("%+v", status.Counts)
	}
	must(t, s.Close())
	s = service(nil)
	defer s.Close()
	hit(t, s, 1, "a")
	s.Counters().CountError()
	for name, want := range map[counter.Metric]int64{"records": 3, "hits": 80, "errors": 1, "merges": merges, "splits": splits} {
		if got := total(t, s, locus.OwnMetrics+name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
