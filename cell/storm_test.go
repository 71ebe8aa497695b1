// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
	"github.com/locus-db/locus/internal/longtest"
)

// weather slows steps down, makes some fail, and loses replies of completed ones.
type weather struct {
	mu   sync.Mutex
	rand *rand.Rand
	calm bool
}

func (w *weather) hook(_ context.Context, s celltest.Step) error {
	w.mu.Lock()
	pause, fails := time.Duration(w.rand.IntN(20))*time.Millisecond, w.rand.IntN(60) == 0
	if w.rand.IntN(200) == 0 {
		pause = time.Duration(w.rand.IntN(600)) * time.Second
	}
	calm := w.calm
	w.mu.Unlock()
	if calm {
		return nil
	}
	time.Sleep(pause) //nolint:forbidigo // the time of a bubble
	if fails {
		return fmt.Errorf("%s of %s %s: %w", s.Do, s.URL, s.When, errTold)
	}
	return nil
}

// acked are the acknowledged puids of keys.
type acked struct {
	mu    sync.Mutex
	puids map[cell.Key]int64
}

func (a *acked) get(k cell.Key) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.puids[k]
}

func (a *acked) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.puids)
}

// knownEpoch fails if another puid was acknowledged for the key.
func (a *acked) knownEpoch(t *testing.T, k cell.Key, puid int64) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if was := a.puids[k]; was != 0 && was != puid {
		t.Errorf("a key had puid %d, and has %d", was, puid)
	}
	a.puids[k] = puid
}

// Processes put and look up keys while others grow and compact the installation, under injected faults: a key never has
// two puids, and never loses an acknowledged one.
func TestP06_Storm(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range uint64(longtest.Times(longtest.Part(3), 100)) {
		synctest.Test(t, func(t *testing.T) {
			memory, w := &celltest.Memory{}, &weather{rand: rand.New(rand.NewPCG(seed, 0))}
			first, all := open(t, memory, 1), &acked{puids: map[cell.Key]int64{}}
			memory.Hook(w.hook)
			over := make(chan struct{})
			var workers, operators sync.WaitGroup
			for n := range uint64(4) {
				workers.Go(func() {
					c, r := dial(t, memory), rand.New(rand.NewPCG(seed, 1+n))
					for {
						work(t, c, all, r)
						select {
						case <-over:
							closeCells(t, c)
							return
						default:
						}
					}
				})
			}
			for n, steps := range [][]uint64{{2, 4, 12}, {2, 4, 12}, {1, 2, 3}} {
				operators.Go(func() {
					for _, step := range steps {
						operate(t, memory, n == 2, step)
					}
				})
			}
			operators.Wait()
			close(over)
			workers.Wait()
			w.mu.Lock()
			w.calm = true
			w.mu.Unlock()
			grow(t, first, 12)
			wantFloor := 3
			if err := cell.Compact(t.Context(), first, wantFloor, nil); err != nil {
				t.Error(err)
			}
			compacted(t, first, wantFloor)
			linked(all.puids).check(t, first)
			if len(all.puids) < 200 {
				t.Errorf("seed %d: %d keys only", seed, len(all.puids))
			}
			if t.Failed() {
				t.Errorf("seed %d", seed)
			}
		})
	}
}

func dial(t *testing.T, memory *celltest.Memory) *process {
	t.Helper()
	for {
		if c, err := cell.OpenCells(t.Context(), options(memory, 0)); err == nil {
			return c
		}
	}
}

// work puts some keys or looks them up, and checks the results against those of all other callers.
func work(t *testing.T, c *process, all *acked, r *rand.Rand) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(2000))*time.Millisecond)
	defer cancel()
	keys, before := make([]cell.Key, 1+r.IntN(8)), make([]int64, 8)
	frontier := all.count()
	for i := range keys {
		// Old keys, and new ones that other callers are about to put too.
		n := r.IntN(frontier + 1)
		if r.IntN(3) > 0 {
			n = frontier + r.IntN(12)
		}
		keys[i] = c.Map().KeyOf("storm", fmt.Sprint(n))
		before[i] = all.get(keys[i])
	}
	if r.IntN(3) > 0 {
		as, err := cell.NewDirectory(c).Put(ctx, keys)
		for i := range as {
			if err == nil {
				all.knownEpoch(t, keys[i], as[i].PUID)
			}
		}
		return
	}
	puids, err := cell.NewDirectory(c).Lookup(ctx, keys)
	for i := range puids {
		switch {
		case err != nil:
		case puids[i] != cell.Nothing:
			all.knownEpoch(t, keys[i], puids[i])
		case before[i] != 0:
			t.Errorf("a key with puid %d was not found", before[i])
		}
	}
}

// operate grows or compacts, with retries, each time in a new process.
func operate(t *testing.T, memory *celltest.Memory, compacts bool, step uint64) {
	t.Helper()
	for {
		c := dial(t, memory)
		var err error
		switch {
		case !compacts && c.Map().Count(c.Map().Generations()-1) <= step:
			err = cell.Grow(t.Context(), c, cell.Growth{Cells: step}, nil)
		case compacts && c.Map().Current() < int(step):
			err = errTold
			time.Sleep(time.Minute) //nolint:forbidigo // the time of a bubble
		case compacts:
			err = cell.Compact(t.Context(), c, int(step), nil)
		}
		closeCells(t, c)
		if err == nil {
			return
		}
	}
}
