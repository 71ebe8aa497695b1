// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/storage"
)

// CheckURL returns cell.ErrURL if a database URL for a cell, or a template of such URLs, is invalid. It does not
// connect to the database.
func (h *Handle) CheckURL(url string) error { return h.engine.Cells.Check(url) }

// PlanGrowth returns the effect of Grow. The error is cell.ErrMap if it is not possible, cell.ErrTooMany if the machine
// cannot take the cells.
func (h *Handle) PlanGrowth(ctx context.Context, g cell.Growth) (*cell.Plan, error) {
	if err := h.checkGrowth(g); err != nil {
		return nil, err
	}
	return h.engine.Cells.PlanGrowth(ctx, g)
}

// Grow adds a generation of cells during reads and writes; see cell.Grow. No row moves. It may be interrupted and
// started again anywhere.
func (h *Handle) Grow(ctx context.Context, g cell.Growth, progress func(cell.Progress)) error {
	if err := h.engine.CheckWrites(); err != nil {
		return err
	}
	if err := h.checkGrowth(g); err != nil {
		return err
	}
	return cell.Grow(ctx, h.engine.Cells, g, progress)
}

// checkGrowth validates the URLs of new cells before any of them is created.
func (h *Handle) checkGrowth(g cell.Growth) error {
	for i, url := range g.URLs {
		if err := h.CheckURL(url); err != nil {
			return fmt.Errorf("url %d: %w", i, err)
		}
	}
	return nil
}

// Compact copies the keys and blocking keys of generations below to into the current one, so that lookups need fewer
// cells; see resolve.Resolver.Compact. It may be interrupted and started again anywhere.
func (h *Handle) Compact(ctx context.Context, to int, progress func(cell.Progress)) error {
	if err := h.engine.CheckWrites(); err != nil {
		return err
	}
	return h.engine.Resolver.Compact(ctx, h.engine.Cells, to, progress)
}

// Move moves a cell to another database during reads and writes, and creates that database if necessary; see cell.Move.
// It may be interrupted and started again anywhere.
func (h *Handle) Move(ctx context.Context, id cell.ID, to cell.Destination,
	progress func(cell.MoveProgress)) (cell.MoveProgress, error) {
	if err := h.engine.CheckWrites(); err != nil {
		return cell.MoveProgress{}, err
	}
	return h.engine.Resolver.Move(ctx, h.engine.Cells, id, to, progress)
}

// Maps returns all versions of the cell map that the authority stores, the oldest first.
func (h *Handle) Maps(ctx context.Context) ([]*cell.Map, error) {
	var texts [][]byte
	if err := h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) (err error) {
		texts, err = tx.CellMaps(ctx)
		return err
	}); err != nil {
		return nil, fmt.Errorf("read the cell maps: %w", engine.Wrap(err))
	}
	maps := make([]*cell.Map, len(texts))
	for i, text := range texts {
		m, err := cell.ParseMap(text)
		if err != nil {
			return nil, fmt.Errorf("version %d of the cell map: %w", i, err)
		}
		maps[i] = m
	}
	return maps, nil
}
