// SPDX-License-Identifier: Apache-2.0

package storagetest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

func edges(t tester, c Cell, puids ...entity.PUID) []derived.Edge {
	t.Helper()
	return view(t, c, func(ctx context.Context, tx storage.Tx) ([]derived.Edge, error) { return tx.Edges(ctx, puids) })
}

func putEdges(t tester, c Cell, es ...derived.Edge) {
	t.Helper()
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error { return tx.PutEdges(ctx, es) })
}

func edge(a, b entity.PUID) derived.Edge {
	return derived.Edge{A: a, B: b, Vector: vector(uint64(a)<<32 ^ uint64(b)), Weight: weight(int(a+b) % 1000)}
}

func edgesInOrder(t tester, c Cell) {
	putEdges(t, c, edge(3, 9), edge(1, 5), edge(-2, 4), edge(3, -9), edge(1, -5))
	putEdges(t, c, edge(3, 1))
	same(t, "edges", edges(t, c, 3, -2, 8, 1, 3), []derived.Edge{
		edge(-2, 4), edge(1, -5), edge(1, 5), edge(3, -9), edge(3, 1), edge(3, 9),
	})
	same(t, "edges of one", edges(t, c, 3), []derived.Edge{edge(3, -9), edge(3, 1), edge(3, 9)})
}

func edgesStandUnderA(t tester, c Cell) {
	putEdges(t, c, edge(1, 2))
	same(t, "edges of the other side", edges(t, c, 2), nil)
	putEdges(t, c, edge(2, 1))
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		return tx.DeleteEdges(ctx, []derived.Pair{{A: 1, B: 2}})
	})
	same(t, "edges of both", edges(t, c, 1, 2), []derived.Edge{edge(2, 1)})
}

func edgesReplaceAndDelete(t tester, c Cell) {
	changed := edge(1, 2)
	changed.Vector, changed.Weight = 99, -99
	putEdges(t, c, edge(1, 2), edge(1, 3), edge(4, 2))
	putEdges(t, c, changed)
	same(t, "replaced", edges(t, c, 1, 4), []derived.Edge{changed, edge(1, 3), edge(4, 2)})
	putEdges(t, c, changed, edge(5, 5), edge(1, 2))
	same(t, "the later one of a batch", edges(t, c, 1), []derived.Edge{edge(1, 2), edge(1, 3)})
	for range 2 {
		conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
			return tx.DeleteEdges(ctx, []derived.Pair{{A: 4, B: 2}, {A: 1, B: 2}, {A: 7, B: 7}, {A: 1, B: 2}})
		})
		same(t, "deleted", edges(t, c, 1, 4, 5), []derived.Edge{edge(1, 3), edge(5, 5)})
	}
}

func unsure(t tester, c Cell, after derived.Edge, limit int) []derived.Edge {
	t.Helper()
	return view(t, c, func(ctx context.Context, tx storage.Tx) ([]derived.Edge, error) {
		return tx.PossibleMatches(ctx, after, limit)
	})
}

func unsureBestFirst(t tester, c Cell) {
	scored := func(a, b entity.PUID, s match.Weight) derived.Edge {
		e := edge(a, b)
		e.Weight = s
		return e
	}
	want := []derived.Edge{
		scored(3, 4, match.Threshold-1), scored(-8, -2, 300), scored(-5, 4, 300), scored(-5, 7, 300), scored(1, 2, 300), scored(2, 9, 299), scored(1, 5, 0),
	}
	var all []derived.Edge
	for _, e := range want {
		all = append(all, e, scored(e.B, e.A, e.Weight)) // the row of the other side
	}
	all = append(all, scored(1, 7, match.Threshold), scored(1, 8, -1), scored(1, 9, match.AbsentPair),
		scored(6, 6, 100), scored(5, 7, math.MaxInt16), scored(5, 8, math.MinInt16))
	slices.Reverse(all)
	putEdges(t, c, all...)
	before := derived.Edge{Weight: match.Threshold}
	same(t, "possible", unsure(t, c, before, 100), want)
	for n := 1; n <= len(want); n++ {
		var got []derived.Edge
		for after := before; ; after = got[len(got)-1] {
			page := unsure(t, c, after, n)
			if got = append(got, page...); len(page) == 0 {
				break
			}
		}
		same(t, fmt.Sprintf("possible, %d at a time", n), got, want)
	}
	putEdges(t, c, scored(3, 4, match.Threshold), scored(1, 8, 7))
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error {
		return tx.DeleteEdges(ctx, []derived.Pair{{A: -8, B: -2}})
	})
	same(t, "possible, after changes", unsure(t, c, before, 100),
		append(slices.Clone(want[2:6]), scored(1, 8, 7), want[6]))
}
