// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/locus-db/locus/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// A short run of every measurement, which also checks that each method counts correctly.
func TestMeasure_Little(t *testing.T) {
	t.Parallel()
	r := measure(t, Options{Documents: 300, Tags: 3000, PerTag: 5, Seconds: 0.05, Foreign: 0.2,
		Cells: []string{"postgres", "sqlite"}})
	for _, run := range r.Runs {
		if run.PerSecond <= 0 {
			t.Errorf("%+v", run)
		}
	}
	for _, m := range []string{"locus", "xmin"} {
		if r.run(m, disturbed) == nil || len(freshness([]Report{*r}, m)) == 0 {
			t.Errorf("%s was not measured beside a foreign transaction", m)
		}
	}
}

// Two invocations have different worlds, two methods of one invocation the same; its clients partition it.
func TestWorld_IsSharedOut(t *testing.T) {
	t.Parallel()
	o := Options{Documents: 100, Tags: 30, PerTag: 10, Zipf: 1}
	one, same := newWorld(o), newWorld(o)
	if diff := cmp.Diff(one.pets, same.pets, cmp.AllowUnexported(pet{})); diff != "" {
		t.Error(diff)
	}
	if o.Invocation++; cmp.Equal(one.pets, newWorld(o).pets, cmp.AllowUnexported(pet{})) {
		t.Error("two invocations have the same documents")
	}
	owners := map[int]int{}
	for i, c := range one.clients(7) {
		for range 50 {
			batch := c.next(20)
			seen := map[int]bool{}
			for _, p := range batch {
				if owner, known := owners[p.n]; known && owner != i || seen[p.n] {
					t.Errorf("document %d belongs to clients %d and %d, or is there twice", p.n, owner, i)
				}
				owners[p.n], seen[p.n] = i, true
				if len(p.tags) != o.PerTag || !slices.IsSorted(p.tags) || len(slices.Compact(slices.Clone(p.tags))) != o.PerTag {
					t.Errorf("tags of %d: %v", p.n, p.tags)
				}
			}
		}
	}
	if len(owners) != o.Documents {
		t.Errorf("%d documents were written", len(owners))
	}
}

// Each call to the queue is answered once, by one transaction at a time.
func TestDrive_SharesTransactions(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	n := 0
	w := newWorld(Options{Documents: 100, Tags: 30, PerTag: 3})
	for _, l := range []Load{shared, single, at(50)} {
		n = 0
		done, err := drive(t.Context(), w, l, 20*time.Millisecond, func(_ context.Context, _ int, pets []*pet) error {
			mu.Lock()
			defer mu.Unlock()
			n += len(pets)
			return nil
		})
		if err != nil || done.updates() != n || n == 0 || len(done.waits) != n {
			t.Errorf("%v: %d updates, %d waits, %d written, %v", l, done.updates(), len(done.waits), n, err)
		}
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	began := time.Now()
	after := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	w := &written{began: began, commits: [][]commit{{{0, ms(1)}, {2, ms(2)}, {0, ms(9)}}, {{1, ms(3)}}}}

	var s sights
	s.read([]entry{{4, 0}, {5, 1}, {6, 2}})
	s.answered(5, after(7))
	s.read([]entry{{6, 2}, {8, 0}}) // read again
	s.answered(8, after(8))
	got, err := s.delays(w, 3)
	want := []delay{{ms(1), ms(7)}, {ms(3), ms(7)}, {ms(2), ms(8)}, {ms(9), ms(8)}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("delays = %v, %v, want %v", got, err, want)
	}
	if late := got[3].late(); late != 0 {
		t.Errorf("seen before the client knew: %v late", late)
	}
	if at, ok := s.reached(6); !ok || !at.Equal(after(8)) {
		t.Errorf("reached 6 at %v, %t", at, ok)
	}
	s.read([]entry{{9, 1}})
	if _, err := s.delays(w, 3); err == nil {
		t.Error("what is in the log and was not seen is no delay")
	}

	got, err = refreshes{{after(0), after(5)}, {after(5), after(11)}, {after(11), after(15)}}.delays(w)
	want = []delay{{ms(1), ms(11)}, {ms(2), ms(11)}, {ms(9), ms(15)}, {ms(3), ms(11)}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("delays of a view = %v, %v, want %v", got, err, want)
	}
	if points := staleness(want, ms(100)); points[0][1] != 10 || points[1][1] != 0 {
		t.Errorf("staleness = %v", points)
	}
}
