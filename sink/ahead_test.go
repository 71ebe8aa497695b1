// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance/mirrortest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
)

// counted is a world that counts the reads of states of IDs.
type counted struct {
	*mirrortest.World
	reads int
	then  func() // called after the next one
}

func (c *counted) States(ctx context.Context, ids []locality.ID, records []entity.PUID) ([]mirror.State, error) {
	states, err := c.World.States(ctx, ids, records)
	if len(ids) == 0 {
		return states, err
	}
	c.reads++
	if then := c.then; then != nil {
		c.then = nil
		then()
	}
	return states, err
}

// ahead is a feed of a world with lanes whose deliveries have one event.
type ahead struct {
	*counted
	feed   *sink.Feed
	lanes  []*sink.Lane
	target sinktest.Memory
}

func newAhead(t *testing.T) *ahead {
	a := &ahead{counted: &counted{World: mirrortest.NewWorld(rand.New(rand.NewPCG(1, 2)), 2)}}
	a.feed = sink.NewFeed(a.counted, &a.target, &sinktest.Store{}, 2, 1, 1000, time.Now)
	a.lanes = []*sink.Lane{a.feed.Lane(0), a.feed.Lane(1)}
	if err := a.feed.Start(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	a.read(t)
	a.deliver(t)
	return a
}

// read lets things happen, and reads the logs to their ends.
func (a *ahead) read(t *testing.T) (waiting int) {
	t.Helper()
	for range 400 {
		a.Act()
	}
	a.World.Settle()
	for more := true; more; {
		more = false
		for _, id := range a.Cells() {
			worked, err := a.feed.Read(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			more = more || worked
		}
	}
	waiting, _, _ = a.feed.Left()
	return waiting
}

func (a *ahead) deliver(t *testing.T) {
	t.Helper()
	a.feed.Settle()
	for more := true; more; {
		more = false
		for _, lane := range a.lanes {
			worked, err := lane.Step(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			more = more || worked
		}
	}
}

// A lane whose deliveries have one event reads the states of all IDs that wait for it at once.
func TestFeed_ReadsStatesTogether(t *testing.T) {
	t.Parallel()
	a := newAhead(t)
	waiting := a.read(t)
	a.reads = 0
	if a.deliver(t); waiting < 10 || a.reads > len(a.lanes) {
		t.Errorf("%d ids waited for %d lanes, and their states took %d reads", waiting, len(a.lanes), a.reads)
	}
}

// A state that was read ahead is not delivered if its ID is touched before the read returns.
func TestFeed_TouchedWhileStatesAreRead(t *testing.T) {
	t.Parallel()
	a := newAhead(t)
	for range 20 {
		a.read(t)
		a.then = func() { a.read(t) }
		a.deliver(t)
	}
	a.deliver(t)
	l := &locked{world: a.World}
	if n := l.wrong(&a.target); n > 0 {
		t.Errorf("%d ids are wrong", n)
	}
}
