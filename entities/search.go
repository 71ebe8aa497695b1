// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"context"
	"errors"
	"iter"
	"math"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/storage"
)

// Search returns a page of entities; next is the After of the next page, the zero place at the end. Each also returns
// which words were corrected.
func (h *Handle) Search(ctx context.Context, q Query) (entities []*entity.Entity, next entity.Place, err error) {
	limit, err := engine.Limit(q.Limit)
	if err != nil {
		return nil, next, err
	}
	for r, err := range h.Each(ctx, q) {
		if err != nil {
			return nil, entity.Place{}, err
		}
		if len(entities) == limit {
			return entities, next, nil
		}
		entities, next = append(entities, r.Entity), r.Place()
	}
	return entities, entity.Place{}, nil
}

// Result is an entity that a search found.
type Result struct {
	*entity.Entity
	// Edits is 0 for an exact hit, otherwise the number of typing errors that were assumed in a word of the search: the
	// largest of all words.
	Edits int
	// Corrections are the words of the search that the entity does not have, in order, and those it has instead.
	Corrections []Correction
}

// Place returns the position of the result, for use as After.
func (r *Result) Place() entity.Place {
	p := placeOf(r.Entity)
	p.Edits = r.Edits
	return p
}

// placeOf returns the position of an entity among those with as many edits.
func placeOf(e *entity.Entity) entity.Place {
	return entity.Place{Points: e.Rank.Points(), Anchor: e.Anchor()}
}

// Each returns all matching entities in order: first those that have the words as they are written, then those with
// one typing error in a word, then those with two. It reads lazily, and reads little in vain if the caller takes about
// Limit of them: words are corrected only once all exact hits were read.
func (h *Handle) Each(ctx context.Context, q Query) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		s := search{Handle: h, yield: yield}
		query, none, err := h.query(q)
		switch {
		case err == nil && none:
			return
		case err == nil && query.Best:
			err = s.bestEdits(ctx, query, q)
		case err == nil:
			err = s.inOrder(ctx, query, q.After.Anchor)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

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
func (s *search) best(ctx context.Context, limit int, after entity.Place, of func(cell.ID) (entity.Query, bool), result func(cell.ID, *entity.Entity) Result) error {
	points, from := entity.MaxRank, entity.PUID(math.MinInt64)
	if after != (entity.Place{}) {
		points, from = min(max(after.Points, 0), entity.MaxRank), after.Anchor
	}
	ids := s.engine.Map().Cells()
	cells := make([]*found, 0, len(ids))
	for _, id := range ids {
		if query, any := of(id); any {
			query.Points, query.After = points, from
			query.Limit = min(searchPage, limit/len(ids)+searchPage/8)
			cells = append(cells, &found{cell: id, at: query, more: true})
		}
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
