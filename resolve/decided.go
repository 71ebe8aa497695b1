// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// around is the stored data about records besides their content: edges and decisions.
type around struct {
	edges     edges
	decisions []entity.Decision
}

// readAround reads the edges of records into stored, unless they were read already, and the decisions about
// them.
func (b *batch) readAround(ctx context.Context, stored map[entity.PUID]edges, puids []entity.PUID) error {
	look := func(missing []entity.PUID) (map[entity.PUID]around, error) {
		return b.look(ctx, b.read, b.decisions, missing)
	}
	if b.peek != nil {
		look = func(missing []entity.PUID) (map[entity.PUID]around, error) { return b.peek.lookAround(ctx, missing) }
	} else if b.recalls() {
		b.recall(stored, puids, nil)
		look = func(missing []entity.PUID) (map[entity.PUID]around, error) { return b.lookAndKeep(ctx, missing) }
	}
	partners, err := b.keepAround(stored, puids, look)
	if err != nil || len(partners) == 0 {
		return err
	}
	return b.load(ctx, b.nodes, unique(partners))
}

// keepAround reads, with look, the edges and decisions of the records that are not in stored yet, and adds them to
// stored and decided. It returns the records that pair decisions name.
func (b *batch) keepAround(stored map[entity.PUID]edges, puids []entity.PUID,
	look func(missing []entity.PUID) (map[entity.PUID]around, error),
) (partners []entity.PUID, err error) {
	var missing []entity.PUID
	for _, p := range unique(puids) {
		if _, read := stored[p]; !read {
			missing = append(missing, p)
		}
	}
	found, err := look(missing)
	for _, p := range missing {
		a, read := found[p]
		if !read {
			continue
		}
		stored[p] = a.edges
		for _, d := range a.decisions {
			if b.decided[p] = append(b.decided[p], d); d.Pair() {
				partners = append(partners, d.A, d.B)
			}
		}
	}
	return partners, err
}

// look reads the edges of records and the decisions, not withdrawn, that are stored under them.
func (r *Resolver) look(ctx context.Context, ask asking, decisions func(context.Context, storage.Tx, []entity.PUID) ([]entity.Decision, error),
	puids []entity.PUID,
) (map[entity.PUID]around, error) {
	found := make(map[entity.PUID]around, len(puids))
	err := fromHomes(ctx, r, ask, puids, func(tx storage.Tx, group []entity.PUID) (a around, err error) {
		if a.edges, err = tx.Edges(ctx, group); err != nil {
			return a, fmt.Errorf("read edges: %w", err)
		}
		if a.decisions, err = decisions(ctx, tx, group); err != nil {
			return a, fmt.Errorf("read decisions: %w", err)
		}
		return a, nil
	}, func(group []entity.PUID, a around) {
		for _, p := range group {
			found[p] = around{}
		}
		for rows := a.edges; len(rows) > 0; {
			n := 1
			for n < len(rows) && rows[n].A == rows[0].A {
				n++
			}
			found[rows[0].A], rows = around{edges: rows[:n:n]}, rows[n:]
		}
		for _, d := range a.decisions {
			if !d.Withdrawn {
				of := found[d.A]
				of.decisions = append(of.decisions, d)
				found[d.A] = of
			}
		}
	})
	return found, err
}

// storedDecisions reads the decisions stored under records of one cell.
func storedDecisions(ctx context.Context, tx storage.Tx, group []entity.PUID) ([]entity.Decision, error) {
	return tx.Decisions(ctx, group)
}

// decisions reads the decisions stored under records of one cell. Most cells have none; such a cell is not
// queried again until a decision is made there. Other processes decide under the lease or leave a redo
// entry.
func (r *Resolver) decisions(ctx context.Context, tx storage.Tx, group []entity.PUID) ([]entity.Decision, error) {
	id, err := r.home(group[0])
	if err != nil {
		return nil, err
	}
	if r.notes.hasNoDecisions(id) {
		return nil, nil
	}
	found, err := tx.Decisions(ctx, group)
	if err != nil || len(found) > 0 {
		return found, err
	}
	some, err := tx.ListDecisions(ctx, entity.DecisionKey{A: math.MinInt64}, 1)
	if err == nil && len(some) == 0 {
		r.notes.noteNoDecisions(id)
	}
	return nil, err
}

// invalidateDecisions drops the cached fact that the home cells of these records have no decisions.
func (r *Resolver) invalidateDecisions(puids ...entity.PUID) {
	for _, p := range puids {
		if id, err := r.home(p); err == nil {
			r.notes.expectDecisions(id)
		}
	}
}

// decidedEdge returns the edge that a decision makes of its pair, and the time of the decision in
// milliseconds.
func decidedEdge(d entity.Decision) (derived.Edge, int64) {
	e := derived.Edge{A: d.A, B: d.B, Weight: match.CannotLink}
	if d.Verdict == entity.VerdictSame {
		e.Weight = match.MustLink
	}
	return e, max(d.At.UnixMilli(), 1)
}

// counts reports whether a decision is about a pair of records that exist now, or did before the batch, and
// are of one kind. Records of different kinds never match.
func (g *graph) counts(d entity.Decision, now bool) bool {
	if !d.Pair() {
		return false
	}
	a, b := g.node(d.A, now), g.node(d.B, now)
	return a != nil && b != nil && a.norm != nil && b.norm != nil && a.kind == b.kind
}

// node returns a record as it is now, or was before the batch.
func (g *graph) node(p entity.PUID, now bool) *node {
	w := g.writes[p]
	switch {
	case w == nil:
		return g.nodes[p]
	case now:
		return w.new
	default:
		return w.old
	}
}

// edgesAt calls fn for every edge that a record has now, or had before, with the time of the decision about the pair, 0
// if there is none. A decision replaces the result of a comparison, except for edges between identical records, because
// a follower is connected to other records through its leader.
func (g *graph) edgesAt(p entity.PUID, now bool, fn func(e derived.Edge, decided int64)) {
	decisions := g.decided[p]
	if len(decisions) == 0 {
		g.each(p, now, func(e derived.Edge) { fn(e, 0) })
		return
	}
	pairs := map[entity.PUID]bool{}
	for _, d := range decisions {
		if g.counts(d, now) {
			pairs[d.B] = true
			fn(decidedEdge(d))
		}
	}
	g.each(p, now, func(e derived.Edge) {
		if !pairs[e.B] || e.Weight == match.Equal {
			fn(e, 0)
		}
	})
}

// partners adds to the seeds the other records of decisions about a record of the batch: a decision starts
// or stops counting as its records are added and deleted.
func (b *batch) partners(seeds map[entity.PUID]struct{}) {
	for p := range b.writes {
		for _, d := range b.decided[p] {
			if n := b.nodes[d.B]; d.Pair() && (b.writes[d.B] != nil || n != nil && n.norm != nil) {
				seeds[d.B] = struct{}{}
			}
		}
	}
}

// order sorts the records of an entity by birth and moves the chosen anchor to the front; the newest choice
// wins. It returns the decisions that change the entity: its anchor and values.
func (b *batch) order(nodes []*node) (pins []entity.Decision) {
	slices.SortFunc(nodes, func(a, b *node) int { return compareBirth(a.Birth, b.Birth) })
	if len(b.decided) == 0 {
		return nil
	}
	newest := map[string]entity.Decision{} // by topic
	anchor := 0
	for i, n := range nodes {
		for _, d := range b.decided[n.PUID] {
			if old, there := newest[d.Topic()]; d.Pair() || there && !d.At.After(old.At) {
				continue
			}
			newest[d.Topic()] = d
			if d.Verdict == entity.VerdictAnchor {
				anchor = i
			}
		}
	}
	for _, d := range newest {
		if d.Verdict != entity.VerdictAnchor || anchor > 0 { // the earliest record is the anchor without a decision, too
			pins = append(pins, d)
		}
	}
	slices.SortFunc(pins, func(a, b entity.Decision) int { return cmp.Compare(a.Topic(), b.Topic()) })
	first := nodes[anchor]
	copy(nodes[1:], nodes[:anchor])
	nodes[0] = first
	return pins
}
