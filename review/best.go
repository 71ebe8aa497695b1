// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// bestFirst returns a page in the order Best.
func (h *Handle) bestFirst(ctx context.Context, q Query) (*Page, error) {
	queue, err := h.possible(q.After)
	if err != nil {
		return nil, err
	}
	of, err := h.assignments(ctx, &q.Filter)
	if err != nil {
		return nil, err
	}
	page := &Page{Pairs: []Pair{}}
	for read := 0; ; {
		edges, err := queue.next(ctx, q.Limit)
		if err != nil {
			return nil, err
		}
		if len(edges) == 0 {
			return page, nil
		}
		pairs, err := h.pairs(ctx, edges, Best)
		if err != nil {
			return nil, err
		}
		assign(pairs, of)
		for i, pair := range pairs {
			if !q.takes(pair) {
				continue
			}
			page.Pairs = append(page.Pairs, *pair)
			if last := edges[i]; len(page.Pairs) == q.Limit {
				page.Next = nextPair(last)
				return page, nil
			}
		}
		if read += len(edges); q.Read > 0 && read >= q.Read {
			page.Next = nextPair(edges[len(edges)-1])
			return page, nil
		}
	}
}

// nextPair returns the After of the page that begins after an edge.
func nextPair(e derived.Edge) string { return fmt.Sprintf("%d %d %d", e.Weight, e.A, e.B) }

// possibleMatches merges the lists of possible matches of all cells.
type possibleMatches struct {
	engine *engine.Engine
	begin  derived.Edge // exclusive
	cells  []*possibleCell
}

// possibleCell buffers the unread part of a cell's list.
type possibleCell struct {
	id    cell.ID
	after derived.Edge
	edges []derived.Edge
	end   bool
}

func (h *Handle) possible(after string) (*possibleMatches, error) {
	at := derived.Edge{Weight: match.Threshold}
	if after != "" {
		if n, err := fmt.Sscanf(after, "%d %d %d", &at.Weight, &at.A, &at.B); n != 3 || err != nil {
			return nil, engine.ErrBadAfter
		}
	}
	return &possibleMatches{engine: h.engine, begin: at}, nil
}

// next returns the n next best pairs.
func (u *possibleMatches) next(ctx context.Context, n int) (edges []derived.Edge, err error) {
	if u.cells == nil {
		if err := u.engine.Whole(ctx, func(ids []cell.ID) error {
			u.cells = make([]*possibleCell, len(ids))
			for i, id := range ids {
				u.cells[i] = &possibleCell{id: id, after: u.begin}
			}
			return u.fill(ctx, n)
		}); err != nil {
			return nil, err
		}
	}
	for len(edges) < n {
		if err := u.fill(ctx, n); err != nil {
			return nil, err
		}
		var best *possibleCell
		for _, c := range u.cells {
			if len(c.edges) > 0 && (best == nil || better(c.edges[0], best.edges[0])) {
				best = c
			}
		}
		if best == nil {
			return edges, nil
		}
		edges, best.edges = append(edges, best.edges[0]), best.edges[1:]
	}
	return edges, nil
}

// fill reads the next page of each cell whose buffer is empty.
func (u *possibleMatches) fill(ctx context.Context, n int) error {
	errs := make([]error, len(u.cells))
	engine.Parallel(len(u.cells), func(i int) { errs[i] = u.fillCell(ctx, u.cells[i], n) })
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("possible matches of cell %v: %w", u.cells[i].id, err)
		}
	}
	return nil
}

func (u *possibleMatches) fillCell(ctx context.Context, c *possibleCell, n int) error {
	if len(c.edges) > 0 || c.end {
		return nil
	}
	return u.engine.View(ctx, c.id, func(tx storage.Tx) (err error) {
		if c.edges, err = tx.PossibleMatches(ctx, c.after, n); len(c.edges) > 0 {
			c.after = c.edges[len(c.edges)-1]
		}
		c.end = len(c.edges) < n
		return err
	})
}
