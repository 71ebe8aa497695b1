// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"context"
	"errors"
	"math"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/storage"
)

// search is one search, whose results go to yield.
type search struct {
	*Handle
	yield func(*Result, error) bool
}

// errEnough ends a search whose caller stopped iterating.
var errEnough = errors.New("locus: the caller has enough")

// pass passes a result to the caller after making sure that this process has its kind.
func (s *search) pass(ctx context.Context, r Result) error {
	if err := s.engine.EnsureKind(ctx, r.Kind); err != nil {
		return err
	}
	if !s.yield(&r, nil) {
		return errEnough
	}
	return nil
}

// searchPage is the maximum number of entities read from a cell at once.
const searchPage = 64

// inOrder searches in the order of anchors.
func (s *search) inOrder(ctx context.Context, query entity.Query, after entity.PUID) error {
	for wanted := query.Limit + 1; ; {
		page, next, err := engine.List[*entity.Entity]{
			Read: func(tx storage.Tx, after entity.PUID, limit int) ([]*entity.Entity, error) {
				at := query
				at.After, at.Limit = after, limit
				return tx.Search(ctx, at)
			},
			PUID: (*entity.Entity).Anchor,
		}.Page(ctx, s.engine, after, min(max(wanted, 1), searchPage))
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := s.pass(ctx, Result{Entity: e}); err != nil {
				return err
			}
		}
		if next == 0 {
			return nil
		}
		after = next
		wanted -= len(page)
	}
}

// found is the state of a search in one cell.
type found struct {
	cell cell.ID
	next []*entity.Entity
	more bool         // there may be more after next
	at   entity.Query // reads the next page
}

// best merges the results of all cells by rank. It reads about each cell's share of the page first, and more only when
// that is used up. of returns the query of a cell, or false if the cell has no results.
func (s *search) best(ctx context.Context, limit int, after entity.Place, of func(cell.ID) (entity.Query, bool),
	result func(cell.ID, *entity.Entity) Result) error {
	points, from := entity.MaxRank, entity.PUID(math.MinInt64)
	if after != (entity.Place{}) {
		points, from = min(max(after.Points, 0), entity.MaxRank), after.Anchor
	}
	var cells []*found
	if err := s.engine.Whole(ctx, func(ids []cell.ID) error {
		cells = nil
		var asked []cell.ID
		for _, id := range ids {
			if query, any := of(id); any {
				query.Points, query.After = points, from
				query.Limit = min(searchPage, limit/len(ids)+searchPage/8)
				cells = append(cells, &found{cell: id, at: query, more: true})
				asked = append(asked, id)
			}
		}
		return s.engine.Parallel(asked, func(i int, _ cell.ID) error { return s.look(ctx, cells[i]) })
	}); err != nil {
		return err
	}
	for {
		var first *found
		for _, c := range cells {
			if err := s.look(ctx, c); err != nil {
				return err
			}
			if len(c.next) > 0 && (first == nil || before(c.next[0], first.next[0])) {
				first = c
			}
		}
		if first == nil {
			return nil
		}
		e := first.next[0]
		first.next = first.next[1:]
		if err := s.pass(ctx, result(first.cell, e)); err != nil {
			return err
		}
	}
}

// before reports whether a precedes b in the order of ranks and anchors.
func before(a, b *entity.Entity) bool {
	if x, y := a.Rank.Points(), b.Rank.Points(); x != y {
		return x > y
	}
	return a.Anchor() < b.Anchor()
}

// look reads the next page of a cell if the last one is used up.
func (h *Handle) look(ctx context.Context, c *found) error {
	if len(c.next) > 0 || !c.more {
		return nil
	}
	if err := h.engine.View(ctx, c.cell, func(tx storage.Tx) (err error) {
		c.next, err = tx.Search(ctx, c.at)
		return err
	}); err != nil {
		return err
	}
	if c.more = len(c.next) == c.at.Limit; c.more {
		last := placeOf(c.next[len(c.next)-1])
		c.at.Points, c.at.After = last.Points, last.Anchor
	}
	return nil
}
