// SPDX-License-Identifier: Apache-2.0

package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// call is one call of a Store. It is drawn before it runs, because a backend may retry a transaction and
// the model must make the same call.
type call struct {
	name string
	do   func(ctx context.Context, s derived.Store) (any, error)
}

func write(name string, do func(ctx context.Context, s derived.Store) error) call {
	return call{name, func(ctx context.Context, s derived.Store) (any, error) { return nil, do(ctx, s) }}
}

func ask[T any](name string, do func(ctx context.Context, s derived.Store) (T, error)) call {
	return call{name, func(ctx context.Context, s derived.Store) (any, error) { return do(ctx, s) }}
}

// Few distinct values, including boundary values, so that calls interact.
var (
	allPUIDs    = []entity.PUID{math.MinInt64 + 1, -3, -2, -1, 1, 2, 3, 4, math.MaxInt64}
	allKeys     = []uint64{0, 1, 2, 1 << 63, math.MaxUint64}
	drawPUID    = rapid.SampledFrom(allPUIDs)
	drawAfter   = rapid.SampledFrom(append([]entity.PUID{first}, allPUIDs...))
	drawKey     = rapid.SampledFrom(allKeys)
	drawPosting = rapid.Custom(func(t *rapid.T) derived.Posting {
		return derived.Posting{Key: drawKey.Draw(t, "blocking key"), PUID: drawPUID.Draw(t, "puid")}
	})
	drawPair = rapid.Custom(func(t *rapid.T) derived.Pair {
		return derived.Pair{A: drawPUID.Draw(t, "a"), B: drawPUID.Draw(t, "b")}
	})
	drawEdge = rapid.Custom(func(t *rapid.T) derived.Edge {
		p := drawPair.Draw(t, "pair")
		return derived.Edge{A: p.A, B: p.B, Vector: match.Vector(rapid.Uint64().Draw(t, "vector")), Weight: match.Weight(rapid.OneOf(rapid.Int16(), rapid.Int16Range(-1, 2), rapid.Int16Range(498, 500)).Draw(t, "score"))}
	})
	drawRedo = rapid.Custom(func(t *rapid.T) derived.Redo {
		return derived.Redo{
			PUID: drawPUID.Draw(t, "puid"), Version: rapid.Int64Range(1, 4).Draw(t, "version"),
			Decided:  rapid.Int64Range(0, 2).Draw(t, "decided"),
			LostKeys: rapid.SliceOfN(drawKey, 0, 3).Draw(t, "lost"),
		}
	})
)

func batch[T any](t *rapid.T, g *rapid.Generator[T]) []T {
	return rapid.SliceOfN(g, 0, 10).Draw(t, "batch")
}

var drawCall = rapid.Custom(func(t *rapid.T) call {
	switch rapid.IntRange(0, 11).Draw(t, "call") {
	case 0:
		add := batch(t, drawPosting)
		return write("Post", func(ctx context.Context, s derived.Store) error { return s.Post(ctx, add, nil) })
	case 1:
		remove := batch(t, drawPosting)
		return write("Post, removing", func(ctx context.Context, s derived.Store) error { return s.Post(ctx, nil, remove) })
	case 2, 3:
		es := batch(t, drawEdge)
		return write("PutEdges", func(ctx context.Context, s derived.Store) error { return s.PutEdges(ctx, es) })
	case 4:
		pairs := batch(t, drawPair)
		return write("DeleteEdges", func(ctx context.Context, s derived.Store) error { return s.DeleteEdges(ctx, pairs) })
	case 5:
		entries := batch(t, drawRedo)
		return ask("PutRedo", func(ctx context.Context, s derived.Store) ([]derived.Redo, error) {
			stored, err := s.PutRedo(ctx, entries)
			if err == nil { // a backend may queue writes: stored is complete only after the next read
				_, err = s.Redo(ctx, math.MinInt64, 1)
			}
			return stored, err
		})
	case 6:
		entries := batch(t, drawRedo)
		return write("ClearRedo", func(ctx context.Context, s derived.Store) error { return s.ClearRedo(ctx, entries) })
	case 7:
		keys := batch(t, drawKey)
		limits := rapid.SliceOfN(rapid.IntRange(0, 10), len(keys), len(keys)).Draw(t, "limits")
		return ask("Carriers", func(ctx context.Context, s derived.Store) ([][]entity.PUID, error) {
			return s.RecordsByKey(ctx, keys, limits)
		})
	case 8:
		puids := batch(t, drawPUID)
		return ask("Edges", func(ctx context.Context, s derived.Store) ([]derived.Edge, error) { return s.Edges(ctx, puids) })
	case 9:
		after, limit := drawEdge.Draw(t, "after"), rapid.IntRange(1, 10).Draw(t, "limit")
		return ask("PossibleMatches", func(ctx context.Context, s derived.Store) ([]derived.Edge, error) {
			return s.PossibleMatches(ctx, after, limit)
		})
	case 10:
		mend := rapid.Bool().Draw(t, "mend")
		return write("MergePostings", func(ctx context.Context, s derived.Store) error { return s.MergePostings(ctx, mend) })
	default:
		after, limit := drawAfter.Draw(t, "after"), rapid.IntRange(1, 10).Draw(t, "limit")
		return ask("Redo", func(ctx context.Context, s derived.Store) ([]derived.Redo, error) {
			return s.Redo(ctx, after, limit)
		})
	}
})

func init() {
	conformance.Share(drawPUID, drawAfter, drawKey, drawPosting, drawPair, drawEdge, drawRedo, drawCall)
}

// readAll reads everything that a history can have written.
var readAll = []call{
	ask("Carriers of all", func(ctx context.Context, s derived.Store) ([][]entity.PUID, error) {
		limits := make([]int, len(allKeys))
		for i := range limits {
			limits[i] = all
		}
		return s.RecordsByKey(ctx, allKeys, limits)
	}),
	ask("Edges of all", func(ctx context.Context, s derived.Store) ([]derived.Edge, error) {
		return s.Edges(ctx, allPUIDs)
	}),
	ask("PossibleMatches of all", func(ctx context.Context, s derived.Store) ([]derived.Edge, error) {
		return s.PossibleMatches(ctx, derived.Edge{Weight: match.Threshold}, all)
	}),
	ask("Redo of all", func(ctx context.Context, s derived.Store) ([]derived.Redo, error) {
		return s.Redo(ctx, first, all)
	}),
	ask("Definition", func(ctx context.Context, s derived.Store) ([]byte, error) { return s.Definition(ctx, "rules") }),
	ask("RedoDepth", func(ctx context.Context, s derived.Store) (int, error) { return s.RedoDepth(ctx) }),
}

func (m *model) compare(ctx context.Context, s derived.Store, calls []call) error {
	for i, c := range calls {
		got, err := c.do(ctx, s)
		if err != nil {
			return fmt.Errorf("call %d, %s: %w", i, c.name, err)
		}
		want, _ := c.do(ctx, m)
		if diff := equal(got, want); diff != "" {
			return fmt.Errorf("call %d, %s (-want +got):\n%s", i, c.name, diff)
		}
	}
	return nil
}

// clean removes the rows of the previous history.
func clean(ctx context.Context, s derived.Store) error {
	var ps []derived.Posting
	var pairs []derived.Pair
	var entries []derived.Redo
	for _, a := range allPUIDs {
		entries = append(entries, derived.Redo{PUID: a, Version: math.MaxInt64, Decided: math.MaxInt64})
		for _, f := range allKeys {
			ps = append(ps, derived.Posting{Key: f, PUID: a})
		}
		for _, b := range allPUIDs {
			pairs = append(pairs, derived.Pair{A: a, B: b})
		}
	}
	return errors.Join(s.Post(ctx, nil, ps), s.DeleteEdges(ctx, pairs), s.ClearRedo(ctx, entries))
}

// agreesWithModel draws transactions, some of which roll back, and compares every result with the model's.
func agreesWithModel(t tester, c Cell) {
	rapid.Check(t, func(t *rapid.T) {
		conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error { return clean(ctx, tx) })
		committed := newModel()
		for range rapid.IntRange(1, 4).Draw(t, "transactions") {
			calls := append(rapid.SliceOfN(drawCall, 1, 6).Draw(t, "calls"), readAll...)
			rollback, m := rapid.Bool().Draw(t, "rollback"), committed
			conformance.Ends(t, c.Update, rollback, func(ctx context.Context, tx storage.Tx) error {
				m = committed.clone()
				return m.compare(ctx, tx, calls)
			})
			if !rollback {
				committed = m
			}
			ctx := context.Background()
			if err := c.View(ctx, func(tx storage.Tx) error { return committed.compare(ctx, tx, readAll) }); err != nil {
				t.Fatalf("view: %v", err)
			}
		}
	})
}
