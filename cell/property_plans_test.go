// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
)

// TestP08_GrowthPlans: on random plans of growth every kind of address leads to one cell, ranges never overlap, and
// every map either routes like the newest or returns an error. LOCUS_PLANS sets how many plans.
func TestP08_GrowthPlans(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	plans := uint64(longtest.Part(20_000))
	if long, err := strconv.ParseUint(os.Getenv("LOCUS_PLANS"), 10, 64); err == nil {
		plans = long
	}
	var seed, edges atomic.Uint64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				n := seed.Add(1)
				if n > plans || t.Failed() {
					return
				}
				p := plan{rng: rand.New(rand.NewPCG(n, 8))}
				if err := p.check(); err != nil {
					t.Errorf("plan %d: %v: %v", n, p.counts, err)
				}
				edges.Add(p.edges)
			}
		})
	}
	wg.Wait()
	t.Logf("%d plans, %d edges", plans, edges.Load())
}

type plan struct {
	rng    *rand.Rand
	counts []uint64
	edges  uint64
}

func (p *plan) draw() []cell.Generation {
	cells := [...]uint64{1, 2, 3, 16, 48, 60, 97, 240, 1000, 1 << 31, 1 << 32}[p.rng.IntN(11)]
	var gens []cell.Generation
	for starts := int64(p.rng.IntN(1e9)); uint64(len(gens)) < 1<<32/cells && len(gens) < 40; starts += 1 + int64(p.rng.IntN(1e9)) {
		gens = append(gens, cell.Generation{Cells: cells, Starts: ms(starts)})
		p.counts = append(p.counts, cells)
		if p.rng.IntN(8) == 0 {
			break
		}
		next := cells * [...]uint64{1, 2, 2, 2, 3, 4, 5, 7, 10, 64}[p.rng.IntN(10)]
		if next > 1<<32 || uint64(len(gens)+1) > 1<<32/next {
			break
		}
		cells = next
	}
	return gens
}

func (p *plan) check() error {
	gens := p.draw()
	m, err := cell.NewMap(cell.Spec{ID: "plan", Generations: gens, Current: len(gens) - 1})
	if err != nil {
		return err
	}
	old := m
	if n := 1 + p.rng.IntN(len(gens)); n < len(gens) {
		if old, err = cell.NewMap(cell.Spec{ID: "plan", Generations: gens[:n], Current: n - 1, Until: gens[n].Starts}); err != nil {
			return err
		}
	}
	for g := range gens {
		for _, i := range []uint64{0, m.Count(g) - 1, p.rng.Uint64N(m.Count(g))} {
			if err := p.cell(m, old, cell.ID{Gen: uint16(g), Index: uint32(i)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// cell checks the edges of a cell's segment and of its range.
func (p *plan) cell(m, old *cell.Map, c cell.ID) error {
	g := int(c.Gen)
	lo, hi := m.PuidRange(c)
	if hi != lo+math.MaxUint32 || lo > 0 && hi < 0 {
		return fmt.Errorf("%v has the range %d to %d", c, lo, hi)
	}
	for _, puid := range []int64{lo, lo + 1, hi, lo + int64(p.rng.Uint32())} {
		p.edges++
		if got, err := m.Puid(puid); err != nil || got != c {
			return fmt.Errorf("puid %d of %v leads to %v, %w", puid, c, got, err)
		}
		switch got, err := old.Puid(puid); {
		case g < old.Generations() && (err != nil || got != c):
			return fmt.Errorf("puid %d of %v leads an old map to %v, %w", puid, c, got, err)
		case g >= old.Generations() && !errors.Is(err, cell.ErrNoCell):
			return fmt.Errorf("puid %d of %v leads a map without that generation to %v, %w", puid, c, got, err)
		}
	}
	for _, beside := range []int64{lo - 1, hi + 1} { // wraps at the ends of the ring: unused, or another cell's
		if got, err := m.Puid(beside); err == nil && got == c {
			return fmt.Errorf("puid %d beside %v leads there too", beside, c)
		}
	}
	from, to := segment(m, c)
	for _, at := range []uint64{from, to - 1, from + p.rng.Uint64N(to-from)} {
		p.edges++
		if got := m.Key(g, uint32(at)); got != c {
			return fmt.Errorf("position %d of %v leads to %v", at, c, got)
		}
		if g > 0 {
			if above, below := m.Count(g)/m.Count(g-1), m.Key(g-1, uint32(at)); uint64(c.Index)/above != uint64(below.Index) {
				return fmt.Errorf("position %d of %v lies in %v", at, c, below)
			}
		}
	}
	return nil
}
