// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// Stratum has the pairs of a stratum in the order of the draw.
type Stratum struct {
	// Joined reports whether the pairs are in one entity.
	Joined bool
	// From and To limit the match weight, less the threshold of the kind; To is excluded. Lowest and Highest are no
	// limit.
	From, To match.Weight
	Pairs    []Pair
}

// Limits of strata that have none.
const (
	Lowest  match.Weight = math.MinInt16
	Highest match.Weight = math.MaxInt16
)

// strata divide the pairs of a kind, in hundredths of a bit. Each ends where the next one begins.
var strata = []Stratum{
	{Joined: false, From: Lowest, To: -match.Threshold}, // relations
	{Joined: false, From: -match.Threshold, To: -match.Threshold / 2},
	{Joined: false, From: -match.Threshold / 2, To: 0},
	{Joined: false, From: 0, To: Highest}, // kept apart when clusters were made
	{Joined: true, From: Lowest, To: 0},
	{Joined: true, From: 0, To: 400},
	{Joined: true, From: 400, To: 1000},
	{Joined: true, From: 1000, To: Highest},
}

// answered is the share of the first pairs of the draw that must be decided to count as a sample; people skip some of
// the rest.
const answered = .8

// Strata divides the pairs of a kind. A decided pair is in the stratum that it would be in without the decision.
func Strata(ctx context.Context, e *engine.Engine, pairs []Pair) ([]Stratum, error) {
	linked, err := linker(ctx, e, pairs)
	if err != nil {
		return nil, err
	}
	of := slices.Clone(strata)
	for _, p := range pairs {
		joined := p.Joined()
		if p.byPerson() {
			joined = linked(&p)
		}
		from := int(p.Weight) - int(e.Kind(p.Kind()).Matcher.Threshold())
		at := 0
		for i, s := range of {
			if s.Joined == joined && int(s.From) <= from {
				at = i
			}
		}
		of[at].Pairs = append(of[at].Pairs, p)
	}
	for _, s := range of {
		slices.SortFunc(s.Pairs, func(a, b Pair) int {
			return cmp.Or(cmp.Compare(chance(&a), chance(&b)), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
		})
	}
	return of, nil
}

// chance is the position of a pair in the draw. It never changes.
func chance(p *Pair) uint64 {
	var key [16]byte
	binary.BigEndian.PutUint64(key[:8], uint64(p.A))
	binary.BigEndian.PutUint64(key[8:], uint64(p.B))
	sum := sha256.Sum256(key[:])
	return binary.BigEndian.Uint64(sum[:8])
}

// linker returns a function that reports whether a decided pair would be in one entity without the decision: whether
// joining edges connect the two records.
func linker(ctx context.Context, e *engine.Engine, pairs []Pair) (func(*Pair) bool, error) {
	var about []*entity.Record
	for _, p := range pairs {
		if p.byPerson() {
			about = append(about, p.RecordA, p.RecordB)
		}
	}
	of, err := e.EntitiesOf(ctx, about)
	if err != nil {
		return nil, err
	}
	var members []entity.PUID
	for _, one := range of {
		members = append(members, one.PUIDs()...)
	}
	slices.Sort(members)
	members = slices.Compact(members)
	var edges []derived.Edge
	if err := e.Retry(ctx, func() (err error) {
		edges, err = e.Resolver.EdgesOf(ctx, members)
		return err
	}); err != nil {
		return nil, err
	}
	return func(p *Pair) bool {
		threshold := e.Kind(p.Kind()).Matcher.Threshold()
		reached, todo := map[entity.PUID]bool{p.A: true}, []entity.PUID{p.A}
		for len(todo) > 0 && !reached[p.B] {
			from := todo[0]
			todo = todo[1:]
			i, _ := slices.BinarySearchFunc(edges, from, func(e derived.Edge, p entity.PUID) int { return cmp.Compare(e.A, p) })
			for ; i < len(edges) && edges[i].A == from; i++ {
				if next := edges[i]; next.Weight >= threshold && !reached[next.B] {
					reached[next.B] = true
					todo = append(todo, next.B)
				}
			}
		}
		return reached[p.B]
	}, nil
}

// Drawn returns how many of the first pairs of the draw are a sample: the highest number of which enough are decided.
func (s *Stratum) Drawn() int {
	most, decided := 0, 0
	for i := range s.Pairs {
		if _, yes := s.Pairs[i].Verdict(); yes {
			decided++
			if float64(decided) >= answered*float64(i+1) {
				most = i + 1
			}
		}
	}
	return most
}
