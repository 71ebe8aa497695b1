// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// Component is a set of records that are clustered together, as read outside of the resolver.
type Component struct {
	Kind *Kind
	// Matcher is the kind's matcher, with name counts over all live records.
	Matcher *match.Matcher
	// Records are ordered by puid; Norms are their normalised forms.
	Records []*entity.Record
	Norms   []*match.Record
	// Edges between the records, by index.
	Edges []match.Edge
	// Decisions about the records that are not withdrawn.
	Decisions []entity.Decision
	// Least is the minimum weight of the connecting edges: the threshold, or more if the component was cut
	// because of its size.
	Least match.Weight
}

// reading is a batch that writes nothing. It reads concurrently with the resolver, unless ask is set to
// Resolver.read.
type reading struct {
	*batch
	ask asking
	// unread, if not nil, collects the records that cannot be read, with the errors; the others are read all
	// the same.
	unread map[entity.PUID]error
}

func (r *Resolver) reading() reading { return reading{batch: newBatch(r, nil, nil, nil), ask: r.view} }

func (v reading) load(ctx context.Context, puids []entity.PUID) error {
	missing := slices.DeleteFunc(unique(slices.Clone(puids)), func(p entity.PUID) bool { return v.nodes[p] != nil })
	err := v.readNodes(ctx, v.ask, v.nodes, missing)
	if err == nil || v.unread == nil || errors.Is(err, cell.ErrUnavailable) || outdated(err) || ctx.Err() != nil {
		return err
	}
	for _, p := range missing {
		if err := v.readNodes(ctx, v.ask, v.nodes, []entity.PUID{p}); errors.Is(err, cell.ErrUnavailable) {
			return err
		} else if err != nil {
			v.unread[p] = err
		}
	}
	return nil
}

// readAround is batch.readAround with ask and without the cache of decisions.
func (v reading) readAround(ctx context.Context, stored map[entity.PUID]edges, puids []entity.PUID) error {
	partners, err := v.keepAround(stored, puids, func(missing []entity.PUID) (map[entity.PUID]around, error) {
		return v.look(ctx, v.ask, storedDecisions, missing)
	})
	if err != nil || len(partners) == 0 {
		return err
	}
	return v.load(ctx, partners)
}

// Component reads the component of a record, with the same walk as the resolver. It takes no lock and may
// therefore see a write that is half done. It returns nil if the record does not exist.
func (r *Resolver) Component(ctx context.Context, p entity.PUID) (*Component, error) {
	v := r.reading()
	g := newGraph(v.batch, map[entity.PUID]edges{}, nil)
	members, err := v.component(ctx, g, p)
	if err != nil {
		return nil, err
	}
	c := &Component{Least: max(g.is.least[p], match.Threshold)}
	index := make(map[entity.PUID]int, len(members))
	for _, q := range members {
		if n := v.nodes[q]; n != nil && n.norm != nil {
			index[q] = len(c.Records)
			c.Kind, c.Records, c.Norms = n.kind, append(c.Records, n.Record), append(c.Norms, n.norm)
		}
	}
	if _, ok := index[p]; !ok {
		return nil, nil
	}
	names, err := v.namesOf(ctx, c.Norms)
	if err != nil {
		return nil, err
	}
	c.Matcher = c.Kind.Matcher.Among(names)
	for i, rec := range c.Records {
		c.Decisions = append(c.Decisions, v.decided[rec.PUID]...)
		g.edgesAt(rec.PUID, true, func(e derived.Edge, decided int64) {
			if j, ok := index[e.B]; ok && i < j {
				c.Edges = append(c.Edges, match.Edge{A: i, B: j, Weight: e.Weight, Decided: decided, Vector: e.Vector})
			}
		})
	}
	return c, nil
}

// component finds and loads the component of a record.
func (v reading) component(ctx context.Context, g *graph, p entity.PUID) ([]entity.PUID, error) {
	members := g.component(&g.is, p)
	for members == nil {
		if err := v.readAround(ctx, g.stored, slices.Collect(maps.Keys(g.missing))); err != nil {
			return nil, err
		}
		clear(g.missing)
		clear(g.is.short)
		members = g.component(&g.is, p)
	}
	return members, v.load(ctx, members)
}

// Trace clusters the component again, calling step for each join.
func (c *Component) Trace(step func(match.Join)) [][]int {
	return match.Trace(c.keys(), c.Edges, c.Kind.Matcher.UnmetOf(func(i int) *match.Record { return c.Norms[i] }), step)
}

func (c *Component) keys() []match.NodeKey {
	keys := make([]match.NodeKey, len(c.Records))
	for i, rec := range c.Records {
		keys[i] = match.NodeKey(rec.Ref)
	}
	return keys
}

// EdgesOf reads the edges of records concurrently with the resolver, ordered by A, then B.
func (r *Resolver) EdgesOf(ctx context.Context, puids []entity.PUID) ([]derived.Edge, error) {
	stored := make(map[entity.PUID]edges, len(puids))
	if err := r.reading().readAround(ctx, stored, slices.Clone(puids)); err != nil {
		return nil, err
	}
	var all []derived.Edge
	for _, p := range slices.Sorted(maps.Keys(stored)) {
		all = append(all, stored[p]...)
	}
	return all, nil
}
