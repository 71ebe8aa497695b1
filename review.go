// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Review answers with pairs of records in two entities that the machine is not sure about, the best first, of
// two entities the best pair. Pairs of entities that anybody decided about are left out, so that an answer,
// which is a decision, takes its pair off the list.
func (s *Service) Review(ctx context.Context, q ReviewQuery) (*ReviewPage, error) {
	if q.Limit == 0 {
		q.Limit = 20
	}
	if q.Limit < 0 || q.Limit > MaxReview {
		return nil, &InvalidError{[]Problem{{"/limit", "invalid", fmt.Sprintf("a page has 1 to %d pairs", MaxReview)}}}
	}
	queue, err := s.unsure(q.After)
	if err != nil {
		return nil, err
	}
	page := &ReviewPage{Pairs: []ReviewPair{}}
	for {
		edges, err := queue.next(ctx, q.Limit)
		if err != nil {
			return nil, err
		}
		if len(edges) == 0 {
			return page, nil
		}
		pairs, err := s.undecided(ctx, edges)
		if err != nil {
			return nil, err
		}
		for i, pair := range pairs {
			if pair == nil {
				continue
			}
			page.Pairs = append(page.Pairs, *pair)
			if last := edges[i]; len(page.Pairs) == q.Limit {
				page.Next = fmt.Sprintf("%d %d %d", last.Score, last.A, last.B)
				return page, nil
			}
		}
	}
}

// unsure is the list of unsure pairs of all cells, merged.
type unsure struct {
	*Service
	cells []*unsureCell
}

// unsureCell is what was read of the list of a cell and not used yet.
type unsureCell struct {
	id    cell.ID
	after resolve.Edge
	edges []resolve.Edge
	end   bool
}

func (s *Service) unsure(after string) (*unsure, error) {
	at := resolve.Edge{Score: match.Threshold}
	if after != "" {
		if n, err := fmt.Sscanf(after, "%d %d %d", &at.Score, &at.A, &at.B); n != 3 || err != nil {
			return nil, errBadAfter
		}
	}
	u := &unsure{Service: s}
	for _, id := range s.Map().Cells() {
		u.cells = append(u.cells, &unsureCell{id: id, after: at})
	}
	return u, nil
}

// next answers with the next best pairs.
func (u *unsure) next(ctx context.Context, n int) (edges []resolve.Edge, err error) {
	for len(edges) < n {
		errs := make([]error, len(u.cells))
		abreast(len(u.cells), func(i int) { errs[i] = u.fill(ctx, u.cells[i], n) })
		for i, err := range errs {
			if err != nil {
				return nil, fmt.Errorf("unsure pairs of cell %v: %w", u.cells[i].id, err)
			}
		}
		var best *unsureCell
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

// fill reads on where nothing is left.
func (u *unsure) fill(ctx context.Context, c *unsureCell, n int) error {
	if len(c.edges) > 0 || c.end {
		return nil
	}
	return u.view(ctx, c.id, func(tx resolve.Tx) (err error) {
		if c.edges, err = tx.Unsure(ctx, c.after, n); len(c.edges) > 0 {
			c.after = c.edges[len(c.edges)-1]
		}
		c.end = len(c.edges) < n
		return err
	})
}

func better(a, b resolve.Edge) bool {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) < 0
}

// undecided makes pairs of edges, nil where nobody need decide.
func (s *Service) undecided(ctx context.Context, edges []resolve.Edge) ([]*ReviewPair, error) {
	puids := make([]entity.PUID, 0, 2*len(edges))
	for _, e := range edges {
		puids = append(puids, e.A, e.B)
	}
	records, err := s.records(ctx, puids)
	if err != nil {
		return nil, err
	}
	of, err := s.entitiesOf(ctx, records)
	if err != nil {
		return nil, err
	}
	var about []entity.PUID
	for _, e := range of {
		about = append(about, members(e)...)
	}
	slices.Sort(about)
	about = slices.Compact(about)
	decisions, err := s.decisionsOf(ctx, about)
	if err != nil {
		return nil, err
	}
	var others []resolve.Edge
	if err := s.again(ctx, func() (err error) {
		others, err = s.resolver.EdgesOf(ctx, about)
		return err
	}); err != nil {
		return nil, err
	}
	pairs := make([]*ReviewPair, len(edges))
	for i := range edges {
		a, b := records[2*i], records[2*i+1]
		if a == nil || b == nil || a.Deleted() || b.Deleted() || a.Kind != b.Kind {
			continue
		}
		x, y := of[a.Anchor], of[b.Anchor]
		if x == nil || y == nil || x.ID == y.ID {
			continue
		}
		if decidedBetween(decisions, members(x), members(y)) != nil || !best(edges[i], others, members(x), members(y)) {
			continue
		}
		m := s.kind(a.Kind).Matcher
		normA, normB := s.normalise(a), s.normalise(b)
		v := edges[i].Vector // by the names that there are
		if m.Decide(v) != match.Unsure {
			continue
		}
		pairs[i] = &ReviewPair{
			A: a.Ref, B: b.Ref, EntityA: x.ID, EntityB: y.ID, Explanation: facing(a.Ref, m.Explain(normA, normB, v)),
			Merges: len(x.Members) + len(y.Members),
		}
	}
	return pairs, nil
}

// best tells whether an unsure pair is the best one of two entities.
func best(e resolve.Edge, others []resolve.Edge, a, b []entity.PUID) bool {
	return !slices.ContainsFunc(others, func(o resolve.Edge) bool {
		across := slices.Contains(a, o.A) && slices.Contains(b, o.B) || slices.Contains(a, o.B) && slices.Contains(b, o.A)
		return across && o.A < o.B && o.Score < match.Threshold && better(o, e)
	})
}

// entitiesOf reads the entities of records, by their anchors.
func (s *Service) entitiesOf(ctx context.Context, records []*entity.Record) (map[entity.PUID]*entity.Entity, error) {
	of := map[entity.PUID]*entity.Entity{}
	groups := map[cell.ID][]entity.PUID{}
	for _, rec := range records {
		if rec == nil || rec.Deleted() {
			continue
		}
		id, err := located(ctx, s, int64(rec.Anchor), (*cell.Map).Puid)
		if err != nil {
			return nil, fmt.Errorf("record %v: %w", rec.PUID, err)
		}
		if _, listed := of[rec.Anchor]; !listed {
			of[rec.Anchor] = nil
			groups[id] = append(groups[id], rec.Anchor)
		}
	}
	for id, anchors := range groups {
		if err := s.view(ctx, id, func(tx resolve.Tx) error {
			found, err := tx.Entities(ctx, anchors)
			for i, e := range found {
				of[anchors[i]] = e
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	for _, rec := range records {
		if rec != nil && !rec.Deleted() && rec.Anchor == rec.PUID && of[rec.PUID] == nil {
			of[rec.PUID] = s.resolver.Alone(rec)
		}
	}
	for anchor, e := range of {
		if e == nil {
			delete(of, anchor) // a merge or a deletion came in between
		}
	}
	return of, nil
}
