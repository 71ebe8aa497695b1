// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
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
		v := Vacuumed{Cell: id}
		var err error
		if v.Trimmed, v.Behind, err = h.rollups.TrimErased(ctx, id); err == nil {
			err = h.engine.Cells.Vacuum(ctx, id)
		}
		if err != nil {
			return fmt.Errorf("vacuum cell %v: %w", id, err)
		}
		done(v)
	}
	return nil
}
