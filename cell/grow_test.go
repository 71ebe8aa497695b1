// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
	"github.com/locus-db/locus/internal/longtest"
)

type linked map[cell.Key]int64

// put puts the keys with these numbers, and checks the puids of keys that already have one.
func (l linked) put(ctx context.Context, c *process, from, to int) error {
	keys := keysOf(c, from, to)
	as, err := cell.NewDirectory(c).Put(ctx, keys)
	if err != nil {
		return err
	}
	for i, k := range keys {
		if was, ok := l[k]; ok && was != as[i].PUID || ok && as[i].Fresh {
			return fmt.Errorf("key %d had puid %d, and got %+v", from+i, was, as[i])
		}
		l[k] = as[i].PUID
	}
	return nil
}

func (l linked) mustPut(t *testing.T, c *process, from, to int) {
	t.Helper()
	if err := l.put(t.Context(), c, from, to); err != nil {
		t.Fatal(err)
	}
}

// check fails unless the process finds every key, and puids are distinct.
func (l linked) check(t *testing.T, c *process) {
	t.Helper()
	keys := slices.Collect(maps.Keys(l))
	got, err := cell.NewDirectory(c).Lookup(t.Context(), keys)
	if err != nil {
		t.Error(err)
		return
	}
	used := map[int64]bool{}
	for i, k := range keys {
		if got[i] != l[k] || used[got[i]] {
			t.Errorf("a key with puid %d has %d, which another one has: %v", l[k], got[i], used[got[i]])
			return
		}
		used[got[i]] = true
	}
}

func rows(t *testing.T, c *process, id cell.ID) (rs []cell.Row) {
	t.Helper()
	if err := update(t, c, id, cell.Database[cell.Store].View, func(s cell.Store) (err error) {
		rs, err = s.Scan(t.Context(), nil, 1<<30)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return rs
}

// wantGrown fails unless the process sees a current generation with this many cells, and all others sealed with
// filters.
func wantGrown(t *testing.T, c *process, cells uint64) {
	t.Helper()
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := c.Map()
	if m.Count(m.Current()) != cells || m.Generations() != m.Current()+1 {
		t.Fatalf("%d generations, current is %d of %d cells; want %d", m.Generations(), m.Current(),
			m.Count(m.Current()), cells)
	}
	for _, id := range m.Cells() {
		stats, err := c.Stats(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		want := cell.Sealed
		if int(id.Gen) == m.Current() {
			want = cell.Open
		}
		if stats.Head.Keys != want || stats.Filter != (want == cell.Sealed) {
			t.Errorf("cell %v is %v, filter %v; want %v", id, stats.Head.Keys, stats.Filter, want)
		}
	}
}

func grow(t *testing.T, c *process, cells uint64) {
	t.Helper()
	if err := cell.Grow(t.Context(), c, cell.Growth{Cells: cells}, nil); err != nil {
		t.Fatal(err)
	}
}

// A process that repeats a growth, as each does when it starts, keeps the filters that it has read: while a cell is
// down they prove which keys it lacks.
func TestGrow_AgainKeepsFilters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c := open(t, memory, 4)
		linked{}.mustPut(t, c, 0, 100)
		grow(t, c, 8)
		later := open(t, memory, 0)
		absent := keysOf(later, 100, 200)
		if _, err := cell.NewDirectory(later).Lookup(t.Context(), absent); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the filters are read in the background
		grow(t, later, 8)
		for _, url := range memory.URLs() {
			memory.Down(url, strings.HasPrefix(url, "mem:g0-"))
		}
		found := 0
		for _, k := range absent {
			if _, err := cell.NewDirectory(later).Lookup(t.Context(), []cell.Key{k}); err == nil {
				found++
			}
		}
		if found < 90 { // a filter may be wrong about some
			t.Errorf("%d of %d keys are known to be absent while the older cells are down", found, len(absent))
		}
	})
}

// 16 cells become 48 and 240. No row of any cell changes; every key keeps its puid, for processes that know of the
// growth and for processes that were suspended.
func TestP08_GrowthMovesNothing(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c, sleeper := open(t, memory, 16), open(t, memory, 0)
		keys, before := linked{}, map[cell.ID][]cell.Row{}
		for round, cells := range []uint64{0, 48, 240} {
			if cells > 0 {
				grow(t, c, cells)
				wantGrown(t, c, cells)
			}
			for id, was := range before {
				if now := rows(t, c, id); int(id.Gen) < c.Map().Current() && !slices.Equal(now, was) {
					t.Errorf("cell %v had %d rows, and has %d, or others", id, len(was), len(now))
				}
			}
			for _, p := range []*process{c, sleeper} {
				keys.check(t, p)
				from := len(keys)
				if err := keys.put(t.Context(), p, from-from/10, from+1000); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
			}
			for _, id := range c.Map().Cells() {
				before[id] = rows(t, c, id)
			}
		}
		if got := sleeper.Map().Epoch(); got != c.Map().Epoch() {
			t.Errorf("who slept has epoch %d, the others %d", got, c.Map().Epoch())
		}
		for k, puid := range keys {
			id, err := c.Map().Puid(puid)
			if err != nil || id != c.Map().Key(int(id.Gen), k.Position()) {
				t.Fatalf("puid %d leads to %v, %v", puid, id, err)
			}
		}
	})
}

// Grow reports its steps; the generation starts where the map ended, and not before.
func TestGrow_WaitsForItsStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c := open(t, memory, 2)
		began, until := time.Now(), c.Map().Until()
		var said []string
		var waited int
		if err := cell.Grow(t.Context(), c, cell.Growth{Cells: 4}, func(p cell.Progress) {
			if p.Step == cell.StepWaiting {
				waited++
			}
			if p.Step != cell.StepWaiting || waited%20 == 1 {
				said = append(said, p.String())
			}
		}); err != nil {
			t.Fatal(err)
		}
		g := c.Map().Spec().Generations[1]
		if !g.Starts.Equal(until) || time.Since(began) != time.Hour || waited != 60 {
			t.Errorf("starts at %v, want %v; took %v, said %d times that it waits", g.Starts, until, time.Since(began), waited)
		}
		if now := c.Map().Until(); !now.Equal(until.Add(time.Hour)) {
			t.Errorf("the map ends at %v, the generation starts at %v", now, g.Starts)
		}
		const want = `created 1/4 databases
created 2/4 databases
created 3/4 databases
created 4/4 databases
announced generation 1, starts at 2000-01-01T01:00:00Z
starts in 1h0m0s
starts in 40m0s
starts in 20m0s
generation 1 is current
sealed 1/2 cells of generation 0
sealed 2/2 cells of generation 0
filters 1/2 cells of generation 0
filters 2/2 cells of generation 0`
		if got := strings.Join(said, "\n"); got != want {
			t.Errorf("said\n%s\nwant\n%s", got, want)
		}
	})
}

// The documentation promises that growing takes a minute, whatever happened before.
func TestGrow_TakesAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := options(&celltest.Memory{}, 2)
		o.Notice = 0
		c, err := cell.OpenCells(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer closeCells(t, c)
		for _, pause := range []time.Duration{0, 29 * time.Second, 31 * time.Second, time.Hour} {
			time.Sleep(pause) //nolint:forbidigo // the time of a bubble
			if err := c.Extend(t.Context()); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			grow(t, c, 2*c.Map().Count(c.Map().Current()))
			if took := time.Since(began); took < 30*time.Second || took > time.Minute {
				t.Errorf("after %v growing took %v, want 30 s to a minute", pause, took)
			}
		}
	})
}

// Growth is interrupted at every step, once and permanently, and resumed by another process. Concurrent users do not
// notice.
func TestP06_GrowthAfterACrashAnywhere(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for _, forever := range []bool{false, true} {
		for n, done := int64(1), false; !done; n++ {
			synctest.Test(t, func(t *testing.T) {
				memory := &celltest.Memory{}
				c, other := open(t, memory, 2), open(t, memory, 2)
				keys := linked{}
				keys.mustPut(t, other, 0, 20)
				steps := failing(memory, n, forever)
				err := cell.Grow(t.Context(), c, cell.Growth{Cells: 4}, nil)
				closeCells(t, c)
				done = steps.Load() < n
				if memory.Hook(nil); err == nil && forever && !done {
					// Only copies of the map, which are not waited for, may still have failed.
					wantGrown(t, other, 4)
				}
				keys.check(t, other)
				if err := keys.put(t.Context(), other, 10, 40); err != nil {
					t.Errorf("step %d: %v", n, err)
				}
				c = open(t, memory, 0)
				grow(t, c, 4)
				wantGrown(t, c, 4)
				for _, p := range []*process{c, other} {
					if err := keys.put(t.Context(), p, 0, 60); err != nil {
						t.Errorf("step %d: %v", n, err)
					}
					keys.check(t, p)
				}
				if m := c.Map(); m.Generations() != 2 {
					t.Errorf("step %d: %d generations", n, m.Generations())
				}
			})
		}
	}
}

// Two processes grow the same installation at the same time while a third one works: it grows once.
func TestGrow_TwoAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		keys := linked{}
		c := open(t, memory, 2)
		var wg sync.WaitGroup
		for range 2 {
			p := open(t, memory, 0)
			wg.Go(func() { grow(t, p, 6) })
		}
		for n := range 40 {
			keys.mustPut(t, c, 0, 5*n)
			time.Sleep(2 * time.Minute) //nolint:forbidigo // the time of a bubble
		}
		wg.Wait()
		wantGrown(t, c, 6)
		keys.check(t, c)
	})
}

// A growth reports that its generation is current also if the maintenance, which finishes growths, publishes it first.
func TestGrow_ReportsWhatAnotherPublished(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		late, other := open(t, memory, 2), open(t, memory, 0)
		var waited atomic.Bool
		goOn := make(chan struct{})
		memory.Hook(func(ctx context.Context, s celltest.Step) error {
			if isLate(ctx) && waited.Load() && s.When == celltest.Begins {
				<-goOn
			}
			return nil
		})
		var steps []string
		grown := make(chan error, 1)
		go func() {
			grown <- cell.Grow(context.WithValue(t.Context(), lateKey{}, true), late, cell.Growth{Cells: 4}, func(p cell.Progress) {
				steps = append(steps, p.Step)
				waited.Store(waited.Load() || p.Step == cell.StepWaiting)
			})
		}()
		synctest.Wait()
		grow(t, other, 4)
		close(goOn)
		if err := <-grown; err != nil {
			t.Fatal(err)
		}
		want := []string{cell.StepCreated, cell.StepAnnounced, cell.StepWaiting, cell.StepCurrent, cell.StepSealed, cell.StepFilters}
		if got := slices.Compact(steps); !slices.Equal(got, want) {
			t.Errorf("steps %q, want %q", got, want)
		}
	})
}

// Two processes request different generations: one succeeds, the other gets an error.
func TestGrow_OneOfTwoDifferent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		a, b := open(t, memory, 2), open(t, memory, 2)
		errs := make([]error, 2)
		var wg sync.WaitGroup
		for i, p := range []*process{a, b} {
			wg.Go(func() {
				errs[i] = cell.Grow(t.Context(), p, cell.Growth{Cells: 4, URLs: []string{fmt.Sprintf("mem:%c{g}-{i}", 'a'+i)}}, nil)
			})
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("two growths: %v", errs)
		}
		if err := errors.Join(errs...); !errors.Is(err, cell.ErrConflict) || !strings.Contains(err.Error(), "announced") {
			t.Errorf("the growth that came second: %v", err)
		}
		wantGrown(t, a, 4)
	})
}

func TestGrow_Refuses(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	c := open(t, memory, 6)
	for _, g := range []cell.Growth{{}, {Cells: 5}, {Cells: 8}, {Cells: 6, URLs: []string{"mem:g0-{i}"}}, {Cells: 12, URLs: []string{"mem:one"}}} {
		if err := cell.Grow(t.Context(), c, g, nil); !errors.Is(err, cell.ErrMap) {
			t.Errorf("%+v: %v, want ErrMap", g, err)
		}
	}
	swap(t, c, func(s *cell.Spec) {
		s.Generations = append(s.Generations, cell.Generation{Cells: 12, Starts: s.Until, URLs: []string{template}})
	})
	if err := cell.Grow(t.Context(), c, cell.Growth{Cells: 24}, nil); !errors.Is(err, cell.ErrConflict) || !strings.Contains(err.Error(), "announced") {
		t.Errorf("another generation than the announced: %v", err)
	}
	if got := memory.URLs(); len(got) != 6 {
		t.Errorf("databases %v", got)
	}
}

// Databases of an abandoned growth are taken by another one.
func TestP06_GrowthTakesLeftovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c := open(t, memory, 2)
		keys := linked{}
		keys.mustPut(t, c, 0, 40)
		ctx, cancel := context.WithCancelCause(t.Context())
		err := cell.Grow(ctx, c, cell.Growth{Cells: 4}, func(p cell.Progress) {
			if p.Step == cell.StepCreated && p.Done == p.Total {
				cancel(errTold)
			}
		})
		if !errors.Is(err, context.Canceled) && !errors.Is(err, errTold) {
			t.Fatal(err)
		}
		grow(t, c, 8)
		wantGrown(t, c, 8)
		keys.mustPut(t, c, 20, 80)
		keys.check(t, c)
	})
}

// Two processes request different numbers of cells at the same places: one gets its generation, the other an error that
// names it, and the cells belong to the announced one, even if the other process was stopped before any of its steps
// and continues while the first one waits for its start, and no new cell has heard of the announcement until then.
func TestP06_GrowthsOfDifferentNumbers(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for n, stopped := 0, true; stopped; n++ {
		synctest.Test(t, func(t *testing.T) {
			memory := &celltest.Memory{}
			a := open(t, memory, 2)
			late := open(t, memory, 2)
			keys := linked{}
			keys.mustPut(t, a, 0, 40)
			steps, goOn := 0, make(chan struct{})
			var mu sync.Mutex
			var deaf atomic.Bool // the copies of the announcement do not reach the new cells
			memory.Hook(func(ctx context.Context, s celltest.Step) error {
				if !isLate(ctx) && s.Do == "exclusive" && strings.Contains(s.URL, "g1-") && deaf.Load() {
					return cell.ErrUnavailable
				}
				if !isLate(ctx) || s.When != celltest.Begins {
					return nil
				}
				mu.Lock()
				steps++
				wait := steps > n
				mu.Unlock()
				if wait {
					<-goOn
				}
				return nil
			})
			lost := make(chan error, 1)
			go func() {
				lost <- cell.Grow(context.WithValue(t.Context(), lateKey{}, true), late, cell.Growth{Cells: 8}, nil)
			}()
			synctest.Wait()
			mu.Lock()
			stopped = steps > n
			mu.Unlock()
			var second error
			once := sync.OnceFunc(func() {
				close(goOn)
				second = <-lost
				deaf.Store(false)
			})
			first := cell.Grow(t.Context(), a, cell.Growth{Cells: 4}, func(p cell.Progress) {
				switch p.Step {
				case cell.StepCreated:
					deaf.Store(p.Done == p.Total)
				case cell.StepWaiting:
					once()
				}
			})
			if once(); (first == nil) == (second == nil) {
				t.Fatalf("stopped before step %d: two growths: %v; %v", n, first, second)
			}
			if err := errors.Join(first, second); !errors.Is(err, cell.ErrConflict) || !strings.Contains(err.Error(), "another growth announced") {
				t.Errorf("stopped before step %d: the growth that came second: %v", n, err)
			}
			cells := uint64(4)
			if second == nil {
				cells = 8
			}
			wantGrown(t, a, cells)
			for _, p := range []*process{a, late} {
				keys.mustPut(t, p, 20, 80)
				keys.check(t, p)
			}
		})
		if t.Failed() {
			return
		}
	}
}

type lateKey struct{}

func isLate(ctx context.Context) bool { return ctx.Value(lateKey{}) != nil }

// One old cell is down: all others are sealed, and callers that need it get an error.
func TestGrow_WithACellDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c := open(t, memory, 4)
		keys := linked{}
		keys.mustPut(t, c, 0, 100)
		err := cell.Grow(t.Context(), c, cell.Growth{Cells: 8}, func(p cell.Progress) {
			memory.Down("mem:g0-2", p.Step == cell.StepCurrent || p.Step == cell.StepSealed)
		})
		if !errors.Is(err, cell.ErrUnavailable) || !strings.Contains(err.Error(), "g0-2") {
			t.Fatalf("one cell down: %v", err)
		}
		for i, want := range []cell.KeyState{cell.Sealed, cell.Sealed, cell.Open, cell.Sealed} {
			memory.Down("mem:g0-2", false)
			if got := head(t, c, cell.ID{Index: uint32(i)}).Keys; got != want {
				t.Errorf("cell %d is %v, want %v", i, got, want)
			}
			memory.Down("mem:g0-2", true)
		}
		if err := keys.put(t.Context(), c, 100, 200); !errors.Is(err, cell.ErrUnavailable) {
			t.Errorf("new keys, some of a cell that is down: %v", err)
		}
		memory.Down("mem:g0-2", false)
		grow(t, c, 8)
		wantGrown(t, c, 8)
		if err := keys.put(t.Context(), c, 0, 200); err != nil {
			t.Error(err)
		}
	})
}

// With filters, new keys do not need old cells at all, not even unavailable ones.
func TestP06_FiltersMakeUpForCellsThatAreDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c := open(t, memory, 2)
		keys := linked{}
		keys.mustPut(t, c, 0, 1000)
		grow(t, c, 4)
		keys.check(t, c) // reads the heads of the sealed cells, which have filters
		synctest.Wait()
		m := c.Map()
		lacks := 0
		for k := range keys {
			if c.DefinitelyAbsent(m.Key(0, k.Position()), k) {
				t.Fatal("a filter lacks a key that the cell has")
			}
		}
		var fresh []cell.Key
		for n := range 10_000 {
			k := m.KeyOf("fresh", fmt.Sprint(n))
			if c.DefinitelyAbsent(m.Key(0, k.Position()), k) {
				lacks++
				fresh = append(fresh, k)
			}
			if c.DefinitelyAbsent(m.Key(1, k.Position()), k) {
				t.Fatal("a filter of an open cell")
			}
		}
		if lacks < 9900 {
			t.Errorf("filters prove %d of 10000 absent keys", lacks)
		}
		memory.Down("mem:g0-0", true)
		memory.Down("mem:g0-1", true)
		as, err := cell.NewDirectory(c).Put(t.Context(), fresh)
		if err != nil || !as[0].Fresh {
			t.Errorf("new keys while old cells are down: %v", err)
		}
	})
}
