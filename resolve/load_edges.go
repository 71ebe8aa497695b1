// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// loadEdge is an edge between records with numbers.
type loadEdge struct {
	a, b   uint32
	vector match.Vector
	weight match.Weight
}

// loadForest is a union-find: each record with its parent.
type loadForest []uint32

func newLoadForest(records int) loadForest {
	f := make(loadForest, records)
	for i := range f {
		f[i] = uint32(i) //nolint:gosec // read refuses more
	}
	return f
}

func (f loadForest) root(x uint32) uint32 {
	for f[x] != x {
		f[x] = f[f[x]]
		x = f[x]
	}
	return x
}

// components joins the records that edges of at least the threshold connect, and finds the earliest record of each
// component.
func (l *loader) components() {
	parent := newLoadForest(len(l.puids))
	earlier := func(x, y uint32) int { return compareBirth(l.births[x], l.births[y]) }
	for _, e := range l.edges {
		if e.a < e.b && e.weight >= match.Threshold {
			if x, y := parent.root(e.a), parent.root(e.b); earlier(x, y) < 0 {
				parent[y] = x
			} else {
				parent[x] = y
			}
		}
	}
	l.next = make([]uint32, len(parent))
	for i := len(parent) - 1; i >= 0; i-- {
		rec := uint32(i) //nolint:gosec // as above
		if first := parent.root(rec); first != rec {
			l.next[rec], l.next[first] = l.next[first], rec+1
		}
	}
	for i := range parent {
		if rec := uint32(i); parent.root(rec) == rec { //nolint:gosec // as above
			l.leads = append(l.leads, rec)
		}
	}
	l.births = nil
}

// edgesOf returns the edges of a record, ordered by the other side.
func (l *loader) edgesOf(rec uint32) []loadEdge {
	return l.edges[l.edgesFrom(int(rec)):l.edgesFrom(int(rec)+1)]
}

// writeEdges writes the edges of all records, and removes stored ones that they do not have.
func (l *loader) writeEdges(ctx context.Context) error {
	if l.stale {
		for part := range slices.Chunk(l.gone, l.loads.rows) {
			groups := map[cell.ID][]entity.PUID{}
			for _, q := range part {
				id, err := l.home(q)
				if err != nil {
					return err
				}
				groups[id] = append(groups[id], q)
			}
			if err := eachCell(groups, func(id cell.ID, puids []entity.PUID) error { return l.writeEdgesOf(ctx, id, puids, nil) }); err != nil {
				return err
			}
		}
	}
	return l.abreast(len(l.ranges), func(i int) error {
		r := l.ranges[i]
		for from := r.from; from < r.to; {
			edges, to := l.edges[l.edgesFrom(from):], min(from+l.loads.rows, r.to)
			if !l.stale && len(edges) > l.loads.rows { // as many records as have so many edges
				to = min(max(int(edges[l.loads.rows].a), from+1), r.to)
			}
			edges = edges[:l.edgesFrom(to)-l.edgesFrom(from)]
			if len(edges) > 0 || l.stale {
				if err := l.writeEdgesOf(ctx, r.cell, l.puids[from:to], edges); err != nil {
					return fmt.Errorf("cell %v: %w", r.cell, err)
				}
			}
			if err := l.done(ctx, LoadLink, len(edges), len(l.edges)); err != nil {
				return err
			}
			from = to
		}
		return nil
	})
}

// writeEdgesOf writes the edges of records of a cell in a transaction.
func (l *loader) writeEdgesOf(ctx context.Context, id cell.ID, puids []entity.PUID, edges []loadEdge) error {
	rows, has := make([]derived.Edge, len(edges)), map[derived.Pair]struct{}{}
	for i, e := range edges {
		rows[i] = derived.Edge{A: l.puids[e.a], B: l.puids[e.b], Vector: e.vector, Weight: e.weight}
		if l.stale {
			has[derived.Pair{A: rows[i].A, B: rows[i].B}] = struct{}{}
		}
	}
	return l.Resolver.write(ctx, id, func(tx storage.Tx) error {
		if l.stale {
			stored, err := tx.Edges(ctx, puids)
			if err != nil {
				return fmt.Errorf("read edges: %w", err)
			}
			var cut []derived.Pair
			for _, e := range stored {
				p := derived.Pair{A: e.A, B: e.B}
				if _, there := has[p]; !there {
					cut = append(cut, p)
				}
			}
			if err := tx.DeleteEdges(ctx, cut); err != nil {
				return fmt.Errorf("delete edges: %w", err)
			}
		}
		if err := tx.PutEdges(ctx, rows); err != nil {
			return fmt.Errorf("put edges: %w", err)
		}
		return nil
	})
}

// edgesFrom returns the index of the first edge of a record or of those after it.
func (l *loader) edgesFrom(rec int) int {
	i, _ := slices.BinarySearchFunc(l.edges, rec, func(e loadEdge, rec int) int { return cmp.Compare(int(e.a), rec) })
	return i
}
