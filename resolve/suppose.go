// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// ErrTooMany says that a supposition is about more records than are looked at, which are MaxLinked.
var ErrTooMany = errors.New("resolve: too many records are connected")

// Supposition is something otherwise in what entities are a function of.
type Supposition struct {
	// Of are the records that it begins with: it is about all that they are connected with.
	Of []entity.PUID
	// Without are records that are not there. Features that too many carry stay as they are.
	Without []entity.PUID
	// Bits of levels and the threshold, as match.Matcher.With takes them.
	Bits      map[string]match.Score
	Threshold match.Score
}

// suppose is what is read for a supposition: everything that edges connect, as it is or as it would be.
type suppose struct {
	*Resolver
	Supposition
	kind    *Kind
	matcher *match.Matcher // that would be
	without map[entity.PUID]bool
	nodes   map[entity.PUID]*node // what it is about, and what that was compared with
	stored  map[entity.PUID]edges
	scope   map[entity.PUID]bool
	would   map[Pair]match.Score // with other bits; A before B
	met     map[uint64][]entity.PUID
}

// Suppose answers with the entities that are and would not be, and with those that would be instead, each in
// the order of their ids. Nothing is written. The error is ErrTooMany if there is more to look at than
// MaxLinked records, and what match.Matcher.With says about bits.
func (r *Resolver) Suppose(ctx context.Context, kind *Kind, about Supposition) (before, after []*entity.Entity, err error) {
	matcher, err := kind.Matcher.With(about.Bits, about.Threshold)
	if err != nil {
		return nil, nil, err
	}
	s := &suppose{
		Resolver: r, Supposition: about, kind: kind, matcher: matcher, without: map[entity.PUID]bool{},
		nodes: map[entity.PUID]*node{}, stored: map[entity.PUID]edges{}, scope: map[entity.PUID]bool{},
		would: map[Pair]match.Score{}, met: map[uint64][]entity.PUID{},
	}
	for _, p := range about.Without {
		s.without[p] = true
	}
	if err := s.read(ctx); err != nil {
		return nil, nil, err
	}
	before, after = s.entities(false), s.entities(true)
	stays := func(in []*entity.Entity) func(*entity.Entity) bool {
		in = slices.Clone(in)
		return func(e *entity.Entity) bool {
			return slices.ContainsFunc(in, func(f *entity.Entity) bool {
				return e.ID == f.ID && e.Stamp == f.Stamp && reflect.DeepEqual(e.View, f.View)
			})
		}
	}
	same, again := stays(after), stays(before)
	return slices.DeleteFunc(before, same), slices.DeleteFunc(after, again), nil
}

// read walks over the edges that cluster, as they are and as they would be.
func (s *suppose) read(ctx context.Context) error {
	least := min(s.kind.Matcher.Threshold(), s.matcher.Threshold())
	next := unique(slices.Concat(s.Of, s.Without))
	for len(next) > 0 {
		for _, p := range next {
			s.scope[p] = true
		}
		if len(s.scope) > MaxLinked {
			return ErrTooMany
		}
		if err := s.load(ctx, next); err != nil {
			return err
		}
		if err := s.readEdges(ctx, s.view, s.stored, next); err != nil {
			return err
		}
		found := map[entity.PUID]bool{}
		for _, p := range next {
			for _, e := range s.stored[p] {
				if e.Score >= least {
					found[e.B] = true
				}
			}
		}
		if len(s.Bits) > 0 {
			if err := s.compare(ctx, next, found); err != nil {
				return err
			}
		}
		next = next[:0:0]
		for p := range found {
			if !s.scope[p] {
				next = append(next, p)
			}
		}
	}
	return nil
}

func (s *suppose) load(ctx context.Context, puids []entity.PUID) error {
	missing := slices.DeleteFunc(slices.Clone(puids), func(p entity.PUID) bool { return s.nodes[p] != nil })
	return s.readNodes(ctx, s.view, s.nodes, missing)
}

// compare finds what records would be compared with, weighs it, and adds what would cluster to found.
func (s *suppose) compare(ctx context.Context, puids []entity.PUID, found map[entity.PUID]bool) error {
	if err := s.meet(ctx, puids); err != nil {
		return err
	}
	var all []entity.PUID
	candidates := make(map[entity.PUID][]entity.PUID, len(puids))
	for _, p := range puids {
		n := s.nodes[p]
		if n == nil || n.norm == nil || s.without[p] {
			continue
		}
		for _, f := range n.norm.Features() {
			if carriers := s.met[f.Hash]; len(carriers) <= MaxCarriers {
				candidates[p] = append(candidates[p], carriers...)
			}
		}
		candidates[p] = unique(candidates[p])
		all = append(all, candidates[p]...)
	}
	if err := s.load(ctx, unique(all)); err != nil {
		return err
	}
	for p, list := range candidates {
		n := s.nodes[p]
		for _, q := range list {
			c := s.nodes[q]
			if q == p || c == nil || c.norm == nil || c.kind != n.kind || s.without[q] || !s.share(n, c) {
				continue
			}
			v := s.matcher.Compare(n.norm, c.norm)
			if s.matcher.Decide(v) == match.Different {
				continue
			}
			weight := s.matcher.Weight(v)
			s.would[Pair{min(p, q), max(p, q)}] = weight
			if weight >= s.matcher.Threshold() {
				found[q] = true
			}
		}
	}
	return nil
}

// share tells whether two records have a feature that is not generic: a posting may have outlived it.
func (s *suppose) share(n, c *node) bool {
	return slices.ContainsFunc(n.norm.Features(), func(f match.Feature) bool {
		return len(s.met[f.Hash]) <= MaxCarriers && c.carries(f.Hash)
	})
}

// meet reads who carries the features of records.
func (s *suppose) meet(ctx context.Context, puids []entity.PUID) error {
	groups := map[cell.ID][]uint64{}
	for _, p := range puids {
		n := s.nodes[p]
		if n == nil || n.norm == nil {
			continue
		}
		for _, f := range n.norm.Features() {
			if _, read := s.met[f.Hash]; read {
				continue
			}
			s.met[f.Hash] = nil
			for _, id := range s.featureCells(f.Hash) {
				groups[id] = append(groups[id], f.Hash)
			}
		}
	}
	var mu sync.Mutex
	return eachCell(groups, func(id cell.ID, features []uint64) error {
		slices.Sort(features)
		limits := slices.Repeat([]int{MaxCarriers + 1}, len(features))
		return s.view(ctx, id, func(tx Tx) error {
			carriers, err := tx.Carriers(ctx, features, limits)
			if err != nil {
				return fmt.Errorf("read carriers: %w", err)
			}
			mu.Lock()
			defer mu.Unlock()
			for i, f := range features {
				s.met[f] = union(s.met[f], carriers[i])
			}
			return nil
		})
	})
}

// entities clusters what was read, as it is or as it would be.
func (s *suppose) entities(would bool) []*entity.Entity {
	threshold := s.kind.Matcher.Threshold()
	if would {
		threshold = s.matcher.Threshold()
	}
	var nodes []*node
	var keys []match.NodeKey
	index := map[entity.PUID]int{}
	for _, p := range slices.Sorted(maps.Keys(s.scope)) {
		if n := s.nodes[p]; n != nil && n.kind == s.kind && !(would && s.without[p]) {
			index[p] = len(nodes)
			nodes, keys = append(nodes, n), append(keys, match.NodeKey(n.Ref))
		}
	}
	var linked []match.Edge
	link := func(a, b entity.PUID, score match.Score) {
		i, here := index[a]
		j, there := index[b]
		if here && there {
			linked = append(linked, match.Edge{A: i, B: j, Score: score})
		}
	}
	if would && len(s.Bits) > 0 {
		for pair, score := range s.would {
			link(pair.A, pair.B, score)
		}
	} else {
		for p := range index {
			for _, e := range s.stored[p] {
				if e.A < e.B {
					link(e.A, e.B, e.Score)
				}
			}
		}
	}
	var entities []*entity.Entity
	for _, group := range match.ClusterAt(keys, linked, threshold) {
		c := &cluster{nodes: make([]*node, len(group))}
		for i, j := range group {
			c.nodes[i] = nodes[j]
		}
		slices.SortFunc(c.nodes, func(a, b *node) int { return compareBirth(a.Birth, b.Birth) })
		entities = append(entities, s.build(c).Entity)
	}
	slices.SortFunc(entities, func(a, b *entity.Entity) int { return a.ID.Compare(b.ID) })
	return entities
}
