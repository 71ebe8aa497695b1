// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type setClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *setClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *setClock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// open returns a recorder that is closed with the test. change, if not nil, sets options.
func open(t testing.TB, over Cells, change func(*Options)) (*Recorder, *setClock) {
	t.Helper()
	clock := &setClock{at: noon}
	opts := &Options{Now: clock.now, Rand: func() float64 { return .999999 }}
	if change != nil {
		change(opts)
	}
	r, err := New(over, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if c, ok := over.(*cells); ok && c.wrong != nil {
			t.Error(c.wrong)
		}
	})
	return r, clock
}

// add counts a batch and checks its results; those not given must be nil.
func add(t testing.TB, r *Recorder, b Batch, want ...error) Answer {
	t.Helper()
	answer, err := r.AddBatch(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range answer.Results {
		var w error
		if i < len(want) {
			w = want[i]
		}
		if !errors.Is(got, w) || (w == nil) != (got == nil) {
			t.Fatalf("hit %d: %v, want %v", i, got, w)
		}
	}
	return answer
}

func hitsOf(metrics ...Metric) []Hit {
	hits := make([]Hit, len(metrics))
	for i, m := range metrics {
		hits[i] = Hit{Metric: m, At: noon, N: 1}
	}
	return hits
}

func wantMinute(t testing.TB, c *cells, m Metric, at time.Time, want int64) {
	t.Helper()
	if got := c.minute(m, MinuteOf(at)); got != want {
		t.Errorf("%s at %s: %d, want %d", m, at.Format(time.TimeOnly), got, want)
	}
}

func TestRecorder_CountsOverCells(t *testing.T) {
	t.Parallel()
	over := newCells("a", "b", "c")
	r, _ := open(t, over, nil)
	if err := r.Hit(t.Context(), "page /"); err != nil {
		t.Fatal(err)
	}
	var hits []Hit
	for i := range 100 {
		hits = append(hits, Hit{Metric: Metric(fmt.Sprint("m", i%10)), At: noon.Add(time.Duration(-i) * time.Minute),
			N: int64(i + 1)})
	}
	add(t, r, Batch{Hits: hits})
	add(t, r, Batch{Hits: slices.Clone(hits)})
	wantMinute(t, over, "page /", noon, 1)
	for _, h := range hits {
		wantMinute(t, over, h.Metric, h.At, 2*h.N)
	}
}

func TestRecorder_ManyCallers(t *testing.T) {
	t.Parallel()
	over := newCells("a", "b")
	r, _ := open(t, over, nil)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for range 20 {
				if err := r.Hit(t.Context(), Metric(fmt.Sprint(i%4))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range 4 {
		wantMinute(t, over, Metric(fmt.Sprint(i)), noon, 160)
	}
}
