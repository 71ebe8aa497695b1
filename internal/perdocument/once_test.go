// SPDX-License-Identifier: Apache-2.0

package perdocument_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/perdocumenttest"
	"github.com/locus-db/locus/internal/perdocument"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// cell is a cell in memory with the metric x.
type cell struct {
	perdocument.Database
	// at, if set, is called before each step of processes other than the ones that it runs itself.
	at     func(perdocumenttest.Step) perdocumenttest.Fault
	within atomic.Bool
}

func newCell() *cell {
	c := &cell{}
	c.Database = perdocumenttest.NewMemory(func(s perdocumenttest.Step) perdocumenttest.Fault {
		if c.at == nil || !c.within.CompareAndSwap(false, true) {
			return perdocumenttest.NoFault
		}
		defer c.within.Store(false)
		return c.at(s)
	})
	return c
}

func (c *cell) List() []string               { return []string{"a"} }
func (c *cell) Cell(string) counter.Database { return c.Counters() }

func (c *cell) Places(_ context.Context, metrics []counter.Metric, _, _ bool) []counter.Place {
	places := make([]counter.Place, len(metrics))
	for i := range metrics {
		places[i] = counter.Place{Cell: "a", ID: 1}
	}
	return places
}

// open returns a recorder that is closed with the test.
func (c *cell) open(t *testing.T, now time.Time) *counter.Recorder {
	t.Helper()
	r, err := counter.New(c, &counter.Options{Now: func() time.Time { return now }, Rand: func() float64 { return .999999 }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// send sends a batch of one hit per time, and returns the results.
func (c *cell) send(t *testing.T, r *counter.Recorder, b counter.Batch, at ...time.Time) []error {
	t.Helper()
	for _, at := range at {
		b.Hits = append(b.Hits, counter.Hit{Metric: "x", At: at, N: 1})
	}
	answer, err := r.AddBatch(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Results
}

func (c *cell) must(t *testing.T, r *counter.Recorder, b counter.Batch, at ...time.Time) {
	t.Helper()
	if err := errors.Join(c.send(t, r, b, at...)...); err != nil {
		t.Fatal(err)
	}
}

// raise raises the dedup horizon, and drops the summaries below it.
func (c *cell) raise(t *testing.T, horizon time.Time) {
	t.Helper()
	ctx, below := context.Background(), horizon.UnixMilli()
	if err := c.Update(ctx, func(tx perdocument.Store) error {
		err := tx.RaiseDedupHorizon(ctx, below)
		_, err2 := tx.DropBatches(ctx, below, 1000)
		_, err3 := tx.DropProducers(ctx, below, 1000)
		return errors.Join(err, err2, err3)
	}); err != nil {
		t.Fatal(err)
	}
}

// counted returns the count of the minute of a time, open and closed.
func (c *cell) counted(t *testing.T, r *counter.Recorder, at time.Time) int {
	t.Helper()
	from := at.Truncate(time.Minute)
	s, err := r.Series(context.Background(),
		counter.Query{Metrics: []counter.Metric{"x"}, Step: counter.ByMinute, From: from, To: from.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	if v := s.Lines[0].Values[0]; v != counter.Null {
		return int(v)
	}
	return 0
}

// check returns the figures that do not add up.
func (c *cell) check() (err error) {
	ctx := context.Background()
	return c.View(ctx, func(tx perdocument.Store) error {
		for _, table := range counter.Tables {
			all, err := tx.FirstBuckets(ctx, table, math.MaxInt64, math.MaxInt)
			if err != nil {
				return err
			}
			keys := make([]counter.BucketKey, len(all))
			for i := range all {
				keys[i] = all[i].Key
			}
			if damaged, err := counter.Verify(ctx, tx, table, keys); err != nil || len(damaged) > 0 {
				return fmt.Errorf("table %d: %v, %w", table, damaged, err)
			}
		}
		return nil
	})
}

// Between any two steps of a process that counts a batch of two days, another one counts it, and makes days, or
// everything, forget it; or the step fails, or all later ones. Then the batch is sent again.
func TestP02_BetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	times := []time.Time{noon, noon.Add(-24 * time.Hour)}
	b := counter.Batch{Key: "k"}
	for name, meet := range map[string]func(t *testing.T, c *cell, other *counter.Recorder) perdocumenttest.Fault{
		"counted by another process": func(t *testing.T, c *cell, other *counter.Recorder) perdocumenttest.Fault {
			t.Helper()
			c.must(t, other, b, times...)
			return perdocumenttest.NoFault
		},
		"and forgotten by days": func(t *testing.T, c *cell, other *counter.Recorder) perdocumenttest.Fault {
			t.Helper()
			c.must(t, other, b, times...)
			c.must(t, other, counter.Batch{Key: "l"}, times[0].Add(time.Hour), times[1].Add(time.Hour))
			return perdocumenttest.NoFault
		},
		"and forgotten altogether": func(t *testing.T, c *cell, other *counter.Recorder) perdocumenttest.Fault {
			t.Helper()
			c.must(t, other, b, times...)
			c.must(t, other, counter.Batch{Key: "l"}, times[0].Add(time.Hour), times[1].Add(time.Hour))
			c.raise(t, times[0].Add(time.Millisecond))
			return perdocumenttest.NoFault
		},
		"packed": func(t *testing.T, c *cell, other *counter.Recorder) perdocumenttest.Fault {
			t.Helper()
			if err := other.Maintain(context.Background()); err != nil {
				t.Fatal(err)
			}
			return perdocumenttest.NoFault
		},
		"unavailable":                        func(*testing.T, *cell, *counter.Recorder) perdocumenttest.Fault { return perdocumenttest.Unavailable },
		"in conflict":                        func(*testing.T, *cell, *counter.Recorder) perdocumenttest.Fault { return perdocumenttest.Conflict },
		"in conflict, then unavailable":      func(*testing.T, *cell, *counter.Recorder) perdocumenttest.Fault { return perdocumenttest.Conflict },
		"in conflict, then the process ends": func(*testing.T, *cell, *counter.Recorder) perdocumenttest.Fault { return perdocumenttest.Conflict },
		"a request lost":                     func(*testing.T, *cell, *counter.Recorder) perdocumenttest.Fault { return perdocumenttest.LostRequest },
		"a reply lost":                       func(*testing.T, *cell, *counter.Recorder) perdocumenttest.Fault { return perdocumenttest.LostReply },
		"the process ends":                   func(*testing.T, *cell, *counter.Recorder) perdocumenttest.Fault { return perdocumenttest.Crash },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for step, all := 0, false; !all; step++ {
				c := newCell()
				r, other := c.open(t, noon.Add(72*time.Hour)), c.open(t, noon.Add(72*time.Hour))
				c.must(t, other, counter.Batch{}, times[0].Add(2*time.Hour))
				n, after := 0, perdocumenttest.NoFault
				c.at = func(perdocumenttest.Step) perdocumenttest.Fault {
					if n++; n-1 != step {
						return after
					}
					fault := meet(t, c, other)
					switch {
					case fault == perdocumenttest.Crash, name == "in conflict, then the process ends":
						after = perdocumenttest.Crash
					case name == "in conflict, then unavailable":
						after = perdocumenttest.Unavailable
					}
					return fault
				}
				results := c.send(t, r, b, times...)
				c.at = nil
				all = n <= step
				for i, err := range results {
					switch got := c.counted(t, other, times[i]); {
					case err == nil && got != 1, err != nil && !errors.Is(err, counter.ErrCommitUnknown) && !errors.Is(err, counter.ErrTooOld) && got != 0, got > 1:
						t.Errorf("step %d: a hit was counted %d times, and answered: %v", step, got, err)
					}
				}
				if name != "and forgotten altogether" || all {
					c.must(t, other, b, times...)
				}
				for i := range times {
					if got := c.counted(t, other, times[i]); got != 1 {
						t.Errorf("step %d: a hit was counted %d times, and sent twice", step, got)
					}
				}
				if err := c.check(); err != nil {
					t.Errorf("step %d: %v", step, err)
				}
			}
		})
	}
}

// The last batch of a producer is remembered until none of its hits can be repeated any more, even if no summary
// contains some of them.
func TestP02_ADayKnowsWhatAProducerSentBefore(t *testing.T) {
	t.Parallel()
	c := newCell()
	r := c.open(t, noon)
	me := counter.Producer{1}
	six, seven, eight := noon, noon.Add(-24*time.Hour), noon.Add(-3*time.Hour)
	c.must(t, r, counter.Batch{}, noon.Add(-5*time.Hour))
	c.at = func(s perdocumenttest.Step) perdocumenttest.Fault {
		if s.Write && s.Day == 0 {
			return perdocumenttest.Unavailable // the summary is not written
		}
		return perdocumenttest.NoFault
	}
	c.must(t, r, counter.Batch{Producer: me, Seq: 6}, six)
	c.at = nil
	c.must(t, r, counter.Batch{Producer: me, Seq: 7}, seven)
	c.must(t, r, counter.Batch{Producer: me, Seq: 8}, eight)
	c.must(t, r, counter.Batch{Key: "another"}, noon.Add(-4*time.Hour))
	c.raise(t, six.Add(-time.Millisecond))
	c.must(t, r, counter.Batch{Key: "third"}, noon)
	if got := c.send(t, r, counter.Batch{Producer: me, Seq: 6}, six); !errors.Is(got[0], counter.ErrSequence) {
		t.Errorf("a batch before the last one: %v", got)
	}
	if got := c.counted(t, r, six); got != 2 {
		t.Errorf("two hits of that minute were counted %d times", got)
	}
}

// A day does not grow with the batches that are counted in it.
func TestRecorder_DaysForget(t *testing.T) {
	t.Parallel()
	c := newCell()
	r := c.open(t, noon)
	times := []time.Time{noon, noon.Add(-24 * time.Hour)}
	var of []perdocument.DayBatch
	for i := range 100 {
		b := counter.Batch{Key: counter.Key(fmt.Sprint("k", i))}
		c.must(t, r, b, times...)
		known := map[counter.BucketKey]int{}
		for _, at := range times {
			of = append(of, perdocument.DayBatch{Day: counter.NewBucketKey(counter.MinuteOf(at).Day(), 1), Key: b.Key})
		}
		if err := c.View(t.Context(), func(tx perdocument.Store) error {
			there, err := tx.DayBatches(t.Context(), of)
			for j := range there {
				if there[j].Print != [16]byte{} {
					known[of[j].Day]++
				}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for day, n := range known {
			if n != 1 || len(known) != 2 {
				t.Fatalf("after %d batches %d days remember some, day %d remembers %d", i+1, len(known), day.Unit(), n)
			}
		}
	}
}
