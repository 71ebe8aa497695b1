// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"context"
	"fmt"
	"iter"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/storage"
)

// AllOptions selects what All returns. Nil selects all entities.
type AllOptions struct {
	Kind string // only this kind; "" for all
}

// allPage is how many entities All reads from a cell at once.
const allPage = 500

// All returns the entities of all cells, cell by cell in the order of the anchors' puids. It reads pages of 500, one
// ahead of the caller. Each page is one snapshot of one cell, so an entity that changes at the same time may be
// returned as it was before or after, and one that is merged or split may be returned twice or not at all;
// changes.Handle.Tail, called before, marks what to look at again. An unreachable cell, an unreadable row and an
// unknown kind end the sequence with an error, as its last element.
func (h *Handle) All(ctx context.Context, opts *AllOptions) iter.Seq2[*entity.Entity, error] {
	var o AllOptions
	if opts != nil {
		o = *opts
	}
	type place struct {
		cells []cell.ID // the remaining cells, the current one first
		after entity.PUID
	}
	return engine.Ahead(ctx, place{}, func(ctx context.Context, at place) (page []*entity.Entity, next place, more bool, err error) {
		if at.cells == nil {
			if o.Kind != "" && h.engine.Kind(o.Kind) == nil {
				return nil, at, false, h.engine.UnknownKind(o.Kind)
			}
			if err := h.engine.Refresh(ctx); err != nil {
				return nil, at, false, err
			}
			at = place{h.engine.ByPUID(), engine.FirstPUID}
		}
		if err := h.engine.View(ctx, at.cells[0], func(tx storage.Tx) (err error) {
			page, err = tx.ListEntities(ctx, at.after, allPage)
			return err
		}); err != nil {
			return nil, at, false, fmt.Errorf("entities of cell %v: %w", at.cells[0], err)
		}
		next = place{at.cells[1:], engine.FirstPUID}
		if len(page) == allPage {
			next = place{at.cells, page[allPage-1].Anchor()}
		}
		kept := page[:0]
		for _, e := range page {
			if err := h.engine.EnsureKind(ctx, e.Kind); err != nil {
				return nil, at, false, err
			}
			if o.Kind == "" || e.Kind == o.Kind {
				kept = append(kept, e)
			}
		}
		return kept, next, len(next.cells) > 0, nil
	})
}
