// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

type apartCell struct {
	*simApart
	metrics map[Metric]ID
	// at, if set, is called before each step of processes other than the ones that it runs itself.
	at     func(SimStep) SimFault
	within atomic.Bool
}

func newApartCell() *apartCell {
	c := &apartCell{metrics: map[Metric]ID{}}
	c.simApart = &simApart{w: &simWorld{}, had: map[dayName]bool{}, db: OpenPerDocument(func(s SimStep) SimFault {
		if c.at == nil || !c.within.CompareAndSwap(false, true) {
			return simNone
		}
		defer c.within.Store(false)
		return c.at(s)
	})}
	return c
}

func (c *apartCell) List() []string       { return []string{"a"} }
func (c *apartCell) Cell(string) Database { return c.db }

func (c *apartCell) Places(_ context.Context, metrics []Metric, _, _ bool) []Place {
	places := make([]Place, len(metrics))
	for i, m := range metrics {
		if c.metrics[m] == 0 {
			c.metrics[m] = ID(len(c.metrics) + 1)
		}
		places[i] = Place{Cell: "a", ID: c.metrics[m]}
	}
	return places
}

// send sends a batch of one hit per time, and returns the results.
func (c *apartCell) send(t *testing.T, r *Recorder, b Batch, at ...time.Time) []error {
	t.Helper()
	for _, at := range at {
		b.Hits = append(b.Hits, Hit{Metric: "x", At: at, N: 1})
	}
	answer, err := r.AddBatch(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Results
}

func (c *apartCell) must(t *testing.T, r *Recorder, b Batch, at ...time.Time) {
	t.Helper()
	if err := errors.Join(c.send(t, r, b, at...)...); err != nil {
		t.Fatal(err)
	}
}

func (c *apartCell) raise(t *testing.T, horizon time.Time) {
	t.Helper()
	if err := forgetOld(context.Background(), c.db, horizon.Add(Window)); err != nil {
		t.Fatal(err)
	}
}

// Between any two steps of a process that counts a batch of two days, another one counts it, and makes days, or
// everything, forget it; or the step fails, or all later ones. Then the batch is sent again.
func TestP02_BetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	times := []time.Time{noon, noon.Add(-24 * time.Hour)}
	b := Batch{Key: "k"}
	for name, meet := range map[string]func(t *testing.T, c *apartCell, other *Recorder) SimFault{
		"counted by somebody else": func(t *testing.T, c *apartCell, other *Recorder) SimFault {
			t.Helper()
			c.must(t, other, b, times...)
			return simNone
		},
		"and forgotten by days": func(t *testing.T, c *apartCell, other *Recorder) SimFault {
			t.Helper()
			c.must(t, other, b, times...)
			c.must(t, other, Batch{Key: "l"}, times[0].Add(time.Hour), times[1].Add(time.Hour))
			return simNone
		},
		"and forgotten altogether": func(t *testing.T, c *apartCell, other *Recorder) SimFault {
			t.Helper()
			c.must(t, other, b, times...)
			c.must(t, other, Batch{Key: "l"}, times[0].Add(time.Hour), times[1].Add(time.Hour))
			c.raise(t, times[0].Add(time.Millisecond))
			return simNone
		},
		"packed": func(t *testing.T, c *apartCell, other *Recorder) SimFault {
			t.Helper()
			if err := other.Maintain(context.Background()); err != nil {
				t.Fatal(err)
			}
			return simNone
		},
		"unavailable":                   func(*testing.T, *apartCell, *Recorder) SimFault { return simUnavailable },
		"in conflict":                   func(*testing.T, *apartCell, *Recorder) SimFault { return simConflict },
		"in conflict, then unavailable": func(*testing.T, *apartCell, *Recorder) SimFault { return simConflict },
		"a request lost":                func(*testing.T, *apartCell, *Recorder) SimFault { return simLostRequest },
		"a reply lost":                  func(*testing.T, *apartCell, *Recorder) SimFault { return simLostReply },
		"the process ends":              func(*testing.T, *apartCell, *Recorder) SimFault { return simCrash },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for step, all := 0, false; !all; step++ {
				c := newApartCell()
				later := func(o *Options) { o.Now = func() time.Time { return noon.Add(72 * time.Hour) } }
				r, _ := open(t, c, later)
				other, _ := open(t, c, later)
				c.must(t, other, Batch{}, times[0].Add(2*time.Hour))
				n, after := 0, simNone
				c.at = func(SimStep) SimFault {
					if n++; n-1 != step {
						return after
					}
					fault := meet(t, c, other)
					switch {
					case fault == simCrash:
						after = simCrash
					case name == "in conflict, then unavailable":
						after = simUnavailable
					}
					return fault
				}
				results := c.send(t, r, b, times...)
				c.at = nil
				all = n <= step
				for i, err := range results {
					switch got := c.counted(1, MinuteOf(times[i])); {
					case err == nil && got != 1, err != nil && !errors.Is(err, ErrCommitUnknown) && !errors.Is(err, ErrTooOld) && got != 0, got > 1:
						t.Errorf("step %d: a hit was counted %d times, and answered: %v", step, got, err)
					}
				}
				if name != "and forgotten altogether" || all {
					c.must(t, other, b, times...)
				}
				for i := range times {
					if got := c.counted(1, MinuteOf(times[i])); got != 1 {
						t.Errorf("step %d: a hit was counted %d times, and sent twice", step, got)
					}
				}
				if c.check(); c.w.wrong != nil {
					t.Errorf("step %d: %v", step, c.w.wrong)
				}
			}
		})
	}
}

// The last batch of a producer is remembered until the latest of all its hits can no longer be repeated, even if
// no summary knows of that hit.
func TestP02_ADayKnowsWhatAProducerSentBefore(t *testing.T) {
	t.Parallel()
	c := newApartCell()
	r, _ := open(t, c, nil)
	me := Producer{1}
	six, seven, eight := noon, noon.Add(-24*time.Hour), noon.Add(-3*time.Hour)
	c.must(t, r, Batch{}, noon.Add(-5*time.Hour))
	c.at = func(s SimStep) SimFault {
		if s.Write && s.Day == 0 {
			return simUnavailable // the summary is not written
		}
		return simNone
	}
	c.must(t, r, Batch{Producer: me, Seq: 6}, six)
	c.at = nil
	c.must(t, r, Batch{Producer: me, Seq: 7}, seven)
	c.must(t, r, Batch{Producer: me, Seq: 8}, eight)
	c.must(t, r, Batch{Key: "another"}, noon.Add(-4*time.Hour))
	c.raise(t, six.Add(-time.Millisecond))
	c.must(t, r, Batch{Key: "third"}, noon)
	if got := c.send(t, r, Batch{Producer: me, Seq: 6}, six); !errors.Is(got[0], ErrSequence) {
		t.Errorf("a batch before the last one: %v", got)
	}
	if got := c.counted(1, MinuteOf(six)); got != 2 {
		t.Errorf("two hits of that minute were counted %d times", got)
	}
}

// A day does not grow with the batches that are counted in it.
func TestRecorder_DaysForget(t *testing.T) {
	t.Parallel()
	c := newApartCell()
	r, _ := open(t, c, nil)
	for i := range 100 {
		b := Batch{Key: Key(fmt.Sprint("k", i))}
		c.must(t, r, b, noon, noon.Add(-24*time.Hour))
		for _, at := range []time.Time{noon, noon.Add(-24 * time.Hour)} {
			c.had[dayName{name{key: b.Key}, NewBucketKey(MinuteOf(at).Day(), 1)}] = true
		}
		if n := c.dedup(); n != 1 {
			t.Fatalf("after %d batches a day remembers %d", i+1, n)
		}
	}
}
