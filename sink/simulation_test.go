// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/conformance/mirrortest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
)

// watched is a target that checks the promises about the events that it gets.
type watched struct {
	sinktest.Memory
	t     testing.TB
	world *mirrortest.World
	sim   *simulation
	at    map[locality.ID]int64 // when the state of the accepted event was true
}

func (w *watched) Position(ctx context.Context) (sink.Position, error) {
	if err := w.sim.interlude(); err != nil {
		return sink.Position{}, err
	}
	return w.Memory.Position(ctx)
}

func (w *watched) Deliver(ctx context.Context, b sink.Batch) error {
	if err := w.sim.interlude(); err != nil {
		return err
	}
	var rejected []sink.Rejected
	for i := 0; i < len(b.Events); i++ {
		if !w.Keeps && w.sim.faults && w.sim.IntN(40) == 0 {
			rejected = append(rejected, sink.Rejected{ID: b.Events[i].ID, Reason: "of that kind"})
			b.Events = append(b.Events[:i:i], b.Events[i+1:]...)
			i--
		}
	}
	before := map[locality.ID]sink.Event{}
	for _, e := range b.Events {
		before[e.ID] = w.Get(e.ID)
	}
	if err := w.Memory.Deliver(ctx, b); err != nil {
		return err
	}
	for _, e := range b.Events {
		was := before[e.ID]
		if now := w.Get(e.ID); now.Rev == was.Rev {
			continue // dropped
		}
		at := tick(e)
		// An owner reads the states of an ID in order. If owners are fenced, too, they never go back.
		if at < w.at[e.ID] && e.At != "" && (w.Keeps || sink.TokenOf(was.Rev) == sink.TokenOf(e.Rev)) {
			w.t.Errorf("%v was true at %d with rev %x, and goes back to %d with rev %x", e.ID, w.at[e.ID], was.Rev, at, e.Rev)
		}
		w.at[e.ID] = at
	}
	if b.Sweep != 0 {
		for _, id := range w.world.IDs() {
			if e := w.Get(id); e.Rev == b.Sweep && e.Op == sink.Delete && e.At == "" {
				w.t.Errorf("%v was swept, and exists", id)
			}
		}
	}
	if err := w.sim.interlude(); err != nil { // the reply is lost
		return err
	}
	if rejected != nil {
		return &sink.RejectedError{Events: rejected}
	}
	return nil
}

// tick returns when the state of an event was true.
func tick(e sink.Event) (at int64) {
	w, err := changelog.ParseWatermark(e.At)
	if err != nil {
		panic(err)
	}
	for _, seq := range w {
		at = int64(seq)
	}
	return at
}

// kept is a store that may fail.
type kept struct {
	sinktest.Store
	sim *simulation
}

func (k *kept) Load(ctx context.Context) (sink.Progress, error) {
	if err := k.sim.interlude(); err != nil {
		return sink.Progress{}, err
	}
	return k.Store.Load(ctx)
}

func (k *kept) Save(ctx context.Context, token int64, p sink.Progress) ([]sink.Request, error) {
	if err := k.sim.interlude(); err != nil {
		return nil, err
	}
	asked, err := k.Store.Save(ctx, token, p)
	return asked, errors.Join(err, k.sim.interlude())
}

// owner is a process that holds the lease, or believes so.
type owner struct {
	*sink.Feed
	lanes []*sink.Lane
	busy  map[int]bool // steps on the way
	gone  bool
	token int64
}

// simulation is a world, a target, and owners that follow one another; a former one may go on for long.
type simulation struct {
	*mirrortest.World
	target *watched
	store  *kept
	owners []*owner // the last one is the newest
	token  int64
	faults bool
	depth  int
	steps  int
	fatal  func(...any)
}

var errFault = errors.New("the connection was cut")

func simulate(t testing.TB, seed uint64) *simulation {
	s := &simulation{World: mirrortest.NewWorld(rand.New(rand.NewPCG(seed, 5)), 3), faults: true, fatal: t.Fatal}
	s.target = &watched{t: t, world: s.World, sim: s, at: map[locality.ID]int64{}}
	s.target.Keeps = seed%2 == 0
	s.store = &kept{sim: s}
	s.Pause, s.Trims = s.interlude, seed%3 == 0
	for range s.IntN(30) {
		s.Act()
	}
	return s
}

// begin makes a new process the owner, without the former one noticing.
func (s *simulation) begin() {
	s.token++
	token := s.token
	s.store.SetToken(token)
	lanes := 1
	if !s.target.Keeps {
		lanes = 3
	}
	o := &owner{Feed: sink.NewFeed(s.World, s.target, s.store, lanes, 1+s.IntN(4), 1+s.IntN(12), func() time.Time { return time.UnixMilli(s.Tick) }), busy: map[int]bool{}, token: token}
	for n := range lanes {
		o.lanes = append(o.lanes, o.Lane(n))
	}
	o.gone = true // until it is started
	if err := o.Start(context.Background(), token); err != nil {
		if !s.faults && token == s.token {
			s.fatal(err)
		}
		return
	}
	o.gone = false
	s.owners = append(s.owners, o)
}

// interlude runs other events between two calls of an owner.
func (s *simulation) interlude() error {
	if !s.faults {
		return nil
	}
	if s.steps > 60 && s.IntN(40) == 0 {
		s.faults = false
		s.Settle()
		s.finish()
		return nil
	}
	if s.IntN(3) == 0 {
		s.Act()
	}
	if s.depth < 3 && s.IntN(6) == 0 {
		for range 1 + s.IntN(4) {
			s.step()
		}
	}
	if s.IntN(25) == 0 {
		return errFault
	}
	return nil
}

// step lets one of the owners do a step, or a new one begin.
func (s *simulation) step() {
	s.steps++
	if len(s.owners) == 0 || s.IntN(25) == 0 {
		s.depth++
		s.begin()
		s.depth--
		return
	}
	o := s.owners[max(0, len(s.owners)-1-s.IntN(2)*s.IntN(2))]
	s.do(o, s.IntN(len(o.lanes)+len(s.Cells())+1))
}

// do does the n-th kind of step of an owner, and reports whether there was something to do.
func (s *simulation) do(o *owner, n int) (worked bool) {
	slot := n
	if s.target.Keeps && n == len(o.lanes)+len(s.Cells()) {
		slot = 0 // its lane and save take turns
	}
	if o.gone || o.busy[slot] {
		return false
	}
	o.busy[slot] = true
	s.depth++
	defer func() { s.depth--; o.busy[slot] = false }()
	var err error
	ctx := context.Background()
	switch cells := s.Cells(); {
	case n < len(o.lanes):
		worked, err = o.lanes[n].Step(ctx)
	case n < len(o.lanes)+len(cells):
		worked, err = o.Read(ctx, cells[n-len(o.lanes)])
	default:
		o.Feed.Settle()
		err = o.Save(ctx)
	}
	o.gone = o.gone || errors.Is(err, lease.ErrLost) || errors.Is(err, sink.ErrFenced)
	return worked || err != nil && !o.gone
}

// run runs events until the end, then finishes.
func (s *simulation) run() {
	for s.faults {
		s.Act()
		s.step()
	}
	s.finish()
}

// finish lets the newest owner work until nothing is left. If it has ended or, like former owners, is stopped in the
// middle of a step, a new one takes over.
func (s *simulation) finish() {
	idle := func(o *owner) bool {
		for _, busy := range o.busy {
			if busy {
				return false
			}
		}
		return !o.gone && o.token == s.token
	}
	if len(s.owners) == 0 || !idle(s.owners[len(s.owners)-1]) {
		s.begin()
	}
	o := s.owners[len(s.owners)-1]
	s.store.Ask(sink.Request{})
	for n := 0; ; n++ {
		worked := false
		for k := range len(o.lanes) + len(s.Cells()) + 1 {
			worked = s.do(o, k) || worked
		}
		if waiting, again, dead := o.Left(); !worked && waiting+again+dead == 0 {
			if left := o.Pages(); left > 0 {
				s.target.t.Errorf("%d pages are never acknowledged", left)
			}
			return
		}
		if n == 10_000 {
			s.fatal(fmt.Sprint("no end: ", o.AgainIDs()))
		}
	}
}

// differences counts the IDs of which the target does not have the current state.
func (s *simulation) differences() (found int) {
	for _, id := range s.IDs() {
		if !s.has(id, s.target.Get(id)) {
			found++
		}
	}
	return found
}

// has reports whether an event has the current state of an ID.
func (s *simulation) has(id locality.ID, got sink.Event) bool {
	states, err := s.States(context.Background(), []locality.ID{id}, nil)
	if err != nil || states[0].Settling {
		return false
	}
	want := sink.EventOf(&states[0], 0)
	want.At, got.At, got.Rev = "", "", 0
	return states[0].Kind == mirror.Unknown || reflect.DeepEqual(want, got)
}

// Histories of a world whose cells are written one by one, with owners that come and go, former ones that wake up late,
// lost replies, rejected events, trimmed logs and pauses of reading while many ids wait: at the end the target has
// every state, the states of an ID that one owner delivers never go back in time, and with a fence neither do the
// states of all owners.
func TestP17_Simulation(t *testing.T) {
	t.Parallel()
	for i := range longtest.Sample(300, 300, longtest.Part(3000), 30_000) {
		s := simulate(t, uint64(i))
		s.run()
		if n := s.differences(); n > 0 {
			t.Errorf("%d ids are not what they should be", n)
		}
		if t.Failed() {
			t.Fatalf("history %d", i)
		}
	}
}
