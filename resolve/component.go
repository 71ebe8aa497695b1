// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// Component is the records that are clustered together, as a reader finds them beside the resolver.
type Component struct {
	Kind *Kind
	// Records in the order of their puids, and what they are normalised.
	Records []*entity.Record
	Norms   []*match.Record
	// Edges between them, by their indices.
	Edges []match.Edge
	// Least is the score of the edges that connect them: the threshold, and more where they would be too
	// many.
	Least match.Score
}

// Component reads the component of a record from its cells, by the walk that the resolver does. It waits
// for nobody, so that it may find what is being written half done. Nil if the record is not there.
func (r *Resolver) Component(ctx context.Context, p entity.PUID) (*Component, error) {
	g := newGraph(nil, map[entity.PUID]edges{}, nil)
	members := g.component(&g.is, p)
	for members == nil {
		if err := r.readEdges(ctx, r.view, g.stored, slices.Collect(maps.Keys(g.missing))); err != nil {
			return nil, err
		}
		clear(g.missing)
		clear(g.is.short)
		members = g.component(&g.is, p)
	}
	nodes := make(map[entity.PUID]*node, len(members))
	if err := r.readNodes(ctx, r.view, nodes, members); err != nil {
		return nil, err
	}
	c := &Component{Least: max(g.is.least[p], match.Threshold)}
	index := make(map[entity.PUID]int, len(members))
	for _, q := range members {
		if n := nodes[q]; n != nil && n.norm != nil {
			index[q] = len(c.Records)
			c.Kind, c.Records, c.Norms = n.kind, append(c.Records, n.Record), append(c.Norms, n.norm)
		}
	}
	if _, ok := index[p]; !ok {
		return nil, nil
	}
	for i, rec := range c.Records {
		g.each(rec.PUID, true, func(e Edge) {
			if j, ok := index[e.B]; ok && i < j {
				c.Edges = append(c.Edges, match.Edge{A: i, B: j, Score: e.Score})
			}
		})
	}
	return c, nil
}

// Trace clusters the component again and tells each step.
func (c *Component) Trace(step func(match.Join)) [][]int {
	return match.Trace(c.keys(), c.Edges, step)
}

func (c *Component) keys() []match.NodeKey {
	keys := make([]match.NodeKey, len(c.Records))
	for i, rec := range c.Records {
		keys[i] = match.NodeKey(rec.Ref)
	}
	return keys
}

// EdgesOf reads the edges of records beside the resolver, ordered by A and then B.
func (r *Resolver) EdgesOf(ctx context.Context, puids []entity.PUID) ([]Edge, error) {
	stored := make(map[entity.PUID]edges, len(puids))
	if err := r.readEdges(ctx, r.view, stored, slices.Clone(puids)); err != nil {
		return nil, err
	}
	var all []Edge
	for _, p := range slices.Sorted(maps.Keys(stored)) {
		all = append(all, stored[p]...)
	}
	return all, nil
}
