// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

// edges are the edges of one record, ordered by the other side.
type edges []derived.Edge

// compare returns the current edges of every written record. A pair is compared if it shares a blocking key that
// is no stop key. Edges below the threshold are kept as possible matches unless the comparison finds the
// records different: they do not join records, but count when clusters are joined.
func (b *batch) compare(ctx context.Context, m *candidateSet) (map[entity.PUID]edges, error) {
	writes := make([]*write, 0, len(b.writes))
	candidates := make([][]entity.PUID, 0, len(b.writes))
	var all []entity.PUID
	for _, w := range b.writes {
		if w.new == nil {
			continue
		}
		c := m.candidates(w.new, w.posted)
		writes, candidates = append(writes, w), append(candidates, c)
		all = append(all, c...)
	}
	if b.peek == nil {
		b.compared += len(all)
	}
	if err := b.load(ctx, b.nodes, unique(all)); err != nil {
		return nil, err
	}
	for _, w := range writes {
		m.count(w.new, b.nodes)
	}
	found := make([]edges, len(writes))
	parallel(len(writes), func(i int) {
		found[i] = b.edgesOf(writes[i].new, candidates[i], m)
	})
	now := make(map[entity.PUID]edges, len(writes))
	for i, w := range writes {
		now[w.puid] = found[i]
	}
	if b.repair {
		b.symmetric(now)
	}
	return now, nil
}

// symmetric adds the missing side of edges. In a repair, a renewed record may not be posted yet, so only one of two
// records finds the other.
func (b *batch) symmetric(now map[entity.PUID]edges) {
	side := func(e, of derived.Edge) int { return cmp.Compare(e.B, of.B) }
	for p := range b.writes {
		for _, e := range now[p] {
			if b.writes[e.B] == nil {
				continue
			}
			if i, there := slices.BinarySearchFunc(now[e.B], e.Mirror(), side); !there {
				now[e.B] = slices.Insert(now[e.B], i, e.Mirror())
			}
		}
	}
}

func (b *batch) edgesOf(n *node, candidates []entity.PUID, m *candidateSet) edges {
	var found edges
	matcher := m.matcher(n.kind)
	for _, p := range candidates {
		c := b.nodes[p]
		if !b.findCandidates(n, c, m) {
			continue
		}
		if v, weight, linked := matcher.Link(n.norm, c.norm); linked {
			found = append(found, derived.Edge{A: n.PUID, B: p, Vector: v, Weight: weight})
		}
	}
	return found
}

// findCandidates reports whether two records share a blocking key that is no stop key or, if their content is
// identical, whether one of them is the leader of that content. It looks at the records and not at the postings,
// because a posting may be outdated. Records of different kinds never match.
func (b *batch) findCandidates(n, c *node, m *candidateSet) bool {
	if c == nil || c.norm == nil || c.kind != n.kind {
		return false
	}
	if e := n.equal(); e != 0 && e == c.equal() {
		return m.leaders[e] == n.PUID || m.leaders[e] == c.PUID
	}
	for _, f := range n.norm.BlockingKeys() {
		if c.carries(f.Hash) && !m.stopKey(f.Hash) {
			return true
		}
	}
	return false
}

func parallel(n int, fn func(int)) {
	divide(n, runtime.GOMAXPROCS(0), fn)
}

// divide calls fn for each number below n, in so many goroutines at most.
func divide(n, workers int, fn func(int)) {
	if workers = min(workers, n); workers <= 1 {
		for i := range n {
			fn(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				fn(i)
			}
		})
	}
	wg.Wait()
}

// ahead returns the values of a sequence. The next one is computed while the caller uses the last one.
func ahead[T any](values iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		next, stop := make(chan T), make(chan struct{})
		go func() {
			defer close(next)
			values(func(v T) bool {
				select {
				case next <- v:
					return true
				case <-stop:
					return false
				}
			})
		}()
		defer func() {
			close(stop)
			for range next { // waits until it has stopped
			}
		}()
		for v := range next {
			if !yield(v) {
				return
			}
		}
	}
}
