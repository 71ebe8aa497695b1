// SPDX-License-Identifier: Apache-2.0

package review

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// pairs turns edges into pairs, nil for edges that need no decision in an order.
func (h *Handle) pairs(ctx context.Context, edges []derived.Edge, order Order) ([]*Pair, error) {
	puids := make([]entity.PUID, 0, 2*len(edges))
	for _, e := range edges {
		puids = append(puids, e.A, e.B)
	}
	records, err := h.engine.Records(ctx, puids)
	if err != nil {
		return nil, err
	}
	c, err := h.around(ctx, records)
	if err != nil {
		return nil, err
	}
	pairs := make([]*Pair, len(edges))
	for i, e := range edges {
		a, b := records[2*i], records[2*i+1]
		if a != nil && b != nil && !a.Deleted() && !b.Deleted() && a.Kind == b.Kind {
			pairs[i] = h.pair(e, a, b, c, order)
		}
	}
	return pairs, nil
}

// around has what decides whether a compared pair needs a decision: the entities of the records, by anchor, the
// decisions about their members, and the extremes of their edges.
type around struct {
	entities  map[entity.PUID]*entity.Entity
	decisions []entity.Decision
	extreme   map[derived.Pair]derived.Edge
}

func (h *Handle) around(ctx context.Context, records []*entity.Record) (c around, err error) {
	if c.entities, err = h.engine.EntitiesOf(ctx, records); err != nil {
		return c, err
	}
	var members []entity.PUID
	for _, e := range c.entities {
		members = append(members, e.PUIDs()...)
	}
	slices.Sort(members)
	members = slices.Compact(members)
	if c.decisions, err = h.engine.Decisions(ctx, members); err != nil {
		return c, err
	}
	var edges []derived.Edge
	err = h.engine.Retry(ctx, func() (err error) {
		edges, err = h.engine.Resolver.EdgesOf(ctx, members)
		return err
	})
	c.extreme = h.extremes(c.entities, edges)
	return c, err
}

// pair returns the pair of an edge, nil if it needs no decision in an order.
func (h *Handle) pair(e derived.Edge, a, b *entity.Record, c around, order Order) *Pair {
	x, y := c.entities[a.Anchor], c.entities[b.Anchor]
	if x == nil || y == nil {
		return nil
	}
	m := h.engine.Kind(a.Kind).Matcher
	extreme := c.extreme[derived.PairOf(a.Anchor, b.Anchor)] == e
	p := &Pair{A: a.Ref, B: b.Ref, EntityA: x.ID, EntityB: y.ID, Kind: a.Kind, Joined: x.ID == y.ID,
		puids: derived.PairOf(a.PUID, b.PUID)}
	// e.Vector is weighted by current name frequencies.
	if p.Joined {
		p.Merges, p.settles = len(x.Members), len(x.Members)-1
		if order == Best || order == Teaches && (m.Decide(e.Vector) != match.Same || !extreme) {
			return nil
		}
	} else {
		p.Merges, p.settles = len(x.Members)+len(y.Members), len(x.Members)*len(y.Members)
		if order != Chance && (m.Decide(e.Vector) != match.Possible || !extreme ||
			decisions.Between(c.decisions, x.PUIDs(), y.PUIDs()) != nil) {
			return nil
		}
	}
	p.Explanation = m.Explain(h.engine.Normalise(a), h.engine.Normalise(b), e.Vector).Facing(match.NodeKey(a.Ref))
	p.Teaches = taught(p.Explanation.Weight, m.Threshold(), p.settles)
	return p
}

// extremes returns the best possible match between each two entities, and the pair of the lowest weight that joins
// within each, by their anchors.
func (h *Handle) extremes(of map[entity.PUID]*entity.Entity, edges []derived.Edge) map[derived.Pair]derived.Edge {
	anchors := map[entity.PUID]entity.PUID{}
	for anchor, e := range of {
		for _, p := range e.PUIDs() {
			anchors[p] = anchor
		}
	}
	found := map[derived.Pair]derived.Edge{}
	for _, e := range edges {
		a, known := anchors[e.A]
		b, other := anchors[e.B]
		if e.A > e.B || !known || !other {
			continue
		}
		between := derived.PairOf(a, b)
		was, some := found[between]
		switch {
		case a == b:
			if e.Weight >= h.engine.Kind(of[a].Kind).Matcher.Threshold() && (!some || better(was, e)) {
				found[between] = e
			}
		case e.Weight < match.Threshold && (!some || better(e, was)):
			found[between] = e
		}
	}
	return found
}

// taught returns how many bits the answer about a pair teaches, to a hundredth.
func taught(weight, threshold match.Weight, settles int) float64 {
	return math.Round(100*learn.Bits(float64(weight-threshold)/100, settles)) / 100
}

// question is a pair with its place in an order. The cursor of a page is the place of its last question.
type question struct {
	place int64
	edge  derived.Edge
	pair  *Pair // nil until it is read
}

func (q *question) compare(place int64, a, b entity.PUID) int {
	return cmp.Or(cmp.Compare(q.place, place), cmp.Compare(q.edge.A, a), cmp.Compare(q.edge.B, b))
}

// byRank compares the positions of possible matches in the queue.
func byRank(a, b derived.Edge) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
}

func better(a, b derived.Edge) bool { return byRank(a, b) < 0 }
