// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// gate is a cell whose transactions wait to be let through.
type gate struct {
	*cells
	r      *Recorder
	pass   chan bool
	groups []Group
}

// gated returns a recorder over a cell that knows some metrics, with the gate closed. It runs in a synctest
// bubble, where time passes when all goroutines wait.
func gated(t *testing.T, change func(*Options), metrics ...Metric) *gate {
	t.Helper()
	g := &gate{cells: newCells("a"), pass: make(chan bool)}
	g.r, _ = open(t, g.cells, func(o *Options) {
		o.OnGroup = func(done Group) { g.groups = append(g.groups, done) }
		o.Linger = -1
		if change != nil {
			change(o)
		}
	})
	add(t, g.r, Batch{Hits: hitsOf(metrics...)})
	g.groups = nil
	g.fault = func(string) error { <-g.pass; return nil }
	return g
}

// send hits each metric from a caller of its own, and returns their results.
func (g *gate) send(t *testing.T, metrics ...Metric) chan error {
	t.Helper()
	results := make(chan error, len(metrics))
	for _, m := range metrics {
		go func() { results <- g.r.Hit(context.Background(), m) }()
		synctest.Wait()
	}
	return results
}

func (g *gate) sizes() []int {
	var sizes []int
	for _, done := range g.groups {
		sizes = append(sizes, done.Batches)
	}
	return sizes
}

func TestRecorder_CallersShareCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gated(t, func(o *Options) { o.Group = 5 }, "x")
		g.send(t, slices.Repeat([]Metric{"x"}, 12)...)
		close(g.pass)
		synctest.Wait()
		if got := g.sizes(); !slices.Equal(got, []int{1, 5, 5, 1}) {
			t.Errorf("groups of %v", got)
		}
	})
}

// A batch that does not fit into a group goes into the next one, undivided, however large it is.
func TestRecorder_BatchesStayWhole(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gated(t, func(o *Options) { o.Group = 5 }, "x")
		g.send(t, "x", "x", "x")
		for _, n := range []int{4, 20, 1} {
			go func() { _, _ = g.r.Add(context.Background(), slices.Repeat(hitsOf("x"), n)) }()
			synctest.Wait()
		}
		close(g.pass)
		synctest.Wait()
		if got := g.sizes(); !slices.Equal(got, []int{1, 2, 1, 1, 1}) {
			t.Errorf("groups of %v", got)
		}
	})
}

// A batch that makes a group fail does not block the others, and gets the error.
func TestRecorder_Poison(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gated(t, nil, "x", "bad")
		poison, id := errors.New("poison"), g.places["bad"].ID
		g.fails = func(m *model) error {
			if m.minute(id, MinuteOf(noon)) > 1 {
				return poison
			}
			return nil
		}
		first := g.send(t, "x", "x", "x")
		bad := g.send(t, "bad")
		last := g.send(t, "x", "x")
		close(g.pass)
		synctest.Wait()
		for _, results := range []chan error{first, last} {
			for range cap(results) {
				if err := <-results; err != nil {
					t.Error(err)
				}
			}
		}
		if err := <-bad; !errors.Is(err, poison) {
			t.Errorf("%v, want %v", err, poison)
		}
		wantMinute(t, g.cells, "x", noon, 6)
		if got := g.sizes(); !slices.Equal(got, []int{1, 5, 1, 1, 1, 1, 1}) {
			t.Errorf("groups of %v", got)
		}
	})
}

// If the cell fails and not a batch, not every batch of the group is tried; and batches with an unknown outcome
// are not retried.
func TestRecorder_FailuresOfACell(t *testing.T) {
	t.Parallel()
	down, unknown := errors.New("down"), fmt.Errorf("commit: %w", ErrCommitUnknown)
	for _, test := range []struct {
		err  error
		want []int
	}{{down, []int{1, 1, 5, 1, 1}}, {unknown, []int{1, 5}}} {
		synctest.Test(t, func(t *testing.T) {
			g := gated(t, nil, "x")
			g.fails = func(*model) error { return test.err }
			results := g.send(t, slices.Repeat([]Metric{"x"}, 6)...)
			close(g.pass)
			synctest.Wait()
			for range cap(results) {
				if err := <-results; !errors.Is(err, test.err) {
					t.Errorf("%v, want %v", err, test.err)
				}
			}
			if got := g.sizes(); !slices.Equal(got, test.want) {
				t.Errorf("groups of %v, want %v", got, test.want)
			}
			wantMinute(t, g.cells, "x", noon, 1)
		})
	}
}

// The other cells count while one is down.
func TestRecorder_OneCellDown(t *testing.T) {
	t.Parallel()
	over := newCells("a", "b")
	r, _ := open(t, over, nil)
	add(t, r, Batch{Hits: hitsOf("1", "2", "3", "4")})
	down := errors.New("down")
	over.fault = func(cell string) error {
		if cell == "b" {
			return down
		}
		return nil
	}
	b := Batch{Hits: hitsOf("1", "2", "3", "4"), Key: "k"}
	add(t, r, b, down, nil, down, nil)
	add(t, r, b, down, nil, down, nil)
	over.fault = nil
	add(t, r, b)
	add(t, r, b)
	for _, m := range []Metric{"1", "2", "3", "4"} {
		wantMinute(t, over, m, noon, 2)
	}
}

// Close answers accepted hits.
func TestRecorder_Close(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gated(t, nil, "x")
		results := g.send(t, slices.Repeat([]Metric{"x"}, 10)...)
		compacted := make(chan error)
		go func() { compacted <- g.r.Close() }()
		synctest.Wait()
		if err := g.r.Hit(t.Context(), "x"); !errors.Is(err, ErrClosed) {
			t.Errorf("while it closes: %v", err)
		}
		close(g.pass)
		if err := <-compacted; err != nil {
			t.Error(err)
		}
		if len(results) != 10 {
			t.Errorf("%d were answered", len(results))
		}
		wantMinute(t, g.cells, "x", noon, 11)
	})
}

// The context ends only the wait for room in the queue.
func TestRecorder_Overloaded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gated(t, func(o *Options) { o.Waiting = 2 }, "x")
		g.send(t, "x")
		wait := func() chan error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			result := make(chan error, 1)
			go func() { defer cancel(); result <- g.r.Hit(ctx, "x") }()
			synctest.Wait()
			return result
		}
		placed := []chan error{wait(), wait()}
		if err := <-wait(); !errors.Is(err, ErrOverloaded) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want ErrOverloaded", err)
		}
		close(g.pass)
		for _, result := range placed {
			if err := <-result; err != nil {
				t.Error(err)
			}
		}
		wantMinute(t, g.cells, "x", noon, 4)
	})
}

// A group lingers for callers that were just answered, but not forever.
func TestRecorder_Lingers(t *testing.T) {
	t.Parallel()
	const linger = 50 * time.Microsecond
	for _, test := range []struct {
		think  time.Duration // how long the others take before they return
		linger time.Duration
		want   []int
	}{
		{linger / 2, linger, []int{3, 3}},
		{2 * linger, linger, []int{3, 1, 2}},
		{linger / 2, -1, []int{3, 1, 2}},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := gated(t, func(o *Options) { o.Linger = test.linger }, "x")
			g.send(t, "x")
			g.send(t, "x", "x", "x")
			g.pass <- true
			synctest.Wait()
			g.groups = nil
			g.pass <- true // the group of three
			synctest.Wait()
			g.send(t, "x")
			for range 2 {
				go func() {
					<-time.After(test.think)
					_ = g.r.Hit(context.Background(), "x")
				}()
			}
			<-time.After(3 * linger)
			close(g.pass)
			<-time.After(3 * linger)
			synctest.Wait()
			if got := g.sizes(); !slices.Equal(got, test.want) {
				t.Errorf("think %v, linger %v: groups of %v, want %v", test.think, test.linger, got, test.want)
			}
		})
	}
}

func TestPlaces_AreBounded(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	r, _ := open(t, over, func(o *Options) { o.Names = 10 })
	for i := range 100 {
		add(t, r, Batch{Hits: hitsOf(Metric(fmt.Sprint(i)), "always")})
	}
	if n := len(r.places.young) + len(r.places.old); n > 10 {
		t.Errorf("%d places are remembered", n)
	}
	asked := over.asked
	add(t, r, Batch{Hits: hitsOf("always", "99")})
	if over.asked != asked {
		t.Error("the directory was asked for what was used last")
	}
	wantMinute(t, over, "always", noon, 101)
	wantMinute(t, over, "99", noon, 2)
}
