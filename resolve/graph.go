// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// MaxLinked is the size above which a component that no cut divides is left apart: each of its
// records is an entity of its own, but for those that people said to be one thing.
const MaxLinked = match.MaxLinked

// graph is the graph of edges around a batch, as it was and as it is now. It is read as far as the
// walk goes and no further.
type graph struct {
	stored map[entity.PUID]edges // rows of the store, from before the batch
	now    map[entity.PUID]edges // of written records
	toward map[entity.PUID]edges // of records not written: their edges to written ones
	writes map[entity.PUID]*write
	// What people decided about the records that were read, and these.
	decided map[entity.PUID][]entity.Decision
	nodes   map[entity.PUID]*node

	was, is walk
	missing map[entity.PUID]struct{} // whose edges the walk needs
	misses  int                      // how often it needed them
}

// walk is what is known of the components at one of the two times.
type walk struct {
	now        bool
	components map[entity.PUID][]entity.PUID // by every member
	least      map[entity.PUID]match.Score   // below it the record's component is too large
	short      map[entity.PUID]struct{}      // in a component of which edges are missing
	repaired   map[entity.PUID]struct{}      // met by a walk that took in everything
}

func newWalk(now bool) walk {
	return walk{now, map[entity.PUID][]entity.PUID{}, map[entity.PUID]match.Score{}, map[entity.PUID]struct{}{}, map[entity.PUID]struct{}{}}
}

func newGraph(b *batch, stored, now map[entity.PUID]edges) *graph {
	g := &graph{
		stored: stored, now: now, toward: map[entity.PUID]edges{}, writes: b.writes, decided: b.decided, nodes: b.nodes,
		was: newWalk(false), is: newWalk(true), missing: map[entity.PUID]struct{}{},
	}
	for _, found := range now {
		for _, e := range found {
			if b.writes[e.B] == nil {
				g.toward[e.B] = append(g.toward[e.B], e.mirror())
			}
		}
	}
	return g
}

// each calls fn for every edge that a record has now, or had before, by comparison.
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
	for _, e := range stored {
		if !now || g.writes[e.B] == nil {
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
// that it connects more than limit records. Those that say the same count once: who follows a leader does not.
func (g *graph) reach(from entity.PUID, now bool, least match.Score, limit int) (found []entity.PUID, more bool) {
	seen := map[entity.PUID]struct{}{from: {}}
	found = []entity.PUID{from}
	leaders := 0
	for i := 0; i < len(found) && leaders <= limit; i++ {
		before, follows := g.misses, false
		g.edgesAt(found[i], now, func(e Edge, decided int64) {
			follows = follows || e.Score == match.Equal && decided == 0 && e.B < e.A
			if _, ok := seen[e.B]; !ok && e.Score >= least {
				seen[e.B] = struct{}{}
				found = append(found, e.B)
			}
		})
		if !follows && g.misses == before {
			leaders++
		}
	}
	return found, leaders > limit
}

// component answers with the records that are clustered together with this one: those that edges
// of at least the threshold connect, and where they are more than match.MaxComponent, those that
// edges of a higher score still do, and in the end those that say the same or that people said to be one thing. Nil if edges are
// missing. What it learns of one record it
// knows of all that it met on the way.
func (g *graph) component(w *walk, p entity.PUID) []entity.PUID {
	if members := w.components[p]; members != nil {
		return members
	}
	if _, short := w.short[p]; short {
		return nil
	}
	for least := max(w.least[p], match.Threshold); ; least += match.CutStep {
		limit := match.MaxComponent
		switch {
		case least == match.CutMax:
			limit = MaxLinked
		case least > match.CutMax:
			least, limit = match.Equal, math.MaxInt
		}
		before := g.misses
		members, more := g.reach(p, w.now, least, limit)
		switch {
		case more:
			for _, m := range members {
				w.least[m] = max(w.least[m], least+match.CutStep)
			}
			continue
		case g.misses > before:
			for _, m := range members {
				w.short[m] = struct{}{}
			}
			return nil
		}
		slices.Sort(members)
		for _, m := range members {
			w.components[m] = members
		}
		return members
	}
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
		for _, w := range []*walk{&g.was, &g.is} {
			if g.exists(p, w.now) {
				add(g.component(w, p))
			}
			if _, done := w.repaired[p]; repair && !done {
				found, _ := g.reach(p, w.now, match.Threshold, MaxLinked)
				add(found)
				for _, q := range found {
					w.repaired[q] = struct{}{}
				}
			}
		}
	}
	taken := map[entity.PUID]bool{}
	for p := range maps.Clone(affected) {
		if taken[p] || !g.exists(p, true) {
			continue
		}
		members := g.component(&g.is, p)
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
		if err := b.readAround(ctx, g.stored, slices.Collect(maps.Keys(g.missing))); err != nil {
			return nil, nil, err
		}
		clear(g.missing)
		clear(g.was.short)
		clear(g.is.short)
		clear(g.was.repaired)
		clear(g.is.repaired)
	}
}
