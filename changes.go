// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/resolve"
)

// CellChange is a change with the cell whose log it is in.
type CellChange struct {
	Cell cell.ID `json:"cell"`
	changelog.Change
}

// ChangeQuery asks for changes.
type ChangeQuery struct {
	// Cells whose logs are read; nil for all.
	Cells []cell.ID
	// After leaves out what lies up to and including it; a cell that it does not name is read from the
	// beginning of its log.
	After Watermark
	// Limit is 1 to 1000, 0 for 100.
	Limit int
}

// Changes reads the logs of cells: of each cell its changes in order, each at least once if next is given
// as After in turn. Between two cells there is no order. Changes carry images while a rollup of entities,
// or of records, is defined. The error is changelog.ErrTrimmed if some of what is asked for was trimmed,
// or belongs to a history that was lost to a backup: begin with a snapshot, whose place is Tail.
func (s *Service) Changes(ctx context.Context, q ChangeQuery) (changes []CellChange, next Watermark, err error) {
	limit, err := checkLimit(q.Limit)
	if err != nil {
		return nil, nil, err
	}
	ids, err := s.logs(ctx, q.Cells)
	if err != nil {
		return nil, nil, err
	}
	logs, errs := make([][]changelog.Change, len(ids)), make([]error, len(ids))
	abreast(len(ids), func(i int) {
		errs[i] = s.view(ctx, ids[i], func(tx resolve.Tx) (err error) {
			after, named := q.After[ids[i]]
			logs[i], err = changesAfter(ctx, tx, after, named, limit)
			return err
		})
	})
	next = Watermark{}.Union(q.After)
	for i, err := range errs {
		if err != nil {
			return nil, nil, fmt.Errorf("changes of cell %v: %w", ids[i], err)
		}
	}
	for len(changes) < limit {
		// The oldest of those that are next in their cells.
		first := -1
		for i, log := range logs {
			if len(log) > 0 && (first < 0 || log[0].Time.Before(logs[first][0].Time)) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		c := CellChange{Cell: ids[first], Change: logs[first][0]}
		logs[first] = logs[first][1:]
		changes = append(changes, c)
		next[c.Cell] = c.Seq
	}
	return changes, next, nil
}

// changesAfter reads a page of a log.
func changesAfter(ctx context.Context, tx resolve.Tx, after changelog.Seq, named bool, limit int) ([]changelog.Change, error) {
	bounds, err := tx.Bounds(ctx)
	switch {
	case err != nil:
		return nil, err
	case !named:
		after = bounds.Trimmed
	case after < bounds.Trimmed:
		return nil, fmt.Errorf("%w: the log goes from %d to %d, not to %d", changelog.ErrTrimmed, bounds.Trimmed+1, bounds.Last, after)
	}
	if err := reached(ctx, tx, after); err != nil {
		return nil, err
	}
	return tx.Changes(ctx, after, limit)
}

// reached holds that a log has come to a place, as far as it goes back. A place that it has never had is one of
// a history that was lost: what came after it then is not what comes after it now. A restored cell passes over
// those: no change is there, and none right after it.
func reached(ctx context.Context, log changelog.Store, at changelog.Seq) error {
	bounds, err := log.Bounds(ctx)
	if err != nil || at <= bounds.Trimmed || at == bounds.Last {
		return err
	}
	if at > bounds.Last {
		return fmt.Errorf("%w: the log ends at %d, and the place asked for is %d", changelog.ErrTrimmed, bounds.Last, at)
	}
	next, err := log.Changes(ctx, at-1, 1)
	if err == nil && (len(next) == 0 || next[0].Seq > at+1) {
		err = fmt.Errorf("%w: there is no change %d", changelog.ErrTrimmed, at)
	}
	return err
}

// Tail is where the logs of cells end now, of all of them for nil: everything that was acknowledged before
// the call lies up to it.
func (s *Service) Tail(ctx context.Context, cells []cell.ID) (Watermark, error) {
	ids, err := s.logs(ctx, cells)
	if err != nil {
		return nil, err
	}
	tail := Watermark{}
	var mu sync.Mutex
	errs := make([]error, len(ids))
	abreast(len(ids), func(i int) {
		errs[i] = s.view(ctx, ids[i], func(tx resolve.Tx) error {
			bounds, err := tx.Bounds(ctx)
			mu.Lock()
			defer mu.Unlock()
			tail[ids[i]] = bounds.Last
			return err
		})
	})
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("end of the log of cell %v: %w", ids[i], err)
		}
	}
	return tail, nil
}

// logs are the cells that are asked for, in order.
func (s *Service) logs(ctx context.Context, cells []cell.ID) ([]cell.ID, error) {
	if cells == nil {
		return s.Map().Cells(), nil
	}
	ids := slices.SortedFunc(slices.Values(cells), cell.ID.Compare)
	for _, id := range ids {
		if err := s.listed(ctx, id); err != nil {
			return nil, err
		}
	}
	return slices.Compact(ids), nil
}

// listed holds that the cell map lists a cell, the newest one if this process's does not.
func (s *Service) listed(ctx context.Context, id cell.ID) error {
	if !s.Map().Has(id) && !s.cells.Alone() {
		if err := s.cells.Refresh(ctx); err != nil {
			return fmt.Errorf("%w: read the cell map again: %w", ErrUnavailable, err)
		}
	}
	if !s.Map().Has(id) {
		return fmt.Errorf("cell %v: %w", id, cell.ErrNoCell)
	}
	return nil
}
