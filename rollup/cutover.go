// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/locus-db/locus/changelog"
)

// Freeze freezes generation from once generation to, which replaces it, has caught up, in an update of the cell. It
// returns whether readers may switch, which guarantees that a reader that switches never goes back in time. It is
// idempotent. If the cell does not have from, only to has to be ready. If from is already frozen for a newer generation
// than to, the caller's catalogue is old and Freeze returns false. A watermark of from beyond the end of the log is
// damage; to has then to reach the end.
//
// If the groups of from are elsewhere, the update must be exclusive. Their readers apply the log and are ahead of the
// watermark; so from is frozen at the end of the log, and Freeze returns true once to has reached that position.
func Freeze(ctx context.Context, tx Tx, from, to int64) (bool, error) {
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
	bounds, err := tx.Bounds(ctx)
	if err != nil {
		return false, err
	}
	switch {
	case next == nil || next.State != Following:
		return false, nil
	case old == nil || !old.readable() || old.FrozenFor == to && !old.Definition.external():
		return true, nil
	case old.FrozenFor > to:
		return false, nil
	case next.Watermark < min(old.Watermark, bounds.Last):
		return false, nil
	}
	if old.Definition.external() && !old.still() {
		old.FrozenAt = bounds.Last
	}
	there := next.Watermark >= old.FrozenAt
	if old.FrozenFor == to {
		return there, nil
	}
	old.FrozenFor = to
	return there, tx.PutGeneration(ctx, *old)
}

// Hold keeps the changes of a cell after a position, unless they are older than NotBefore.
type Hold struct {
	After     changelog.Seq
	NotBefore time.Time
}

// Trim deletes at most limit changes of a cell that are older than before, in an update of the cell, and returns how
// many. It keeps changes that a generation has yet to apply, and changes protected by holds.
func Trim(ctx context.Context, tx Tx, before time.Time, holds []Hold, limit int) (int, error) {
	all, err := tx.Generations(ctx)
	if err != nil {
		return 0, err
	}
	keep := changelog.Seq(math.MaxInt64)
	for _, g := range all {
		// Readers of groups elsewhere also need the log after a failed generation.
		needs := g.State == Following || g.State == Building || g.State == Failed && g.FrozenAt > g.Watermark
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
		if c.Seq > keep || !c.Time.Before(before) || slices.ContainsFunc(holds, func(h Hold) bool { return c.Seq > h.After && !c.Time.Before(h.NotBefore) }) {
			break
		}
		upTo = c.Seq
	}
	if upTo == bounds.Trimmed {
		return 0, nil
	}
	return tx.Trim(ctx, upTo, limit)
}
