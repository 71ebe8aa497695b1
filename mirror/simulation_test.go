// SPDX-License-Identifier: Apache-2.0

package mirror_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/mirrortest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

var histories = flag.Int("histories", 4000, "how many histories the simulation tries")

// shelf is a target in memory that checks that no document ever goes back in time.
type shelf struct {
	t        testing.TB
	docs     map[locality.ID]mirror.Document
	fill     mirror.Fill
	controls map[cell.ID]mirror.Control
	pause    func() error
	// naive writes without comparing versions.
	naive bool
}

func (s *shelf) Held(_ context.Context, ids []locality.ID) ([]mirror.Held, error) {
	if err := s.pause(); err != nil {
		return nil, err
	}
	held := make([]mirror.Held, len(ids))
	for i, id := range ids {
		held[i].ID = id
		if d, there := s.docs[id]; there {
			held[i] = mirror.Held{ID: id, Version: d.Version, Kind: d.Kind, Stamp: d.Stamp()}
		}
	}
	return held, nil
}

func (s *shelf) Write(_ context.Context, docs []mirror.Document) (written int, err error) {
	if err := s.pause(); err != nil {
		return 0, err
	}
	for _, d := range docs {
		was := s.docs[d.ID]
		if was.Version != d.Version-1 && !s.naive {
			continue
		}
		if was.At > d.At {
			s.t.Errorf("%v was true at %d, and goes back to %d: %v %v", d.ID, was.At, d.At, d.Kind, d.To)
		}
		s.docs[d.ID] = d
		written++
	}
	return written, s.pause() // the reply may be lost
}

func (s *shelf) Documents(_ context.Context, ids []locality.ID) (docs []mirror.Document, err error) {
	for _, id := range ids {
		if d, there := s.docs[id]; there {
			docs = append(docs, d)
		}
	}
	return docs, s.pause()
}

func (s *shelf) Scan(_ context.Context, after locality.ID, limit int) (docs []mirror.Document, err error) {
	for _, id := range slices.SortedFunc(maps.Keys(s.docs), locality.ID.Compare) {
		if id.Compare(after) > 0 && len(docs) < limit {
			docs = append(docs, s.docs[id])
		}
	}
	return docs, s.pause()
}

func (s *shelf) Fill(context.Context) (mirror.Fill, error) { return s.fill, s.pause() }

func (s *shelf) PutFill(_ context.Context, was, is mirror.Fill) (bool, error) {
	if err := s.pause(); err != nil {
		return false, err
	}
	if s.fill.Name != was.Name {
		return false, nil
	}
	s.fill = is
	return true, s.pause()
}

func (s *shelf) Controls(context.Context) ([]mirror.Control, error) {
	return slices.Collect(maps.Values(s.controls)), s.pause()
}

func (s *shelf) PutControl(_ context.Context, was, is mirror.Control) (bool, error) {
	if err := s.pause(); err != nil {
		return false, err
	}
	if there := s.controls[is.Cell]; there.Fill != was.Fill || there.Version != was.Version {
		return false, nil
	}
	s.controls[is.Cell] = is
	return true, s.pause()
}

var errFault = errors.New("the connection was cut")

// simulation is a world and two mirrors that follow it into one target. Any of them may be paused anywhere, for
// as long as the other takes for many steps.
type simulation struct {
	*mirrortest.World
	target  *shelf
	workers []*mirror.Worker
	busy    map[*mirror.Worker]bool // in the middle of a step
	faults  bool
	depth   int
	steps   int
}

func simulate(t testing.TB, seed uint64, naive bool) *simulation {
	s := &simulation{World: mirrortest.NewWorld(rand.New(rand.NewPCG(seed, 15)), 3), busy: map[*mirror.Worker]bool{},
		faults: true}
	s.target = &shelf{t: t, docs: map[locality.ID]mirror.Document{}, controls: map[cell.ID]mirror.Control{},
		pause: s.interlude, naive: naive}
	s.Pause, s.Trims = s.interlude, seed%4 == 0
	for range s.IntN(30) {
		s.Act()
	}
	for range 2 {
		for _, id := range s.Cells() {
			s.workers = append(s.workers, s.worker(id))
		}
	}
	return s
}

func (s *simulation) worker(id cell.ID) *mirror.Worker {
	return mirror.NewWorker(s.World, s.target, id, "world", func() time.Time { return time.UnixMilli(s.Tick) })
}

// interlude runs other events between two calls of a mirror.
func (s *simulation) interlude() error {
	if !s.faults {
		return nil
	}
	if s.steps > 40 && s.IntN(30) == 0 {
		// The last events happen, and everything is mirrored, while another mirror is in the middle of a step.
		s.faults = false
		s.Settle()
		s.finish()
		return nil
	}
	if s.IntN(3) == 0 {
		s.Act()
	}
	if s.depth < 3 && s.IntN(10) == 0 {
		for range 1 + s.IntN(4) {
			_, _ = s.step(s.IntN(len(s.workers)))
		}
	}
	if s.IntN(25) == 0 {
		return errFault
	}
	return nil
}

// step runs a step of a worker, unless it is in the middle of one. A worker whose step failed may be dead; a new
// one replaces it.
func (s *simulation) step(i int) (idle bool, err error) {
	w := s.workers[i]
	if s.busy[w] {
		return false, nil
	}
	s.busy[w] = true
	s.steps++
	s.depth++
	idle, err = w.Step(context.Background())
	s.depth--
	s.busy[w] = false
	if err != nil || s.faults && s.IntN(20) == 0 {
		s.workers[i] = s.worker(w.Cell())
	}
	return idle, err
}

// run runs events until the end, then finishes.
func (s *simulation) run(t testing.TB) {
	for s.faults {
		s.Act()
		_, _ = s.step(s.IntN(len(s.workers)))
	}
	s.finish()
	for _, w := range s.workers {
		if left := w.Settling(); len(left) > 0 {
			t.Errorf("cell %v: %v settle for ever", w.Cell(), left)
		}
	}
}

// finish runs all workers until none has work left: a worker may start a new fill of all cells.
func (s *simulation) finish() {
	for n, worked := 0, true; worked; n++ {
		worked = false
		for i := range s.workers {
			if s.busy[s.workers[i]] {
				continue
			}
			idle, err := s.step(i)
			if err != nil || n == 10_000 {
				s.target.t.Fatalf("cell %v does not come to an end: %v", s.workers[i].Cell(), err)
			}
			worked = worked || !idle
		}
	}
}

// differences compares the target with the world, and the world with the public API.
func (s *simulation) differences(t testing.TB) (found int) {
	v, err := mirror.Verify(t.Context(), s.World, s.target, &mirror.VerifyOptions{Patience: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if int(v.Compared) != len(s.IDs()) || v.Settling != 0 {
		t.Errorf("%d of %d ids were compared, %d settle", v.Compared, len(s.IDs()), v.Settling)
	}
	for _, id := range s.IDs() {
		at, hops := s.target.docs[id], 0
		for ; at.Kind == mirror.Redirect && hops <= len(s.IDs()); hops++ {
			at = s.target.docs[at.To]
		}
		if at.Kind != mirror.Entity && at.Kind != mirror.Deleted && v.Differ() == 0 {
			t.Errorf("%v leads to nothing, after %d hops", id, hops)
		}
	}
	return v.Differ()
}

// TestP15_Simulation runs histories of a world whose cells are written one by one, with two concurrent mirrors, late
// writers, lost replies and crashes between any two calls: in the end everything is correct, and no document ever goes
// back in time.
func TestP15_Simulation(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for i := range *histories {
		s := simulate(t, uint64(i), false)
		s.run(t)
		if n := s.differences(t); n > 0 {
			t.Errorf("%d documents are not what they should be", n)
		}
		if t.Failed() {
			t.Fatalf("history %d", i)
		}
	}
}

// watcher records failures instead of failing.
type watcher struct {
	testing.TB
	failed bool
}

func (w *watcher) Errorf(string, ...any) { w.failed = true }

// The simulation detects documents that go back in time: it does so if versions are not compared.
func TestP15_Simulation_SeesLateWriters(t *testing.T) {
	t.Parallel()
	back, wrong := 0, 0
	for i := range 200 {
		w := &watcher{TB: t}
		s := simulate(w, uint64(i), true)
		s.run(w)
		if w.failed {
			back++
		}
		if s.differences(w) > 0 {
			wrong++
		}
	}
	t.Logf("of 200 histories %d went back, %d ended wrong", back, wrong)
	if back == 0 || wrong == 0 {
		t.Error(fmt.Sprint("nobody went back: ", back, ", or nothing was wrong: ", wrong))
	}
}
