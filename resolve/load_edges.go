// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"encoding/binary"
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

func (e loadEdge) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, e.a), e.b)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.vector))
	return binary.LittleEndian.AppendUint16(b, uint16(e.weight)) //nolint:gosec // read reads it back
}

func (loadEdge) read(b []byte) loadEdge {
	return loadEdge{
		binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]),
		match.Vector(binary.LittleEndian.Uint64(b[8:])), match.Weight(binary.LittleEndian.Uint16(b[16:])), //nolint:gosec // written by append
	}
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

// join joins the components of two records. The earliest record of a component is its root.
func (l *loader) join(a, b uint32) {
	x, y := l.groups.root(a), l.groups.root(b)
	switch {
	case x == y:
	case compareBirth(l.births[x], l.births[y]) < 0:
		l.groups[y] = x
	default:
		l.groups[x] = y
	}
}

// components lists the records of each component.
func (l *loader) components() (err error) {
	l.births = nil
	l.next = make([]uint32, len(l.groups))
	for i := len(l.groups) - 1; i >= 0; i-- {
		rec := uint32(i) //nolint:gosec // read refuses more
		first := l.groups.root(rec)
		if l.groups[rec] = first; first != rec {
			l.next[rec], l.next[first] = l.next[first], rec+1
		}
	}
	for i, first := range l.groups {
		if rec := uint32(i); rec == first { //nolint:gosec // as above
			l.leads = append(l.leads, rec)
		}
	}
	l.within, err = newBuckets[loadEdge](len(l.parts), l.loads.chunk)
	return err
}

// partOf returns the part that has a record.
func (l *loader) partOf(rec uint32) int {
	i, _ := slices.BinarySearchFunc(l.parts, int(rec), func(p loadRange, rec int) int { return cmp.Compare(p.to, rec+1) })
	return i
}

// partsOf returns the numbers of the parts of a range.
func (l *loader) partsOf(r loadRange) (from, to int) {
	if r.from == r.to {
		return 0, 0
	}
	return l.partOf(uint32(r.from)), l.partOf(uint32(r.to-1)) + 1 //nolint:gosec // as above
}

// sorted reads the edges of a part, ordered by their records.
func (l *loader) sorted(from *buckets[loadEdge], part int) (loadEdges, error) {
	edges, err := from.rows(part)
	slices.SortFunc(edges, func(x, y loadEdge) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	return edges, err
}

// loadEdges are edges ordered by their records.
type loadEdges []loadEdge

// of returns the edges of records from from to to, ordered by the other side.
func (s loadEdges) of(from, to int) loadEdges {
	before := func(rec int) int {
		i, _ := slices.BinarySearchFunc(s, rec, func(e loadEdge, rec int) int { return cmp.Compare(int(e.a), rec) })
		return i
	}
	return s[before(from):before(to)]
}

// writeEdges writes the edges of all records, and removes stored edges that no longer exist.
func (l *loader) writeEdges(ctx context.Context) error {
	if l.stale {
		for part := range slices.Chunk(l.gone, l.loads.rows) {
			groups := map[cell.ID][]entity.PUID{}
			for _, e := range part {
				id, err := l.home(e.puid)
				if err != nil {
					return err
				}
				groups[id] = append(groups[id], e.puid)
			}
			if err := eachCell(groups, func(id cell.ID, puids []entity.PUID) error { return l.writeEdgesOf(ctx, id, puids, nil) }); err != nil {
				return err
			}
		}
	}
	return l.abreast(len(l.ranges), func(i int) error {
		from, to := l.partsOf(l.ranges[i])
		for part := from; part < to; part++ {
			if err := l.writePartEdges(ctx, part); err != nil {
				return fmt.Errorf("cell %v: %w", l.ranges[i].cell, err)
			}
		}
		return nil
	})
}

// writePartEdges writes the edges of the records of a part. It keeps the edges inside of components for clustering.
func (l *loader) writePartEdges(ctx context.Context, part int) error {
	r := l.parts[part]
	all, err := l.sorted(l.edges, part)
	if err != nil {
		return err
	}
	for _, e := range all {
		if first := l.groups[e.a]; first == l.groups[e.b] && (l.part == nil || l.part.writes[first]) {
			if err := l.within.add(l.partOf(first), e); err != nil {
				return err
			}
		}
	}
	puids := func(from, to int) []entity.PUID { return l.puids[from:to] }
	if l.part != nil {
		puids = l.part.linkedFrom
		all = slices.DeleteFunc(all, func(e loadEdge) bool { return !l.part.renewed[e.a] && !l.part.renewed[e.b] })
	}
	for from := r.from; from < r.to; {
		edges, to := all.of(from, r.to), min(from+l.loads.rows, r.to)
		if !l.stale && len(edges) > l.loads.rows { // flush once the records have this many edges
			to = min(max(int(edges[l.loads.rows].a), from+1), r.to)
		}
		edges = edges.of(from, to)
		if len(edges) > 0 || l.stale {
			if err := l.writeEdgesOf(ctx, r.cell, puids(from, to), edges); err != nil {
				return err
			}
		}
		if err := l.done(ctx, LoadLink, len(edges), l.linked); err != nil {
			return err
		}
		from = to
	}
	return nil
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
	if l.stale && len(puids) == 0 {
		return nil
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
				if _, there := has[p]; !there && (l.part == nil || l.part.renews(e.A) || l.part.renews(e.B)) {
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
