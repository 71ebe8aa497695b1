// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

// doublings returns how often the cells of the in-memory installation were doubled: one has become 1,024, or 16 in
// a short test.
func doublings() int { return either(10, 4) }

// installation is a grown in-memory installation in which all generations are equally full.
type installation struct {
	cells *cell.Cells[cell.Store]
	// known are keys that have puids, unordered; absent have none.
	known, absent []cell.Key
	// transactions counts the executed transactions.
	transactions *atomic.Int64
}

// grownInMemory runs the growth with the production code: Put, Grow, filters.
var grownInMemory = sync.OnceValue(func() *installation {
	in := &installation{transactions: new(atomic.Int64)}
	must(in.grow(context.Background()))
	return in
})

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// perCell is the number of keys per cell.
const perCell = 64

func (in *installation) grow(ctx context.Context) error {
	memory := &celltest.Memory{}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var filters sync.WaitGroup
	options := cell.CellsOptions[cell.Store]{
		Authority: "mem:g0-0", Driver: memory.Driver, Now: func() time.Time { return now },
		New: &cell.Spec{Generations: []cell.Generation{{Cells: 1, URLs: []string{"mem:g{g}-{i}"}}}},
	}
	cells, err := cell.OpenCells(ctx, options)
	if err != nil {
		return err
	}
	keys := 0
	take := func(n int) []cell.Key {
		some := make([]cell.Key, n)
		for i := range some {
			some[i] = cells.Map().KeyOf("osm", fmt.Sprintf("node/%d", keys+i))
		}
		keys += n
		return some
	}
	for doubling := range doublings() + 1 {
		count := 1 << doubling
		if doubling > 0 {
			err := cell.Grow(ctx, cells, cell.Growth{Cells: uint64(count)}, func(p cell.Progress) {
				if p.Step == cell.StepAnnounced {
					now = p.Starts // no need to wait for it
				}
			})
			if err != nil {
				return err
			}
		}
		some := take(count * perCell)
		if _, err := cell.NewDirectory[cell.Store](cells).Put(ctx, some); err != nil {
			return err
		}
		in.known = append(in.known, some...)
	}
	in.absent = take(len(in.known))
	if err := cells.Close(); err != nil {
		return err
	}
	// A new process: it reads the filters of all sealed cells as it encounters them.
	options.New, options.OnEvent = nil, func(e cell.Event) {
		if e.What == cell.EventFilter {
			must(e.Err)
			filters.Done()
		}
	}
	filters.Add(1<<doublings() - 1)
	if in.cells, err = cell.OpenCells(ctx, options); err != nil {
		return err
	}
	if _, err := cell.NewDirectory[cell.Store](in.cells).Lookup(ctx, in.absent); err != nil {
		return err
	}
	filters.Wait()
	memory.Hook(func(_ context.Context, s celltest.Step) error {
		if s.When == celltest.Begins {
			in.transactions.Add(1)
		}
		return nil
	})
	return nil
}

// bare is the installation without its filters.
type bare struct{ *cell.Cells[cell.Store] }

func (bare) DefinitelyAbsent(cell.ID, cell.Key) bool { return false }
func (bare) Observe(cell.ID, cell.Head)              {}

// probes counts the transactions of looking up keys one after the other.
func (in *installation) probes(b *testing.B, src cell.Source[cell.Store], keys []cell.Key) float64 {
	d := cell.NewDirectory(src)
	before := in.transactions.Load()
	for i := range keys {
		if _, err := d.Lookup(b.Context(), keys[i:i+1]); err != nil {
			b.Fatal(err)
		}
	}
	return float64(in.transactions.Load()-before) / float64(len(keys))
}

// BenchmarkAbsent counts the cells visited for a key that does not exist.
func BenchmarkAbsent(b *testing.B) {
	in := grownInMemory()
	report(b, "probes", map[string]func(b *testing.B) float64{
		"locus": func(b *testing.B) float64 { return in.probes(b, in.cells, in.absent[:min(20_000, len(in.absent))]) },
		"bare": func(b *testing.B) float64 {
			return in.probes(b, bare{in.cells}, in.absent[:min(20_000, len(in.absent))])
		},
		"literal": func(*testing.B) float64 { return float64(doublings() + 1) },
	})
}

// BenchmarkKnown counts the cells visited for the key of a record.
func BenchmarkKnown(b *testing.B) {
	in := grownInMemory()
	sample := every(in.known, 7)
	report(b, "probes", map[string]func(b *testing.B) float64{
		"locus": func(b *testing.B) float64 { return in.probes(b, in.cells, sample) },
		"bare":  func(b *testing.B) float64 { return in.probes(b, bare{in.cells}, sample) },
		// Down from the newest generation to the one that has it.
		"literal": func(b *testing.B) float64 {
			puids, err := cell.NewDirectory[cell.Store](in.cells).Lookup(b.Context(), sample)
			if err != nil {
				b.Fatal(err)
			}
			sum := 0
			for _, p := range puids {
				home, err := in.cells.Map().Puid(p)
				if err != nil {
					b.Fatal(err)
				}
				sum += doublings() + 1 - int(home.Gen)
			}
			return float64(sum) / float64(len(sample))
		},
	})
}

func every[T any](all []T, nth int) (some []T) {
	for i := 0; i < len(all); i += nth {
		some = append(some, all[i])
	}
	return some
}

// report measures, once per peer, a figure that is not a time.
func report(b *testing.B, unit string, peers map[string]func(*testing.B) float64) {
	for peer, count := range peers {
		b.Run("peer="+peer, func(b *testing.B) {
			var figure float64
			for range b.N {
				figure = count(b)
			}
			b.ReportMetric(figure, unit)
		})
	}
}

// BenchmarkFilter queries the filters of the ten older cells for a key that does not exist.
func BenchmarkFilter(b *testing.B) {
	in := grownInMemory()
	m := in.cells.Map()
	type question struct {
		cell cell.ID
		key  cell.Key
	}
	questions := make([]question, pool)
	for i := range questions {
		k := in.absent[i%len(in.absent)]
		questions[i] = question{m.Key(i%doublings(), k.Position()), k}
	}
	suite.Run(b, subject{Peer: "locus", Loop: func(n int) {
		lacking := 0
		for i := range n {
			if q := &questions[i&(pool-1)]; in.cells.DefinitelyAbsent(q.cell, q.key) {
				lacking++
			}
		}
		runtime.KeepAlive(lacking)
		if n >= pool && lacking < n*98/100 {
			compare.Fail(fmt.Errorf("%d of %d keys are lacking by the filters", lacking, n))
		}
	}})
}
