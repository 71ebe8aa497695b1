// SPDX-License-Identifier: Apache-2.0

package dump_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// writer writes at random until it is stopped. All of its decisions and hits are known.
type writer struct {
	db *locus.DB

	mu      sync.Mutex
	decided []decision // in order
	sent    int        // batches of hits; each counts one hit of three metrics
}

// decision is the time that a decision got.
type decision struct {
	a, b string
	at   time.Time
}

func (w *writer) run(t *testing.T, stop <-chan struct{}, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	key := func() entity.Ref { return entity.Ref{Source: "abc"[r.IntN(3):][:1], Key: fmt.Sprint(r.IntN(60))} }
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		switch ref := key(); r.IntN(8) {
		case 0:
			if _, err := w.db.Records().Delete(t.Context(), []entity.Ref{ref}); err != nil {
				t.Error(err)
				return
			}
		case 1:
			other := key()
			results, err := w.db.Decisions().Decide(t.Context(), []decisions.Input{{
				Verdict: []entity.Verdict{entity.VerdictSame, entity.VerdictDifferent}[r.IntN(2)], A: ref.String(),
				B: other.String(),
			}})
			if err == nil && results[0].Err == nil {
				w.mu.Lock()
				w.decided = append(w.decided, decision{ref.String(), other.String(), results[0].At})
				w.mu.Unlock()
			}
		case 2:
			at := time.Now().Truncate(time.Second)
			hits := []counter.Hit{{Metric: "one", N: 1, At: at}, {Metric: "two", N: 1, At: at}, {Metric: "three", N: 1, At: at}}
			if _, err := w.db.Counters().Add(t.Context(), counter.Batch{Hits: hits, Key: counter.Key(fmt.Sprintf("%d-%d", seed, n))}); err != nil {
				t.Error(err)
				return
			}
		default:
			n := r.IntN(40)
			if _, err := w.db.Records().Put(t.Context(), []records.Input{record(ref.Source, ref.Key, fmt.Sprintf("Quill %c Books", 'a'+n), fmt.Sprintf("415-555-%04d", 2300+n))}); err != nil {
				t.Error(err)
				return
			}
		}
	}
}

func (w *writer) decisionsMade() []decision {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.decided)
}

// versionsAt replays the logs up to a watermark: the versions of the live records.
func versionsAt(t *testing.T, db *locus.DB, mark changelog.Watermark) map[entity.PUID]int64 {
	t.Helper()
	live := map[entity.PUID]int64{}
	for after := (changelog.Watermark{}); ; {
		page, next, err := db.Changes().Read(t.Context(), changes.Query{After: after, Limit: locus.MaxLimit})
		must(t, err)
		for _, c := range page {
			switch {
			case c.Seq > mark[c.Cell]:
			case c.Kind == changelog.Put:
				live[c.After[0].PUID] = c.After[0].Version
			case c.Kind == changelog.Deleted:
				delete(live, c.Before[0].PUID)
			}
		}
		if after = next; len(page) < locus.MaxLimit {
			return live
		}
	}
}

// A dump taken while others write is the state at its watermark: records as the logs have them, all decisions made
// before and none made after it, and entities that follow from them.
func TestDump_UnderWritesIsTheStateAtItsWatermark(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	server := func(t *testing.T) string { s := pgtest.Shared(t); return s.URL(s.Database(t)) }
	for name, tc := range map[string]struct {
		where  func(*testing.T) string
		others bool // another process writes, not the one that takes the dump
	}{
		"sqlite":                    {func(t *testing.T) string { return t.TempDir() }, false},
		"postgres":                  {server, false},
		"postgres, another process": {server, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := tc.where(t)
			db := open(t, where, &locus.Options{Storage: storage.Options{Cells: 3}, Retention: time.Hour})
			w := &writer{db: db}
			if tc.others {
				w.db = open(t, where, nil)
			}
			stop := make(chan struct{})
			var writers sync.WaitGroup
			for seed := range uint64(2) {
				writers.Go(func() { w.run(t, stop, seed) })
			}
			var dumps []dumped
			var marks []changelog.Watermark
			var before, after [][]decision
			for range 2 {
				if testing.Short() && len(dumps) == 1 {
					break
				}
				until(t, func() bool { return len(w.decisionsMade()) >= 3*(len(dumps)+1) })
				before = append(before, w.decisionsMade())
				d, err := db.Dump(t.Context())
				must(t, err)
				marks = append(marks, d.Watermark)
				dumps = append(dumps, written(t, d))
				after = append(after, w.decisionsMade())
			}
			close(stop)
			writers.Wait()
			for i, d := range dumps {
				got := map[entity.PUID]int64{}
				for _, r := range d.of(t, "record") {
					puid, err := entity.ParsePUID(r["puid"].(string))
					must(t, err)
					got[puid] = int64(r["version"].(float64))
				}
				if diff := cmp.Diff(versionsAt(t, db, marks[i]), got); diff != "" || len(got) == 0 {
					t.Errorf("dump %d: records at the watermark (-log +dump):\n%s", i, diff)
				}
				times := map[time.Time]bool{}
				for _, l := range d.of(t, "decision") {
					at, err := time.Parse(time.RFC3339Nano, l["at"].(string))
					must(t, err)
					times[at] = true
				}
				missing := newest(before[i])
				for at := range times {
					missing[at] = false
				}
				for at, is := range missing {
					if is && !replaced(before[i], after[i], at) {
						t.Errorf("dump %d lacks the decision of %v", i, at)
					}
				}
				to := filepath.Join(t.TempDir(), fmt.Sprint(i))
				if unsettled := d.of(t, "end")[0]["unsettled"]; unsettled != nil && tc.others {
					t.Logf("dump %d: %v", i, unsettled)
					_, err := locus.Restore(t.Context(), to, bytes.NewReader(d.file), nil)
					must(t, err)
					check(t, open(t, to, nil))
					continue
				}
				restore(t, to, d.file, []int{2, 1}[i])
				copied := open(t, to, nil)
				check(t, copied)
				if diff := cmp.Diff(d.same(t, db.Cells().Map()), dump(t, copied).same(t, copied.Cells().Map())); diff != "" {
					t.Errorf("dump %d again (-first +second):\n%s", i, diff)
				}
			}
		})
	}
}

// newest returns the times of the decisions that no later one about the same pair has replaced.
func newest(all []decision) map[time.Time]bool {
	last := map[string]time.Time{}
	for _, d := range all {
		last[pairOf(d)] = d.at
	}
	times := map[time.Time]bool{}
	for at := range maps.Values(last) {
		times[at] = true
	}
	return times
}

func pairOf(d decision) string { return min(d.a, d.b) + " " + max(d.a, d.b) }

// replaced reports whether a decision made while the dump was taken is about the pair of an earlier one.
func replaced(before, after []decision, at time.Time) bool {
	i := slices.IndexFunc(before, func(d decision) bool { return d.at.Equal(at) })
	return slices.ContainsFunc(after[len(before):], func(d decision) bool { return pairOf(d) == pairOf(before[i]) })
}

// until polls until is returns true.
func until(t *testing.T, is func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !is(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("not in time")
		}
	}
}
