// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// MaxLinked is the size above which a component that no cut divides is not clustered: each of its records
// becomes its own entity, except for must-links and identical records.
const MaxLinked = match.MaxLinked

// graph is the graph of edges around a batch, before and after it. The walk reads it lazily.
type graph struct {
	stored map[entity.PUID]edges // rows of the store, from before the batch
	now    map[entity.PUID]edges // of written records
	toward map[entity.PUID]edges // edges from unwritten records to written ones
	writes map[entity.PUID]*write
	// decided holds the decisions about the records that were read; nodes holds the records.
	decided map[entity.PUID][]entity.Decision
	nodes   map[entity.PUID]*node

	was, is walk
	missing map[entity.PUID]struct{} // records whose edges the walk needs
	misses  int                      // number of times that edges were missing
}

// walk caches the components before or after the batch.
type walk struct {
	now        bool
	components map[entity.PUID][]entity.PUID // by every member
	least      map[entity.PUID]match.Weight  // weight below which the record's component is too large
	short      map[entity.PUID]struct{}      // records in a component with missing edges
	repaired   map[entity.PUID]struct{}      // records already visited by the unlimited walk of a repair
}

func newWalk(now bool) walk {
	return walk{
		now, map[entity.PUID][]entity.PUID{}, map[entity.PUID]match.Weight{}, map[entity.PUID]struct{}{},
		map[entity.PUID]struct{}{},
	}
}

func newGraph(b *batch, stored, now map[entity.PUID]edges) *graph {
	g := &graph{
		stored: stored, now: now, toward: map[entity.PUID]edges{}, writes: b.writes, decided: b.decided, nodes: b.nodes,
		was: newWalk(false), is: newWalk(true), missing: map[entity.PUID]struct{}{},
	}
	for _, found := range now {
		for _, e := range found {
			if b.writes[e.B] == nil {
				g.toward[e.B] = append(g.toward[e.B], e.Mirror())
			}
		}
	}
	return g
}

// each calls fn for every edge by comparison that a record has now, or had before.
func (g *graph) each(p entity.PUID, now bool, fn func(derived.Edge)) {
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

// exists reports whether the record exists now, or did before the batch.
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

// reach walks from a record over edges of at least the given weight and stops once it has found more than
// limit records. Identical records count once: followers of a leader are not counted.
func (g *graph) reach(from entity.PUID, now bool, least match.Weight, limit int) (found []entity.PUID, more bool) {
	seen := map[entity.PUID]struct{}{from: {}}
	found = []entity.PUID{from}
	leaders := 0
	for i := 0; i < len(found) && leaders <= limit; i++ {
		before, follows := g.misses, false
		g.edgesAt(found[i], now, func(e derived.Edge, decided int64) {
			follows = follows || e.Weight == match.Equal && decided == 0 && e.B < e.A
			if _, ok := seen[e.B]; !ok && e.Weight >= least {
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

// component returns the records that are clustered together with p: those connected by edges of at least
// the threshold. If there are more than match.MaxComponent, the weight is raised step by step, and in the
// end only edges between identical records and must-links remain. It returns nil if edges are missing. The
// result is cached for all members.
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

// partition returns every component that the seeds can have changed, given that the seeds are all records
// whose own edges changed. A component can change only if a seed is or was in it, so the members of the
// seeds' components before and after must be looked at again. A repair does not know the state before and
// takes in everything that any edge connects. Components share no record. Nil results mean that edges are missing.
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
	in := map[entity.PUID]int{} // the component of a record
	for p := range maps.Clone(affected) {
		if _, known := in[p]; known || !g.exists(p, true) {
			continue
		}
		members := g.component(&g.is, p)
		add(members)
		for _, m := range members {
			// A crash can leave an edge on one side only: it leads into a component that does not lead back.
			if i, known := in[m]; known && components[i] != nil {
				members, components[i] = union(members, components[i]), nil
			}
		}
		for _, m := range members {
			in[m] = len(components)
		}
		components = append(components, members)
	}
	if len(g.missing) > 0 {
		return nil, nil
	}
	return components, affected
}

// changed reads as much of the graph as needed and returns the components that the seeds changed.
func (b *batch) changed(ctx context.Context, g *graph, seeds map[entity.PUID]struct{}) ([][]entity.PUID, map[entity.PUID]struct{}, error) {
	for {
		components, affected := g.partition(seeds, b.repair)
		if affected != nil {
			return components, affected, nil
		}
		if err := b.readAhead(ctx, g.stored, slices.Collect(maps.Keys(g.missing))); err != nil {
			return nil, nil, err
		}
		clear(g.missing)
		clear(g.was.short)
		clear(g.is.short)
		clear(g.was.repaired)
		clear(g.is.repaired)
	}
}
