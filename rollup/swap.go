// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"math"
	"time"

	"github.com/locus-db/locus/changelog"
)

// Yield has a generation stand still once the one that is to take its place has caught up with it, in an
// update of the cell, and answers whether it does. After that nobody who goes over from one to the other
// goes back in time. Doing it again changes nothing. from may be a generation that the cell does not
// hold. One that stands still for a younger one already goes on standing for that: whoever asks has an old
// catalogue.
//
// If the groups of from are in documents the update has to be exclusive. Those who read them are ahead of the
// watermark, by the log; so it stands still where the log ends, and yields once the next one is there.
func Yield(ctx context.Context, tx Tx, from, to int64) (bool, error) {
	all, err := generations(ctx, tx)
	if err != nil {
		return false, err
	}
	var old, next *Generation
	for i := range all {
		switch all[i].Number {
		case from:
			old = &all[i]
		case to:
			next = &all[i]
		}
	}
	switch {
	case next == nil || next.State != Following:
		return false, nil
	case old == nil || !old.readable() || old.Yields == to && !old.Definition.apart():
		return true, nil
	case old.Yields > to:
		return false, nil
	case next.Watermark < old.Watermark:
		return false, nil
	}
	if old.Definition.apart() && !old.still() {
		bounds, err := tx.Bounds(ctx)
		if err != nil {
			return false, err
		}
		old.Until = bounds.Last
	}
	there := next.Watermark >= old.Until
	if old.Yields == to {
		return there, nil
	}
	old.Yields = to
	return there, tx.PutGeneration(ctx, *old)
}

// Trim deletes changes of a cell that are older than a moment, in an update of the cell, but none that a
// generation has not counted yet; at most limit of them. It answers how many.
func Trim(ctx context.Context, tx Tx, before time.Time, limit int) (int, error) {
	all, err := tx.Generations(ctx)
	if err != nil {
		return 0, err
	}
	keep := changelog.Seq(math.MaxInt64)
	for _, g := range all {
		// Readers of documents need the log after one that failed, too.
		needs := g.State == Following || g.State == Filling || g.State == Failed && g.Until > g.Watermark
		if needs {
			keep = min(keep, g.Watermark)
		}
	}
	bounds, err := tx.Bounds(ctx)
	if err != nil || bounds.Trimmed >= min(keep, bounds.Last) {
		return 0, err
	}
	oldest, err := tx.Changes(ctx, bounds.Trimmed, limit)
	if err != nil {
		return 0, err
	}
	upTo := bounds.Trimmed
	for _, c := range oldest {
		if c.Seq > keep || !c.Time.Before(before) {
			break
		}
		upTo = c.Seq
	}
	if upTo == bounds.Trimmed {
		return 0, nil
	}
	return tx.Trim(ctx, upTo, limit)
}
