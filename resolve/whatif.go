// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// ErrTooMany means that a what-if scenario connects more than MaxLinked records.
var ErrTooMany = problem.Class(problem.ErrInvalid, "resolve: too many records are connected")

// Scenario is a what-if scenario: changes to the inputs of entities.
type Scenario struct {
	// Of are the records to start from. The scenario covers everything connected with them.
	Of []entity.PUID
	// Without are records to treat as deleted. Stop keys stay stop keys, and the names of an identifier
	// are not recounted.
	Without []entity.PUID
	// Decisions to make or withdraw, in this order.
	Decisions []entity.Decision
	// Weights are the match weights of levels, and Threshold the match threshold, as in match.Matcher.With.
	Weights   map[string]match.Weight
	Threshold match.Weight
}

// whatIf holds the data read for a scenario: everything that edges connect, currently or hypothetically.
type whatIf struct {
	reading
	Scenario
	kind      *Kind
	matcher   *match.Matcher // of the scenario
	scope     map[entity.PUID]bool
	is, would *graph
	met       *candidateSet
}

// WhatIf returns the current entities that would not exist in the scenario and those that would exist
// instead, both ordered by id. Nothing is written. The error is ErrTooMany if more than MaxLinked records
// are involved, or that of match.Matcher.With.
func (r *Resolver) WhatIf(ctx context.Context, kind *Kind, about Scenario) (before, after []*entity.Entity, err error) {
	if err := r.Upgraded(ctx); err != nil {
		return nil, nil, err
	}
	matcher, err := kind.Matcher.With(about.Weights, about.Threshold)
	if err != nil {
		return nil, nil, err
	}
	s := &whatIf{
		reading: r.reading(), Scenario: about, kind: kind, matcher: matcher,
		scope: map[entity.PUID]bool{}, met: newCandidateSet(0),
	}
	s.is = newGraph(s.batch, map[entity.PUID]edges{}, nil)
	would := *s.is
	if s.would = &would; len(about.Weights) > 0 {
		would.stored = map[entity.PUID]edges{}
	}
	if err := s.read(ctx); err != nil {
		return nil, nil, err
	}
	without := map[entity.PUID]bool{}
	for _, p := range about.Without {
		without[p] = true
	}
	before, after = s.entities(s.is, kind.Matcher, nil), s.entities(s.would, matcher, without)
	stays := func(in []*entity.Entity) func(*entity.Entity) bool {
		return func(e *entity.Entity) bool {
			return slices.ContainsFunc(in, func(f *entity.Entity) bool {
				return e.ID == f.ID && e.Stamp == f.Stamp && reflect.DeepEqual(e.View, f.View)
			})
		}
	}
	gone := slices.DeleteFunc(slices.Clone(before), stays(after))
	return gone, slices.DeleteFunc(after, stays(before)), nil
}

// read walks over the clustering edges, current and hypothetical.
func (s *whatIf) read(ctx context.Context) error {
	next := slices.Concat(s.Of, s.Without)
	for _, d := range s.Decisions {
		if next = append(next, d.A); d.Pair() {
			next = append(next, d.B)
		}
	}
	for next = unique(next); len(next) > 0; {
		for _, p := range next {
			s.scope[p] = true
		}
		if len(s.scope) > MaxLinked {
			return ErrTooMany
		}
		if err := s.load(ctx, next); err != nil {
			return err
		}
		if err := s.readAround(ctx, s.is.stored, next); err != nil {
			return err
		}
		if len(s.Weights) > 0 {
			if err := s.compare(ctx, next); err != nil {
				return err
			}
		}
		found := map[entity.PUID]bool{}
		walk := func(g *graph, threshold match.Weight) {
			for _, p := range next {
				g.edgesAt(p, true, func(e derived.Edge, _ int64) {
					if e.Weight >= threshold && !s.scope[e.B] {
						found[e.B] = true
					}
				})
			}
		}
		walk(s.is, s.kind.Matcher.Threshold())
		walk(s.would, s.matcher.Threshold())
		next = slices.Sorted(maps.Keys(found))
	}
	s.would.decided = s.decide()
	return nil
}

// decide returns the hypothetical decisions. Those of the scenario are newer than all stored ones.
func (s *whatIf) decide() map[entity.PUID][]entity.Decision {
	would := maps.Clone(s.decided)
	for i, d := range s.Decisions {
		d.At = s.now.Add(time.Hour + time.Duration(i)*time.Millisecond)
		sides := []entity.Decision{d}
		if d.Pair() {
			sides = append(sides, d.Mirror())
		}
		for _, d := range sides {
			kept := slices.DeleteFunc(slices.Clone(would[d.A]), func(old entity.Decision) bool {
				return old.Topic() == d.Topic()
			})
			if !d.Withdrawn {
				kept = append(kept, d)
			}
			would[d.A] = kept
		}
	}
	return would
}

func (s *whatIf) compare(ctx context.Context, puids []entity.PUID) error {
	if err := s.carriers(ctx, puids); err != nil {
		return err
	}
	var all []entity.PUID
	candidates := make(map[entity.PUID][]entity.PUID, len(puids))
	for _, p := range puids {
		s.would.stored[p] = nil
		n := s.nodes[p]
		if n == nil || n.norm == nil {
			continue
		}
		candidates[p] = s.met.candidates(n, posted(n, leads(n, s.met.leaders)))
		all = append(all, candidates[p]...)
	}
	if err := s.load(ctx, all); err != nil {
		return err
	}
	for p := range candidates {
		s.met.count(s.nodes[p], s.nodes)
	}
	for p, list := range candidates {
		n := s.nodes[p]
		matcher := s.matcher.Among(s.met.names)
		for _, q := range list {
			c := s.nodes[q]
			if !s.batch.findCandidates(n, c, s.met) {
				continue
			}
			if v, weight, linked := matcher.Link(n.norm, c.norm); linked {
				s.would.stored[p] = append(s.would.stored[p], derived.Edge{A: p, B: q, Vector: v, Weight: weight})
			}
		}
	}
	return nil
}

// records reads the records of the records' blocking keys and the leaders for their contents.
func (s *whatIf) carriers(ctx context.Context, puids []entity.PUID) error {
	var nodes []*node
	for _, p := range puids {
		if n := s.nodes[p]; n != nil && n.norm != nil {
			nodes = append(nodes, n)
		}
	}
	leaders, err := s.leadersOf(ctx, nodes)
	if err != nil {
		return err
	}
	maps.Copy(s.met.leaders, leaders)
	limits := map[uint64]int{}
	for _, n := range nodes {
		for _, f := range posted(n, leads(n, s.met.leaders)) {
			if _, read := s.met.carriers[f]; !read {
				limits[f] = s.met.limit(f)
			}
		}
	}
	found, err := s.blockOf(ctx, s.view, limits)
	maps.Copy(s.met.carriers, found)
	return err
}

// led moves the edges of removed leaders to the followers that would replace them.
func (s *whatIf) led(g *graph, linked []match.Edge, index map[entity.PUID]int,
	without map[entity.PUID]bool) []match.Edge {
	for _, p := range slices.Sorted(maps.Keys(without)) {
		var follow []int
		var others []match.Edge
		g.edgesAt(p, true, func(e derived.Edge, decided int64) {
			j, there := index[e.B]
			switch {
			case !there || decided != 0:
			case e.Weight != match.Equal:
				others = append(others, match.Edge{B: j, Weight: e.Weight})
			case e.B > p:
				follow = append(follow, j)
			}
		})
		if len(follow) == 0 {
			continue
		}
		for _, j := range follow[1:] {
			linked = append(linked, match.Edge{A: follow[0], B: j, Weight: match.Equal})
		}
		for _, e := range others {
			e.A = follow[0]
			linked = append(linked, e)
		}
	}
	return linked
}

// entities clusters the records that were read, either as they are or as in the scenario.
func (s *whatIf) entities(g *graph, matcher *match.Matcher, without map[entity.PUID]bool) []*entity.Entity {
	var nodes []*node
	var keys []match.NodeKey
	index := map[entity.PUID]int{}
	for _, p := range slices.Sorted(maps.Keys(s.scope)) {
		if n := s.nodes[p]; n != nil && n.kind == s.kind && !without[p] {
			index[p] = len(nodes)
			nodes, keys = append(nodes, n), append(keys, match.NodeKey(n.Ref))
		}
	}
	var linked []match.Edge
	for i, n := range nodes {
		g.edgesAt(n.PUID, true, func(e derived.Edge, decided int64) {
			if j, ok := index[e.B]; ok && i < j {
				linked = append(linked, match.Edge{A: i, B: j, Weight: e.Weight, Decided: decided, Vector: e.Vector})
			}
		})
	}
	linked = s.led(g, linked, index, without)
	as := *s.batch
	as.decided = g.decided
	var entities []*entity.Entity
	for _, group := range match.ClusterAt(keys, linked, matcher.UnmetOf(normOf(nodes)), matcher.Threshold()) {
		c := &cluster{nodes: make([]*node, len(group))}
		for i, j := range group {
			c.nodes[i] = nodes[j]
		}
		c.pins = as.order(c.nodes)
		entities = append(entities, s.build(c).Entity)
	}
	slices.SortFunc(entities, func(a, b *entity.Entity) int { return a.ID.Compare(b.ID) })
	return entities
}
