// SPDX-License-Identifier: Apache-2.0

package perdocument

import (
	"context"
	"errors"

	"github.com/locus-db/locus/counter"
)

// attempts limits the runs of an update with new knowledge, contended the retries after conflicts with other
// writers.
const (
	attempts  = 4
	contended = 100
)

// groupCommit counts one group: some hits in one update, others in a later one.
type groupCommit struct {
	*counter.CommitGroup
	db    Database
	dedup dedup
	// final reports that some hits have results from an earlier update, because each day is written on its own.
	final bool
}

// Count implements counter.Writer.
func (d Database) Count(ctx context.Context, group *counter.CommitGroup) (err error) {
	g := &groupCommit{CommitGroup: group, db: d, dedup: newDedup()}
	conflicts := 0
	for n := 0; n < attempts; n++ {
		err = d.Update(ctx, func(tx Store) error {
			g.dedup.tx = tx
			return g.Apply(ctx, tx, &g.dedup)
		})
		part, some := errors.AsType[*PartialWriteError](err)
		without, left := g.without(err)
		switch {
		case err == nil:
			g.summarise(ctx)
			return nil
		case some && g.settle(part) || without && !left:
			g.summarise(ctx)
			return nil
		case without:
			n--
		case some && conflicts < contended:
			conflicts++
			n--
		case some || !g.Learn(err):
			n = attempts
		}
	}
	if !g.final {
		return err
	}
	g.giveUp(err)
	g.summarise(ctx)
	return nil
}

// settle records the results of hits whose days were written or failed for good, and reports whether no hit is
// left to retry.
func (g *groupCommit) settle(e *PartialWriteError) bool {
	g.final = true
	g.CommittedInPart()
	all := true
	for h := range g.Pending() {
		err := e.Days[h.Day()]
		switch {
		case h.Err() != nil:
			h.Settle(h.Err())
		case errors.Is(err, counter.ErrConflict):
			all = false
		default:
			h.Settle(err)
		}
	}
	return all
}

// giveUp gives the remaining hits their results. They were not counted, unless the error of their day is
// counter.ErrCommitUnknown.
func (g *groupCommit) giveUp(err error) {
	part, some := errors.AsType[*PartialWriteError](err)
	g.GiveUp(func(h counter.GroupHit) error {
		if some {
			return part.Days[h.Day()]
		}
		return err
	})
}

// without refuses the hits that need data that an update could not read. It reports whether there were such hits, and
// whether others are left.
func (g *groupCommit) without(err error) (can, left bool) {
	e, unread := errors.AsType[*UnreadError](err)
	if !unread {
		return false, true
	}
	days, metrics := make(map[counter.BucketKey]bool, len(e.Days)), make(map[counter.ID]bool, len(e.Metrics))
	for _, day := range e.Days {
		days[day] = true
	}
	for _, id := range e.Metrics {
		metrics[id] = true
	}
	for _, b := range g.Batches() {
		if e.batch(b.Name()) {
			g.dedup.unread[b.Name()] = true
		}
	}
	for h := range g.Pending() {
		if !e.batch(h.Batch().Name()) && !metrics[h.ID()] && !days[h.Day()] {
			left = true
			continue
		}
		h.Refuse(e.Err)
		can = true
	}
	g.final = g.final || can
	return can, left
}
