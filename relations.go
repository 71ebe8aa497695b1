// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// maxRelations is how many relations of an entity are answered.
const maxRelations = 16

// Relations are the things that an entity has to do with without being one of them: at most 16, each once,
// by its best pair of records, the best first. What is a part of one record of it is a part of it, whatever it is
// to the others.
func (s *Service) Relations(ctx context.Context, id locality.ID) ([]Relation, error) {
	e, err := s.Entity(ctx, id)
	if err != nil {
		return nil, err
	}
	puids := members(e.Entity)
	var edges []resolve.Edge
	if err := s.again(ctx, func() (err error) {
		edges, err = s.resolver.EdgesOf(ctx, puids)
		return err
	}); err != nil {
		return nil, fmt.Errorf("relations of entity %v: %w", id, err)
	}
	m := s.kind(e.Kind).Matcher
	edges = slices.DeleteFunc(edges, func(edge resolve.Edge) bool {
		return !m.Decide(edge.Vector).Relation() || slices.Contains(puids, edge.B)
	})
	apart := func(e resolve.Edge) int {
		if m.Decide(e.Vector) == match.PartOf {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(edges, func(x, y resolve.Edge) int {
		return cmp.Or(apart(x)-apart(y), cmp.Compare(m.Score(y.Vector), m.Score(x.Vector)), cmp.Compare(x.B, y.B))
	})
	others := make([]entity.PUID, len(edges))
	for i, edge := range edges {
		others[i] = edge.B
	}
	records, err := s.records(ctx, others)
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
		other, err := s.Entity(ctx, rec.Birth)
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
			Relation: relation(m, edge.Vector, own, rec.Ref), Entity: other.ID, Name: s.nameOf(other.Entity),
			Via: [2]entity.Ref{own, rec.Ref}, Bits: m.Score(edge.Vector),
		})
	}
	slices.SortStableFunc(list, func(x, y Relation) int { return cmp.Compare(y.Bits, x.Bits) })
	return list, nil
}

// relation is what the thing of a record is to that of another.
func relation(m *match.Matcher, v match.Vector, own, other entity.Ref) string {
	if m.Decide(v) != match.PartOf {
		return m.Decide(v).String()
	}
	first := match.NodeKey(own).Compare(match.NodeKey(other)) < 0
	if first == v.Part() {
		return "part_of"
	}
	return "has_part"
}

// nameOf is what an entity is called, "" if nobody says.
func (s *Service) nameOf(e *entity.Entity) string {
	for _, a := range s.Schema(e.Kind).Attributes {
		if name := e.View.First(a.Name); a.Type == match.TypeName && name != "" {
			return name
		}
	}
	return ""
}
