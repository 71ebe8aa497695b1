// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// Vacuumed is the result of Vacuum for one cell.
type Vacuumed struct {
	Cell    cell.ID `json:"cell"`
	Trimmed int     `json:"trimmed"` // changes trimmed from the log
	// Behind reports that the log still holds contents of deleted records, because a rollup has not counted all of it.
	// Run Vacuum again later.
	Behind bool `json:"behind,omitempty"`
}

// Vacuum purges the contents of deleted records from the files of every cell, one cell at a time. It trims log entries
// with images of them, unless a rollup still needs the entries, and rewrites the database file. Writers of that cell
// wait; other cells are not affected. It may be interrupted and called again.
func (h *Handle) Vacuum(ctx context.Context, done func(Vacuumed)) error {
	if err := h.engine.CheckWrites(); err != nil {
		return err
	}
	for _, id := range h.engine.Map().Cells() {
		v, err := h.trimErased(ctx, id)
		if err == nil {
			err = h.engine.Cells.Vacuum(ctx, id)
		}
		if err != nil {
			return fmt.Errorf("vacuum cell %v: %w", id, err)
		}
		done(v)
	}
	return nil
}

// logPage is how many changes are read at a time.
const logPage = 1000

// trimErased trims the log of a cell up to the last image of a deleted record.
func (h *Handle) trimErased(ctx context.Context, id cell.ID) (v Vacuumed, err error) {
	v.Cell = id
	last, err := h.lastErased(ctx, id)
	if err != nil || last == nil {
		return v, err
	}
	before := last.Time.Add(time.Nanosecond)
	for {
		var bounds changelog.Bounds
		n := 0
		if err := h.engine.RollupCell(id).Update(ctx, func(tx rollup.Tx) (err error) {
			if n, err = rollup.Trim(ctx, tx, before, nil, logPage); err == nil {
				bounds, err = tx.Bounds(ctx)
			}
			return err
		}); err != nil {
			return v, err
		}
		if v.Trimmed += n; n == 0 || bounds.Trimmed >= last.Seq {
			v.Behind = bounds.Trimmed < last.Seq
			return v, nil
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
