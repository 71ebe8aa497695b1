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

// tb is the common part of testing.TB and *rapid.T.
type tb interface {
	Helper()
	Fatal(args ...any)
}

func generator(t tb, opts *locality.Options) *locality.Generator {
	t.Helper()
	g, err := locality.NewGenerator(opts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// seeded returns a reproducible source of randomness.
func seeded(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// at returns a clock that does not advance.
func at(ms int64) func() time.Time { return func() time.Time { return time.UnixMilli(ms) } }

// duplicates counts the IDs that occurred before.
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
	for name, other := range map[string]locality.Options{
		"order":    {Order: locality.Sequential},
		"process":  {PID: locality.RandomPID},
		"envelope": {Envelope: locality.Version8},
		"lease":    {Lease: 5},
	} {
		other.Node = opts.Node
		if _, err := locality.NewGenerator(&other); !errors.Is(err, locality.ErrOptions) {
			t.Errorf("the node with another %s: %v, want ErrOptions", name, err)
		}
	}
}

func TestOptions_Strings(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]interface{ String() string }{
		"variable":         locality.Variable,
		"sequential":       locality.Sequential,
		"scatter":          locality.Scatter,
		"Order(7)":         locality.Order(7),
		"random":           locality.RandomNode(),
		"fixed(5)":         locality.FixedNode(5),
		"hardware":         locality.HardwareNode(),
		"identity changed": locality.IdentityChanged,
		"node in doubt":    locality.NodeInDoubt,
	} {
		if got.String() != want {
			t.Errorf("String = %s, want %s", got, want)
		}
	}
}

func TestNewGenerator_Refuses(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]locality.Options{
		"order":      {Order: 3},
		"process":    {PID: 2},
		"envelope":   {Envelope: 2},
		"lease":      {Lease: -1},
		"long lease": {Lease: 1<<16 + 1},
		"node":       {Node: locality.FixedNode(1 << 27)},
		"node of v8": {Node: locality.FixedNode(1 << 25), Envelope: locality.Version8},
		"randomness": {Rand: bytes.NewReader(nil)},
	} {
		if _, err := locality.NewGenerator(&opts); !errors.Is(err, locality.ErrOptions) {
			t.Errorf("%s: %v, want ErrOptions", name, err)
		}
	}
}

func TestGenerator_SurvivesFailingRandomness(t *testing.T) {
	t.Parallel()
	// Enough for the construction, nothing for the new identity.
	random := bytes.NewReader(bytes.Repeat([]byte{7}, 4+2*4))
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
	if id.Version() != 0xb || !ok || pid != 0xabcd || node != 0x7654321 || ts.UnixMilli() != 1.7e12 ||
		ts.Location() != time.UTC {
		t.Errorf("%v: pid %x node %x time %v", id, pid, node, ts)
	}
	next := g.New()
	if next.Counter()-id.Counter() != locality.Step {
		t.Errorf("counters %d and %d", id.Counter(), next.Counter())
	}
}

func TestGenerator_RandomPID(t *testing.T) {
	t.Parallel()
	seen := map[uint16]bool{}
	for range 20 {
		x, _ := generator(t, &locality.Options{PID: locality.RandomPID}).New().PID()
		seen[x] = true
	}
	if len(seen) < 15 {
		t.Errorf("20 generators drew %d process fields", len(seen))
	}
}

func TestGenerator_ClockThatStands(t *testing.T) {
	t.Parallel()
	g := generator(t, &locality.Options{Now: at(1.7e12)})
	g.SetSpent(1<<32 - 2)
	for i, want := range []int64{1.7e12, 1.7e12, 1.7e12 + 1, 1.7e12 + 1} {
		if id := g.New(); id.Millis() != want {
			t.Errorf("id %d before and after the end of a cycle carries %d, want %d", i, id.Millis(), want)
		}
	}
}

func TestGenerator_Append(t *testing.T) {
	t.Parallel()
	g := generator(t, nil)
	first := g.New()
	ids := g.Append([]locality.ID{first}, 3)
	if len(ids) != 4 || ids[0] != first {
		t.Fatalf("Append gave %v", ids)
	}
	for i := 1; i < len(ids); i++ {
		if !follows(ids[i-1], ids[i]) {
			t.Errorf("%v does not follow %v", ids[i], ids[i-1])
		}
	}
	if got := g.Append(nil, 0); len(got) != 0 {
		t.Errorf("Append of none gave %v", got)
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
	// Back by less than the tolerance: the old window is not entered again.
	now.Add(-5000)
	if got := g.New(); got.Position() != next+1 {
		t.Fatalf("after a step back: %v, want position %08x", got, next+1)
	}
	now.Add(window + 5000)
	if got := g.New().Position(); got != first() {
		t.Fatalf("a window later: %08x", got)
	}
}

// TestGenerator_Allocations does not run in parallel, because it counts allocations.
func TestGenerator_Allocations(t *testing.T) {
	variable, sequential := generator(t, nil), generator(t, &locality.Options{Order: locality.Sequential})
	scatter, leased := generator(t, &locality.Options{Order: locality.Scatter}), generator(t, &locality.Options{Lease: 64})
	local, over := variable.Local(), locality.Segment{Hi: ring, From: 1, Until: 1e12}
	ids := make([]locality.ID, 64)
	seg := locality.Segment{Lo: 0x12340000, Hi: 0x12350000, From: 1}
	for name, fn := range map[string]func(){
		"New":            func() { ids[0] = variable.New() },
		"New sequential": func() { ids[0] = sequential.New() },
		"New scatter":    func() { ids[0] = scatter.New() },
		"New leased":     func() { ids[0] = leased.New() },
		"Local":          func() { ids[0] = local.New() },
		"Append":         func() { ids = variable.Append(ids[:0], 64) },
		"NewAt":          func() { ids[0], _ = variable.NewAt(time.Time{}) },
		"NewInPast":      func() { ids[0], _ = variable.NewInPast(over) },
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
