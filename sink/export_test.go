// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// Feed is the work of one owner, in steps, for the simulation.
type Feed = feed

// EventOf returns the event of a state.
var EventOf = eventOf

// NewFeed returns a feed that is not started. It reads while fewer than most IDs wait.
func NewFeed(source mirror.Source, target Sink, store Store, lanes, batch, most int, now func() time.Time) *Feed {
	f := newFeed(source, target, store, lanes, batch, "", now)
	f.most = most
	return f
}

// Start, Read, Settle, Save and LaneStep are the steps.
func (f *feed) Start(ctx context.Context, token int64) error { return f.start(ctx, token) }

func (f *feed) Read(ctx context.Context, id cell.ID) (bool, error) {
	tail, err := f.source.Tail(ctx)
	if err != nil || !slices.Contains(f.notice(tail), id) {
		return false, err
	}
	return f.read(ctx, id, tail[id])
}

func (f *feed) Settle() { f.settle() }

func (f *feed) Save(ctx context.Context) error { return f.save(ctx) }

// Lane is a lane with its current batch.
type Lane struct {
	f    *feed
	n    int
	held *delivery
}

// Lane returns a lane.
func (f *feed) Lane(n int) *Lane { return &Lane{f: f, n: n} }

// Step takes a batch if the lane has none, or tries once to deliver its batch. It reports whether there was one.
func (l *Lane) Step(ctx context.Context) (bool, error) {
	if l.held == nil {
		l.held = l.f.take(l.n)
		return l.held != nil, nil
	}
	err := l.f.deliver(ctx, l.held)
	if err == nil {
		l.held = nil
	}
	return true, err
}

// Left returns the numbers of IDs in delivery, of IDs to be read again, and of dead letters.
func (f *feed) Left() (waiting, again, dead int) { return len(f.entries), len(f.again), len(f.dead) }

// Pages returns the number of pages that are not acknowledged.
func (f *feed) Pages() (n int) {
	for _, l := range f.logs {
		n += len(l.pages)
	}
	return n
}

// At returns the acknowledged position.
func (f *feed) At() *Position { return f.position(nil) }

// AgainIDs returns the IDs to be read again.
func (f *feed) AgainIDs() []locality.ID { return f.position(nil).Again }
