// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"errors"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

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
