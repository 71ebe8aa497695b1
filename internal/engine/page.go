// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// List describes how to read a list that every cell stores in the order of puids.
type List[T any] struct {
	// Read reads at most limit things after a puid, in one snapshot of a cell.
	Read func(tx storage.Tx, after entity.PUID, limit int) ([]T, error)
	// PUID returns the puid of a thing, its position in the order.
	PUID func(T) entity.PUID
	// Damaged, if set, is called for each unreadable row, and the list continues. If nil, such a row fails the list.
	Damaged func(*cell.DamagedError)
}

// Page reads a page of at most limit things after a puid (0: from the start). next is the puid to continue after, 0 at
// the end. The puid ranges of cells are consecutive, so the cells are read one after another.
func (l List[T]) Page(ctx context.Context, e *Engine, after entity.PUID,
	limit int) (page []T, next entity.PUID, err error) {
	err = e.Whole(ctx, func([]cell.ID) (err error) {
		page, next, err = l.page(ctx, e, after, limit)
		return err
	})
	return page, next, err
}

func (l List[T]) page(ctx context.Context, e *Engine, after entity.PUID,
	limit int) (page []T, next entity.PUID, err error) {
	for _, id := range e.ByPUID() {
		lo, hi := e.Map().PuidRange(id)
		from := entity.PUID(lo)
		if after != 0 {
			if int64(after) >= hi {
				continue
			}
			from = max(from, after)
		}
		found, err := l.cell(ctx, e, id, from, limit+1-len(page))
		if err != nil {
			return nil, 0, err
		}
		page = append(page, found...)
		if len(page) > limit {
			page = page[:limit]
			return page, l.PUID(page[limit-1]), nil
		}
	}
	return page, 0, nil
}

// cell reads part of a page from one cell. When a row cannot be read, it requests smaller and smaller steps, down to
// that one row, which it reports and skips.
func (l List[T]) cell(ctx context.Context, e *Engine, id cell.ID, after entity.PUID, limit int) (page []T, err error) {
	for step := limit; len(page) < limit; {
		var found []T
		wanted := min(step, limit-len(page))
		err := e.View(ctx, id, func(tx storage.Tx) (err error) {
			found, err = l.Read(tx, after, wanted)
			return err
		})
		row, ok := errors.AsType[*cell.DamagedError](err)
		switch {
		case err != nil && (!ok || l.Damaged == nil):
			return nil, err
		case err != nil && wanted > 1:
			step = wanted / 2
		case err != nil:
			at, parsed := strconv.ParseInt(row.Key, 10, 64)
			if parsed != nil || entity.PUID(at) <= after {
				return nil, err
			}
			l.Damaged(row)
			after, step = entity.PUID(at), limit
		default:
			page = append(page, found...)
			if len(found) < wanted {
				return page, nil
			}
			after = l.PUID(found[len(found)-1])
		}
	}
	return page, nil
}

// eachPage is the page size of Each.
const eachPage = 1000

// Each reads everything in all cells, page by page. K is the position of a thing in a cell; first is the position
// before all of them.
func Each[T, K any](ctx context.Context, e *Engine, first K, read func(tx storage.Tx, after K, limit int) ([]T, error),
	place func(T) K, fn func(T) error,
) error {
	if err := e.Refresh(ctx); err != nil {
		return err
	}
	for _, id := range e.Map().Cells() {
		for after, more := first, true; more; {
			var page []T
			if err := e.View(ctx, id, func(tx storage.Tx) (err error) {
				page, err = read(tx, after, eachPage)
				return err
			}); err != nil {
				return fmt.Errorf("read cell %v: %w", id, err)
			}
			for _, one := range page {
				if err := fn(one); err != nil {
					return err
				}
			}
			if more = len(page) == eachPage; more {
				after = place(page[len(page)-1])
			}
		}
	}
	return nil
}

// FirstPUID is below every puid.
const FirstPUID entity.PUID = math.MinInt64
