// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// strata are the pairs of a kind by whether they are in one entity and by their distance from the threshold in
// hundredths of a bit. Each ends where the next one begins.
var strata = []struct {
	joined bool
	from   match.Weight
}{
	{false, math.MinInt16}, // relations
	{false, -match.Threshold},
	{false, -match.Threshold / 2},
	{false, 0}, // kept apart when clusters were made
	{true, math.MinInt16},
	{true, 0},
	{true, 400},
	{true, 1000},
}

// least is the minimum share of the draw for a stratum, however few pairs it has.
const least = .1

// answered is the share of the first pairs of the draw that must be decided to count as a sample; people skip some of
// the rest.
const answered = .8

// stratum has the pairs of a stratum in the order in which they were drawn.
type stratum struct {
	pairs []surveyedPair
}

// sampled divides the pairs of a kind into strata. A decided pair is in the stratum that it would be in without the
// decision.
func (h *Handle) sampled(ctx context.Context, pairs []surveyedPair) ([]stratum, error) {
	linked, err := h.linked(ctx, pairs)
	if err != nil {
		return nil, err
	}
	of := make([]stratum, len(strata))
	for _, p := range pairs {
		joined := p.joined()
		if p.said != nil && !p.said.ByAgent() {
			joined = linked(&p)
		}
		from := int(p.Weight) - int(h.engine.Kind(p.a.Kind).Matcher.Threshold())
		at := 0
		for i, s := range strata {
			if s.joined == joined && int(s.from) <= from {
				at = i
			}
		}
		of[at].pairs = append(of[at].pairs, p)
	}
	for _, s := range of {
		slices.SortFunc(s.pairs, func(a, b surveyedPair) int {
			return cmp.Or(cmp.Compare(chance(&a), chance(&b)), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
		})
	}
	return of, nil
}

// chance is the position of a pair in the draw. It never changes.
func chance(p *surveyedPair) uint64 {
	var key [16]byte
	binary.BigEndian.PutUint64(key[:8], uint64(p.A))
	binary.BigEndian.PutUint64(key[8:], uint64(p.B))
	sum := sha256.Sum256(key[:])
	return binary.BigEndian.Uint64(sum[:8])
}

// linked returns a function that reports whether a decided pair would be in one entity without the decision: whether
// joining edges connect the two records.
func (h *Handle) linked(ctx context.Context, pairs []surveyedPair) (func(*surveyedPair) bool, error) {
	var about []*entity.Record
	for _, p := range pairs {
		if p.said != nil && !p.said.ByAgent() {
			about = append(about, p.a, p.b)
		}
	}
	of, err := h.engine.EntitiesOf(ctx, about)
	if err != nil {
		return nil, err
	}
	var members []entity.PUID
	for _, e := range of {
		members = append(members, e.PUIDs()...)
	}
	slices.Sort(members)
	members = slices.Compact(members)
	var edges []derived.Edge
	if err := h.engine.Retry(ctx, func() (err error) {
		edges, err = h.engine.Resolver.EdgesOf(ctx, members)
		return err
	}); err != nil {
		return nil, err
	}
	return func(p *surveyedPair) bool {
		threshold := h.engine.Kind(p.a.Kind).Matcher.Threshold()
		reached, todo := map[entity.PUID]bool{p.A: true}, []entity.PUID{p.A}
		for len(todo) > 0 && !reached[p.B] {
			from := todo[0]
			todo = todo[1:]
			i, _ := slices.BinarySearchFunc(edges, from, func(e derived.Edge, p entity.PUID) int { return cmp.Compare(e.A, p) })
			for ; i < len(edges) && edges[i].A == from; i++ {
				if e := edges[i]; e.Weight >= threshold && !reached[e.B] {
					reached[e.B] = true
					todo = append(todo, e.B)
				}
			}
		}
		return reached[p.B]
	}, nil
}

// verdict returns whether the two are the same thing, and whether a person decided that.
func (p *surveyedPair) verdict() (same, decided bool) {
	if p.said == nil || p.said.ByAgent() {
		return false, p.implied
	}
	return p.said.Verdict == entity.VerdictSame, true
}

// drawn returns how many of the first pairs of the draw are a sample: the highest number of which enough are decided.
func (s *stratum) drawn() int {
	most, decided := 0, 0
	for i := range s.pairs {
		if _, yes := s.pairs[i].verdict(); yes {
			decided++
			if float64(decided) >= answered*float64(i+1) {
				most = i + 1
			}
		}
	}
	return most
}
