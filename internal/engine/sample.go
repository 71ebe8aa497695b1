// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"math"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// Window is a part of a sample of records: the records of a cell with windowSize successive puids.
type Window struct {
	Cell  cell.ID
	First entity.PUID
}

const windowSize = 256

// Sample returns windows with about so many records at most, but for one of each cell, and reports whether they have
// all records. They are at fixed places: as an installation grows, windows fall out of the sample but do not move.
func (e *Engine) Sample(ctx context.Context, most int64) (windows []Window, whole bool, err error) {
	cells := e.Map().Cells()
	extents := make([]int64, len(cells))
	var all int64
	for i, id := range cells {
		if extents[i], err = e.extent(ctx, id); err != nil {
			return nil, false, fmt.Errorf("records of cell %v: %w", id, err)
		}
		all += extents[i]
	}
	step := windowStep(all, most)
	for i, id := range cells {
		lo, _ := e.Map().PuidRange(id)
		for at := int64(0); at < extents[i]; at += step {
			windows = append(windows, Window{id, entity.PUID(lo + at)})
		}
	}
	return windows, step == windowSize, nil
}

// windowStep returns the distance of windows among all puids.
func windowStep(all, most int64) int64 {
	step := int64(windowSize)
	for all/step*windowSize > most {
		step *= 2
	}
	return step
}

// extent returns a power of two above the number of puids that a cell has assigned.
func (e *Engine) extent(ctx context.Context, id cell.ID) (extent int64, err error) {
	lo, hi := e.Map().PuidRange(id)
	err = e.View(ctx, id, func(tx storage.Tx) error {
		for extent = windowSize; extent < hi-lo; extent *= 2 {
			found, err := tx.ListRecords(ctx, "", entity.PUID(lo+extent-1), 1)
			if err != nil || len(found) == 0 {
				return err
			}
		}
		return nil
	})
	return extent, err
}

// Records returns the records of the window.
func (w Window) Records(ctx context.Context, tx storage.Tx) ([]*entity.Record, error) {
	found, err := tx.ListRecords(ctx, "", w.before(), windowSize)
	for i, rec := range found {
		if rec.PUID >= w.First+windowSize {
			return found[:i], err
		}
	}
	return found, err
}

// Entities returns the entities of several records whose anchors are in the window.
func (w Window) Entities(ctx context.Context, tx storage.Tx) ([]*entity.Entity, error) {
	found, err := tx.ListEntities(ctx, w.before(), windowSize)
	for i, e := range found {
		if e.Anchor() >= w.First+windowSize {
			return found[:i], err
		}
	}
	return found, err
}

// before is the place from which a list begins with the window.
func (w Window) before() entity.PUID {
	if w.First > math.MinInt64 {
		return w.First - 1
	}
	return w.First
}
