// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

// threeGenerations returns an installation of 2, 4 and 8 cells with keys in all of them.
func threeGenerations(t *testing.T, memory *celltest.Memory) (*process, linked) {
	t.Helper()
	c, keys := open(t, memory, 2), linked{}
	for gen := range 3 {
		if gen > 0 {
			grow(t, c, 2<<gen)
		}
		keys.mustPut(t, c, 100*gen, 100*gen+100)
	}
	return c, keys
}

// compacted fails unless generations below to hold no keys and are not read.
func compacted(t *testing.T, c *process, to int) {
	t.Helper()
	m := c.Map()
	if m.Floor() != to {
		t.Errorf("the floor is %d, want %d", m.Floor(), to)
	}
	for _, id := range m.Cells() {
		stats, err := c.Stats(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if gone := int(id.Gen) < to; gone != (stats.Head.Keys == cell.Retired) || gone && (stats.Filter || len(rows(t, c, id)) > 0) {
			t.Errorf("cell %v is %v, filter %v, %d rows", id, stats.Head.Keys, stats.Filter, len(rows(t, c, id)))
		}
	}
}

func TestP06_CompactionKeepsEveryKey(t *testing.T) {
	t.Parallel()
	for to := range 3 {
		synctest.Test(t, func(t *testing.T) {
			memory := &celltest.Memory{}
			c, keys := threeGenerations(t, memory)
			sleeper := open(t, memory, 0)
			keys.check(t, c)
			var said []string
			for range 2 {
				if err := cell.Compact(t.Context(), c, to, func(p cell.Progress) { said = append(said, p.String()) }); err != nil {
					t.Fatal(err)
				}
				compacted(t, c, to)
				for _, p := range []*process{c, sleeper} {
					keys.check(t, p)
				}
			}
			if all := strings.Join(said, "\n"); to == 2 && (!strings.Contains(all, "copied") || !strings.Contains(all, "dropped 4/4 cells of generation 1")) {
				t.Errorf("said\n%s", all)
			}
			keys.check(t, c)
		})
	}
}

// A compaction is interrupted at every step, once and permanently, and repeated, while others work.
func TestP06_CompactionAfterACrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, forever := range []bool{false, true} {
		for n, done := int64(1), false; !done; n++ {
			synctest.Test(t, func(t *testing.T) {
				memory := &celltest.Memory{}
				other, keys := open(t, memory, 1), linked{}
				for gen := range 3 {
					if gen > 0 {
						grow(t, other, uint64(gen))
					}
					keys.mustPut(t, other, 20*gen, 20*gen+20)
				}
				c := open(t, memory, 0)
				steps := failing(memory, n, forever)
				_ = cell.Compact(t.Context(), c, 2, nil)
				closeCells(t, c)
				done = steps.Load() < n
				memory.Hook(nil)
				keys.check(t, other)
				if err := keys.put(t.Context(), other, 60, 70); err != nil {
					t.Errorf("step %d: %v", n, err)
				}
				c = open(t, memory, 0)
				if err := cell.Compact(t.Context(), c, 2, nil); err != nil {
					t.Errorf("step %d: %v", n, err)
				}
				compacted(t, c, 2)
				keys.check(t, c)
				keys.check(t, other)
			})
		}
	}
}

// A generation is added while keys are copied: keys meant for cells that are sealed by then go to the new ones.
func TestP06_CompactionMeetsGrowth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c, keys := open(t, memory, 2), linked{}
		keys.mustPut(t, c, 0, 2000)
		grow(t, c, 32)
		other := open(t, memory, 0)
		var copies atomic.Int64
		memory.Hook(func(ctx context.Context, s celltest.Step) error {
			if ctx.Value(who{}) == "compacts" && s.Do == "update" && s.When == celltest.Begins &&
				strings.HasPrefix(s.URL, "mem:g1-") && copies.Add(1) == 3 {
				grow(t, other, 64)
			}
			return nil
		})
		if err := cell.Compact(context.WithValue(t.Context(), who{}, "compacts"), c, 1, nil); err != nil {
			t.Fatal(err)
		}
		if copies.Load() < 3 {
			t.Fatal("no generation came while keys were copied")
		}
		for _, p := range []*process{c, other, open(t, memory, 0)} {
			keys.check(t, p) // reads the heads of the sealed cells, which have filters
			synctest.Wait()
			keys.check(t, p)
			if err := keys.put(t.Context(), p, 0, 2000); err != nil {
				t.Error(err)
			}
		}
		compacted(t, c, 1)
	})
}

// who is the context key of the process that makes a step.
type who struct{}

// A compaction that pauses for long finds that another one has finished and deleted the rows.
func TestP06_SlowCompactionLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c, keys := open(t, memory, 1), linked{}
		keys.mustPut(t, c, 0, 7000)
		growTo := func(url string) {
			t.Helper()
			if err := cell.Grow(t.Context(), c, cell.Growth{Cells: 1, URLs: []string{url}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		growTo("mem:one")
		// The first page of generation 1 ends before that of generation 0.
		keys.mustPut(t, c, 7000, 11000)
		growTo("mem:two")
		slow, pages := open(t, memory, 0), 0
		memory.Hook(func(ctx context.Context, s celltest.Step) error {
			if ctx.Value(who{}) == "slow" && s.Do == "view" && s.URL == "mem:one" {
				if pages++; pages == 3 { // its head, its first page, and this
					return cell.Compact(context.WithValue(ctx, who{}, "quick"), c, 2, nil)
				}
			}
			return nil
		})
		if err := cell.Compact(context.WithValue(t.Context(), who{}, "slow"), slow, 2, nil); err != nil {
			t.Fatal(err)
		}
		if pages < 3 {
			t.Fatalf("the slow one read %d pages: it was not overtaken", pages)
		}
		compacted(t, slow, 2)
		keys.check(t, slow)
		keys.check(t, c)
	})
}

func TestCompact_Refuses(t *testing.T) {
	t.Parallel()
	c := open(t, &celltest.Memory{}, 2)
	for _, to := range []int{-1, 1} {
		if err := cell.Compact(t.Context(), c, to, nil); !errors.Is(err, cell.ErrMap) {
			t.Errorf("to %d: %v, want ErrMap", to, err)
		}
	}
}

// All cells are restored from a backup. Puids allocated since are lost, and not allocated again.
func TestP07_ARestoredInstallationGivesNoPuidAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c, keys := open(t, memory, 3), linked{}
		keys.mustPut(t, c, 0, 100)
		var restore []func()
		for _, url := range memory.URLs() {
			restore = append(restore, memory.Save(url))
		}
		keys.mustPut(t, c, 100, 200)
		for _, r := range restore {
			r()
		}
		c = open(t, memory, 0)
		if err := cell.Reincarnate(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		given := map[int64]bool{}
		for _, puid := range keys {
			given[puid] = true
		}
		after := linked{}
		after.mustPut(t, c, 200, 400)
		for _, puid := range after {
			if given[puid] {
				t.Errorf("puid %d was given again", puid)
			}
		}
		for _, id := range c.Map().Cells() {
			if got := head(t, c, id); got.Incarnation != 2 {
				t.Errorf("cell %v has incarnation %d", id, got.Incarnation)
			}
		}
	})
}

// One cell is restored from a backup that was made before it was sealed.
func TestReincarnate_SealsWhatWasSealed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c := open(t, memory, 2)
		restore := memory.Save("mem:g0-1")
		grow(t, c, 4)
		restore()
		if got := head(t, c, cell.ID{Index: 1}); got.Keys != cell.Open {
			t.Fatalf("restored: %v", got.Keys)
		}
		if err := cell.Reincarnate(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		for _, id := range c.Map().Cells() {
			if got, want := head(t, c, id).Keys, map[uint16]cell.KeyState{0: cell.Sealed, 1: cell.Open}[id.Gen]; got != want {
				t.Errorf("cell %v is %v, want %v", id, got, want)
			}
		}
	})
}
