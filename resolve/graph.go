// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/mutant"
	"github.com/locus-db/locus/match"
)

// MaxLinked is the size above which a component that no cut divides is left apart: each of its
// records is an entity of its own.
const MaxLinked = 2000

// graph is the graph of edges around a batch, as it was and as it is now. It is read as far as the
// walk goes and no further.
type graph struct {
	stored map[entity.PUID]edges // rows of the store, from before the batch
	now    map[entity.PUID]edges // of written records
	toward map[entity.PUID]edges // of records not written: their edges to written ones
	writes map[entity.PUID]*write

	was, is map[entity.PUID][]entity.PUID // component of a record, by every member
	missing map[entity.PUID]struct{}      // whose edges the walk needs
	misses  int                           // how often it needed them
}

func newGraph(writes map[entity.PUID]*write, stored, now map[entity.PUID]edges) *graph {
	g := &graph{
		stored: stored, now: now, toward: map[entity.PUID]edges{}, writes: writes,
		was: map[entity.PUID][]entity.PUID{}, is: map[entity.PUID][]entity.PUID{},
		missing: map[entity.PUID]struct{}{},
	}
	for p, found := range now {
		for q, e := range found {
			if writes[q] != nil {
				continue
			}
			if g.toward[q] == nil {
				g.toward[q] = edges{}
			}
			g.toward[q][p] = Edge{A: q, B: p, Vector: e.Vector, Score: e.Score}
		}
	}
	return g
}

// each calls fn for every edge that a record has now, or had before.
func (g *graph) each(p entity.PUID, now bool, fn func(Edge)) {
	if now && g.writes[p] != nil {
		for _, e := range g.now[p] {
			fn(e)
		}
		return
	}
	stored, read := g.stored[p]
	if !read {
		g.missing[p] = struct{}{}
		g.misses++
		return
	}
	for q, e := range stored {
		if !now || g.writes[q] == nil {
			fn(e)
		}
	}
	if now {
		for _, e := range g.toward[p] {
			fn(e)
		}
	}
}

// exists tells whether there is such a record now, or was before the batch.
func (g *graph) exists(p entity.PUID, now bool) bool {
	w := g.writes[p]
	switch {
	case w == nil:
		return true
	case now:
		return w.new != nil
	default:
		return w.old != nil
	}
}

// reach walks from a record over edges of at least the given score, and stops when it has found
// more than limit records.
func (g *graph) reach(from entity.PUID, now bool, least match.Score, limit int) []entity.PUID {
	seen := map[entity.PUID]struct{}{from: {}}
	found := []entity.PUID{from}
	for i := 0; i < len(found) && len(found) <= limit; i++ {
		g.each(found[i], now, func(e Edge) {
			if _, ok := seen[e.B]; !ok && e.Score >= least {
				seen[e.B] = struct{}{}
				found = append(found, e.B)
			}
		})
	}
	return found
}

// component answers with the records that are clustered together with this one: those that edges
// of at least the threshold connect, and where they are more than match.MaxComponent, those that
// edges of a higher score still do. Nil if edges are missing.
func (g *graph) component(p entity.PUID, now bool) []entity.PUID {
	known := g.was
	if now {
		known = g.is
	}
	if members := known[p]; members != nil {
		return members
	}
	before := g.misses
	var members []entity.PUID
	for least := match.Threshold; ; least += match.CutStep {
		limit := match.MaxComponent
		if least >= match.CutMax {
			limit = MaxLinked
		}
		members = g.reach(p, now, least, limit)
		if g.misses > before {
			return nil
		}
		if len(members) <= limit {
			break
		}
		if least >= match.CutMax {
			members = []entity.PUID{p}
			break
		}
	}
	slices.Sort(members)
	for _, m := range members {
		known[m] = members
	}
	return members
}

// partition answers with every component, as it is now, that the seeds can have changed, given
// that they are all the records whose own edges changed. A component can change only if a seed is
// in it now, or was: so the members of the seeds' components, of now and of before, are everything
// that has to be looked at again. A repair does not know what was before: it takes in everything
// that any edge connects. Nil sets mean that edges are missing.
func (g *graph) partition(seeds map[entity.PUID]struct{}, repair bool) (components [][]entity.PUID, affected map[entity.PUID]struct{}) {
	affected = maps.Clone(seeds)
	add := func(puids []entity.PUID) {
		for _, p := range puids {
			affected[p] = struct{}{}
		}
	}
	for p := range seeds {
		for _, now := range []bool{false, true} {
			if g.exists(p, now) && (now || !mutant.On("P9f")) {
				add(g.component(p, now))
			}
			if repair {
				add(g.reach(p, now, match.Threshold, MaxLinked))
			}
		}
	}
	taken := map[entity.PUID]bool{}
	for p := range maps.Clone(affected) {
		if taken[p] || !g.exists(p, true) {
			continue
		}
		members := g.component(p, true)
		for _, m := range members {
			taken[m] = true
		}
		add(members)
		components = append(components, members)
	}
	if len(g.missing) > 0 {
		return nil, nil
	}
	return components, affected
}

// changed reads as much of the graph as it takes and answers with what the seeds changed.
func (b *batch) changed(ctx context.Context, g *graph, seeds map[entity.PUID]struct{}) ([][]entity.PUID, map[entity.PUID]struct{}, error) {
	for {
		components, affected := g.partition(seeds, b.repair)
		if affected != nil {
			return components, affected, nil
		}
		if err := b.readEdges(ctx, g.stored, slices.Collect(maps.Keys(g.missing))); err != nil {
			return nil, nil, err
		}
		clear(g.missing)
	}
}
