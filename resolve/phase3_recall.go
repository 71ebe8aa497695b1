// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

// recalls reports whether the batch may use what the lease holder decided before. A repair may not: what it repeats was
// decided by another process, or is half written.
func (b *batch) recalls() bool { return b.peek == nil && !b.repair && b.holdsLease() }

// recallAround returns what is stored around records: what is in the cache from there, the rest from their cells.
func (b *batch) recallAround(ctx context.Context, puids []entity.PUID) (map[entity.PUID]around, error) {
	found := make(map[entity.PUID]around, len(puids))
	var missing []entity.PUID
	for _, p := range puids {
		if known, there := b.cache.edges.get(p); there {
			found[p] = around{edges: known}
		} else {
			missing = append(missing, p)
		}
	}
	read, err := b.look(ctx, b.read, b.decisions, missing)
	for p, a := range read {
		found[p] = a
		if err == nil && len(a.decisions) == 0 {
			b.cache.edges.put(p, slices.Clone(a.edges))
		}
	}
	return found, err
}

// recallEntities adds to former the entities that are in the cache, and returns the anchors of the others.
func (b *batch) recallEntities(anchors []entity.PUID) (missing []entity.PUID) {
	for _, anchor := range anchors {
		if e, there := b.cache.entities.get(anchor); there {
			b.former[anchor] = e
		} else {
			missing = append(missing, anchor)
		}
	}
	return missing
}

// brief returns an entity without its view, which no later batch needs.
func brief(e *entity.Entity) *entity.Entity {
	return &entity.Entity{ID: e.ID, Kind: e.Kind, Members: e.Members, Stamp: e.Stamp}
}

// remember keeps what the batch decided, once it is stored.
func (p *plan) remember() {
	g := p.graph
	if !p.recalls() {
		return
	}
	for q := range g.stored {
		if len(p.decided[q]) == 0 && g.changes(q) {
			p.cache.edges.put(q, g.after(q))
		}
	}
	for anchor := range p.olds {
		if p.byAnchor[anchor] == nil {
			p.cache.entities.drop(anchor)
		}
	}
	for _, c := range p.clusters {
		p.cache.entities.put(c.anchor(), brief(c.entity))
	}
}

// changes reports whether the edges of a record may be others after the batch.
func (g *graph) changes(p entity.PUID) bool {
	return g.writes[p] != nil || g.toward[p] != nil ||
		slices.ContainsFunc(g.stored[p], func(e derived.Edge) bool { return g.writes[e.B] != nil })
}

// after returns the edges of a record after the batch.
func (g *graph) after(p entity.PUID) (all edges) {
	g.each(p, true, func(e derived.Edge) { all = append(all, e) })
	slices.SortFunc(all, func(a, b derived.Edge) int { return cmp.Compare(a.B, b.B) })
	return all
}
