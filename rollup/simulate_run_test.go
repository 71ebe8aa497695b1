// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/rollup"
)

// saw is a rare state. A run that never reaches it proves nothing about it.
type saw int

const (
	sawLeaseLost saw = iota
	sawOwnCommit
	sawLostAnswer
	sawKilled
	sawAsleep
	sawJumped
	sawBuildAgain
	sawSwapped
	sawSwapRefused
	sawResumed
	sawTrimRefused
	sawFailed
	sawSplit
	sawUnwanted
	sawOldCatalog
	sawGone
	// Only with groups in documents:
	sawAhead
	sawSwapLost
	sawArrived
	sawBetween
	saws
)

var sawNames = [saws]string{
	sawLeaseLost:   "the lease was lost before a commit",
	sawOwnCommit:   "a transaction that ran again found its own commit",
	sawLostAnswer:  "an answer was lost",
	sawKilled:      "a process was killed",
	sawAsleep:      "a process stood still for longer than its lease",
	sawJumped:      "a clock jumped by a day",
	sawBuildAgain:  "a build was begun again",
	sawSwapped:     "a generation took the place of another",
	sawSwapRefused: "one could not yet, since it was behind",
	sawResumed:     "a generation that stood still went on",
	sawTrimRefused: "the log could not be trimmed, since a generation was behind",
	sawFailed:      "a generation failed",
	sawSplit:       "a batch ended within a transaction",
	sawUnwanted:    "changes carried images no more",
	sawOldCatalog:  "a process had an old catalogue",
	sawGone:        "a reader's generation was gone",
	sawAhead:       "a document was ahead of the watermark that a step began from",
	sawSwapLost:    "a document was not as it had been read",
	sawArrived:     "a write arrived that no client waited for",
	sawBetween:     "a watermark moved while documents were read",
}

type simCounts [saws]int

const (
	simSteps    = 1500   // when faults end
	simSettling = 30_000 // limit of the steps after that, one change at a time
)

// simulate runs a seed and returns the first error. restless rebuilds and redefines rollups all the time.
func simulate(seed uint64, restless, apart bool, counts *simCounts) error {
	w := &simWorld{
		apart: apart, documents: shelf{},
		rng: rand.New(rand.NewPCG(seed, 0)), at: newCell(), history: map[rollup.Over][]simMoment{},
		ends: map[changelog.Seq]bool{0: true}, served: map[string]changelog.Seq{}, servers: map[int64]bool{}, counts: counts,
		faults: true,
	}
	pick := func(from ...int) int { return from[w.rng.IntN(len(from))] }
	w.poison = w.rng.IntN(6) == 0
	w.sleepy, w.deadly, w.lossy = pick(0, 5, 20), pick(0, 2, 6), pick(0, 10, 40)
	w.idle, w.settled = pick(0, 1, 5), pick(15, 40)
	if restless {
		w.idle, w.settled, w.restless = 0, 40, true
	}
	w.run()
	if w.wrong != nil {
		return fmt.Errorf("seed %d: %w", seed, w.wrong)
	}
	return nil
}

func (w *simWorld) run() {
	var processes []*simProcess
	for i := range 2 + w.rng.IntN(2) {
		processes = append(processes, w.process(fmt.Sprint(i)))
	}
	others := []*simTask{
		w.task("writer", w.write), w.task("writer", w.write), w.task("owner", w.own), w.task("reader", w.read),
		w.task("reader", w.read),
	}
	for names := len(processes); w.now < simSteps && w.wrong == nil; w.now++ {
		for _, p := range processes {
			p.clock = p.clock.Add(100 * time.Millisecond)
		}
		w.arrive()
		i := w.rng.IntN(len(processes))
		if owner := slices.IndexFunc(processes, func(p *simProcess) bool { return p.name == w.at.leases[rollup.LeaseName].Owner }); owner >= 0 && w.rng.IntN(2) == 0 {
			i = owner
		}
		switch {
		case w.chance(w.deadly):
			w.kill(processes[i].tasks)
			processes[i] = w.process(fmt.Sprint(names))
			names++
			w.counts[sawKilled]++
		case w.chance(2):
			processes[i].clock = processes[i].clock.Add(time.Duration(1-2*w.rng.IntN(2)) * 24 * time.Hour)
			w.counts[sawJumped]++
		}
		if w.rng.IntN(3) == 0 {
			w.resume(others[w.rng.IntN(len(others))])
		} else {
			w.resume(processes[i].tasks[w.rng.IntN(2)])
		}
	}
	w.kill(others)
	w.settle(processes)
	for _, p := range processes {
		w.kill(p.tasks)
	}
}

// settle runs the processes without faults until nothing is left to do.
func (w *simWorld) settle(processes []*simProcess) {
	w.faults = false
	for _, p := range processes {
		p.clock = p.clock.Add(48 * time.Hour)
		for _, t := range p.tasks {
			t.asleep = 0
		}
	}
	for range simSettling {
		if w.now++; w.wrong != nil || w.now%10 == 0 && w.rests() == nil {
			return
		}
		p := processes[w.rng.IntN(len(processes))]
		p.clock = p.clock.Add(time.Second)
		w.resume(p.tasks[w.rng.IntN(2)])
	}
	if err := w.rests(); err != nil {
		w.fail("it does not come to rest: %w", err)
	}
}

// rests returns an error that names the work that is left, nil if none is.
func (w *simWorld) rests() error {
	named := map[int64]bool{}
	var wanted changelog.Images
	for _, r := range w.at.rollups {
		if r.Next != nil && w.at.generations[r.Next.Generation].State != rollup.Failed {
			return fmt.Errorf("generation %d does not serve", r.Next.Generation)
		}
		for _, v := range []*rollup.Version{r.Serving, r.Next} {
			if v != nil {
				named[v.Generation] = true
				wanted = wanted.Union(v.Definition.Images())
			}
		}
	}
	for number, g := range w.at.generations {
		if !named[number] {
			return fmt.Errorf("generation %d is left", number)
		}
		if next := w.at.rollups[g.Definition.Name].Next; g.State == rollup.Following && g.Watermark < w.lastChange() &&
			(next == nil || g.FrozenFor != next.Generation) {
			return fmt.Errorf("generation %d is at %d of %d", number, g.Watermark, w.at.bounds.Last)
		}
	}
	if w.at.wanted.String() != wanted.String() {
		return fmt.Errorf("changes carry %v, wanted is %v", w.at.wanted, wanted)
	}
	return nil
}

func (w *simWorld) lastChange() changelog.Seq {
	if n := len(w.at.log); n > 0 {
		return w.at.log[n-1].Seq
	}
	return 0
}

// kill ends tasks in the middle of their work.
func (w *simWorld) kill(tasks []*simTask) {
	for _, t := range tasks {
		w.running = t
		t.stop()
	}
}

// resume lets a task continue, unless it is paused.
func (w *simWorld) resume(t *simTask) {
	if t.over || t.asleep > w.now {
		return
	}
	if w.chance(w.sleepy) {
		t.asleep = w.now + w.rng.IntN(400)
		if t.asleep > w.now+120 {
			w.counts[sawAsleep]++
		}
	}
	w.running = t
	if _, more := t.next(); !more {
		t.over = true
	}
}

// simulateMany runs many seeds and returns the errors of those that failed. It stops after a few.
func simulateMany(seeds uint64, restless, apart bool) (counts simCounts, errs []error) {
	const few = 3
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
				if err := simulate(seed, restless, apart, &mine); err != nil {
					mu.Lock()
					if errs = append(errs, err); len(errs) == few {
						next.Store(seeds)
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
	return counts, errs
}

// runSeeds runs the simulator and logs the events that occurred.
func runSeeds(t *testing.T, restless, apart bool) {
	t.Helper()
	seeds := uint64(longtest.Sample(20, 200, longtest.Part(200), 1000))
	if long, err := strconv.ParseUint(os.Getenv("LOCUS_SEEDS"), 10, 64); err == nil {
		seeds = long
	}
	counts, errs := simulateMany(seeds, restless, apart)
	if len(errs) > 0 {
		t.Fatalf("of %d seeds: %v", seeds, errors.Join(errs...))
	}
	for i, n := range counts {
		t.Logf("%9d times %s", n, sawNames[i])
		if n == 0 && seeds >= 200 && (apart || saw(i) < sawAhead) {
			t.Errorf("never in %d seeds: %s", seeds, sawNames[i])
		}
	}
}

// TestP04_Simulation: under random faults, every group equals the oracle's at its watermark, after every commit.
func TestP04_Simulation(t *testing.T) {
	t.Parallel()
	runSeeds(t, false, false)
}

// TestP05_Simulation: the same while rollups are constantly rebuilt and redefined, and no reader goes back in
// time.
func TestP05_Simulation(t *testing.T) {
	t.Parallel()
	runSeeds(t, true, false)
}

// TestP04_SimulationOfDocuments: the same where most rollups keep their groups in documents, which are written
// one by one: every answer equals the oracle's at its watermark, after every single write.
func TestP04_SimulationOfDocuments(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	runSeeds(t, false, true)
}

// TestP05_SimulationOfDocuments: rollups constantly move from the cell to documents and back.
func TestP05_SimulationOfDocuments(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	runSeeds(t, true, true)
}

// A seed that found a failure finds it again.
func TestSimulation_SeedsRepeat(t *testing.T) {
	t.Parallel()
	for seed := range uint64(longtest.Sample(5, 5, longtest.Part(20), 50)) {
		var runs [2]simCounts
		for i := range runs {
			_ = simulate(seed, seed%2 == 0, seed%3 == 0, &runs[i])
		}
		if runs[0] != runs[1] {
			t.Fatalf("seed %d: %v, then %v", seed, runs[0], runs[1])
		}
	}
}

var simDefinitions = definitions(
	`{ rollup: x, kind: animal, group: tags, dimension: city, measures: { n: count, w: { sum: weight, scale: 1 }, kinds: { distinct: tags } } }`,
	`{ rollup: x, kind: animal, group: city, measures: { light: { min: weight, scale: 1 }, heavy: { max: weight, scale: 1 }, two: { top: weight, k: 2, scale: 1 } } }`,
	`{ rollup: x, kind: animal, group: [tags, city], where: { city: [a, b], weight: { exists: true } }, measures: { mean: { avg: weight, scale: 1 } } }`,
	`{ rollup: x, kind: animal, over: records, group: source, dimension: outcome, measures: { n: count, tags: { distinct: tags } } }`,
	`{ rollup: x, kind: animal, over: records, group: tags, where: { city: { not: a } } }`,
)

func definitions(texts ...string) []rollup.Definition {
	var all []rollup.Definition
	for _, text := range texts {
		d, err := rollup.Parse([]byte(text))
		if err != nil {
			panic(err)
		}
		all = append(all, *d)
	}
	return all
}

// own defines, rebuilds and drops rollups.
func (w *simWorld) own(t *simTask) {
	ctx := context.Background()
	for first := true; t.pause(); first = false {
		name, d := string('a'+rune(w.rng.IntN(2))), w.define()
		d.Name = name
		n := w.rng.IntN(w.settled)
		if r := w.at.rollups[name]; w.restless && r.Serving != nil && r.Next == nil {
			n = 2 // rebuild it
		}
		_ = w.update(ctx, func(tx rollup.Tx) (err error) {
			switch now := time.UnixMilli(int64(w.now)); {
			case first, n < 2:
				_, _, err = rollup.Define(ctx, tx, d, now)
			case n < 5:
				_, err = rollup.Rebuild(ctx, tx, name, now)
			case n < 6:
				err = rollup.Drop(ctx, tx, name)
			}
			return err
		})
	}
}

// read queries the serving generation by a catalogue that may be old, and checks that it never goes back in time.
func (w *simWorld) read(t *simTask) {
	ctx := context.Background()
	var catalog rollup.Catalog
	seen := map[string]changelog.Seq{}
	for t.pause() {
		if w.rng.IntN(6) == 0 {
			_ = w.view(ctx, func(tx rollup.Tx) (err error) { catalog, err = tx.Rollups(ctx); return err })
		}
		for _, r := range catalog {
			if r.Serving == nil {
				continue
			}
			q := w.query(&r.Serving.Definition, r.Serving.Generation)
			before := w.at.generations[q.Generation].Watermark
			part, err := w.database().Read(ctx, q, nil)
			if errors.Is(err, rollup.ErrGone) {
				w.counts[sawGone]++
				catalog = nil
				break
			}
			if err != nil {
				continue
			}
			if at := part.Standing.Watermark; at < seen[r.Name] {
				w.fail("a reader of rollup %s saw %d, and then generation %d at %d", r.Name, seen[r.Name], r.Serving.Generation, at)
			}
			seen[r.Name] = part.Standing.Watermark
			w.answered(&r.Serving.Definition, q, part)
			if w.apart && w.rng.IntN(8) == 0 {
				w.verify(q.Generation)
			}
			if r.Serving.Definition.Store != rollup.InCell && w.at.generations[q.Generation].Watermark > before {
				w.counts[sawBetween]++
			}
		}
	}
}

// write changes entities and records, in transactions of several changes.
func (w *simWorld) write(t *simTask) {
	ctx := context.Background()
	for t.pause() {
		if w.rng.IntN(1+w.idle) > 0 {
			continue
		}
		seed := w.rng.Uint64()
		_ = w.update(ctx, func(tx rollup.Tx) error {
			rng := rand.New(rand.NewPCG(seed, 1))
			if rng.IntN(20) == 0 {
				tx.(*simTx).bounds.Last += 3 // a gap
			}
			for range 1 + rng.IntN(4) {
				of := []rollup.Over{rollup.Entities, rollup.Records}[rng.IntN(2)]
				tx.(*simTx).put(of, int64(rng.IntN(6)), w.image(rng, of))
			}
			return nil
		})
	}
}

// image draws an image, nil for a deletion.
func (w *simWorld) image(rng *rand.Rand, of rollup.Over) *changelog.Image {
	if rng.IntN(4) == 0 {
		return nil
	}
	pick := func(n int, from ...string) []string {
		var values []string
		for range n {
			values = append(values, from[rng.IntN(len(from))])
		}
		return values
	}
	crowded := rng.IntN(40) == 0
	weights := []string{"1", "2.5", "-3", "7.0", "0.25", "heavy", "900000000000000000", "-900000000000000000"}
	tags := pick(rng.IntN(4), "mammal", "wings", "ears")
	for i := 0; crowded && i <= rollup.Falls; i++ {
		tags = append(tags, fmt.Sprint(i))
	}
	cities := pick(rng.IntN(2), "a", "b", "c") // including none, as many values as allowed
	if w.poison {
		cities, tags = pick(1, "a", "b", "c", "d", "e", "f", "g"), append(tags, "mammal")
	}
	im := &changelog.Image{Kind: "animal", Sources: pick(1, "crm", "web"), Attributes: map[string][]string{
		"tags": tags, "city": cities, "weight": pick(rng.IntN(3), weights...),
	}}
	if of == rollup.Records {
		im.Outcome = pick(1, changelog.OutcomeCreated, changelog.OutcomeMatched)[0]
	}
	return im
}
