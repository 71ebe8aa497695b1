// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/mutant"
)

// outcome is what one cell is to write in the third round.
type outcome struct {
	edges    []Edge
	cut      []Pair
	assigned []entity.Assignment
	entities []entity.Indexed
	retired  []entity.PUID
	changes  []changelog.Change
	counts   entity.Counts
}

// resolve is the third round: edges, clusters, entities. Nothing is written before all is decided,
// and then each cell gets one transaction.
func (b *batch) resolve(ctx context.Context, m *meetings) error {
	now, err := b.compare(ctx, m)
	if err != nil {
		return err
	}
	stored := make(map[entity.PUID]edges, len(b.writes))
	var have []entity.PUID
	for p, w := range b.writes {
		if w.fresh && !b.repair {
			stored[p] = edges{}
		} else {
			have = append(have, p)
		}
	}
	if err := b.readEdges(ctx, stored, have); err != nil {
		return err
	}
	out := &outcomes{Resolver: b.Resolver, cells: map[cell.ID]*outcome{}}
	seeds := b.diff(stored, now, out)
	g := newGraph(b.writes, stored, now)
	var p *plan
	for {
		components, affected, err := b.changed(ctx, g, seeds)
		if err != nil {
			return err
		}
		if p, err = b.plan(ctx, g, components, affected); err != nil {
			return err
		}
		beyond := p.beyond()
		if len(beyond) == 0 {
			break
		}
		for _, q := range beyond {
			seeds[q] = struct{}{}
		}
	}
	p.write(out)
	if out.err != nil {
		return out.err
	}
	if err := out.commit(ctx); err != nil {
		return err
	}
	for _, a := range p.assigned {
		rec := *b.nodes[a.PUID].Record
		rec.Anchor = a.Anchor
		n := &node{Record: &rec, norm: b.nodes[a.PUID].norm}
		b.nodes[a.PUID] = n
		b.cache.put(n)
	}
	return nil
}

// diff compares the edges that are stored with those that should be, row by row, and answers with
// the records on either side of every difference, and all written ones. A row is written by its own
// record if that is part of the batch, else by the other side.
func (b *batch) diff(stored, now map[entity.PUID]edges, out *outcomes) map[entity.PUID]struct{} {
	seeds := make(map[entity.PUID]struct{}, len(b.writes))
	for p := range b.writes {
		seeds[p] = struct{}{}
		for q, e := range now[p] {
			if e == stored[p][q] && !b.repair {
				continue
			}
			seeds[q] = struct{}{}
			out.at(p).edges = append(out.at(p).edges, e)
			if b.writes[q] == nil {
				out.at(q).edges = append(out.at(q).edges, Edge{A: q, B: p, Vector: e.Vector, Score: e.Score})
			}
		}
		for q := range stored[p] {
			if _, ok := now[p][q]; ok {
				continue
			}
			seeds[q] = struct{}{}
			out.at(p).cut = append(out.at(p).cut, Pair{p, q})
			if b.writes[q] == nil && !mutant.On("P9e") {
				out.at(q).cut = append(out.at(q).cut, Pair{q, p})
			}
		}
	}
	return seeds
}

// outcomes gathers what each cell is to write.
type outcomes struct {
	*Resolver
	cells map[cell.ID]*outcome
	err   error
}

// at is the outcome of the cell that holds a record. An address that no cell has stops the commit.
func (o *outcomes) at(p entity.PUID) *outcome {
	id, err := o.home(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	if o.cells[id] == nil {
		o.cells[id] = &outcome{}
	}
	return o.cells[id]
}

func (o *outcomes) commit(ctx context.Context) error {
	return eachCell(o.cells, func(id cell.ID, out *outcome) error {
		return o.Resolver.cells[id].Update(ctx, func(tx Tx) error { return out.store(ctx, tx) })
	})
}

func (o *outcome) store(ctx context.Context, tx Tx) error {
	if err := tx.DeleteEdges(ctx, o.cut); err != nil {
		return fmt.Errorf("delete edges: %w", err)
	}
	if err := tx.PutEdges(ctx, o.edges); err != nil {
		return fmt.Errorf("put edges: %w", err)
	}
	if err := tx.Assign(ctx, o.assigned); err != nil {
		return fmt.Errorf("assign records: %w", err)
	}
	if err := tx.DeleteEntities(ctx, o.retired); err != nil {
		return fmt.Errorf("delete entities: %w", err)
	}
	if err := tx.PutEntities(ctx, o.entities); err != nil {
		return fmt.Errorf("put entities: %w", err)
	}
	if err := tx.Append(ctx, o.changes); err != nil {
		return fmt.Errorf("append changes: %w", err)
	}
	if o.counts == (entity.Counts{}) {
		return nil
	}
	return tx.AddCounts(ctx, o.counts)
}

// answer fills in the entity of every record that an op named.
func (b *batch) answer(ctx context.Context) error {
	var puids, anchors []entity.PUID
	for _, i := range b.pass {
		if res := &b.results[i]; res.Err == nil {
			puids = append(puids, res.PUID)
		}
	}
	if err := b.load(ctx, b.nodes, puids); err != nil {
		return err
	}
	for _, p := range puids {
		anchors = append(anchors, b.nodes[p].Anchor)
	}
	if err := b.load(ctx, b.nodes, anchors); err != nil {
		return err
	}
	for _, i := range b.pass {
		res := &b.results[i]
		if res.Err != nil {
			continue
		}
		anchor := b.nodes[res.PUID].Anchor
		res.Entity = b.nodes[anchor].Birth
		if w := b.writes[anchor]; w != nil && w.new == nil {
			res.Entity = w.old.Birth
		}
		if res.Outcome == Founded && anchor != res.PUID {
			res.Outcome = Joined
		}
	}
	return nil
}
