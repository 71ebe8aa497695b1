// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A step writes groups that are elsewhere one by one before it commits. These rules keep that correct if a writer is
// killed, duplicated or late:
//
//   - A group contains the changes to it up to its own watermark. A writer reads it, adds exactly the changes between
//     that watermark and the new one, and compares the watermark in the write. A late write finds a different
//     watermark and has no effect.
//   - The generation's watermark advances only after all groups that the changes touch have been written. A group
//     behind it has not been touched since.
//   - Every group that a change touches is written, even if it is empty or unchanged: its watermark makes late
//     writes fail.
//
// After a crash or a lost reply the next step reads the groups and adds to each what it lacks.

// reachable removes work on groups to which this process has no access.
func (f *Follower) reachable(p *Progress, b *batch) {
	if f.opts.Database.Elsewhere != nil {
		return
	}
	leave := func(g *Generation) bool {
		if !g.Definition.external() {
			return false
		}
		_, b.apart = f.opts.Database.elsewhere(g)
		return true
	}
	p.Missing = slices.DeleteFunc(p.Missing, func(v Version) bool { return leave(&Generation{Definition: v.Definition}) })
	p.Left = slices.DeleteFunc(p.Left, func(number int64) bool {
		return slices.ContainsFunc(b.all, func(g Generation) bool { return g.Number == number && leave(&g) })
	})
	p.Apart = b.apart
}

// carryAll writes the groups of a batch that are elsewhere and removes generations that cannot be committed now.
func (f *Follower) carryAll(ctx context.Context, b *batch) {
	works := b.works[:0]
	for _, w := range b.works {
		if w.forward != nil && w.err == nil {
			done, err := f.carry(ctx, &w)
			wrong, is := errors.AsType[unfit](err)
			switch {
			case is:
				w.err = wrong
			case err == nil && !done:
				continue
			case err != nil:
				b.apart = errors.Join(b.apart,
					fmt.Errorf("generation %d of rollup %s: %w", w.from.Number, w.from.Definition.Name, err))
				continue
			}
		}
		works = append(works, w)
	}
	b.works = works
}

// carry advances the groups of a generation to the end of the batch. If the error is unfit, nothing was written.
func (f *Follower) carry(ctx context.Context, w *work) (done bool, err error) {
	in, err := f.opts.Database.elsewhere(&w.from)
	if err != nil {
		return false, err
	}
	w.groups, done, err = in.Advance(ctx, &w.from, w.forward)
	return done, err
}

// failApart freezes generations whose groups elsewhere cannot continue. It needs an exclusive update: readers are ahead
// of the watermark and stay at the current end of the log.
func (f *Follower) failApart(ctx context.Context, b *batch) error {
	for _, w := range b.works {
		if w.err == nil || !w.from.Definition.external() {
			continue
		}
		if err := f.term().exclusive(ctx, func(tx Tx) error {
			now, err := generations(ctx, tx)
			if err != nil {
				return err
			}
			bounds, err := tx.Bounds(ctx)
			if err != nil {
				return err
			}
			for _, g := range now {
				if g.Number == w.from.Number && g.State == Following && g.Watermark == w.from.Watermark &&
					g.FrozenFor == w.from.FrozenFor {
					g.State, g.FrozenAt, g.Reason = Failed, bounds.Last, fmt.Sprintf("after change %d: %v", g.Watermark, w.err)
					return tx.PutGeneration(ctx, g)
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// settle gives a new build of a generation an ID that no earlier build had.
func (f term) settle(ctx context.Context, tx Tx, g *Generation) error {
	if f.opts.Database.Elsewhere == nil {
		_, err := f.opts.Database.elsewhere(g)
		return err
	}
	g.StoreID = f.opts.Database.Elsewhere.StoreID()
	g.BuildID = rand.Int64() //nolint:gosec // no secret: it is only to differ
	var err error
	g.History, err = tx.History(ctx)
	return err
}

// dropElsewhere deletes all groups of a generation that the catalogue no longer names.
func (f term) dropElsewhere(ctx context.Context, g *Generation) error {
	in, err := f.opts.Database.elsewhere(g)
	switch {
	case f.opts.Database.Elsewhere == nil:
		return err
	case err != nil:
		return nil //nolint:nilerr // they are in a database that is not used any more
	}
	return in.Drop(ctx, g.Number)
}
