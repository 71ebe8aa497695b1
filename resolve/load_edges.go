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

// loadPair is two records that share a key, the lower number in the upper half.
type loadPair uint64

func (p loadPair) a() uint32 { return uint32(p >> 32) }
func (p loadPair) b() uint32 { return uint32(p) } //nolint:gosec // the lower half

// compare compares every pair that shares a key that is no stop key, and joins the components of those that match.
func (l *loader) compare(ctx context.Context) error {
	matchers := map[*Kind]*match.Matcher{}
	for _, k := range l.Rules().Kinds() {
		matchers[k] = k.Matcher.Among(l.names)
	}
	total, records := 0, len(l.puids)
	for _, s := range l.shards {
		s.blocks(func(k loadBlock) { total += k.pairs() })
	}
	passes := total/l.loads.pairs + 1
	for pass := range passes {
		from, to := records*pass/passes, records*(pass+1)/passes
		pairs := l.pairs(from, to)
		for len(pairs) > 0 {
			n := l.within(pairs)
			if err := l.link(pairs[:n], matchers); err != nil {
				return err
			}
			pairs = pairs[n:]
			if err := ctx.Err(); err != nil {
				return err
			}
			upTo := to
			if len(pairs) > 0 {
				upTo = int(pairs[0].a())
			}
			if err := l.done(ctx, LoadCompare, upTo-l.steps[LoadCompare], records); err != nil {
				return err
			}
		}
	}
	l.shards = [256]loadShard{}
	slices.SortFunc(l.edges, func(x, y loadEdge) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	l.components()
	return nil
}

// pairs returns how many pairs of a block are compared: each follower with its leader, or all with each other.
func (k loadBlock) pairs() int {
	switch {
	case k.stopKey():
		return 0
	case match.IsEqual(k[0].key):
		return len(k) - 1
	}
	return len(k) * (len(k) - 1) / 2
}

// pairs returns the pairs whose lower record has a number from from to to, each once and ordered.
func (l *loader) pairs(from, to int) []loadPair {
	found := make([][]loadPair, len(l.shards))
	parallel(len(l.shards), func(i int) {
		l.shards[i].blocks(func(k loadBlock) {
			if len(k) < 2 || k.stopKey() {
				return
			}
			lower := k
			if match.IsEqual(k[0].key) {
				lower = k[:1]
			}
			for n, p := range lower {
				if int(p.rec) < from || int(p.rec) >= to {
					continue
				}
				for _, q := range k[n+1:] {
					found[i] = append(found[i], loadPair(p.rec)<<32|loadPair(q.rec))
				}
			}
		})
	})
	all := slices.Concat(found...)
	slices.Sort(all)
	return slices.Compact(all)
}

// within returns how many of the pairs can be compared with loadSizes.nodes records in memory, at least one.
func (l *loader) within(pairs []loadPair) int {
	records := 0
	for i, p := range pairs {
		if records++; i == 0 || p.a() != pairs[i-1].a() {
			records++
		}
		if records > l.loads.nodes && i > 0 {
			return i
		}
	}
	return len(pairs)
}

// link compares pairs.
func (l *loader) link(pairs []loadPair, matchers map[*Kind]*match.Matcher) error {
	numbers := make([]uint32, 0, 2*len(pairs))
	for _, p := range pairs {
		numbers = append(numbers, p.a(), p.b())
	}
	slices.Sort(numbers)
	read, err := l.nodes(slices.Compact(numbers), true)
	if err != nil {
		return err
	}
	const atOnce = 256
	found := make([][]loadEdge, len(pairs)/atOnce+1)
	parallel(len(found), func(i int) {
		for _, p := range pairs[i*atOnce : min((i+1)*atOnce, len(pairs))] {
			n, m := read[p.a()], read[p.b()]
			if n.kind != m.kind {
				continue
			}
			if v, weight, linked := matchers[n.kind].Link(n.norm, m.norm); linked {
				found[i] = append(found[i], loadEdge{p.a(), p.b(), v, weight}, loadEdge{p.b(), p.a(), v, weight})
			}
		}
	})
	for _, edges := range found {
		l.edges = append(l.edges, edges...)
	}
	return nil
}

// components joins the records that edges of at least the threshold connect, and finds the earliest record of each
// component.
func (l *loader) components() {
	parent := make([]uint32, len(l.puids))
	for i := range parent {
		parent[i] = uint32(i) //nolint:gosec // read refuses more
	}
	root := func(x uint32) uint32 {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	earlier := func(x, y uint32) int { return compareBirth(l.births[x], l.births[y]) }
	for _, e := range l.edges {
		if e.a < e.b && e.weight >= match.Threshold {
			if x, y := root(e.a), root(e.b); earlier(x, y) < 0 {
				parent[y] = x
			} else {
				parent[x] = y
			}
		}
	}
	l.next = make([]uint32, len(parent))
	for i := len(parent) - 1; i >= 0; i-- {
		rec := uint32(i) //nolint:gosec // as above
		if first := root(rec); first != rec {
			l.next[rec], l.next[first] = l.next[first], rec+1
		}
	}
	for i := range parent {
		if rec := uint32(i); root(rec) == rec { //nolint:gosec // as above
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
