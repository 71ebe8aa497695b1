// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// List returns possible matches between two entities, the best first, and only the best pair of any two entities.
// Entities with a decision between them are left out, so that deciding removes the pair from the queue. The orders
// Teaches and Chance have pairs within entities, too. They are taken from a sample of the records of a large
// installation.
func (h *Handle) List(ctx context.Context, q Query) (*Page, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	var all []question
	var err error
	switch q.Order {
	case Best:
		return h.bestFirst(ctx, q)
	case Second:
		all, err = h.answered(ctx, q.Filter.Person)
	case Chance:
		all, err = h.byChance(ctx, q.Kinds)
	default:
		all, err = h.teaching(ctx, q.Kinds)
	}
	if err != nil {
		return nil, err
	}
	return h.page(ctx, q, all)
}

// page returns the questions after a cursor, and reads the pairs of questions that have none yet.
func (h *Handle) page(ctx context.Context, q Query, all []question) (*Page, error) {
	if q.After != "" {
		var place int64
		var a, b entity.PUID
		order := ""
		n, err := fmt.Sscanf(q.After, "%s %d %d %d", &order, &place, &a, &b)
		if n != 4 || err != nil || Order(order) != q.Order {
			return nil, engine.ErrBadAfter
		}
		all = slices.DeleteFunc(all, func(q question) bool { return q.compare(place, a, b) <= 0 })
	}
	of, err := h.assignments(ctx, &q.Filter)
	if err != nil {
		return nil, err
	}
	page := &Page{Pairs: []Pair{}}
	for len(all) > 0 {
		some := all[:min(len(all), q.Limit-len(page.Pairs))]
		all = all[len(some):]
		if err := h.readPairs(ctx, some); err != nil {
			return nil, err
		}
		for _, one := range some {
			if assign([]*Pair{one.pair}, of); q.takes(one.pair) {
				page.Pairs = append(page.Pairs, *one.pair)
			}
		}
		if last := some[len(some)-1]; len(page.Pairs) == q.Limit && len(all) > 0 {
			page.Next = fmt.Sprintf("%s %d %d %d", q.Order, last.place, last.edge.A, last.edge.B)
			break
		}
	}
	return page, nil
}

func (h *Handle) readPairs(ctx context.Context, some []question) error {
	var edges []derived.Edge
	for _, q := range some {
		if q.pair == nil {
			edges = append(edges, q.edge)
		}
	}
	if len(edges) == 0 {
		return nil
	}
	pairs, err := h.pairs(ctx, edges, Chance)
	if err != nil {
		return err
	}
	for i := range some {
		if some[i].pair == nil {
			some[i].pair, pairs = pairs[0], pairs[1:]
		}
	}
	return nil
}

// Of returns the pairs of the review queue that have a record of one of these entities, the best first and at
// most MaxPage. An entity that does not exist has none. After a decision, it updates a displayed queue without
// reading the queue again.
func (h *Handle) Of(ctx context.Context, ids []locality.ID) ([]Pair, error) {
	if len(ids) > MaxPage {
		return nil, problem.Invalid("/ids", "too_large", "there are %d entities, more than %d", len(ids), MaxPage)
	}
	var puids []entity.PUID
	for _, id := range ids {
		e, err := h.entities.Get(ctx, id)
		if errors.Is(err, entity.ErrNotFound) || errors.Is(err, entity.ErrErased) {
			continue
		}
		if err != nil {
			return nil, err
		}
		puids = append(puids, e.Entity.PUIDs()...)
	}
	var edges []derived.Edge
	if err := h.engine.Retry(ctx, func() (err error) {
		edges, err = h.engine.Resolver.EdgesOf(ctx, puids)
		return err
	}); err != nil {
		return nil, err
	}
	for i, e := range edges {
		if e.B < e.A {
			edges[i] = e.Mirror()
		}
	}
	edges = slices.DeleteFunc(edges, func(e derived.Edge) bool { return e.Weight < 0 || e.Weight >= match.Threshold })
	slices.SortFunc(edges, byRank)
	edges = slices.CompactFunc(edges, func(a, b derived.Edge) bool { return a.A == b.A && a.B == b.B })
	var found []Pair
	for some := range slices.Chunk(edges, MaxPage) {
		pairs, err := h.pairs(ctx, some, Best)
		if err != nil {
			return nil, err
		}
		for _, p := range pairs {
			if p != nil {
				found = append(found, *p)
			}
		}
		if len(found) >= MaxPage {
			return found[:MaxPage], nil
		}
	}
	return found, nil
}
