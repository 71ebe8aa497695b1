// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locus-db/locus/locality"
)

func generator(t testing.TB, opts *locality.Options) *locality.Generator {
	t.Helper()
	g, err := locality.NewGenerator(opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// seeded is a source of randomness that repeats.
func seeded(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// at is a clock that stands.
func at(ms int64) func() time.Time { return func() time.Time { return time.UnixMilli(ms) } }

// duplicates counts the ids that were there before.
func duplicates(lists ...[]locality.ID) int {
	all := slices.Concat(lists...)
	slices.SortFunc(all, locality.ID.Compare)
	return len(all) - len(slices.Compact(all))
}

func fill(g *locality.Generator, n int) []locality.ID {
	ids := make([]locality.ID, n)
	g.Fill(ids)
	return ids
}

func TestGenerator_TwoNeverMintOneID(t *testing.T) {
	t.Parallel()
	const n = 100_000
	for _, order := range []locality.Order{locality.Variable, locality.Sequential} {
		t.Run(order.String(), func(t *testing.T) {
			t.Parallel()
			a, b := generator(t, &locality.Options{Order: order}), generator(t, &locality.Options{Order: order})
			if d := duplicates(fill(a, n), fill(b, n)); d != 0 {
				t.Errorf("%d duplicates in %d ids", d, 2*n)
			}
			// The control: two generators forced to have one identity, counter and clock.
			same := func() *locality.Generator {
				return generator(t, &locality.Options{Order: order, Rand: seeded(1), Now: at(1.7e12)})
			}
			if d := duplicates(fill(same(), n), fill(same(), n)); d != n {
				t.Errorf("the control found %d duplicates, must find %d", d, n)
			}
		})
	}
}

func TestGenerator_ManyGoroutines(t *testing.T) {
	t.Parallel()
	const workers, n = 8, 10_000
	g := generator(t, nil)
	lists := make([][]locality.ID, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range n {
				switch {
				case i%3 == 0:
					lists[w] = append(lists[w], fill(g, 2)...)
				case i%3 == 1:
					lists[w] = append(lists[w], g.Near(locality.Max()))
				default:
					lists[w] = append(lists[w], g.New())
				}
			}
		})
	}
	wg.Wait()
	if d := duplicates(lists...); d != 0 {
		t.Errorf("%d duplicates", d)
	}
}

func TestGenerator_ConstructedWhileMinting(t *testing.T) {
	t.Parallel()
	for range 200 {
		lists := make([][]locality.ID, 2)
		var wg sync.WaitGroup
		for i := range lists {
			wg.Go(func() {
				g, err := locality.NewGenerator(nil)
				if err != nil {
					t.Error(err)
					return
				}
				lists[i] = fill(g, 10)
			})
		}
		wg.Wait()
		if d := duplicates(lists...); d != 0 {
			t.Fatalf("%d duplicates", d)
		}
	}
}

func TestGenerator_Fork(t *testing.T) {
	t.Parallel()
	const n, children = 20_000, 4
	for _, order := range []locality.Order{locality.Variable, locality.Sequential} {
		t.Run(order.String(), func(t *testing.T) {
			t.Parallel()
			parent, err := locality.NewGeneratorAs(&locality.Options{Order: order, Now: at(1.7e12)}, func() int { return 100 })
			if err != nil {
				t.Fatal(err)
			}
			parent.New()
			var forked, frozen [][]locality.ID
			for child := range children {
				forked = append(forked, fill(parent.Fork(func() int { return 101 + child }), n))
				frozen = append(frozen, fill(parent.Fork(func() int { return 100 }), n))
			}
			if d := duplicates(forked...); d != 0 {
				t.Errorf("%d duplicates in %d ids of %d children", d, children*n, children)
			}
			if d := duplicates(frozen...); d != (children-1)*n {
				t.Errorf("the control found %d duplicates, must find %d", d, (children-1)*n)
			}
		})
	}
}

func TestGenerator_ForkKeepsTheRule_LowBitsOfPID(t *testing.T) {
	t.Parallel()
	// Process numbers that agree modulo 65536 are still different processes.
	g, err := locality.NewGeneratorAs(&locality.Options{Now: at(1.7e12)}, func() int { return 7 })
	if err != nil {
		t.Fatal(err)
	}
	before := g.New()
	after := g.Fork(func() int { return 7 + 65536 }).New()
	x1, _ := before.PID()
	x2, _ := after.PID()
	y1, _ := before.Node()
	y2, _ := after.Node()
	if x1 != 7 || x2 != 7 || y1 == y2 {
		t.Errorf("processes %d and %d have nodes %x and %x, want one number and two nodes", x1, x2, y1, y2)
	}
}

// containers mints as many processes do that all have number 1 and start in one
// millisecond, and returns the duplicates.
func containers(t *testing.T, n int, node func(i int) locality.Node) int {
	var lists [][]locality.ID
	for i := range n {
		g, err := locality.NewGeneratorAs(&locality.Options{Order: locality.Sequential, Node: node(i), Now: at(1.7e12)}, func() int { return 1 })
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, fill(g, 10))
	}
	return duplicates(lists...)
}

func TestGenerator_ContainersWithOnePID(t *testing.T) {
	t.Parallel()
	// 500 random nodes: 5e-4 pairs are expected to agree.
	if d := containers(t, 500, func(int) locality.Node { return locality.RandomNode() }); d != 0 {
		t.Errorf("%d duplicates with random nodes", d)
	}
	if d := containers(t, 500, func(i int) locality.Node { return locality.FixedNode(uint32(i)) }); d != 0 {
		t.Errorf("%d duplicates with a number each", d)
	}
	if d := containers(t, 500, func(int) locality.Node { return locality.FixedNode(7) }); d != 499*10 {
		t.Errorf("the control, one address for all, found %d duplicates, must find %d", d, 499*10)
	}
}

func TestGenerator_FixedNodeIsShared(t *testing.T) {
	t.Parallel()
	opts := &locality.Options{Node: locality.FixedNode(4242)}
	a, b := generator(t, opts), generator(t, opts)
	if d := duplicates(fill(a, 50_000), fill(b, 50_000)); d != 0 {
		t.Errorf("%d duplicates", d)
	}
	if y, _ := a.New().Node(); y != 4242 {
		t.Errorf("node %d, want 4242", y)
	}
	if y, _ := a.Near(locality.Nil()).Node(); y != 4242+1<<27 {
		t.Errorf("near node %#x, want 4242 + 2^27", y)
	}
	if _, err := locality.NewGenerator(&locality.Options{Node: locality.FixedNode(4242), Order: locality.Sequential}); !errors.Is(err, locality.ErrOptions) {
		t.Errorf("the node with another order: %v, want ErrOptions", err)
	}
}

func TestOptions_Strings(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]interface{ String() string }{
		"variable":   locality.Variable,
		"sequential": locality.Sequential,
		"Order(7)":   locality.Order(7),
		"random":     locality.RandomNode(),
		"fixed(5)":   locality.FixedNode(5),
	} {
		if got.String() != want {
			t.Errorf("String = %s, want %s", got, want)
		}
	}
}

func TestNewGenerator_Refuses(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]locality.Options{
		"order":      {Order: 2},
		"node":       {Node: locality.FixedNode(1 << 27)},
		"randomness": {Rand: bytes.NewReader(nil)},
	} {
		if _, err := locality.NewGenerator(&opts); !errors.Is(err, locality.ErrOptions) {
			t.Errorf("%s: %v, want ErrOptions", name, err)
		}
	}
}

func TestGenerator_SurvivesFailingRandomness(t *testing.T) {
	t.Parallel()
	// Enough for the construction, nothing for the identity drawn again.
	random := bytes.NewReader(bytes.Repeat([]byte{7}, 4+2*8))
	now := time.UnixMilli(1.7e12)
	g := generator(t, &locality.Options{Rand: random, Now: func() time.Time { return now }})
	y1, _ := g.New().Node()
	now = now.Add(-time.Hour)
	y2, _ := g.New().Node()
	if y1 != 0x7070707 || y2 == y1 {
		t.Errorf("nodes %#x and %#x, want 0x7070707 and another", y1, y2)
	}
}

func TestGenerator_SeededRepeats(t *testing.T) {
	t.Parallel()
	mint := func() []locality.ID {
		return fill(generator(t, &locality.Options{Rand: seeded(9), Now: at(1.7e12)}), 100)
	}
	if !slices.Equal(mint(), mint()) {
		t.Error("one seed and clock gave two histories")
	}
}

func TestGenerator_Fields(t *testing.T) {
	t.Parallel()
	g, err := locality.NewGeneratorAs(&locality.Options{Node: locality.FixedNode(0x7654321), Now: at(1.7e12)}, func() int { return 0x1abcd })
	if err != nil {
		t.Fatal(err)
	}
	id := g.New()
	pid, _ := id.PID()
	node, _ := id.Node()
	ts, ok := id.Time()
	if id.Version() != 0xb || !ok || pid != 0xabcd || node != 0x7654321 || ts.UnixMilli() != 1.7e12 || ts.Location() != time.UTC {
		t.Errorf("%v: pid %x node %x time %v", id, pid, node, ts)
	}
	next := g.New()
	if next.Counter()-id.Counter() != locality.Step {
		t.Errorf("counters %d and %d", id.Counter(), next.Counter())
	}
}

func TestNew_UsesTheRealClock(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	ts, ok := locality.New().Time()
	if after := time.Now(); !ok || ts.Before(before) || ts.After(after) {
		t.Errorf("id of %v minted between %v and %v", ts, before, after)
	}
}

func TestGenerator_FillCrossesRuns(t *testing.T) {
	t.Parallel()
	g := generator(t, nil)
	ids := fill(g, 3*4096+1)
	for i := 1; i < len(ids); i++ {
		if ids[i].Counter()-ids[i-1].Counter() != locality.Step {
			t.Fatalf("id %d does not follow the one before", i)
		}
	}
	g.Fill(nil)
}

func TestGenerator_SequentialRollsOver(t *testing.T) {
	t.Parallel()
	const window = 600_000
	var now atomic.Int64
	now.Store(1_700_000_400_000 - 1) // the last millisecond of a window
	g := generator(t, &locality.Options{Order: locality.Sequential, Now: func() time.Time { return time.UnixMilli(now.Load()) }})
	first := func() uint32 {
		return generator(t, &locality.Options{Order: locality.Sequential, Now: at(now.Load())}).New().Position()
	}
	want := first()
	for i := range uint32(3) {
		if got := g.New().Position(); got != want+i {
			t.Fatalf("id %d of a window at %08x, want %08x", i+1, got, want+i)
		}
	}
	now.Add(1)
	next := first()
	if next == want {
		t.Fatal("the next window has the same base")
	}
	if got := g.New().Position(); got != next {
		t.Fatalf("first id of the next window at %08x, want %08x", got, next)
	}
	// Back by less than is tolerated: the old window is not entered again.
	now.Add(-5000)
	if got := g.New(); got.Position() != next+1 {
		t.Fatalf("after a step back: %v, want position %08x", got, next+1)
	}
	now.Add(window + 5000)
	if got := g.New().Position(); got != first() {
		t.Fatalf("a window later: %08x", got)
	}
}

func TestGenerator_Evenness(t *testing.T) {
	t.Parallel()
	// Any 16^k consecutive ids hit each prefix of k hex digits exactly once.
	g := generator(t, nil)
	for k := 1; k <= 4; k++ {
		n := 1 << (4 * k)
		hits := make([]int, n)
		for _, id := range fill(g, n) {
			hits[id.Position()>>(32-4*k)]++
		}
		for prefix, h := range hits {
			if h != 1 {
				t.Fatalf("%d ids hit prefix %0*x %d times", n, k, prefix, h)
			}
		}
	}
}

func TestGenerator_EvennessOnAnyNumberOfCells(t *testing.T) {
	t.Parallel()
	// Random ids have a chi squared of about its degrees of freedom.
	ids := fill(generator(t, &locality.Options{Rand: seeded(3)}), 1_000_000)
	for _, cells := range []uint64{16, 64, 1000} {
		hits := make([]float64, cells)
		for _, id := range ids {
			hits[uint64(id.Position())*cells>>32]++
		}
		mean, chi2 := float64(len(ids))/float64(cells), 0.0
		for _, h := range hits {
			chi2 += (h - mean) * (h - mean) / mean
		}
		if ratio := chi2 / float64(cells-1); ratio > 0.01 {
			t.Errorf("%d cells: chi squared / df = %.5f, want at most 0.01", cells, ratio)
		}
	}
}

func TestGenerator_SharedByTablesAliases(t *testing.T) {
	t.Parallel()
	// The documented weakness: a table that sees every second id of a generator
	// reaches half of 16 cells, one that sees every 16th reaches one.
	ids := fill(generator(t, nil), 4096)
	for stride, want := range map[int]int{1: 16, 2: 8, 16: 1} {
		cells := map[uint32]bool{}
		for i := 0; i < len(ids); i += stride {
			cells[ids[i].Position()>>28] = true
		}
		if len(cells) != want {
			t.Errorf("stride %d reaches %d of 16 cells, documented are %d", stride, len(cells), want)
		}
	}
}

// TestGenerator_Allocations does not run in parallel: it counts.
func TestGenerator_Allocations(t *testing.T) {
	variable, sequential := generator(t, nil), generator(t, &locality.Options{Order: locality.Sequential})
	ids := make([]locality.ID, 64)
	seg := locality.Segment{Lo: 0x12340000, Hi: 0x12350000, From: 1}
	for name, fn := range map[string]func(){
		"New":            func() { ids[0] = variable.New() },
		"New sequential": func() { ids[0] = sequential.New() },
		"package New":    func() { ids[0] = locality.New() },
		"Fill":           func() { variable.Fill(ids) },
		"NewIn":          func() { ids[0], _ = variable.NewIn(seg) },
		"FillIn":         func() { _ = variable.FillIn(seg, ids) },
		"Near":           func() { ids[0] = variable.Near(ids[1]) },
	} {
		if n := testing.AllocsPerRun(200, fn); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	g := generator(b, nil)
	for b.Loop() {
		g.New()
	}
}

func BenchmarkFill64(b *testing.B) {
	g, ids := generator(b, nil), make([]locality.ID, 64)
	for b.Loop() {
		g.Fill(ids)
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := locality.Parse(sample); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendText(b *testing.B) {
	id, buf := locality.MustParse(sample), make([]byte, 0, 36)
	for b.Loop() {
		buf, _ = id.AppendText(buf[:0])
	}
}
