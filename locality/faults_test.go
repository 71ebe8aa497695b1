// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
)

// The failures of the reference implementations, reproduced. Each test has a control: generators that are forced to
// share one identity must produce duplicates, so that finding none is significant.

var orders = []locality.Order{locality.Variable, locality.Sequential, locality.Scatter}

// inEveryOrder runs test for each order, in parallel.
func inEveryOrder(t *testing.T, test func(t *testing.T, order locality.Order)) {
	t.Parallel()
	for _, order := range orders {
		t.Run(order.String(), func(t *testing.T) {
			t.Parallel()
			test(t, order)
		})
	}
}

// forced returns generators that share one identity, one counter and one clock.
func forced(t testing.TB, order locality.Order) *locality.Generator {
	return generator(t, &locality.Options{Order: order, Rand: seeded(1), Now: at(1.7e12)})
}

func none(t *testing.T, what string, lists ...[]locality.ID) {
	t.Helper()
	if d := duplicates(lists...); d != 0 {
		t.Errorf("%s: %d duplicates", what, d)
	}
}

func control(t *testing.T, want int, lists ...[]locality.ID) {
	t.Helper()
	if d := duplicates(lists...); d != want {
		t.Errorf("the control found %d duplicates, must find %d", d, want)
	}
}

// Ruby: 4 workers that were forked after the counter was drawn minted 218 duplicates in 80,000 IDs.
func TestP07_ForkedProcesses(t *testing.T) {
	inEveryOrder(t, func(t *testing.T, order locality.Order) {
		const n, children = 20_000, 4
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
		none(t, "forked", forked...)
		control(t, (children-1)*n, frozen...)
	})
}

// A forked process does not keep side lanes either.
func TestP07_ForkedSideLanes(t *testing.T) {
	t.Parallel()
	parent, err := locality.NewGeneratorAs(&locality.Options{Now: at(1.7e12)}, func() int { return 100 })
	if err != nil {
		t.Fatal(err)
	}
	over := locality.Segment{Hi: ring, From: 1, Until: 1000}
	mint := func(g *locality.Generator) (ids []locality.ID) {
		for range 100 {
			past, err := g.NewInPast(over)
			dated, err2 := g.NewAt(time.UnixMilli(5))
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			ids = append(ids, g.Near(locality.Nil()), past, dated)
		}
		return ids
	}
	mint(parent)
	frozen := func() int { return 100 }
	none(t, "forked", mint(parent.Fork(func() int { return 101 })), mint(parent.Fork(func() int { return 102 })))
	control(t, 300, mint(parent.Fork(frozen)), mint(parent.Fork(frozen)))
}

func TestP07_RealProcesses(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	const n, children = 20_000, 4
	mint := func(forced bool) [][]locality.ID {
		lists := make([][]locality.ID, children)
		var wg sync.WaitGroup
		for i := range lists {
			wg.Go(func() { lists[i] = mintInProcess(t, n, forced) })
		}
		wg.Wait()
		return lists
	}
	none(t, "processes", mint(false)...)
	control(t, (children-1)*n, mint(true)...)
}

// Java: two copies of the class in one JVM, in sequential mode, minted up to 80,495 duplicates in 2 x 500,000 IDs.
func TestP07_TwoGenerators(t *testing.T) {
	inEveryOrder(t, func(t *testing.T, order locality.Order) {
		n := longtest.Sample(50_000, 200_000, 500_000, 500_000)
		opts := &locality.Options{Order: order}
		none(t, "random nodes", fill(generator(t, opts), n), fill(generator(t, opts), n))
		opts.Node = locality.FixedNode(1000 + uint32(order))
		none(t, "one fixed node", fill(generator(t, opts), n), fill(generator(t, opts), n))
		control(t, n, fill(forced(t, order), n), fill(forced(t, order), n))
	})
}

// Java: toggling to sequential mode before each ID made 930 of 1000 duplicates.
func TestP07_OrdersAlternated(t *testing.T) {
	t.Parallel()
	const n = 1000
	toggled := func(g func(locality.Order) *locality.Generator) (ids []locality.ID) {
		for range n {
			ids = append(ids, g(locality.Variable).New(), g(locality.Sequential).New())
		}
		return ids
	}
	fixed := map[locality.Order]*locality.Generator{}
	for _, order := range orders {
		fixed[order] = generator(t, &locality.Options{Order: order, Now: at(1.7e12)})
	}
	none(t, "two generators", toggled(func(o locality.Order) *locality.Generator { return fixed[o] }))
	none(t, "a generator for each id", toggled(func(o locality.Order) *locality.Generator {
		return generator(t, &locality.Options{Order: o, Now: at(1.7e12)})
	}))
	control(t, 2*n-2, toggled(func(o locality.Order) *locality.Generator { return forced(t, o) }))
}

// Java: two threads that toggle the mode minted duplicates in 190 of 2000 rounds.
func TestP07_ConstructedWhileMinting(t *testing.T) {
	inEveryOrder(t, func(t *testing.T, order locality.Order) {
		rounds := func(construct func() (*locality.Generator, error)) (unlucky int) {
			for range 2000 {
				lists := make([][]locality.ID, 2)
				var wg sync.WaitGroup
				for i := range lists {
					wg.Go(func() {
						g, err := construct()
						if err != nil {
							t.Error(err)
							return
						}
						lists[i] = append(lists[i], g.New(), g.New(), g.New())
					})
				}
				wg.Wait()
				if duplicates(lists...) > 0 {
					unlucky++
				}
			}
			return unlucky
		}
		if n := rounds(func() (*locality.Generator, error) {
			return locality.NewGenerator(&locality.Options{Order: order})
		}); n != 0 {
			t.Errorf("duplicates in %d rounds", n)
		}
		if n := rounds(func() (*locality.Generator, error) {
			return locality.NewGenerator(&locality.Options{Order: order, Rand: seeded(1), Now: at(1.7e12)})
		}); n != 2000 {
			t.Errorf("the control found duplicates in %d rounds, must find them in all", n)
		}
	})
}

// container returns a generator of process 1 on a machine whose network interface has the address that container
// runtimes give to the first container of a host.
func container(t *testing.T, opts *locality.Options) *locality.Generator {
	t.Helper()
	g, err := locality.NewGeneratorOn(opts, 1, []net.Interface{ethernet(0x02, 0x42, 0xac, 0x11, 0x00, 0x02)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The references, 2,000 containers with process number 1 and one network address, 10 IDs in one millisecond: 170
// duplicates in 4,000 trials.
func TestP07_ContainersWithOnePIDAndAddress(t *testing.T) {
	t.Parallel()
	const containers = 2000
	now := at(1.7e12)
	for trial := range trials(4) {
		random := rand.NewChaCha8([32]byte{byte(trial), byte(trial >> 8), 7})
		var ids []locality.ID
		for range containers {
			// With its own randomness a container is independent, like a separate process.
			ids = container(t, &locality.Options{Now: now, Rand: random}).Append(ids, 10)
		}
		none(t, fmt.Sprintf("trial %d", trial), ids)
	}
	// The control: the address as node, and a window in which all count from its base.
	var ids []locality.ID
	for range containers {
		ids = container(t, &locality.Options{
			Now: now, Node: locality.HardwareNode(), Order: locality.Sequential, Rand: seeded(1),
		}).Append(ids, 10)
	}
	control(t, (containers-1)*10, ids)
}

// trials is how often a probabilistic test is run: n times, or LOCUS_TRIALS.
func trials(n int) int {
	if long, err := strconv.Atoi(os.Getenv("LOCUS_TRIALS")); err == nil {
		return long
	}
	return n
}

// runs mints n IDs in Sequential order in each of two processes with number 1 and one network address, at 1,000 IDs a
// second with some jitter; the second begins later, by this many milliseconds.
func runs(t *testing.T, n int, later float64, node locality.Node) [][]locality.ID {
	const window = 1_700_000_400_000 // start of a window
	lists := make([][]locality.ID, 2)
	for i := range lists {
		random, ms := rand.New(seeded(byte(i))), window+float64(i)*later
		g := container(t, &locality.Options{Order: locality.Sequential, Node: node, Rand: seeded(byte(i)), Now: func() time.Time {
			ms += 2 * random.Float64()
			return time.UnixMilli(int64(ms))
		}})
		for range n {
			lists[i] = append(lists[i], g.New())
		}
	}
	return lists
}

// The references: two replicas in sequential mode with one address repeat 408 to 496 IDs in 10 minutes; a process that
// restarts with the clock set back to 0 to 100 ms after its first start repeats 97 to 141 of 60,000.
func TestP07_SequentialReplicasAndRestarts(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for name, run := range map[string]struct {
		n     int
		later float64
	}{
		"replicas": {longtest.Sample(0, 60_000, 500_000, 500_000), 0},
		"restart":  {60_000, 50},
	} {
		none(t, name, runs(t, run.n, run.later, locality.RandomNode())...)
		repeated := duplicates(runs(t, run.n, run.later, locality.HardwareNode())...)
		t.Logf("%s: the control repeats %d of %d ids", name, repeated, run.n)
		if repeated == 0 {
			t.Errorf("%s: the control found no duplicates", name)
		}
	}
}
