// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/locus-db/locus/internal/delay"
	"github.com/locus-db/locus/internal/protocol"
)

// retries is how often a walk starts again with a newer map before it gives up: more often than generations are added,
// and for longer than a cell takes to move.
const retries = 10

// batch is a set of walks that are driven together: in each round their requests are grouped by cell, and each group is
// one transaction.
type batch[T Store] struct {
	dir   *Directory[T]
	trips []operation
}

type operation struct {
	key   Key
	walk  protocol.Walk
	puid  int64
	fresh bool
	err   error
	// retries counts the maps that were too old.
	retries int
	// ahead is a sealed cell's reply to a request that the walk may make next.
	ahead    protocol.Reply
	aheadFor protocol.Request
}

func (d *Directory[T]) batch(op protocol.Op, keys []Key) *batch[T] {
	b := &batch[T]{dir: d, trips: make([]operation, len(keys))}
	for i, k := range keys {
		t := &b.trips[i]
		t.key, t.walk = k, protocol.Walk{Op: op}
		if t.puid = d.facts.puid(k); t.puid == Nothing {
			t.walk = t.walk.Start(d.view(op, k))
		}
	}
	return b
}

// drive continues all walks until each is done, has failed, or requests until, which the caller does itself.
func (b *batch[T]) drive(ctx context.Context, until protocol.Action) {
	for {
		groups, stale := b.gather(until)
		if len(groups) == 0 && len(stale) == 0 {
			return
		}
		b.ask(ctx, groups)
		b.refresh(ctx, stale)
	}
}

// group is the requests to one cell in one transaction.
type group struct {
	cell    ID
	request protocol.Request
	keys    []Key
	members []member
}

// member is a walk of a group; ahead means that it may make the request next.
type member struct {
	*operation
	ahead bool
}

// gather groups the requests of the walks, in their order, and returns the walks that need a newer map.
func (b *batch[T]) gather(until protocol.Action) (groups []*group, stale []*operation) {
	type wanted struct {
		cell ID
		protocol.Request
	}
	m, index := b.dir.src.Map(), map[wanted]*group{}
	for i := range b.trips {
		t := &b.trips[i]
		if t.err != nil || t.puid != Nothing {
			continue
		}
		if r := t.walk.Next(); r == t.aheadFor && t.ahead.Lasting() {
			t.walk = t.walk.Step(t.ahead)
		}
		join := func(r protocol.Request, ahead bool) {
			c := m.Key(int(r.Gen), t.key.Position())
			if ahead && !b.dir.facts.mayReadAhead(c) {
				return
			}
			g := index[wanted{c, r}]
			if g == nil {
				g = &group{cell: c, request: r}
				index[wanted{c, r}] = g
				groups = append(groups, g)
			}
			g.keys, g.members = append(g.keys, t.key), append(g.members, member{t, ahead})
		}
		switch r := t.walk.Next(); r.Do {
		case protocol.ActionDone:
			b.found(t)
		case until:
		case protocol.ActionRefresh:
			stale = append(stale, t)
		case protocol.ActionRead:
			join(r, false)
			// If this cell has no row, the walk continues with the next one; if the next one is known to be sealed, it
			// can be read at the same time.
			nothing := protocol.Reply{Keys: protocol.Open}
			if b.dir.facts.isSealed(m.Key(int(r.Gen), t.key.Position())) {
				nothing.Keys = protocol.Sealed
			}
			if next := t.walk.Step(nothing).Next(); next.Do == protocol.ActionRead {
				join(next, true)
			}
		default:
			join(r, false)
		}
	}
	return groups, stale
}

func (b *batch[T]) found(t *operation) {
	if t.puid = t.walk.Answer(); t.puid != Nothing {
		b.dir.Know(t.key, t.puid)
	}
}

// ask runs the groups, some concurrently, and gives the walks the replies.
func (b *batch[T]) ask(ctx context.Context, groups []*group) {
	if len(groups) == 1 || b.dir.abreast == 1 {
		for _, g := range groups {
			b.askOne(ctx, g)
		}
		return
	}
	var wg sync.WaitGroup
	places := make(chan struct{}, b.dir.abreast)
	for _, g := range groups {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			b.askOne(ctx, g)
		})
	}
	wg.Wait()
}

func (b *batch[T]) askOne(ctx context.Context, g *group) {
	var replies []protocol.Reply
	var head Head
	db, err := b.dir.src.Cell(g.cell)
	if err == nil {
		replies, head, err = ask(ctx, db, g.request, g.keys)
	}
	if b.dir.facts.answered(g.cell, err == nil); err == nil {
		b.dir.learn(g.cell, head)
	} else {
		err = fmt.Errorf("cell %v: %w", g.cell, err)
	}
	for i, t := range g.members {
		switch {
		case t.ahead && err == nil:
			t.operation.ahead, t.aheadFor = replies[i], g.request
		case t.ahead:
		case err != nil:
			t.err = err
		default:
			t.walk = t.walk.Step(replies[i])
			t.fresh = replies[i].Fresh
		}
	}
}

// refresh reads the newest map and restarts walks with it.
func (b *batch[T]) refresh(ctx context.Context, stale []*operation) {
	if len(stale) == 0 {
		return
	}
	most := 0
	for _, t := range stale {
		t.retries++
		most = max(most, t.retries)
	}
	err := b.dir.wait(ctx, most)
	if err == nil {
		err = b.dir.src.Refresh(ctx)
	}
	for _, t := range stale {
		switch {
		case err != nil:
			t.err = err
		case t.retries > retries:
			t.err = fmt.Errorf("%w: cells of a key refuse the newest available map, epoch %d",
				ErrStaleMap, b.dir.src.Map().Epoch())
		default:
			t.walk = t.walk.Step(protocol.Reply{View: b.dir.view(t.walk.Op, t.key)})
		}
	}
}

// wait delays the n-th retry with a newer map: not at all before the first, since another process has usually published
// it already, and half a second in total.
func wait(ctx context.Context, n int) error {
	if n <= 1 {
		return ctx.Err()
	}
	return delay.For(ctx, time.Millisecond<<(n-2))
}

// err joins the distinct errors of the walks.
func (b *batch[T]) err(what string) error {
	var errs []error
	seen := map[string]bool{}
	for i := range b.trips {
		if err := b.trips[i].err; err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", what, errors.Join(errs...))
}
