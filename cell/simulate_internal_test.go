// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"time"
)

// A simulator of an installation: servers with maps of random age, clients that put and look up by the Directory of
// their server, an operator that adds generations and compacts old ones. All are coroutines that stop when they send a
// request and when they receive the reply; a seed decides which one continues, and what fails: replies are lost, cells
// are down, servers and operators are killed, replicas that missed a seal are promoted. Only one coroutine runs at a
// time, so a seed can be replayed.

const (
	simGens = 4
	simKeys = 3
)

var simSizes = [simGens]uint64{2, 4, 8, 16}

// simMaps are all possible versions of the map, by generations, current and floor.
var simMaps = sync.OnceValue(func() *[simGens + 1][simGens][simGens]*Map {
	var maps [simGens + 1][simGens][simGens]*Map
	for n := 1; n <= simGens; n++ {
		for current := range n {
			for floor := range current + 1 {
				spec := Spec{ID: "simulated", Epoch: uint64(n + current + floor), Current: current, Floor: floor}
				for g := range n {
					spec.Generations = append(spec.Generations, Generation{Cells: simSizes[g], Starts: time.UnixMilli(int64(g))})
				}
				m, err := NewMap(spec)
				if err != nil {
					panic(err)
				}
				maps[n][current][floor] = m
			}
		}
	}
	return &maps
})

// simCell is a cell. It is a value, so that a transaction works on a copy.
type simCell struct {
	head Head
	rows [simKeys]int64
	next int64
	// filter states for each key whether the cell may have it, if there is a filter.
	filter   [simKeys]bool
	filtered bool
	posts    [simKeys]uint64
	// back marks a cell that was promoted and has not asked the authority yet.
	back bool
	// down is until when it is unavailable.
	down int
}

type simWorld struct {
	rng     *rand.Rand
	now     int
	maps    *[simGens + 1][simGens][simGens]*Map
	newest  *Map
	cells   [simGens][]simCell
	keys    [simKeys]Key
	history simHistory
	counts  *simCounts
	// running is the task that continues.
	running *simTask
	// growing is set from when a generation is current until all older cells are sealed.
	growing bool
	// faults are switched off near the end, so that all can finish.
	faults bool
}

func (w *simWorld) cell(c ID) *simCell { return &w.cells[c.Gen][c.Index] }

func (w *simWorld) chance(percent int) bool { return w.faults && w.rng.IntN(100) < percent }

// simTask is a coroutine: a client, or the operator.
type simTask struct {
	w      *simWorld
	yield  func(struct{}) bool
	next   func() (struct{}, bool)
	stop   func()
	killed bool
	over   bool
	// asleep is until when it pauses, drawn at random.
	asleep int
	call   *simCall
}

var (
	errSimKilled = fmt.Errorf("killed")
	errSimDown   = fmt.Errorf("%w: simulated", ErrUnavailable)
	errSimLost   = fmt.Errorf("%w: simulated", ErrCommitUnknown)
)

func (w *simWorld) task(run func(*simTask)) *simTask {
	t := &simTask{w: w}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		run(t)
	})
	return t
}

// pause yields to other coroutines.
func (t *simTask) pause() error {
	if t.killed || !t.yield(struct{}{}) {
		t.killed = true
		return errSimKilled
	}
	return nil
}

// simServer is the state of a server: the Source of its clients' Directory.
type simServer struct {
	w *simWorld
	m *Map
}

func (s *simServer) Map() *Map        { return s.m }
func (s *simServer) Observe(ID, Head) {}

func (s *simServer) Refresh(context.Context) error {
	if err := s.w.running.pause(); err != nil {
		return err
	}
	if s.w.chance(3) {
		return fmt.Errorf("the authority: %w", errSimDown)
	}
	if newest := s.w.newest; newest.Epoch() > s.m.Epoch() {
		s.m = newest
	}
	return nil
}

func (s *simServer) Cell(c ID) (Database[simTx], error) { return simDB{s.w.running, c}, nil }

func (s *simServer) DefinitelyAbsent(c ID, k Key) bool {
	cell := s.w.cell(c)
	if !cell.filtered || cell.filter[k.Digest[0]] || s.w.rng.IntN(4) == 0 {
		return false // no filter, not loaded, or a false positive
	}
	s.w.counts[sawFilter]++
	return true
}

// simTransaction is a transaction: it works on a copy of the cell.
type simTransaction struct {
	Store
	w  *simWorld
	id ID
	c  simCell
	// fresh has a bit for each key that was given a puid.
	fresh uint8
}

// simTx is the transaction type of simulated cells.
type simTx = *simTransaction

func (t *simTransaction) Head(context.Context) (Head, error) { return t.c.head, nil }
func (t *simTransaction) Require(_ context.Context, check func(Head) error) error {
	return check(t.c.head)
}

func (t *simTransaction) SetHead(_ context.Context, head Head) error {
	t.c.head = head
	return nil
}

func (t *simTransaction) Lookup(_ context.Context, keys []Key) ([]int64, error) {
	rows := make([]int64, len(keys))
	for i, k := range keys {
		rows[i] = t.c.rows[k.Digest[0]]
	}
	return rows, nil
}

func (t *simTransaction) Allocate(_ context.Context, keys []Key) ([]Allocation, error) {
	rows := make([]Allocation, len(keys))
	for i, k := range keys {
		n := k.Digest[0]
		if t.c.rows[n] == Nothing {
			lo, _ := t.w.newest.PuidRange(t.id)
			t.c.next++
			t.c.rows[n] = lo + t.c.next
			t.fresh |= 1 << n
		}
		rows[i] = Allocation{PUID: t.c.rows[n], Fresh: t.fresh>>n&1 == 1}
	}
	return rows, nil
}

func (t *simTransaction) Copy(_ context.Context, rows []Row) error {
	for _, r := range rows {
		if n := r.Key.Digest[0]; t.c.rows[n] == Nothing {
			t.c.rows[n] = r.PUID
		}
	}
	return nil
}

// simDB is a cell as a database that a task uses.
type simDB struct {
	t  *simTask
	id ID
}

func (db simDB) run(fn func(simTx) error, lost error) error {
	w := db.t.w
	if err := db.t.pause(); err != nil {
		return err
	}
	c := w.cell(db.id)
	if c.down > w.now {
		w.counts[sawDown]++
		return errSimDown
	}
	if c.back {
		c.head, c.back = c.head.RecoverFromReplica(db.id, w.newest), false
		w.counts[sawRejoined]++
	}
	tx := &simTransaction{w: w, id: db.id, c: *c}
	if err := fn(tx); err != nil {
		return err
	}
	db.commit(c, tx)
	if err := db.t.pause(); err != nil {
		return err
	}
	if w.chance(2) {
		w.counts[sawLost]++
		return lost
	}
	return nil
}

// commit stores the writes of the transaction.
func (db simDB) commit(c *simCell, tx simTx) {
	w := db.t.w
	if tx.fresh != 0 {
		if w.growing {
			w.counts[sawPutWhileGrowing]++
		}
		if call := db.t.call; call != nil {
			for k := range simKeys {
				if tx.fresh>>k&1 == 1 {
					call.effect[k] = tx.c.rows[k]
				}
			}
		}
	}
	if tx.c.head.Keys == Sealed && c.head.Keys == Open && db.t.call != nil {
		w.counts[sawSealByWriter]++
	}
	*c = tx.c
}

func (db simDB) Update(_ context.Context, fn func(simTx) error) error { return db.run(fn, errSimLost) }

func (db simDB) Exclusive(_ context.Context, fn func(simTx) error) error {
	return db.run(fn, errSimLost)
}

func (db simDB) View(_ context.Context, fn func(simTx) error) error { return db.run(fn, errSimDown) }

func (db simDB) Read(_ context.Context, fn func(simTx) error) error { return db.run(fn, errSimDown) }
