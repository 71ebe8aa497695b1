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
	"github.com/locus-db/locus/resolve"
)

// List says how a list of things that every cell holds in the order of puids is read.
type List[T any] struct {
	// Read reads at most limit things after a puid, in one snapshot of a cell.
	Read func(tx resolve.Tx, after entity.PUID, limit int) ([]T, error)
	// PUID is the place of one in the order.
	PUID func(T) entity.PUID
	// Damaged, if set, is called for each row that cannot be read, and the others are listed. Otherwise such a row
	// fails the list.
	Damaged func(*cell.DamagedError)
}

// Page reads a page of at most limit things after a puid, 0 for the beginning; next is the place after which the next
// page begins, 0 if there is none. The ranges of puids follow each other, so the cells are read one after the other.
func (l List[T]) Page(ctx context.Context, e *Engine, after entity.PUID, limit int) (page []T, next entity.PUID, err error) {
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

// cell reads a part of a page in one cell. Around rows that cannot be read it asks for less and less at once, down to
// one row, which it reports and passes over.
func (l List[T]) cell(ctx context.Context, e *Engine, id cell.ID, after entity.PUID, limit int) (page []T, err error) {
	for step := limit; len(page) < limit; {
		var found []T
		wanted := min(step, limit-len(page))
		err := e.View(ctx, id, func(tx resolve.Tx) (err error) {
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

// eachPage is how many things Each reads at once.
const eachPage = 1000

// Each reads everything that all cells hold, in pages. K is the place of one thing in the order of a cell, first the
// place before all of them.
func Each[T, K any](ctx context.Context, e *Engine, first K, read func(tx resolve.Tx, after K, limit int) ([]T, error),
	place func(T) K, fn func(T) error,
) error {
	for _, id := range e.Map().Cells() {
		for after, more := first, true; more; {
			var page []T
			if err := e.View(ctx, id, func(tx resolve.Tx) (err error) {
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
