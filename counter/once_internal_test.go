// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestRecorder_SameKeyAtOnce(t *testing.T) {
	t.Parallel()
	over := newCells("a", "b")
	r, _ := open(t, over, nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	first := 0
	for range 100 {
		wg.Go(func() {
			answer, err := r.AddBatch(t.Context(), Batch{Hits: hitsOf("a", "b", "a", "c"), Key: "k"})
			if err = errors.Join(append(answer.Results, err)...); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !answer.Replayed {
				first++
			}
		})
	}
	wg.Wait()
	wantMinute(t, over, "a", noon, 2)
	wantMinute(t, over, "b", noon, 1)
	wantMinute(t, over, "c", noon, 1)
	// One or two batches were first in at least one of the two cells.
	if first < 1 || first > 2 {
		t.Errorf("%d batches were counted for the first time", first)
	}
}

// A repeat of a batch with refused hits counts the ones that are now possible, and no others again.
func TestRecorder_RepeatCountsWhatWasRefused(t *testing.T) {
	t.Parallel()
	over := newCells("a", "b")
	r, clock := open(t, over, nil)
	down := errors.New("cell down")
	over.down["late"] = down
	hits := hitsOf("x", "late", "future", "x")
	hits[2].At = noon.Add(ahead + time.Second)
	b := Batch{Hits: hits, Key: "k"}
	for range 2 {
		if add(t, r, b, nil, down, ErrInFuture).Replayed {
			t.Error("replayed, though a hit was not counted")
		}
	}
	delete(over.down, "late")
	clock.set(noon.Add(time.Minute))
	if add(t, r, b).Replayed || !add(t, r, b).Replayed {
		t.Error("want the third attempt to count the rest, and the fourth to repeat it")
	}
	wantMinute(t, over, "x", noon, 2)
	wantMinute(t, over, "late", noon, 1)
	wantMinute(t, over, "future", hits[2].At, 1)
}

func TestRecorder_KeysAndProducers(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	r, _ := open(t, over, nil)
	me, you := Producer{1}, Producer{2}
	one, two := hitsOf("x"), hitsOf("x", "x")
	for i, step := range []struct {
		batch  Batch
		want   error
		replay bool
		x      int64
	}{
		{Batch{Hits: one, Key: "k"}, nil, false, 1},
		{Batch{Hits: one, Key: "k"}, nil, true, 1},
		{Batch{Hits: two, Key: "k"}, ErrKeyReused, false, 1},
		{Batch{Hits: one, Key: "l"}, nil, false, 2},
		{Batch{Hits: one, Producer: me, Seq: 7}, nil, false, 3}, // an unknown producer may start with any number
		{Batch{Hits: one, Producer: me, Seq: 7}, nil, true, 3},
		{Batch{Hits: two, Producer: me, Seq: 7}, ErrKeyReused, false, 3},
		{Batch{Hits: two, Producer: me, Seq: 9}, nil, false, 5},
		{Batch{Hits: one, Producer: me, Seq: 8}, ErrSequence, false, 5},
		{Batch{Hits: one, Producer: you, Seq: 1}, nil, false, 6},
		{Batch{Hits: two, Producer: me, Seq: 9}, nil, true, 6},
		{Batch{Hits: one}, nil, false, 7},
		{Batch{Hits: one}, nil, false, 8},
	} {
		want := []error{step.want, step.want}
		if got := add(t, r, step.batch, want...); got.Replayed != step.replay {
			t.Errorf("step %d: replayed is %t", i, got.Replayed)
		}
		wantMinute(t, over, "x", noon, step.x)
	}
}

// A hit at the dedup horizon counts; one below it is refused regardless of the clock, since its record may be
// forgotten.
func TestP02_TheFloorDecides(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		at   time.Duration // after the dedup horizon
		want error
	}{{-time.Millisecond, ErrTooOld}, {0, nil}, {time.Millisecond, nil}} {
		over := newCells("a")
		r, clock := open(t, over, nil)
		horizon := noon.Add(-Window)
		hits := []Hit{{Metric: "x", At: horizon.Add(test.at), N: 1}}
		clock.set(noon.Add(-time.Hour))
		add(t, r, Batch{Hits: hits, Key: "k"})
		if _, err := forget(t.Context(), over.is["a"], horizon.UnixMilli()); err != nil {
			t.Fatal(err)
		}
		if got := len(over.is["a"].batches); (got == 1) != (test.want == nil) {
			t.Errorf("%v after the dedup horizon: %d keys are remembered", test.at, got)
		}
		clock.set(noon.Add(-2 * time.Hour)) // set back
		add(t, r, Batch{Hits: hits, Key: "k"}, test.want)
		add(t, r, Batch{Hits: hits, Key: "l"}, test.want)
		add(t, r, Batch{Hits: hits})
		want := int64(3)
		if test.want != nil {
			want = 2
		}
		wantMinute(t, over, "x", hits[0].At, want)
	}
}

// A restored cell lacks metrics that processes have cached. Their hits are not counted in a place where they
// could not be found.
func TestP02_ARestoredCellIsNotTrusted(t *testing.T) {
	t.Parallel()
	for _, later := range []time.Duration{0, 24 * time.Hour} {
		over := newCells("a", "b")
		r, clock := open(t, over, nil)
		add(t, r, Batch{Hits: hitsOf("x", "y")})
		lost, _ := over.of("x")
		over.mu.Lock()
		before := over.places["x"]
		*lost = *newModel()
		delete(over.places, "x")
		over.mu.Unlock()

		clock.set(noon.Add(later))
		hits := []Hit{{Metric: "x", At: noon.Add(later), N: 1}, {Metric: "y", At: noon.Add(later), N: 1}}
		b := Batch{Hits: hits, Key: "k"}
		add(t, r, b)
		if !add(t, r, b).Replayed {
			t.Error("not replayed")
		}
		wantMinute(t, over, "x", hits[0].At, 1)
		if m, id := over.of("x"); m == nil || id == before.ID || m.metrics[id].Name != "x" {
			t.Errorf("it is %d again, or unknown", id)
		}
	}
}

func TestCounted_ComesBack(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 7, 8, 9, 1000} {
		c := newCounted(n)
		for i := range n {
			if len(c.pack(n)) == 0 {
				t.Errorf("%d of %d are packed like all", i, n)
			}
			if got := decodeCounted(c.pack(n), n); got.has(i) || i > 0 && !got.has(i-1) {
				t.Errorf("%d of %d: %x", i, n, got)
			}
			c.set(i)
		}
		if len(c.pack(n)) != 0 {
			t.Errorf("all of %d take %d bytes", n, len(c.pack(n)))
		}
		if got := decodeCounted(nil, n); !got.has(n - 1) {
			t.Errorf("all of %d are not", n)
		}
	}
}

// The differences that a print detects.
func TestPrint(t *testing.T) {
	t.Parallel()
	berlin := time.FixedZone("", 3600)
	base := func() []Hit { return []Hit{{Metric: "ab", At: noon, N: 1}, {Metric: "c", At: noon, N: 1}} }
	if h := base(); true {
		h[0].At = noon.In(berlin)
		if digestOf(h) != digestOf(base()) {
			t.Error("the zone of a time changes the print")
		}
	}
	seen := map[[16]byte]string{digestOf(base()): "nothing"}
	for what, change := range map[string]func(h []Hit) []Hit{
		"time":   func(h []Hit) []Hit { h[0].At = noon.Add(1); return h },
		"n":      func(h []Hit) []Hit { h[1].N = 2; return h },
		"kind":   func(h []Hit) []Hit { h[1].Kind = Gauge; return h },
		"metric": func(h []Hit) []Hit { h[0].Metric, h[1].Metric = "a", "bc"; return h },
		"order":  func(h []Hit) []Hit { return []Hit{h[1], h[0]} },
		"fewer":  func(h []Hit) []Hit { return h[:1] },
		"more":   func(h []Hit) []Hit { return append(h, h[0]) },
	} {
		print := digestOf(change(base()))
		if other, ok := seen[print]; ok {
			t.Errorf("changing %s is like changing %s", what, other)
		}
		seen[print] = what
	}
	// Prints are stored, so they must not change.
	if got, want := fmt.Sprintf("%x", digestOf(base())), "b2f7a6ec8e80efe170012a18448ce856"; got != want {
		t.Errorf("the print is %s, want %s", got, want)
	}
}
