// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// outcome is the content of one cell's transaction in the third round.
type outcome struct {
	post     postings
	edges    []derived.Edge
	cut      []derived.Pair
	assigned []entity.Assignment
	entities []entity.Indexed
	retired  []entity.PUID
	changes  []changelog.Change
	changed  []changed // the entity of each change
	counts   entity.Counts
	now      time.Time
	cause    changelog.Cause // cause of the assignments
	mark     changelog.Seq   // end of the log, if changes carry images
}

// changed is the entity of a change: its anchor, and its new state, nil if it is retired.
type changed struct {
	anchor entity.PUID
	is     *entity.Entity
}

// cluster is the third round: postings, edges, clusters, entities. Everything is decided before anything is written;
// then each cell gets one transaction.
func (b *batch) cluster(ctx context.Context, m *candidateSet) error {
	out := newOutcomes(b)
	m.post(out)
	p, err := b.decideAll(ctx, m, out)
	if err != nil {
		return err
	}
	p.write(out)
	if out.err != nil {
		return out.err
	}
	if err := b.renew(ctx); err != nil {
		return err
	}
	if err := out.commit(ctx); err != nil {
		return err
	}
	for _, a := range p.assigned {
		was := b.nodes[a.PUID]
		rec := *was.Record
		rec.Anchor = a.Anchor
		n := &node{Record: &rec, kind: was.kind, norm: was.norm}
		n.said.Store(was.said.Load())
		b.nodes[a.PUID] = n
		b.cache.nodes.put(n.PUID, n)
	}
	p.remember()
	return nil
}

// decideAll compares the records of the batch, adds the changes of edges to out, and returns the new state of
// all records that the batch affects. It writes nothing. A hypothetical batch has no out.
func (b *batch) decideAll(ctx context.Context, m *candidateSet, out *outcomes) (*plan, error) {
	now, err := b.compare(ctx, m)
	if err != nil {
		return nil, err
	}
	return b.decideEdges(ctx, now, out)
}

// decideEdges is decideAll with the current edges of the records of the batch.
func (b *batch) decideEdges(ctx context.Context, now map[entity.PUID]edges, out *outcomes) (*plan, error) {
	stored := make(map[entity.PUID]edges, len(b.writes))
	var have []entity.PUID
	for p, w := range b.writes {
		if w.fresh() && !w.back && !b.repair {
			stored[p] = nil
		} else {
			have = append(have, p)
		}
	}
	for _, found := range now {
		for _, e := range found {
			if e.Weight >= match.Threshold && b.writes[e.B] == nil {
				have = append(have, e.B) // the walk goes there
			}
		}
	}
	if err := b.readAhead(ctx, stored, have); err != nil {
		return nil, err
	}
	seeds := b.diff(stored, now, out)
	b.partners(seeds)
	g := newGraph(b, stored, now)
	for {
		components, affected, err := b.changed(ctx, g, seeds)
		if err != nil {
			return nil, err
		}
		p, err := b.plan(ctx, g, components, affected)
		if err != nil {
			return nil, err
		}
		beyond := p.beyond()
		if len(beyond) == 0 {
			return p, nil
		}
		for _, q := range beyond {
			seeds[q] = struct{}{}
		}
	}
}

// diff compares stored with current edges, row by row, and returns the records on both sides of every
// difference and all written records. A row is written by its own record if that is in the batch, otherwise
// by the other side.
func (b *batch) diff(stored, now map[entity.PUID]edges, out *outcomes) map[entity.PUID]struct{} {
	seeds := make(map[entity.PUID]struct{}, len(b.writes))
	for p := range b.writes {
		seeds[p] = struct{}{}
		before, after := stored[p], now[p]
		for len(before)+len(after) > 0 {
			var was, is *derived.Edge
			if len(after) == 0 || len(before) > 0 && before[0].B <= after[0].B {
				was = &before[0]
			}
			if len(before) == 0 || len(after) > 0 && after[0].B <= before[0].B {
				is = &after[0]
			}
			switch {
			case is == nil:
				seeds[was.B] = struct{}{}
				out.cut(p, was.B, b.writes[was.B] == nil)
			case was == nil || *was != *is || b.repair:
				seeds[is.B] = struct{}{}
				out.link(*is, b.writes[is.B] == nil)
			}
			if was != nil {
				before = before[1:]
			}
			if is != nil {
				after = after[1:]
			}
		}
	}
	return seeds
}

// answer fills in the entity of every record that an op named, as far as cells are available.
func (b *batch) answer(ctx context.Context) {
	var puids, anchors []entity.PUID
	for _, i := range b.pass {
		if res := &b.results[i]; res.Err == nil {
			puids = append(puids, res.PUID)
		}
	}
	_ = b.load(ctx, b.nodes, puids) // a record that cannot be read keeps its birth id, which redirects to its entity
	for _, p := range puids {
		if n := b.nodes[p]; n != nil {
			anchors = append(anchors, n.Anchor)
		}
	}
	_ = b.load(ctx, b.nodes, anchors)
	for _, i := range b.pass {
		res := &b.results[i]
		n := b.nodes[res.PUID]
		if res.Err != nil || n == nil {
			continue
		}
		anchor := b.nodes[n.Anchor]
		if w := b.writes[n.Anchor]; w != nil && w.new == nil {
			anchor = w.old
		}
		if anchor != nil && !anchor.Deleted() {
			res.Entity = anchor.Birth
		}
		if res.Outcome == Created && n.Anchor != res.PUID {
			res.Outcome = Matched
		}
	}
}
