// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// Relation is a connection between two entities that are not the same thing.
type Relation struct {
	// Relation is part_of (this entity is part of the other), has_part (the other is part of this one) or co_located
	// (two things in one place).
	Relation string        `json:"relation"`
	Entity   locality.ID   `json:"entity"` // the other entity
	Name     string        `json:"name"`
	Kind     string        `json:"kind"` // of both
	Via      [2]entity.Ref `json:"via"`  // the pair of records that shows it, this entity's first
	Weight   match.Weight  `json:"match_weight"`
}

// maxRelations limits how many relations Relations returns.
const maxRelations = 16

// Relations returns up to 16 entities that are related to an entity, each once, with its best pair of records, the best
// first. part_of and has_part take precedence over co_located if pairs of the same two entities differ.
func (h *Handle) Relations(ctx context.Context, id locality.ID) ([]Relation, error) {
	e, err := h.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	puids := e.Entity.PUIDs()
	var edges []derived.Edge
	if err := h.engine.Retry(ctx, func() (err error) {
		edges, err = h.engine.Resolver.EdgesOf(ctx, puids)
		return err
	}); err != nil {
		return nil, fmt.Errorf("relations of entity %v: %w", id, err)
	}
	m := h.engine.Kind(e.Kind).Matcher
	edges = slices.DeleteFunc(edges, func(edge derived.Edge) bool {
		return !m.Decide(edge.Vector).Relation() || slices.Contains(puids, edge.B)
	})
	apart := func(e derived.Edge) int {
		if m.Decide(e.Vector) == match.PartOf {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(edges, func(x, y derived.Edge) int {
		return cmp.Or(apart(x)-apart(y), cmp.Compare(m.Sum(y.Vector), m.Sum(x.Vector)), cmp.Compare(x.B, y.B))
	})
	others := make([]entity.PUID, len(edges))
	for i, edge := range edges {
		others[i] = edge.B
	}
	records, err := h.engine.Records(ctx, others)
	if err != nil {
		return nil, err
	}
	list := []Relation{}
	seen := map[locality.ID]bool{e.ID: true}
	for i, edge := range edges {
		rec := records[i]
		if rec == nil || rec.Deleted() || len(list) == maxRelations {
			continue
		}
		other, err := h.Get(ctx, rec.Birth)
		if errors.Is(err, entity.ErrErased) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if seen[other.ID] {
			continue
		}
		seen[other.ID] = true
		own := e.Members[slices.Index(puids, edge.A)].Ref
		list = append(list, Relation{
			Relation: RelationOf(m, edge.Vector, own, rec.Ref), Entity: other.ID, Name: h.nameOf(other.Entity), Kind: e.Kind,
			Via: [2]entity.Ref{own, rec.Ref}, Weight: m.Sum(edge.Vector),
		})
	}
	slices.SortStableFunc(list, func(x, y Relation) int { return cmp.Compare(y.Weight, x.Weight) })
	return list, nil
}

// RelationOf returns the relation of record own to record other: part_of, has_part, or the name of the outcome.
func RelationOf(m *match.Matcher, v match.Vector, own, other entity.Ref) string {
	if m.Decide(v) != match.PartOf {
		return m.Decide(v).String()
	}
	first := match.NodeKey(own).Compare(match.NodeKey(other)) < 0
	if first == v.Part() {
		return "part_of"
	}
	return "has_part"
}

// nameOf returns the name of an entity, "" if it has none.
func (h *Handle) nameOf(e *entity.Entity) string {
	for _, a := range h.engine.Schema(e.Kind).Attributes {
		if name := e.View.First(a.Name); a.Type == match.TypeName && name != "" {
			return name
		}
	}
	return ""
}
