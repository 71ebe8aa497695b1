// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"slices"

	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// loadEdge is an edge between records with numbers.
type loadEdge struct {
	a, b   uint32
	vector match.Vector
	weight match.Weight
}

// compare compares every pair that shares a key that is no stop key, and joins the components of those that match.
func (l *loader) compare(ctx context.Context) error {
	matchers := map[*Kind]*match.Matcher{}
	for _, k := range l.Rules().Kinds() {
		matchers[k] = k.Matcher.Among(l.names)
	}
	var asked []loadBlock
	var err error
	size, done := 0, 0
	pairs := func() {
		if err != nil || len(asked) == 0 {
			return
		}
		var read map[uint32]*node
		if read, err = l.nodes(ctx, numbers(asked)); err != nil {
			return
		}
		found := make([][]loadEdge, len(asked))
		parallel(len(asked), func(i int) { found[i] = l.pairs(asked[i], read, matchers) })
		for _, edges := range found {
			l.edges = append(l.edges, edges...)
		}
		asked, size = nil, 0
	}
	l.blocks(func(k loadBlock) {
		done += len(k)
		if err != nil || len(k) < 2 || k.stopKey() {
			return
		}
		if asked, size = append(asked, k), size+len(k); size >= l.loads.nodes {
			if pairs(); err == nil {
				err = l.renew(ctx)
			}
			l.tell(LoadProgress{LoadCompare, done, l.postings})
		}
	})
	if pairs(); err != nil {
		return err
	}
	l.tell(LoadProgress{LoadCompare, l.postings, l.postings})
	l.shards, l.follows = [256][]loadPosting{}, nil
	slices.SortFunc(l.edges, func(x, y loadEdge) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	l.components()
	return nil
}

// pairs compares the records of a block: a follower with its leader, others with each other unless they share a smaller
// key that is no stop key.
func (l *loader) pairs(k loadBlock, read map[uint32]*node, matchers map[*Kind]*match.Matcher) (found []loadEdge) {
	link := func(a, b uint32) {
		n, m := read[a], read[b]
		if n.kind != m.kind {
			return
		}
		if v, weight, linked := matchers[n.kind].Link(n.norm, m.norm); linked {
			found = append(found, loadEdge{a, b, v, weight}, loadEdge{b, a, v, weight})
		}
	}
	if match.IsEqual(k[0].key) {
		for _, p := range k[1:] {
			link(k[0].rec, p.rec)
		}
		return found
	}
	for i, p := range k {
		for _, q := range k[i+1:] {
			if l.smallest(read[p.rec], read[q.rec]) == k[0].key {
				link(p.rec, q.rec)
			}
		}
	}
	return found
}

// smallest returns the smallest key that both records carry and that is no stop key. Leaders share none of identical
// content.
func (l *loader) smallest(n, m *node) uint64 {
	a, b := n.norm.BlockingKeys(), m.norm.BlockingKeys()
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0].Hash, b[0].Hash; {
		case x < y:
			a = a[1:]
		case y < x:
			b = b[1:]
		default:
			if _, stop := l.stops[x]; !stop {
				return x
			}
			a, b = a[1:], b[1:]
		}
	}
	return 0
}

// components joins the records that edges of at least the threshold connect.
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
	for _, e := range l.edges {
		if e.a < e.b && e.weight >= match.Threshold {
			x, y := root(e.a), root(e.b)
			parent[max(x, y)] = min(x, y)
		}
	}
	l.next = make([]uint32, len(parent))
	for i := len(parent) - 1; i >= 0; i-- {
		rec := uint32(i) //nolint:gosec // as above
		if first := root(rec); first != rec {
			l.next[rec], l.next[first] = l.next[first], rec
		}
	}
	for i := range parent {
		if parent[i] == uint32(i) { //nolint:gosec // as above
			l.heads = append(l.heads, parent[i])
		}
	}
}

// edgesOf returns the edges of a record, ordered by the other side.
func (l *loader) edgesOf(rec uint32) []loadEdge {
	from, _ := slices.BinarySearchFunc(l.edges, rec, func(e loadEdge, rec uint32) int { return cmp.Compare(e.a, rec) })
	to := from
	for to < len(l.edges) && l.edges[to].a == rec {
		to++
	}
	return l.edges[from:to]
}

// row returns the stored form of an edge.
func (l *loader) row(e loadEdge) derived.Edge {
	return derived.Edge{A: l.puids[e.a], B: l.puids[e.b], Vector: e.vector, Weight: e.weight}
}
