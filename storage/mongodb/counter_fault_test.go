// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/storage/mongodb"
)

// noon is the time of the hits in these tests.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func recorder(t *testing.T, d *mongodb.Documents) *counter.Recorder {
	t.Helper()
	r, err := counter.New(d.Metrics(), &counter.Options{Now: func() time.Time { return noon }, Linger: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func hits(metrics ...counter.Metric) []counter.Hit {
	hits := make([]counter.Hit, len(metrics))
	for i, m := range metrics {
		hits[i] = counter.Hit{Metric: m, At: noon, N: 1}
	}
	return hits
}

// total returns a metric's total of the day and checks that all steps agree.
func total(t *testing.T, r *counter.Recorder, m counter.Metric) int64 {
	t.Helper()
	sums, day := map[counter.Step]int64{}, noon.Truncate(24*time.Hour)
	for _, step := range []counter.Step{counter.ByMinute, counter.ByHour, counter.ByDay} {
		s, err := r.Series(context.Background(), counter.Query{Metrics: []counter.Metric{m}, From: day, To: day.AddDate(0, 0, 1), Step: step})
		if errors.Is(err, counter.ErrNotFound) {
			return 0
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range s.Lines[0].Values {
			if v != counter.Null {
				sums[step] += int64(v)
			}
		}
	}
	if sums[counter.ByMinute] != sums[counter.ByDay] || sums[counter.ByHour] != sums[counter.ByDay] {
		t.Fatalf("%s: minutes, hours and day differ: %v", m, sums)
	}
	return sums[counter.ByDay]
}

// fault is a fault of a write, with whether the write was applied and the error that a caller gets.
type fault struct {
	name       string
	kind       mongotest.Kind
	counted    int64
	knownEpoch error
	// retried means that on a replica set the driver retries the write and the server recognises it, so nothing is
	// lost.
	retried bool
}

var faults = []fault{
	{"the reply is lost", mongotest.LostReply, 1, counter.ErrCommitUnknown, true},
	{"the command is lost", mongotest.LostCommand, 0, counter.ErrCommitUnknown, true},
	{"the majority does not confirm", mongotest.WriteConcern, 1, counter.ErrCommitUnknown, false},
	{"the primary has stepped down", mongotest.NotPrimary, 0, counter.ErrCommitUnknown, true},
	{"another one was first", mongotest.DuplicateKey, 1, nil, false},
}

// here returns the fault as the server of the tests shows it.
func (f fault) here(t *testing.T) fault {
	t.Helper()
	if f.retried && mongotest.On(t).Durable {
		f.counted, f.knownEpoch = 1, nil
	}
	return f
}

// TestCounters_FaultsOfAHit makes a write of a day fail, both the first one, which inserts it, and a later one: a
// caller never gets success for a hit that is not counted, or an error for one that is.
func TestCounters_FaultsOfAHit(t *testing.T) {
	t.Parallel()
	for _, fault := range faults {
		for _, command := range []string{"insert", "update"} {
			if command == "update" && fault.kind == mongotest.DuplicateKey {
				continue
			}
			t.Run(fault.name+", "+command, func(t *testing.T) {
				t.Parallel()
				fault := fault.here(t)
				proxy := mongotest.NewProxy(t, mongotest.URI(t))
				r := recorder(t, documents(t, proxy.URI()))
				ctx, before := context.Background(), int64(0)
				if command == "update" {
					before = 1
					if results, err := r.Add(ctx, hits("page /a.b$c")); err != nil || results[0] != nil {
						t.Fatal(results, err)
					}
				}
				proxy.Fault(mongotest.Fault{Command: command, Collection: "counter_day", Kind: fault.kind})
				results, err := r.Add(ctx, hits("page /a.b$c"))
				if err != nil || !errors.Is(results[0], fault.knownEpoch) {
					t.Fatalf("told %v, %v; want %v", results, err, fault.knownEpoch)
				}
				if got := total(t, r, "page /a.b$c") - before; got != fault.counted {
					t.Errorf("counted %d, want %d", got, fault.counted)
				}
			})
		}
	}
}

// TestCounters_FaultsOfABatch makes each write of a batch with a key fail, and sends the batch again: it counts once,
// whatever the first attempt did.
func TestCounters_FaultsOfABatch(t *testing.T) {
	t.Parallel()
	for _, fault := range faults {
		for _, at := range []struct{ command, collection string }{
			{"insert", "counter_day"}, {"update", "counter_day"}, {"insert", "counter_batch"}, {"insert", "metric"},
		} {
			if at.command == "update" && fault.kind == mongotest.DuplicateKey {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s of %s", fault.name, at.command, at.collection), func(t *testing.T) {
				t.Parallel()
				proxy := mongotest.NewProxy(t, mongotest.URI(t))
				r := recorder(t, documents(t, proxy.URI()))
				ctx := context.Background()
				if results, err := r.Add(ctx, hits("old")); err != nil || results[0] != nil {
					t.Fatal(results, err)
				}
				proxy.Fault(mongotest.Fault{Command: at.command, Collection: at.collection, Kind: fault.kind})
				batch := counter.Batch{Hits: hits("old", "new", "old"), Key: "k"}
				first, err := r.AddBatch(ctx, batch)
				if err != nil {
					t.Fatal(err)
				}
				acknowledged := int64(0)
				for _, err := range first.Results {
					if err == nil {
						acknowledged++
					}
				}
				if got := total(t, r, "old") - 1 + total(t, r, "new"); got < acknowledged {
					t.Fatalf("%d were acknowledged and %d counted", acknowledged, got)
				}
				for range 2 {
					again, err := r.AddBatch(ctx, batch)
					if err != nil || slices.ContainsFunc(again.Results, func(err error) bool { return err != nil }) {
						t.Fatalf("sent again: %v, %v", again.Results, err)
					}
				}
				if got := [2]int64{total(t, r, "old"), total(t, r, "new")}; got != [2]int64{3, 1} {
					t.Errorf("counted %v, want 3 and 1", got)
				}
			})
		}
	}
}

// TestCounters_OthersAreCounted: a day that cannot be written does not prevent others from being counted. For days
// that cannot be read, see TestP02_AShardThatIsDown.
func TestCounters_OthersAreCounted(t *testing.T) {
	t.Parallel()
	proxy := mongotest.NewProxy(t, mongotest.URI(t))
	timeout := 2 * time.Minute
	if mongotest.On(t).Durable {
		timeout = 3 * time.Second // the driver retries the write that long
	}
	r := recorder(t, documentsWithin(t, proxy.URI(), timeout))
	ctx := context.Background()
	if results, err := r.Add(ctx, hits("old")); err != nil || results[0] != nil {
		t.Fatal(results, err)
	}
	proxy.Fault(mongotest.Fault{Command: "insert", Collection: "counter_day", Kind: mongotest.LostCommand, Times: -1})
	results, err := r.Add(ctx, hits("new", "old"))
	if err != nil || !errors.Is(results[0], counter.ErrCommitUnknown) || results[1] != nil {
		t.Fatal(results, err)
	}
	if old, fresh := total(t, r, "old"), total(t, r, "new"); old != 2 || fresh != 0 {
		t.Errorf("old %d, new %d: want 2 and 0", old, fresh)
	}
}

// TestCounters_NamesAreData: no character in a name is interpreted.
func TestCounters_NamesAreData(t *testing.T) {
	t.Parallel()
	r := recorder(t, documents(t, mongotest.URI(t)))
	names := []counter.Metric{"a.b", "a", "$inc", "$", ".", "a.", "_id", "__proto__", "{}", "\"", "'", "\\", "\\u0000", "é", "e\u0301", "日本", "%00", "m.07.42", "*", "A", "a b"}
	for range 2 {
		results, err := r.Add(context.Background(), hits(names...))
		if err != nil || slices.ContainsFunc(results, func(err error) bool { return err != nil }) {
			t.Fatal(results, err)
		}
	}
	for _, name := range names {
		if got := total(t, r, name); got != 2 {
			t.Errorf("%q: %d, want 2", name, got)
		}
	}
}
