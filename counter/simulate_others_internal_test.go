// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The simulator over databases with a Writer of their own: tasks stop between any two steps of theirs, steps fail one
// by one, and processes compact days and forget records concurrently. The packages of these databases import this
// one, so their half of the simulation is an external test.

// SimDatabase is such a database, in place of a cell of the model.
type SimDatabase interface {
	// Database returns it as processes see it.
	Database() Database
	Horizon() int64
	// Counted returns a metric's count in a minute, open and closed.
	Counted(id ID, at Minute) int64
	// Check fails the simulation if days do not add up.
	Check()
}

// SimWorld is the world of a simulation.
type SimWorld = simWorld

// SimFault is a fault at a step of a database.
type SimFault int

// The faults, with the values of perdocumenttest.
const (
	SimNone SimFault = iota
	SimUnavailable
	SimConflict
	SimLostRequest
	SimLostReply
	SimCrash
)

// ErrSimStep is the error of a step that was not done.
var ErrSimStep = errors.New("simulated: not written")

// ErrSimAgain is the error of an update that has to find rows created by another one.
var ErrSimAgain = errAgain

// Saw counts a rare state.
func (w *simWorld) Saw(what string) { w.counts[what]++ }

// Fail ends the simulation.
func (w *simWorld) Fail(err error) { w.fail("%w", err) }

// Instantly runs do while no task runs and nothing fails.
func (w *simWorld) Instantly(do func()) {
	was := w.running
	w.running = nil
	defer func() { w.running = was }()
	do()
}

// Fault lets other tasks run before a step, and returns what happens at it.
func (w *simWorld) Fault(write bool) SimFault {
	t := w.running
	if t == nil { // the world itself looks
		return SimNone
	}
	if !t.killed && w.rng.IntN(3) == 0 {
		if w.chance(3) {
			t.asleep = w.steps + w.rng.IntN(600)
		}
		if !t.pause() {
			w.counts[sawKilledBefore]++
			if write {
				w.counts[sawKilledAfter]++
			}
		}
	}
	switch {
	case t.killed:
		return SimCrash
	case !w.faults || w.rng.IntN(1000) >= w.lossy:
		return SimNone
	case !write:
		return SimUnavailable
	}
	return SimUnavailable + SimFault(w.rng.IntN(int(SimCrash)))
}

// The rare states that a database sees first.
const (
	SawAgain         = sawAgain
	SawCommitUnknown = sawCommitUnknown
	SawForgotten     = sawForgotten
)

// Simulate runs a seed over other databases.
func Simulate(seed uint64, counts SimCounts, open func(*SimWorld) SimDatabase) error {
	w := newSimWorld(seed, 3, counts)
	w.others = map[string]SimDatabase{}
	w.lossy = []int{0, 5, 30}[w.rng.IntN(3)]
	for _, cell := range simCells {
		w.others[cell] = open(w)
	}
	err := w.run(7, 3000, 1500)
	for _, cell := range simCells {
		w.others[cell].Check()
	}
	if err = errors.Join(err, w.wrong); err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	return nil
}

// SimDecode returns the minutes or quarters of a compacted day.
func SimDecode(c *CompactedDay, kind Kind) ([]int64, error) { return decodeDay(c, kind) }

// SimCheck compares days with their hours and minutes.
func SimCheck(metas []Meta, buckets map[Table][]Bucket) error {
	m := newModel()
	for _, is := range metas {
		m.metrics[is.ID] = is
	}
	for table, all := range buckets {
		for _, s := range all {
			m.buckets[table][s.Key] = s.Values
		}
	}
	// An hour prepared by a process whose clock is days behind may appear after its day was compacted.
	maps.DeleteFunc(m.buckets[Hours], func(key BucketKey, values []int64) bool {
		return m.buckets[Days][NewBucketKey(key.Unit()/24, key.ID())] == nil && slices.Max(values) == 0
	})
	return m.check()
}
