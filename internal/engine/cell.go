// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

const (
	// maxRefresh is how many times an operation is retried with a newer cell map.
	maxRefresh = 3
	// moveAttempts is how many times DoSettled waits for a cell that is being moved, doubling the pause: one second in
	// total.
	moveAttempts = 10
	// parallel is how many cells are queried at the same time.
	parallel = 8
	// CellPatience limits how long one cell may take to report its state, so that a hanging cell does not use up the
	// time for the others.
	CellPatience = 2 * time.Second
)

// View reads one snapshot of one cell.
func (e *Engine) View(ctx context.Context, id cell.ID, fn func(storage.Tx) error) error {
	return e.Do(ctx, id, func(c storage.Cell) error { return c.View(ctx, fn) })
}

// Update runs fn in one transaction of one cell. It may run fn several times.
func (e *Engine) Update(ctx context.Context, id cell.ID, fn func(storage.Tx) error) error {
	return e.Do(ctx, id, func(c storage.Cell) error { return c.Update(ctx, fn) })
}

// Do calls do with a cell. If the cell has moved, Do calls do again with a newer cell map.
func (e *Engine) Do(ctx context.Context, id cell.ID, do func(storage.Cell) error) error {
	for attempt := 0; ; attempt++ {
		c, err := e.Cells.Cell(id)
		if err == nil {
			err = do(c)
		}
		if !errors.Is(err, cell.ErrMoved) || attempt == maxRefresh {
			return err
		}
		if err := e.Cells.Refresh(ctx); err != nil {
			return fmt.Errorf("%w: cell %v has moved: %w", ErrUnavailable, id, err)
		}
	}
}

// DoSettled is Do, and also waits up to a second while the cell is being moved: for callers that do not retry.
func (e *Engine) DoSettled(ctx context.Context, id cell.ID, do func(storage.Cell) error) error {
	for n := 0; ; n++ {
		err := e.Do(ctx, id, do)
		if !errors.Is(err, cell.ErrMoved) || n == moveAttempts || ctx.Err() != nil {
			return err
		}
		Sleep(ctx, time.Millisecond<<n, nil)
	}
}

// Retry calls do, which involves several cells, and calls it again with a newer cell map if one of them has moved.
func (e *Engine) Retry(ctx context.Context, do func() error) error {
	for attempt := 0; ; attempt++ {
		err := do()
		if stale := errors.Is(err, cell.ErrMoved) || errors.Is(err, cell.ErrStaleMap); !stale || attempt == maxRefresh {
			return err
		}
		if err := e.Cells.Refresh(ctx); err != nil {
			return fmt.Errorf("%w: a cell has moved: %w", ErrUnavailable, err)
		}
	}
}

// Refresh reads the newest cell map, if other processes may have written one.
func (e *Engine) Refresh(ctx context.Context) error {
	if e.Alone() {
		return nil
	}
	if err := e.Cells.Refresh(ctx); err != nil {
		return fmt.Errorf("%w: read the cell map again: %w", ErrUnavailable, err)
	}
	return nil
}

// CheckCell returns cell.ErrNoCell if neither this cell map nor the newest one lists the cell.
func (e *Engine) CheckCell(ctx context.Context, id cell.ID) error {
	if !e.Map().Has(id) {
		if err := e.Refresh(ctx); err != nil {
			return err
		}
	}
	if !e.Map().Has(id) {
		return fmt.Errorf("cell %v: %w", id, cell.ErrNoCell)
	}
	return nil
}

// Locate returns the cell of an address, refreshing the cell map if the current one does not cover the address. An id
// that the newest map does not cover was never minted: entity.ErrNotFound.
func Locate[A any](ctx context.Context, e *Engine, address A, at func(*cell.Map, A) (cell.ID, error)) (cell.ID, error) {
	id, err := at(e.Map(), address)
	sure := e.Alone() // no other process writes the map
	for n := 0; n < maxRefresh && !sure && (errors.Is(err, cell.ErrNoCell) || errors.Is(err, cell.ErrStaleMap)); n++ {
		epoch := e.Map().Epoch()
		if err := e.Refresh(ctx); err != nil {
			return id, err
		}
		// A refresh may join one that began before the id was minted. A refresh that finds no newer map did ask the
		// authority.
		sure = n > 0 && e.Map().Epoch() == epoch
		id, err = at(e.Map(), address)
	}
	if sure && errors.Is(err, cell.ErrStaleMap) {
		err = fmt.Errorf("%w: its time is after the end of every cell map", entity.ErrNotFound)
	}
	return id, err
}

// LocateRecord returns the cell of a record.
func (e *Engine) LocateRecord(ctx context.Context, puid entity.PUID) (cell.ID, error) {
	id, err := Locate(ctx, e, int64(puid), (*cell.Map).Puid)
	if err != nil {
		err = fmt.Errorf("record %v: %w", puid, err)
	}
	return id, err
}

// Whole calls read with all cells, in the order of the map. read reads them through View. If one of them then has a
// newer map with more cells, Whole calls read again: a process that was suspended while cells were added has an old
// map, and others may already have answered from the new cells. The error is the error of read, or ErrUnavailable if
// the newest map cannot be read.
func (e *Engine) Whole(ctx context.Context, read func(ids []cell.ID) error) error {
	for {
		ids := e.Map().Cells()
		if err := read(ids); err != nil {
			return err
		}
		if e.Cells.Stale() {
			if err := e.Refresh(ctx); err != nil {
				return err
			}
		}
		if slices.Equal(ids, e.Map().Cells()) {
			return nil
		}
	}
}

// ByCell groups addresses by cell and calls read once for each cell, with the cell's addresses and their indexes in
// addresses. Cells are read concurrently, so calls of read must not write shared data.
func ByCell[A any](ctx context.Context, e *Engine, addresses []A, locate func(context.Context, A) (cell.ID, error),
	read func(tx storage.Tx, addresses []A, at []int) error,
) error {
	type group struct {
		addresses []A
		at        []int
	}
	groups := map[cell.ID]*group{}
	var ids []cell.ID
	for i, a := range addresses {
		id, err := locate(ctx, a)
		if err != nil {
			return err
		}
		g := groups[id]
		if g == nil {
			g = &group{}
			groups[id] = g
			ids = append(ids, id)
		}
		g.addresses, g.at = append(g.addresses, a), append(g.at, i)
	}
	return e.Parallel(ids, func(_ int, id cell.ID) error {
		g := groups[id]
		return e.View(ctx, id, func(tx storage.Tx) error { return read(tx, g.addresses, g.at) })
	})
}

// Parallel calls fn for each cell, several at a time, and returns the error of the first failing cell in the order of
// ids.
func (e *Engine) Parallel(ids []cell.ID, fn func(i int, id cell.ID) error) error {
	errs := make([]error, len(ids))
	Parallel(len(ids), func(i int) { errs[i] = fn(i, ids[i]) })
	return cmp.Or(errs...)
}

// Parallel calls fn for 0 to n-1, several at a time.
func Parallel(n int, fn func(i int)) {
	if n == 1 {
		fn(0)
		return
	}
	var g errgroup.Group
	g.SetLimit(parallel)
	for i := range n {
		g.Go(func() error { fn(i); return nil })
	}
	_ = g.Wait()
}

// ByPUID returns the cells in the order of their puid ranges.
func (e *Engine) ByPUID() []cell.ID {
	m := e.Map()
	return slices.SortedFunc(slices.Values(m.Cells()), func(a, b cell.ID) int {
		loA, _ := m.PuidRange(a)
		loB, _ := m.PuidRange(b)
		return cmp.Compare(loA, loB)
	})
}
