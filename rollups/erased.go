// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"context"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// logPage is how many changes are read at a time.
const logPage = 1000

// TrimErased trims the log of a cell up to the last image of a deleted record, and returns how many changes that were.
// behind reports that a rollup still needs such an image: trim again later.
func (h *Handle) TrimErased(ctx context.Context, id cell.ID) (trimmed int, behind bool, err error) {
	last, err := h.lastErased(ctx, id)
	if err != nil || last == nil {
		return 0, false, err
	}
	before := last.Time.Add(time.Nanosecond)
	for {
		var bounds changelog.Bounds
		n := 0
		if err := database(h.engine, id).Update(ctx, func(tx rollup.Tx) (err error) {
			if n, err = rollup.Trim(ctx, tx, before, nil, logPage); err == nil {
				bounds, err = tx.Bounds(ctx)
			}
			return err
		}); err != nil {
			return trimmed, false, err
		}
		if trimmed += n; n == 0 || bounds.Trimmed >= last.Seq {
			return trimmed, bounds.Trimmed < last.Seq, nil
		}
	}
}

// lastErased returns the last change of a log with an image of a record that is now deleted.
func (h *Handle) lastErased(ctx context.Context, id cell.ID) (last *changelog.Change, err error) {
	var after changelog.Seq
	if err := h.engine.View(ctx, id, func(tx storage.Tx) error {
		bounds, err := tx.Bounds(ctx)
		after = bounds.Trimmed
		return err
	}); err != nil {
		return nil, err
	}
	for {
		var changes []changelog.Change
		if err := h.engine.View(ctx, id, func(tx storage.Tx) (err error) {
			changes, err = tx.Changes(ctx, after, logPage)
			return err
		}); err != nil || len(changes) == 0 {
			return last, err
		}
		var puids []entity.PUID
		var of []int // index of the change that names it
		for i, c := range changes {
			for _, members := range [][]changelog.Version{c.Before, c.After} {
				for _, m := range members {
					if c.Was != nil || c.Is != nil {
						puids, of = append(puids, m.PUID), append(of, i)
					}
				}
			}
		}
		records, err := h.engine.Records(ctx, puids)
		if err != nil {
			return nil, err
		}
		for i, rec := range records {
			if rec == nil || rec.Deleted() {
				last = &changes[of[i]]
			}
		}
		after = changes[len(changes)-1].Seq
	}
}
