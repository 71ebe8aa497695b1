// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/locus-db/locus/internal/longtest"
)

// saw is a rare state; if it never occurs, the run proves nothing about it.
type saw int

const (
	sawPutWhileGrowing saw = iota
	sawSealByWriter
	sawFenced
	sawFilter
	sawDown
	sawLost
	sawRetry
	sawKilled
	sawGrown
	sawRestarted
	sawCompacted
	sawCopyFenced
	sawPromoted
	sawRejoined
	sawPosted
	sawPending
	saws
)

var sawNames = [saws]string{
	sawPutWhileGrowing: "a key was put while a generation was activated",
	sawSealByWriter:    "a writer sealed a cell himself",
	sawFenced:          "a writer with an old map was refused",
	sawFilter:          "a filter spared a question",
	sawDown:            "a cell could not be asked",
	sawLost:            "a reply was lost",
	sawRetry:           "a call was tried again after a lost reply",
	sawKilled:          "a server was killed in a call",
	sawGrown:           "a generation was activated",
	sawRestarted:       "an operator began again",
	sawCompacted:       "old generations were compacted",
	sawCopyFenced:      "a copy came into a cell that was sealed meanwhile",
	sawPromoted:        "a replica that missed a seal was promoted",
	sawRejoined:        "it asked the authority",
	sawPosted:          "two saw each other's postings",
	sawPending:         "a call without answer had been done",
}

type simCounts [saws]int

// simulate runs a seed and returns an error if a contradiction was found. If literal, clients put keys as the source
// text describes, without the protocol.
func simulate(seed uint64, literal bool, counts *simCounts) error {
	w := &simWorld{rng: rand.New(rand.NewPCG(seed, 0)), maps: simMaps(), counts: counts, faults: true}
	w.newest = w.maps[1][0][0]
	for g := range w.cells {
		w.cells[g] = make([]simCell, simSizes[g])
	}
	for k := range w.keys {
		w.keys[k] = Key{Ring: int64(w.rng.Uint64()), Digest: [16]byte{byte(k)}}
	}
	w.run(literal)
	if err := w.judge(); err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	return nil
}

// simSteps is when faults end, so that all clients can finish.
const simSteps = 400

// run resumes tasks at random until the clients are done.
func (w *simWorld) run(literal bool) {
	var bits int
	server := func(calls int) []*simTask {
		s := &simServer{w: w, m: w.maps[1][0][0]}
		d := NewDirectory[simTx](s)
		d.abreast = 1
		d.wait = w.wait
		var tasks []*simTask
		for range 2 {
			c := &simClient{server: s, dir: d, bit: bits, todo: calls, literal: literal}
			bits++
			tasks = append(tasks, w.task(func(t *simTask) { c.simTask = t; c.run() }))
		}
		return tasks
	}
	gens := 2 + w.rng.IntN(simGens-1)
	o := simOperator{gens: gens, floor: w.rng.IntN(gens)}
	operator := func() *simTask {
		o := o
		o.server = &simServer{w: w, m: w.maps[1][0][0]}
		return w.task(func(t *simTask) { o.simTask = t; o.run() })
	}
	groups := [][]*simTask{server(3), server(3), {operator()}}
	if w.rng.IntN(2) == 0 {
		groups = append(groups, []*simTask{operator()})
	}
	for {
		w.now++
		if w.now == simSteps {
			w.faults = false
		}
		g := w.rng.IntN(len(groups))
		isServer := g < 2
		switch {
		case w.chance(1) && isServer && bits < 60:
			w.kill(groups[g])
			groups[g] = server(2)
		case w.chance(1) && !isServer:
			w.kill(groups[g])
			groups[g] = []*simTask{operator()}
			w.counts[sawRestarted]++
		case w.chance(2):
			w.accident()
		}
		if over := w.resume(groups[g]); over && isServer && w.resume(groups[0]) && w.resume(groups[1]) {
			break
		}
	}
	for _, g := range groups {
		w.kill(g)
	}
}

// kill ends tasks in the middle of their work.
func (w *simWorld) kill(tasks []*simTask) {
	for _, t := range tasks {
		w.running = t
		t.stop()
	}
}

// resume continues one of the tasks, and reports whether all are over.
func (w *simWorld) resume(tasks []*simTask) bool {
	i, alive := w.rng.IntN(len(tasks)), false
	for j := range tasks {
		t := tasks[(i+j)%len(tasks)]
		if t.over {
			continue
		}
		alive = true
		if t.asleep > w.now {
			continue
		}
		if w.chance(2) {
			t.asleep = w.now + w.rng.IntN(150)
		}
		w.running = t
		if _, more := t.next(); !more {
			t.over = true
		}
		break
	}
	return !alive
}

// wait simulates the passing of time.
func (w *simWorld) wait(context.Context, int) error { return w.running.pause() }

// accident injects a fault into a cell.
func (w *simWorld) accident() {
	k := w.keys[w.rng.IntN(simKeys)]
	c := w.cell(w.newest.Key(w.rng.IntN(w.newest.Generations()), k.Position()))
	switch {
	case w.rng.IntN(2) == 0:
		c.down = w.now + w.rng.IntN(60)
	case c.head.Keys == Sealed:
		c.head.Keys, c.back = Open, true
		w.counts[sawPromoted]++
	}
}

// judge returns an error if the clients' observations contradict each other.
func (w *simWorld) judge() error {
	for k, calls := range w.history.calls {
		if len(calls) > 0 && !porcupine.CheckOperations(register, calls) {
			return fmt.Errorf("%w: key %d: %v", errContradiction, k, calls)
		}
		for a, saw := range w.history.posters[k] {
			for b, too := range w.history.posters[k] {
				if a != b && saw>>b&1 == 0 && too>>a&1 == 0 {
					return fmt.Errorf("%w: posters %d and %d of key %d do not see each other", errContradiction, a, b, k)
				}
				if a != b {
					w.counts[sawPosted]++
				}
			}
		}
	}
	return nil
}

var errContradiction = errors.New("contradiction")

// simulateMany runs many seeds, and returns how many failed, and the errors of the first few.
func simulateMany(seeds uint64, literal bool) (counts simCounts, wrong int, errs []error) {
	var mu sync.Mutex
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			var mine simCounts
			for {
				seed := next.Add(1)
				if seed > seeds {
					break
				}
				if err := simulate(seed, literal, &mine); err != nil {
					mu.Lock()
					wrong++
					if len(errs) < 3 {
						errs = append(errs, err)
					}
					mu.Unlock()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for i, n := range mine {
				counts[i] += n
			}
		})
	}
	wg.Wait()
	return counts, wrong, errs
}

// TestP06_Simulation: under any faults, every key is a register that is set once.
func TestP06_Simulation(t *testing.T) {
	t.Parallel()
	seeds := uint64(longtest.Sample(2_000, 5_000, longtest.Part(20_000), 200_000))
	if long, err := strconv.ParseUint(os.Getenv("LOCUS_SEEDS"), 10, 64); err == nil {
		seeds = long
	}
	counts, wrong, errs := simulateMany(seeds, false)
	for i, n := range counts {
		t.Logf("%9d times %s", n, sawNames[i])
		if n == 0 {
			t.Errorf("never in %d seeds: %s", seeds, sawNames[i])
		}
	}
	if wrong > 0 {
		t.Fatalf("%d of %d seeds: %v", wrong, seeds, errors.Join(errs...))
	}
}

// TestP06_Control: the scheme of the source text, in the same simulator, gives keys two puids. If it did not, the
// simulator would prove nothing.
func TestP06_Control(t *testing.T) {
	t.Parallel()
	const seeds = 2_000
	_, wrong, _ := simulateMany(seeds, true)
	t.Logf("the literal scheme: %d of %d seeds contradict themselves", wrong, seeds)
	if wrong == 0 {
		t.Fatal("the literal scheme went through")
	}
}

// A seed that found an error must find it again.
func TestSimulation_SeedsRepeat(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		var runs [2]simCounts
		for i := range runs {
			_ = simulate(seed, seed%2 == 0, &runs[i])
		}
		if runs[0] != runs[1] {
			t.Fatalf("seed %d: %v, then %v", seed, runs[0], runs[1])
		}
	}
}
