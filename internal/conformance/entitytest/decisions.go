// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
)

// decided returns a decision about a pair, made at milliseconds after a fixed time.
func decided(verdict entity.Verdict, a, b entity.PUID, at int64) entity.Decision {
	return entity.Decision{Verdict: verdict, A: a, B: b, Author: "ada", At: time.UnixMilli(1_700_000_000_000 + at).UTC()}
}

func putDecisions(t tester, c Cell, decisions ...entity.Decision) {
	t.Helper()
	conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error {
		return s.PutDecisions(ctx, decisions)
	})
}

func getDecisions(t tester, c Cell, puids ...entity.PUID) []entity.Decision {
	t.Helper()
	return read(t, c, func(ctx context.Context, s entity.Store) ([]entity.Decision, error) {
		return s.Decisions(ctx, puids)
	})
}

func decisionsComeBackWhole(t tester, c Cell) {
	var all []entity.Decision
	for i, p := range puidEdges {
		d := decided(entity.VerdictSame, p, puidEdges[(i+1)%len(puidEdges)], int64(i))
		anchor := entity.Decision{Verdict: entity.VerdictAnchor, A: p, At: time.UnixMilli(0).UTC()}
		value := entity.Decision{
			Verdict: entity.VerdictValue, A: p, Attribute: "phones", Value: hostile[i%len(hostile)],
			Reason: hostile[len(hostile)-1-i],
			At:     time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC), Withdrawn: i%2 == 0,
		}
		all = append(all, anchor, d, value)
	}
	for i, text := range hostile {
		all = append(all, entity.Decision{Verdict: entity.VerdictValue, A: math.MaxInt64, Attribute: "z" + text, Value: text,
			Author: text, At: time.UnixMilli(int64(i)).UTC()})
	}
	shuffled := slices.Clone(all)
	slices.Reverse(shuffled)
	putDecisions(t, c, shuffled...)
	slices.SortFunc(all, func(a, b entity.Decision) int { return a.Key().Compare(b.Key()) })
	same(t, "decisions", getDecisions(t, c, append([]entity.PUID{77, 2}, puidEdges...)...), all)
	same(t, "decisions of one", getDecisions(t, c, puidEdges[3]), all[9:12])
	same(t, "decisions of none", getDecisions(t, c, 77), nil)
	same(t, "nothing asked", getDecisions(t, c), nil)
}

func newerDecisionStays(t tester, c Cell) {
	same1, apart := decided(entity.VerdictSame, 1, 2, 5), decided(entity.VerdictDifferent, 1, 2, 6)
	putDecisions(t, c, same1)
	putDecisions(t, c, apart, decided(entity.VerdictSame, 1, 3, 1))
	putDecisions(t, c, same1)
	same(t, "the newer one", getDecisions(t, c, 1), []entity.Decision{apart, decided(entity.VerdictSame, 1, 3, 1)})
	withdrawn := decided(entity.VerdictDifferent, 1, 2, 9)
	withdrawn.Withdrawn = true
	putDecisions(t, c, decided(entity.VerdictSame, 1, 2, 7), withdrawn, decided(entity.VerdictSame, 1, 2, 8))
	same(t, "the newest of a batch", getDecisions(t, c, 1),
		[]entity.Decision{withdrawn, decided(entity.VerdictSame, 1, 3, 1)})
	putDecisions(t, c, decided(entity.VerdictDifferent, 4, 5, 1), decided(entity.VerdictSame, 4, 6, 1))
	putDecisions(t, c, decided(entity.VerdictSame, 4, 5, 1), decided(entity.VerdictDifferent, 4, 6, 1))
	putDecisions(t, c, decided(entity.VerdictSame, 4, 7, 1), decided(entity.VerdictDifferent, 4, 7, 1))
	putDecisions(t, c, decided(entity.VerdictDifferent, 4, 8, 1), decided(entity.VerdictSame, 4, 8, 1))
	for _, d := range getDecisions(t, c, 4) {
		same(t, "of one millisecond", d, decided(entity.VerdictSame, 4, d.B, 1))
	}
}

func listDecisions(t tester, c Cell, after entity.DecisionKey, limit int) []entity.Decision {
	t.Helper()
	return read(t, c, func(ctx context.Context, s entity.Store) ([]entity.Decision, error) {
		return s.ListDecisions(ctx, after, limit)
	})
}

func listDecisionsInPages(t tester, c Cell) {
	first := entity.DecisionKey{A: math.MinInt64}
	want := []entity.Decision{
		decided(entity.VerdictSame, -40, 3, 1),
		{Verdict: entity.VerdictAnchor, A: 3, At: time.UnixMilli(1).UTC()},
		decided(entity.VerdictSame, 3, -40, 1),
		decided(entity.VerdictDifferent, 3, 5, 4), decided(entity.VerdictDifferent, 5, 3, 4),
	}
	putDecisions(t, c, want[4], want[0], want[2], want[1], want[3])
	same(t, "all", listDecisions(t, c, first, 100), want)
	same(t, "first two", listDecisions(t, c, first, 2), want[:2])
	same(t, "after one that is there", listDecisions(t, c, want[1].Key(), 2), want[2:4])
	same(t, "after one that is not", listDecisions(t, c, entity.DecisionKey{A: 3, Topic: "b"}, 100), want[2:])
	same(t, "after the last", listDecisions(t, c, want[4].Key(), 100), nil)
}

func decisionsAreDeleted(t tester, c Cell) {
	left := decided(entity.VerdictSame, 2, 1, 1)
	putDecisions(t, c, decided(entity.VerdictSame, 1, 2, 1), decided(entity.VerdictSame, 1, 3, 1), left,
		decided(entity.VerdictSame, 4, 2, 1))
	for range 2 {
		conformance.Update(t, c.Update, func(ctx context.Context, s entity.Store) error {
			return s.DeleteDecisions(ctx, []entity.PUID{4, 77, 1, 1})
		})
		same(t, "what is left", listDecisions(t, c, entity.DecisionKey{A: math.MinInt64}, 100), []entity.Decision{left})
	}
	again := decided(entity.VerdictDifferent, 1, 2, 0)
	putDecisions(t, c, again)
	same(t, "an older one after the deletion", getDecisions(t, c, 1), []entity.Decision{again})
}
