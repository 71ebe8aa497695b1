// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/longtest"
)

// Rare states. A run that never reaches one proves nothing about it.
const (
	sawGroup         = "several batches were counted in one transaction"
	sawAgain         = "a transaction ran again"
	sawCommitUnknown = "a commit was not confirmed"
	sawKilledBefore  = "a process was killed before a commit"
	sawKilledAfter   = "a process was killed after a commit"
	sawForgotten     = "something was forgotten"
	sawReplayed      = "a batch was answered from memory"
	sawHalf          = "of a repeated batch a hit was still to be counted"
	sawReused        = "a key was used for another batch"
	sawSequence      = "a number of a producer came too late"
	sawTooOld        = "a hit was too old"
	sawTooOldCounted = "a hit was too old that had been counted"
	sawAtOnce        = "a batch was repeated while it waited"
)

// SimSaws are the rare states of every simulation.
var SimSaws = []string{
	sawGroup, sawAgain, sawCommitUnknown, sawKilledBefore, sawKilledAfter, sawForgotten, sawReplayed,
	sawHalf, sawReused, sawSequence, sawTooOld, sawTooOldCounted, sawAtOnce,
}

// SimCounts counts rare states.
type SimCounts map[string]int

// simClient sends batches, and repeats them until they are answered, or later, or never.
type simClient struct {
	w        *simWorld
	producer Producer // zero for a client that uses keys
	seq      uint64
	plain    bool // neither: its batches are never repeated
	// sent is the batch in flight, and batches are the ones that may be repeated.
	sent    *simSent
	batches []*simBatch
}

type simBatch struct {
	Batch
	hits []*simHit
	done bool // finally answered, as far as the client knows
	// loose reports that an earlier attempt may still be counted.
	loose bool
	evil  bool // its key belongs to another batch
	sent  int
}

type simSent struct {
	*simBatch
	call *request
	to   *simProcess
	lost []int // hits that were sent again to the new place of their metrics
}

// time draws the time of a hit, often near a limit.
func (w *simWorld) time() time.Time {
	ms := time.Duration(w.rng.IntN(3)-1) * time.Millisecond
	switch w.rng.IntN(8) {
	case 0:
		return time.UnixMilli(w.horizon(simCells[w.rng.IntN(2)])).Add(ms)
	case 1:
		return w.now.Add(-Window).Truncate(time.Millisecond).Add(ms)
	case 2:
		return w.now.Add(ahead + ms)
	case 3, 4:
		if w.others != nil { // so that many hits are on one day
			return w.now.Add(-time.Duration(w.rng.IntN(2)) * 24 * time.Hour).Add(-time.Duration(w.rng.IntN(3600)) * time.Second)
		}
		return w.now.Add(-time.Duration(w.rng.Int64N(int64(Window))))
	}
	return w.now.Add(-time.Duration(w.rng.IntN(1000)) * time.Millisecond)
}

func (w *simWorld) hit() *simHit {
	for {
		h := &simHit{at: w.time()}
		h.metric = simMetrics[w.rng.IntN(len(simMetrics))]
		h.minute, h.kind = MinuteOf(h.at), simKind(h.metric)
		if h.at.Unix() <= 0 || w.slots[h.simSlot] > 4 {
			continue
		}
		if w.rng.IntN(6) == 0 {
			h.kind = 1 - h.kind // refused if the metric exists
		}
		h.power = w.slots[h.simSlot]
		w.slots[h.simSlot]++
		w.hits = append(w.hits, h)
		return h
	}
}

func (c *simClient) batch() *simBatch {
	w := c.w
	b := &simBatch{}
	for range 1 + w.rng.IntN(3) {
		h := w.hit()
		b.hits = append(b.hits, h)
		b.Hits = append(b.Hits, Hit{Metric: h.metric, At: h.at, Kind: h.kind, N: h.n()})
	}
	if c.plain {
		return b
	}
	if c.producer != (Producer{}) {
		c.seq++
		b.Producer, b.Seq = c.producer, c.seq
		return b
	}
	w.keys++
	b.Key = Key(fmt.Sprint("key", w.keys))
	if n := len(c.batches); n > 0 && w.rng.IntN(8) == 0 {
		b.Key, b.evil = c.batches[w.rng.IntN(n)].Key, true
	}
	return b
}

// step makes a client check for its answer, or send a batch.
func (c *simClient) step() {
	if c.sent != nil {
		c.look()
		return
	}
	var b *simBatch
	switch n := len(c.batches); {
	case n > 0 && c.w.chance(5):
		b = c.batches[c.w.rng.IntN(n)] // as if it had been in flight for a long time
	case n > 0 && !c.batches[n-1].done && c.producer != Producer{}:
		b = c.batches[n-1] // the next one only after this one was answered
	case n > 0 && c.producer == Producer{} && c.w.rng.IntN(2) == 0:
		b = c.batches[c.w.rng.IntN(n)]
	case !c.w.faults:
		return
	default:
		if b = c.batch(); !c.plain {
			c.batches = append(c.batches, b)
		}
	}
	c.send(b)
}

func (c *simClient) send(b *simBatch) {
	to := c.w.processes[c.w.rng.IntN(len(c.w.processes))]
	call, err := to.recorder.call(&b.Batch)
	if err != nil {
		c.w.fail("%w", err)
		return
	}
	b.sent++
	c.sent = &simSent{simBatch: b, call: call, to: to}
	to.recorder.split(context.Background(), call, to.recorder.opts.Now())
	to.send(call)
}

// look takes the answer, if it has arrived and is not lost.
func (c *simClient) look() {
	s, w := c.sent, c.w
	switch {
	case s.to.dead:
		s.loose, c.sent = true, nil
		return
	case len(s.call.parts) > 0:
		select {
		case <-s.call.done:
		default:
			if w.chance(5) {
				w.counts[sawAtOnce]++
				s.loose, c.sent = true, nil
			}
			return
		}
	}
	replayed := s.call.replayed()
	if lost := s.call.collect(); len(lost) > 0 {
		if s.lost != nil {
			w.fail("metrics are lost twice")
		}
		s.lost = lost
		s.to.recorder.relocate(context.Background(), s.call, lost)
		s.to.send(s.call)
		return
	}
	c.sent = nil
	if w.chance(w.lossy) {
		return
	}
	if replayed {
		w.counts[sawReplayed]++
	} else if len(s.call.parts) > 0 && s.done {
		w.counts[sawHalf]++
	}
	c.answered(s)
}

// answered compares an answer with the hits that were counted.
func (c *simClient) answered(s *simSent) {
	w, done := c.w, true
	for i, err := range s.call.results {
		h := s.hits[i]
		switch {
		case err == nil:
			h.acked = true
			if n := w.counted(h); n != 1 {
				w.fail("hit %d of batch %q %d was acknowledged, and counted %d times", i, s.Key, s.Seq, n)
			}
			continue
		case errors.Is(err, ErrCommitUnknown):
			s.loose, done = true, false
			continue
		case errors.Is(err, errSimDown), errors.Is(err, ErrConflict), errors.Is(err, ErrSimStep):
			done = false
			if w.counted(h) > 0 && s.sent == 1 && !s.loose {
				w.fail("hit %d of batch %q %d was counted, and refused when it was sent first: %w", i, s.Key, s.Seq, err)
			}
			continue
		case errors.Is(err, ErrKeyReused):
			w.counts[sawReused]++
		case errors.Is(err, ErrSequence):
			w.counts[sawSequence]++
			if s.Seq == c.seq {
				w.fail("batch %d of a producer, the last one, is out of sequence", s.Seq)
			}
			continue
		case errors.Is(err, ErrTooOld):
			w.counts[sawTooOld]++
			if w.counted(h) > 0 {
				w.counts[sawTooOldCounted]++
			}
		case errors.Is(err, ErrInFuture), errors.Is(err, ErrKind):
		default:
			w.fail("hit %d of batch %q %d: %w", i, s.Key, s.Seq, err)
		}
		// A recorded hit must be acknowledged. An attempt still in flight may have been counted since.
		if !s.loose && !s.evil && w.counted(h) > 0 && h.at.UnixMilli() >= w.horizon(w.places[h.metric].Cell) {
			w.fail("hit %d of batch %q %d was counted, and refused: %w", i, s.Key, s.Seq, err)
		}
	}
	s.done = s.done || done
}

// simulate runs a seed over cells of the model and returns the first error.
func simulate(seed uint64, counts SimCounts) error {
	w := newSimWorld(seed, 2, counts)
	w.lossy = []int{0, 4, 15}[w.rng.IntN(3)]
	for _, cell := range simCells {
		w.cells[cell] = newModel()
	}
	if err := w.run(4, 500, 400); err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	return nil
}

func newSimWorld(seed, stream uint64, counts SimCounts) *simWorld {
	return &simWorld{
		rng: rand.New(rand.NewPCG(seed, stream)), now: noon, cells: map[string]*model{}, locked: map[string]*simTask{},
		places: map[Metric]Place{}, slots: map[simSlot]int{}, counts: counts, faults: true,
	}
}

// run lets clients send for some steps, and then waits some more steps for answers.
func (w *simWorld) run(clients, steps, more int) error {
	w.processes = []*simProcess{w.process(), w.process()}
	for i := range clients {
		c := &simClient{w: w, plain: i == 6}
		if i%2 == 1 {
			binary.BigEndian.PutUint64(c.producer[:], uint64(i))
		}
		w.clients = append(w.clients, c)
	}
	for w.steps = 0; w.steps < steps+more && w.wrong == nil; w.steps++ {
		w.faults = w.steps < steps
		w.step()
		if cell := simCells[w.steps%2]; w.others != nil && w.steps%100 < 2 {
			w.others[cell].Check()
		}
	}
	for _, p := range w.processes {
		w.kill(p)
	}
	for i, h := range w.hits {
		if n := w.counted(h); n > 1 || h.acked && n != 1 {
			w.fail("hit %d, of %s at %s, acknowledged: %t, was counted %d times", i, h.metric, h.at, h.acked, n)
		}
	}
	return w.wrong
}

func (w *simWorld) step() {
	w.now = w.now.Add(time.Duration(w.rng.IntN(2000)) * time.Millisecond)
	p := w.rng.IntN(len(w.processes))
	switch n := w.rng.IntN(1000); {
	case !w.faults || n >= 60:
	case n < 8:
		w.kill(w.processes[p])
		w.processes[p] = w.process()
	case n < 16:
		w.processes[p].skew = time.Duration(w.rng.Int64N(int64(4*24*time.Hour))) - 2*24*time.Hour
	case n < 24:
		w.now = w.now.Add(time.Duration(w.rng.Int64N(int64(4 * 24 * time.Hour))))
	default:
		w.maintain(w.processes[p])
	}
	if w.rng.IntN(3) == 0 {
		w.clients[w.rng.IntN(len(w.clients))].step()
	} else {
		tasks := w.processes[p].tasks
		if t := tasks[w.rng.IntN(len(tasks))]; t.asleep <= w.steps {
			w.resume(t)
		}
	}
}

// Batches that clients repeat count once, whatever replies are lost and whatever is killed.
func TestP02_Simulation(t *testing.T) {
	t.Parallel()
	SimulateAll(t, simulate, longtest.Sample(8, 8, 120, 400), SimSaws)
}

// SimulateAll runs many seeds, and requires each rare state to occur.
func SimulateAll(t *testing.T, simulate func(uint64, SimCounts) error, seeds int, names []string) {
	t.Helper()
	if long, err := strconv.Atoi(os.Getenv("LOCUS_SEEDS")); err == nil {
		seeds = long
	}
	counts := SimCounts{}
	wrong := 0
	for seed := range seeds {
		if err := simulate(uint64(seed), counts); err != nil {
			t.Error(err)
			if wrong++; wrong == 3 {
				break
			}
		}
	}
	for _, name := range names {
		n := counts[name]
		t.Logf("%6d times %s", n, name)
		if n == 0 && wrong == 0 && seeds > 100 {
			t.Errorf("it never came that %s", name)
		}
	}
}
