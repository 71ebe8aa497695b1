// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/storage"
)

// Handle reads the changelogs. Get it from DB.Changes of package locus. It is safe for concurrent use.
type Handle struct {
	engine  *engine.Engine
	matches tails
}

// New returns the changes handle of an installation.
func New(e *engine.Engine) *Handle { return &Handle{engine: e} }

// Change is a change and the cell whose log contains it.
type Change struct {
	Cell cell.ID `json:"cell"`
	changelog.Change
}

// Query selects changes.
type Query struct {
	// Cells are the cells whose logs are read; nil for all.
	Cells []cell.ID
	// After is the exclusive start. A cell that it does not name is read from the beginning of its log.
	After changelog.Watermark
	// Limit is 1 to 1000, 0 for 100.
	Limit int
}

// Read reads the logs of cells. The changes of one cell are in order, and each is delivered at least once if the caller
// passes next as After of its next call. There is no order between cells. Changes carry images while a rollup over
// entities or records is defined. The error is changelog.ErrTrimmed if some of the requested changes were trimmed or
// belong to a history that was lost by restoring a backup: start again with a snapshot at Tail.
func (h *Handle) Read(ctx context.Context, q Query) (changes []Change, next changelog.Watermark, err error) {
	limit, err := engine.Limit(q.Limit)
	if err != nil {
		return nil, nil, err
	}
	var ids []cell.ID
	var logs [][]changelog.Change
	if err := h.over(ctx, q.Cells, func(cells []cell.ID) error {
		ids, logs = cells, make([][]changelog.Change, len(cells))
		return h.engine.Parallel(ids, func(i int, id cell.ID) error {
			if err := h.engine.View(ctx, id, func(tx storage.Tx) (err error) {
				after, named := q.After[id]
				logs[i], err = changesAfter(ctx, tx, after, named, limit)
				return err
			}); err != nil {
				return fmt.Errorf("changes of cell %v: %w", id, err)
			}
			return nil
		})
	}); err != nil {
		return nil, nil, err
	}
	next = changelog.Watermark{}.Union(q.After)
	for len(changes) < limit {
		// Take the oldest of the cells' next changes.
		first := -1
		for i, log := range logs {
			if len(log) > 0 && (first < 0 || log[0].Time.Before(logs[first][0].Time)) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		c := Change{Cell: ids[first], Change: logs[first][0]}
		logs[first] = logs[first][1:]
		changes = append(changes, c)
		next[c.Cell] = c.Seq
	}
	return changes, next, nil
}

// changesAfter reads a page of a log.
func changesAfter(ctx context.Context, tx storage.Tx, after changelog.Seq, named bool,
	limit int) ([]changelog.Change, error) {
	bounds, err := tx.Bounds(ctx)
	switch {
	case err != nil:
		return nil, err
	case !named:
		after = bounds.Trimmed
	case after < bounds.Trimmed:
		return nil, fmt.Errorf("%w: the log goes from %d to %d, not to %d", changelog.ErrTrimmed, bounds.Trimmed+1,
			bounds.Last, after)
	}
	if err := changelog.CheckReached(ctx, tx, after); err != nil {
		return nil, err
	}
	return tx.Changes(ctx, after, limit)
}

// Tail returns the current end of the logs of cells, of all cells for nil. Every change acknowledged before the call is
// at or before it.
func (h *Handle) Tail(ctx context.Context, cells []cell.ID) (changelog.Watermark, error) {
	var tail changelog.Watermark
	err := h.over(ctx, cells, func(ids []cell.ID) error {
		last := make([]changelog.Seq, len(ids))
		err := h.engine.Parallel(ids, func(i int, id cell.ID) error {
			if err := h.engine.View(ctx, id, func(tx storage.Tx) error {
				bounds, err := tx.Bounds(ctx)
				last[i] = bounds.Last
				return err
			}); err != nil {
				return fmt.Errorf("end of the log of cell %v: %w", id, err)
			}
			return nil
		})
		tail = changelog.Watermark{}
		for i, id := range ids {
			tail[id] = last[i]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return tail, nil
}

// over calls read with the requested cells, sorted; nil for all.
func (h *Handle) over(ctx context.Context, cells []cell.ID, read func(ids []cell.ID) error) error {
	if cells == nil {
		return h.engine.Whole(ctx, read)
	}
	ids := slices.SortedFunc(slices.Values(cells), cell.ID.Compare)
	for _, id := range ids {
		if err := h.engine.CheckCell(ctx, id); err != nil {
			return err
		}
	}
	return read(slices.Compact(ids))
}
