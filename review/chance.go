// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/internal/survey"
)

// least is the minimum share of the draw for a stratum, however few pairs it has.
const least = .1

// byChance returns the pairs of a survey that are not decided, as they are drawn: from each stratum as many as its
// share of the pairs, but at least a tenth.
func (h *Handle) byChance(ctx context.Context, kinds []string) (all []question, err error) {
	s, err := survey.Take(ctx, h.engine, kinds, false)
	if err != nil {
		return nil, err
	}
	of := s.ByKind()
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		strata, err := survey.Strata(ctx, h.engine, of[kind])
		if err != nil {
			return nil, err
		}
		for _, stratum := range strata {
			share := max(float64(len(stratum.Pairs))/float64(len(of[kind])), least)
			for i := range stratum.Pairs {
				if _, decided := stratum.Pairs[i].Verdict(); !decided {
					all = append(all, question{place: int64(float64(i+1) / share * 1000), edge: stratum.Pairs[i].Edge})
				}
			}
		}
	}
	slices.SortFunc(all, func(x, y question) int { return x.compare(y.place, y.edge.A, y.edge.B) })
	return all, nil
}
