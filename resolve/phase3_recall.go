// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

// recalls reports whether the batch may use the lease holder's cache of edges and decisions. A repair may not: what it
// repeats was decided by another process, or is half written. A large batch need not: it waits rarely in relation to
// its records, and the cache costs processor time.
func (b *batch) recalls() bool {
	return b.peek == nil && !b.repair && len(b.writes) <= recallMost && b.holdsLease()
}

// recallMost is the maximum number of records of a batch that uses and updates the cache.
const recallMost = 1000

// recall adds to stored and former the cached edges of records and entities of anchors.
func (b *batch) recall(stored map[entity.PUID]edges, puids, anchors []entity.PUID) {
	for _, p := range puids {
		if _, read := stored[p]; read {
			continue
		}
		if known, there := b.cache.edges.get(p); there {
			stored[p] = known
		}
	}
	for _, anchor := range anchors {
		if _, read := b.former[anchor]; read {
			continue
		}
		if e, there := b.cache.entities.get(anchor); there {
			b.former[anchor] = e
		}
	}
}

// lookAndKeep is Resolver.look, and caches the result.
func (b *batch) lookAndKeep(ctx context.Context, puids []entity.PUID) (map[entity.PUID]around, error) {
	found, err := b.look(ctx, b.read, b.decisions, puids)
	if err != nil {
		return nil, err
	}
	for p, a := range found {
		if len(a.decisions) == 0 {
			b.cache.edges.put(p, slices.Clone(a.edges))
		}
	}
	return found, nil
}

// aheadMost is the maximum number of records of a batch that reads around candidates before it has compared them. Reads
// around candidates that do not match are wasted, and in a large batch they cost more than a wait.
const aheadMost = 256

// readCandidates reads the records that the batch will compare, and what is around them unless it is cached. Reading
// the records takes a wait in any case, and some of them will match.
func (b *batch) readCandidates(ctx context.Context, m *candidateSet) error {
	var all, unread []entity.PUID
	for _, w := range b.writes {
		if w.new != nil {
			all = append(all, m.candidates(w.new, w.posted)...)
		}
	}
	all = unique(all)
	for _, p := range all {
		if b.nodes[p] == nil && b.cache.nodes.peek(p) == nil {
			unread = append(unread, p)
		}
	}
	if len(unread) > aheadMost {
		unread = nil
	}
	return together(
		func() error { return b.load(ctx, b.nodes, all) },
		func() error { _, err := b.lookAndKeep(ctx, unread); return err },
	)
}

// brief returns an entity without its view, which no later batch needs.
func brief(e *entity.Entity) *entity.Entity {
	return &entity.Entity{ID: e.ID, Kind: e.Kind, Members: e.Members, Stamp: e.Stamp}
}

// remember caches the decisions of the batch once they are stored, even if the lease has just ended: if no other
// process takes the lease, this one continues with the cache.
func (p *plan) remember() {
	g := p.graph
	switch {
	case p.repair:
		return
	case len(p.writes) > recallMost:
		p.cache.forgetDecided()
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
