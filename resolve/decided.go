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
)

// around is what stands under records beside what they say: their edges, and what people decided about them.
type around struct {
	edges     edges
	decisions []entity.Decision
}

// readAround reads the stored edges of records into stored, those that were not read yet, and what people
// decided about these records.
func (b *batch) readAround(ctx context.Context, stored map[entity.PUID]edges, puids []entity.PUID) error {
	partners, err := b.look(ctx, b.read, b.decisions, stored, puids)
	if err != nil || len(partners) == 0 {
		return err
	}
	return b.load(ctx, b.nodes, unique(partners))
}

// look is readAround with the words of who asks. It answers with the records that decisions name.
func (b *batch) look(ctx context.Context, ask asking, decisions func(context.Context, Tx, []entity.PUID) ([]entity.Decision, error),
	stored map[entity.PUID]edges, puids []entity.PUID,
) (partners []entity.PUID, err error) {
	var missing []entity.PUID
	for _, p := range unique(puids) {
		if _, read := stored[p]; !read {
			missing = append(missing, p)
		}
	}
	err = fromHomes(ctx, b.Resolver, ask, missing, func(tx Tx, group []entity.PUID) (a around, err error) {
		if a.edges, err = tx.Edges(ctx, group); err != nil {
			return a, fmt.Errorf("read edges: %w", err)
		}
		if a.decisions, err = decisions(ctx, tx, group); err != nil {
			return a, fmt.Errorf("read decisions: %w", err)
		}
		return a, nil
	}, func(group []entity.PUID, a around) {
		for _, p := range group {
			stored[p] = nil
		}
		for rows := a.edges; len(rows) > 0; {
			n := 1
			for n < len(rows) && rows[n].A == rows[0].A {
				n++
			}
			stored[rows[0].A], rows = rows[:n:n], rows[n:]
		}
		for _, d := range a.decisions {
			if d.Withdrawn {
				continue
			}
			if b.decided[d.A] = append(b.decided[d.A], d); d.Pair() {
				partners = append(partners, d.A, d.B)
			}
		}
	})
	return partners, err
}

// decisions reads what stands under records of one cell. Most cells have no decisions: such a one is asked
// once, and not again before somebody decides. Others decide under the lease, or leave a redo entry.
func (r *Resolver) decisions(ctx context.Context, tx Tx, group []entity.PUID) ([]entity.Decision, error) {
	id, err := r.home(group[0])
	if err != nil {
		return nil, err
	}
	r.asks.Lock()
	none := r.undecided[id]
	r.asks.Unlock()
	if none {
		return nil, nil
	}
	found, err := tx.Decisions(ctx, group)
	if err != nil || len(found) > 0 {
		return found, err
	}
	some, err := tx.ListDecisions(ctx, entity.DecisionKey{A: math.MinInt64}, 1)
	if err == nil && len(some) == 0 {
		r.asks.Lock()
		defer r.asks.Unlock()
		r.undecided[id] = true
	}
	return nil, err
}

// doubtDecisions forgets that the home cells of these records have no decisions.
func (r *Resolver) doubtDecisions(puids ...entity.PUID) {
	r.asks.Lock()
	defer r.asks.Unlock()
	for _, p := range puids {
		if id, err := r.home(p); err == nil {
			delete(r.undecided, id)
		}
	}
}

// decidedEdge is the edge that a decision about a pair makes of it, and when that was.
func decidedEdge(d entity.Decision) (Edge, int64) {
	e := Edge{A: d.A, B: d.B, Score: match.CannotLink}
	if d.Verdict == entity.VerdictSame {
		e.Score = match.MustLink
	}
	return e, max(d.At.UnixMilli(), 1)
}

// counts tells whether a decision about a pair is about two records that are there now, or were before the
// batch, and of one kind: things of two kinds are never one.
func (g *graph) counts(d entity.Decision, now bool) bool {
	if !d.Pair() {
		return false
	}
	a, b := g.node(d.A, now), g.node(d.B, now)
	return a != nil && b != nil && a.norm != nil && b.norm != nil && a.kind == b.kind
}

// node is a record as it is now, or was before the batch.
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

// edgesAt calls fn for every edge that a record has now, or had before, with the time at which a person
// decided about the pair, 0 if no person did. What was decided takes the place of what a comparison says, unless that is
// that the two say the same, by which others hang together.
func (g *graph) edgesAt(p entity.PUID, now bool, fn func(e Edge, decided int64)) {
	decisions := g.decided[p]
	if len(decisions) == 0 {
		g.each(p, now, func(e Edge) { fn(e, 0) })
		return
	}
	pairs := map[entity.PUID]bool{}
	for _, d := range decisions {
		if g.counts(d, now) {
			pairs[d.B] = true
			fn(decidedEdge(d))
		}
	}
	g.each(p, now, func(e Edge) {
		if !pairs[e.B] || e.Score == match.Equal {
			fn(e, 0)
		}
	})
}

// partners adds to the seeds who was decided about together with a record of the batch: the decision begins
// to count, or ceases to, as records come and go.
func (b *batch) partners(seeds map[entity.PUID]struct{}) {
	for p := range b.writes {
		for _, d := range b.decided[p] {
			if n := b.nodes[d.B]; d.Pair() && (b.writes[d.B] != nil || n != nil && n.norm != nil) {
				seeds[d.B] = struct{}{}
			}
		}
	}
}

// order puts the records of an entity in the order of birth, but for the one first that people chose as the
// anchor: of several the one that was chosen last. It answers with the decisions by which the entity is other than its
// records make it.
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
		if d.Verdict != entity.VerdictAnchor || anchor > 0 { // who is the first is the anchor anyway
			pins = append(pins, d)
		}
	}
	slices.SortFunc(pins, func(a, b entity.Decision) int { return cmp.Compare(a.Topic(), b.Topic()) })
	first := nodes[anchor]
	copy(nodes[1:], nodes[:anchor])
	nodes[0] = first
	return pins
}
