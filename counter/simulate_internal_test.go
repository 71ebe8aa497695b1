// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"
)

// A simulator of clients that repeat batches, and of processes that count them in shared cells. It runs the
// production code, except for the goroutine that waits for callers: tasks are coroutines that yield where a
// transaction begins, before it commits and where its reply arrives, and a seed decides which one continues and
// what fails. At the end, each acknowledged hit must have been counted exactly once, and each other one at most
// once.

type simWorld struct {
	rng       *rand.Rand
	now       time.Time
	cells     map[string]*model
	others    map[string]SimDatabase // instead of cells
	locked    map[string]*simTask    // task in a transaction
	places    map[Metric]Place
	processes []*simProcess
	clients   []*simClient
	slots     map[simSlot]int // number of hits in each
	hits      []*simHit
	keys      int
	running   *simTask
	counts    SimCounts
	steps     int
	faults    bool // switched off near the end
	lossy     int  // how often replies are lost, per hundred
	wrong     error
}

// simSlot is a minute of a metric. Its hits add powers of 16, so that the sum shows how often each was counted.
type simSlot struct {
	metric Metric
	minute Minute
}

// simHit is a hit that a client wants counted.
type simHit struct {
	simSlot
	at    time.Time
	kind  Kind
	power int
	acked bool
}

func (h *simHit) n() int64 { return 1 << (4 * h.power) }

var simCells = []string{"a", "b"}

// simMetrics are three counters and a gauge; their cells are fixed.
var simMetrics = []Metric{"x", "y", "z", "gauge"}

func simKind(m Metric) Kind {
	if m == "gauge" {
		return Gauge
	}
	return Counter
}

func (w *simWorld) chance(percent int) bool { return w.faults && w.rng.IntN(100) < percent }

func (w *simWorld) fail(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = fmt.Errorf(format, args...)
	}
}

func (w *simWorld) counted(h *simHit) int {
	at, ok := w.places[h.metric]
	if !ok {
		return 0
	}
	if w.others != nil {
		return int(w.others[at.Cell].Counted(at.ID, h.minute) >> (4 * h.power) & 15)
	}
	sum := w.cells[at.Cell].minute(at.ID, h.minute)
	if values := w.cells[at.Cell].buckets[GaugeQuarters][NewBucketKey(h.minute.QuarterOf(), at.ID)]; values != nil {
		sum += values[h.minute.InHour()%15*Reading+ReadingSum]
	}
	return int(sum >> (4 * h.power) & 15)
}

type simTask struct {
	w      *simWorld
	yield  func(struct{}) bool
	next   func() (struct{}, bool)
	stop   func()
	killed bool
	asleep int // until this step
}

var (
	errSimKilled = errors.New("simulated: killed")
	errSimDown   = errors.New("simulated: the cell does not answer")
)

func (w *simWorld) task(run func(*simTask)) *simTask {
	t := &simTask{w: w}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		run(t)
	})
	return t
}

// pause lets other tasks run, and reports whether this one is still alive.
func (t *simTask) pause() bool {
	t.killed = t.killed || !t.yield(struct{}{})
	return !t.killed
}

func (w *simWorld) resume(t *simTask) {
	w.running = t
	t.next()
	w.running = nil
}

func (w *simWorld) horizon(cell string) int64 {
	if w.others != nil {
		return w.others[cell].Horizon()
	}
	return w.cells[cell].horizon
}

// update is a transaction. Those of one cell run one after the other.
func (w *simWorld) update(cell string, fn func(Tx) error) error {
	t := w.running
	for first := true; first || w.locked[cell] != nil; first = false {
		if !t.pause() {
			return errSimKilled
		}
	}
	if w.chance(w.lossy) {
		return errSimDown
	}
	if w.chance(5) { // its writes are lost, and it runs again
		_ = fn(w.cells[cell].clone())
		w.counts[sawAgain]++
	}
	tx := w.cells[cell].clone()
	if err := fn(tx); err != nil {
		return err
	}
	if w.rng.IntN(4) == 0 {
		w.locked[cell] = t
		alive := t.pause()
		w.locked[cell] = nil
		if !alive {
			w.counts[sawKilledBefore]++
			return errSimKilled
		}
	}
	unknown := w.chance(w.lossy)
	if unknown && w.rng.IntN(2) == 0 {
		return fmt.Errorf("simulated: %w", ErrCommitUnknown)
	}
	if err := tx.check(); err != nil {
		w.fail("%w", err)
	}
	w.cells[cell] = tx
	if unknown {
		w.counts[sawCommitUnknown]++
		return fmt.Errorf("simulated: %w", ErrCommitUnknown)
	}
	if w.chance(20) && !t.pause() {
		w.counts[sawKilledAfter]++
		return errSimKilled
	}
	return nil
}

func (w *simWorld) List() []string { return simCells }

func (w *simWorld) Cell(cell string) Database {
	if w.others != nil {
		return w.others[cell].Database()
	}
	return Database{
		Update: func(_ context.Context, fn func(Tx) error) error { return w.update(cell, fn) },
		View:   func(_ context.Context, fn func(Tx) error) error { return fn(w.cells[cell]) },
	}
}

// Places is a directory that puts the second and the last metric into the second cell.
func (w *simWorld) Places(_ context.Context, metrics []Metric, create, _ bool) []Place {
	places := make([]Place, len(metrics))
	for i, m := range metrics {
		at, ok := w.places[m]
		if !ok && create {
			id := slices.Index(simMetrics, m) + 1
			at = Place{Cell: simCells[(id+1)%2], ID: ID(id)}
			w.places[m] = at
		}
		places[i] = at
	}
	return places
}

// simProcess counts hits that clients send.
type simProcess struct {
	recorder *Recorder
	skew     time.Duration // of its clock
	queues   map[string][]*GroupBatch
	tasks    []*simTask // one per cell, and one that maintains other databases
	upkeep   bool       // maintenance is due
	dead     bool
}

func (w *simWorld) process() *simProcess {
	p := &simProcess{queues: map[string][]*GroupBatch{}}
	// keeps all
	opts := &Options{Now: func() time.Time { return w.now.Add(p.skew) }, Rand: w.rng.Float64, Retention: []Retention{{}}}
	var err error
	if p.recorder, err = New(w, opts); err != nil {
		w.fail("%w", err)
	}
	for _, cell := range simCells {
		c := newGroupCommitter(cell, w.Cell(cell), &p.recorder.opts)
		p.tasks = append(p.tasks, w.task(func(t *simTask) {
			for t.pause() {
				if queue := p.queues[cell]; len(queue) > 0 {
					n := 1 + w.rng.IntN(len(queue))
					if n > 1 {
						w.counts[sawGroup]++
					}
					p.queues[cell] = slices.Clone(queue[n:])
					c.serve(queue[:n:n])
				}
			}
		}))
	}
	if w.others != nil {
		p.tasks = append(p.tasks, w.task(func(t *simTask) {
			for t.pause() {
				if p.upkeep {
					_ = p.recorder.Maintain(context.Background())
					p.upkeep = false
				}
			}
		}))
	}
	return p
}

func (w *simWorld) kill(p *simProcess) {
	p.dead = true
	for _, t := range p.tasks {
		w.running = t
		t.stop()
		w.running = nil
	}
}

// send is Recorder.send without the wait.
func (p *simProcess) send(c *request) {
	c.waiting.Store(int32(len(c.parts)))
	for _, part := range c.parts {
		p.queues[part.cell] = append(p.queues[part.cell], part)
	}
}

// maintain drops records older than the window, by the clock of a process.
func (w *simWorld) maintain(p *simProcess) {
	if w.others != nil {
		p.upkeep = true
		return
	}
	cell := simCells[w.rng.IntN(len(simCells))]
	if w.locked[cell] != nil {
		return
	}
	tx := w.cells[cell].clone()
	before := len(tx.batches) + len(tx.producers)
	_, err := forget(context.Background(), tx, p.recorder.opts.Now().Add(-Window).UnixMilli())
	if err != nil {
		w.fail("%w", err)
	}
	if len(tx.batches)+len(tx.producers) < before {
		w.counts[sawForgotten]++
	}
	w.cells[cell] = tx
}
