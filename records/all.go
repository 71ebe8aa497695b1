// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"fmt"
	"iter"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

// AllOptions selects what All returns. Nil selects all live records.
type AllOptions struct {
	Source string // only this source; "" for all
	Kind   string // only this kind; "" for all
	// Bare leaves the entity ids zero, which saves reading the anchors.
	Bare bool
}

// allPage is how many records All reads from a cell at once.
const allPage = 1000

// All returns the live records of all cells with their entity ids, cell by cell in the order of puids. It reads pages
// of 1000, one ahead of the caller. Each page is one snapshot of one cell, so a record that is written at the same time
// may be returned as it was before or after; changes.Handle.Tail, called before, marks what to look at again. An
// unreachable cell, an unreadable row and an invalid option end the sequence with an error, as its last element.
func (h *Handle) All(ctx context.Context, opts *AllOptions) iter.Seq2[*Record, error] {
	var o AllOptions
	if opts != nil {
		o = *opts
	}
	type place struct {
		cells []cell.ID // the remaining cells, the current one first
		after entity.PUID
	}
	return engine.Ahead(ctx, place{}, func(ctx context.Context, at place) (page []*Record, next place, more bool, err error) {
		if at.cells == nil {
			if err := h.checkAll(ctx, o); err != nil {
				return nil, at, false, err
			}
			if err := h.engine.Refresh(ctx); err != nil {
				return nil, at, false, err
			}
			at = place{h.engine.ByPUID(), engine.FirstPUID}
		}
		var found []*entity.Record
		if err := h.engine.View(ctx, at.cells[0], func(tx storage.Tx) (err error) {
			found, err = tx.ListRecords(ctx, o.Source, at.after, allPage)
			return err
		}); err != nil {
			return nil, at, false, fmt.Errorf("records of cell %v: %w", at.cells[0], err)
		}
		next = place{at.cells[1:], engine.FirstPUID}
		if len(found) == allPage {
			next = place{at.cells, found[allPage-1].PUID}
		}
		if o.Kind != "" {
			kept := found[:0]
			for _, rec := range found {
				if rec.Kind == o.Kind {
					kept = append(kept, rec)
				}
			}
			found = kept
		}
		if !o.Bare {
			page, err = h.WithEntities(ctx, found)
			return page, next, len(next.cells) > 0, err
		}
		for _, rec := range found {
			page = append(page, &Record{Record: rec})
		}
		return page, next, len(next.cells) > 0, nil
	})
}

func (h *Handle) checkAll(ctx context.Context, o AllOptions) error {
	if o.Source != "" && !isSource(o.Source) {
		return problem.Invalid("/source", "invalid", "no source has such a name")
	}
	if o.Kind != "" && h.engine.Schema(o.Kind) == nil {
		if err := h.engine.EnsureKind(ctx, o.Kind); err != nil || h.engine.Schema(o.Kind) == nil {
			return h.engine.UnknownKind(o.Kind)
		}
	}
	return nil
}

// ByPUID returns the records of at most 1000 puids, in their order: nil where there never was one, and the tombstone of
// a deleted record, whose entity is zero.
func (h *Handle) ByPUID(ctx context.Context, puids []entity.PUID) ([]*Record, error) {
	if len(puids) > MaxBatch {
		return nil, problem.Invalid("/records", "invalid", "%d puids, at most %d are taken", len(puids), MaxBatch)
	}
	found, err := h.engine.Records(ctx, puids)
	if err != nil {
		return nil, err
	}
	var live []*entity.Record
	for _, rec := range found {
		if rec != nil && !rec.Deleted() {
			live = append(live, rec)
		}
	}
	of, err := h.WithEntities(ctx, live)
	if err != nil {
		return nil, err
	}
	all := make([]*Record, len(found))
	for i, rec := range found {
		switch {
		case rec == nil:
		case rec.Deleted():
			all[i] = &Record{Record: rec}
		default:
			all[i], of = of[0], of[1:]
		}
	}
	return all, nil
}
