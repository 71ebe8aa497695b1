// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

// errSettled stops a check because another process has finished it.
var errSettled = errors.New("resolve: the cells are settled")

// Unsettled reports whether this process knows of a cell that was restored from a backup while other cells may still
// hold data derived from rows that it lost.
func (r *Resolver) Unsettled() bool { return r.unsettled.Load() }

// Settle repairs the consequences of restored cells: it checks and repairs everything, page by page, while
// the installation stays in use. Unrepairable differences are reported and do not keep the cells unsettled.
// After an error, call Settle again.
func (r *Resolver) Settle(ctx context.Context, report func(Difference) error) error {
	returns, err := r.returns(ctx)
	if err != nil || len(returns) == 0 {
		return err
	}
	// Cached records may be of rows that were lost.
	r.mu.Lock()
	r.invalidateCaches()
	r.unlock()
	err = r.Check(ctx, Checking{Repair: true, Report: report, Progress: func(p Progress) error {
		if !p.Done {
			return nil
		}
		if left, err := r.returns(ctx); err == nil && len(left) == 0 {
			return errSettled // by another process
		}
		return nil
	}})
	if errors.Is(err, errSettled) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("settle cells that came back: %w", err)
	}
	for id, n := range returns {
		if err := r.settled(ctx, id, n); err != nil {
			return fmt.Errorf("settle cell %v: %w", id, err)
		}
	}
	_, err = r.returns(ctx) // another cell may have been restored since
	return err
}

// returns reads which cells are unsettled, and how often each was restored.
func (r *Resolver) returns(ctx context.Context) (map[cell.ID]int, error) {
	var mu sync.Mutex
	returns := map[cell.ID]int{}
	err := forCells(r.opts.Cells.Map().Cells(), func(id cell.ID) error {
		var head cell.Head
		err := r.view(ctx, id, func(tx storage.Tx) (err error) { head, err = tx.Head(ctx); return err })
		mu.Lock()
		defer mu.Unlock()
		if head.Unsettled() {
			returns[id] = head.Returns
		}
		return err
	})
	if err == nil {
		r.unsettled.Store(len(returns) > 0)
	}
	return returns, err
}

func (r *Resolver) settled(ctx context.Context, id cell.ID, n int) error {
	c, err := r.opts.Cells.Cell(id)
	if err != nil {
		return err
	}
	return c.Exclusive(ctx, func(tx storage.Tx) error {
		head, err := tx.Head(ctx)
		if err != nil || head.Settled >= n {
			return err
		}
		head.Settled = n
		return tx.SetHead(ctx, head)
	})
}
