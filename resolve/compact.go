// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

const (
	// tablePosting is the table name of the postings.
	tablePosting = "posting"
	// postingsPage is the number of postings copied at a time; nothing is resolved during a page.
	postingsPage = 2000
)

// Compact makes generation the oldest one where keys and blocking keys are looked up: it copies the postings of
// older cells into those of the current generation, then the keys (cell.Compact). Records, edges and entities stay
// where they are. Compact can be interrupted and repeated at any point.
func (r *Resolver) Compact(ctx context.Context, cells *storage.Cells, to int, progress func(cell.Progress)) error {
	if progress == nil {
		progress = func(cell.Progress) {}
	}
	if err := r.opts.Cells.Refresh(ctx); err != nil {
		return err
	}
	m := r.opts.Cells.Map()
	copied, begin := 0, time.Now()
	for gen := m.Floor(); gen < min(to, m.Current()); gen++ {
		for _, arc := range m.Ring(gen) {
			if err := r.compactCell(ctx, arc.Cell, func(n int) {
				copied += n
				progress(cell.Progress{
					Step: cell.StepPostings, Done: copied, Generation: gen, PerSecond: float64(copied) / time.Since(begin).Seconds(),
				})
			}); err != nil {
				return fmt.Errorf("copy the postings of cell %v: %w", arc.Cell, err)
			}
		}
	}
	return cell.Compact(ctx, cells, to, progress)
}

// compactCell moves the postings of one cell, which takes no new ones, into the current generation.
func (r *Resolver) compactCell(ctx context.Context, id cell.ID, copied func(int)) error {
	if err := r.dir.SealOlder(ctx, []uint32{r.opts.Cells.Map().First(id)}); err != nil {
		return err
	}
	var after []any // postings that are removed are skipped, which takes time
	for failed := 0; ; {
		rows, err := r.compactPage(ctx, id, after)
		switch {
		case err == nil && len(rows) == 0:
			return nil
		case err == nil:
			failed, after = 0, rows[len(rows)-1]
			copied(len(rows))
		case failed < 3 && (errors.Is(err, lease.ErrLost) || outdated(err)) && ctx.Err() == nil:
			failed++
			if err := r.refresh(ctx, err); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// compactPage copies the postings of a page and then deletes them. In between they are in both cells, which readers
// tolerate. After the last page the old cell has none.
func (r *Resolver) compactPage(ctx context.Context, id cell.ID, after []any) (rows [][]any, err error) {
	r.mu.Lock()
	defer r.unlock()
	if err := r.acquireLease(ctx, leasePatience); err != nil {
		return nil, err
	}
	defer r.releaseIfContended(ctx, 0)
	if err := r.read(ctx, id, func(tx storage.Tx) (err error) {
		rows, err = tx.ReadRows(ctx, tablePosting, after, postingsPage)
		return err
	}); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, r.write(ctx, id, func(tx storage.Tx) error { return tx.MergePostings(ctx, false) })
	}
	all := make([]derived.Posting, len(rows))
	groups := map[cell.ID][]derived.Posting{}
	for i, row := range rows {
		key, _ := row[0].(int64)
		puid, _ := row[1].(int64)
		all[i] = derived.Posting{Key: uint64(key), PUID: entity.PUID(puid)}
		home := r.keyCell(all[i].Key)
		groups[home] = append(groups[home], all[i])
	}
	if err := eachCell(groups, func(home cell.ID, add []derived.Posting) error {
		return r.write(ctx, home, func(tx storage.Tx) error {
			if err := r.dir.Gate(ctx, tx, r.opts.Cells.Map(), home); err != nil {
				return err
			}
			return tx.Post(ctx, add, nil)
		})
	}); err != nil {
		return nil, err
	}
	return rows, r.write(ctx, id, func(tx storage.Tx) error { return tx.Post(ctx, nil, all) })
}
