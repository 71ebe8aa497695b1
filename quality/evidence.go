// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"cmp"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/survey"
	"github.com/locus-db/locus/match"
)

// LevelEvidence is a comparison level, with its weight and its frequency among the compared pairs.
type LevelEvidence struct {
	Field  string       `json:"field"`
	Level  string       `json:"level"`
	Weight match.Weight `json:"match_weight"`
	// Own reports whether the kind overrides the weight.
	Own bool `json:"own,omitempty"`
	// Joined counts pairs within entities, Apart pairs of two entities, and Same and Different the pairs that people
	// decided.
	Joined    int `json:"joined"`
	Apart     int `json:"apart"`
	Same      int `json:"same"`
	Different int `json:"different"`
	// Matching counts the pairs of records of one entity with the level, of MatchingOf with any level in the field;
	// Random and RandomOf count random pairs of two entities in the same way. The quotients are m and u, see Shares.
	Matching   int `json:"matching"`
	MatchingOf int `json:"matching_of"`
	Random     int `json:"random"`
	RandomOf   int `json:"random_of"`
}

// KeyCount is how many records have blocking keys of a kind.
type KeyCount struct {
	Key     string `json:"key"`
	Records int    `json:"records"`
	Keys    int    `json:"keys"`
}

// keyed is how many records are normalised to count their blocking keys.
const keyed = 1000

// evidenceOf lists the levels of the fields where a compared pair has a level, or that the kind weighs itself.
// within and apart are the agreement of pairs in one entity and of random pairs in two entities.
func evidenceOf(m *match.Matcher, pairs []survey.Pair, within, apart []match.Vector) []LevelEvidence {
	fields := m.Fields()
	counts := make([][]LevelEvidence, len(fields))
	seen := make([]bool, len(fields))
	for f, field := range fields {
		own := m.Schema().Weights[field.Name]
		seen[f] = len(own) > 0
		for _, l := range field.Levels {
			_, overridden := own[l.Text]
			counts[f] = append(counts[f], LevelEvidence{Field: field.Name, Level: l.Text, Weight: l.Weight, Own: overridden})
		}
	}
	for i := range pairs {
		p := &pairs[i]
		if p.Kind() != m.Schema().Kind {
			continue
		}
		same, decided := p.Verdict()
		for f := range fields {
			l := p.Vector.Level(f)
			if l == 0 {
				continue
			}
			seen[f] = true
			of := &counts[f][l]
			switch {
			case p.Joined():
				of.Joined++
			default:
				of.Apart++
			}
			switch {
			case decided && same:
				of.Same++
			case decided:
				of.Different++
			}
		}
	}
	for f := range fields {
		levels := counts[f]
		matching := tally(f, within, func(l int) { levels[l].Matching++ })
		random := tally(f, apart, func(l int) { levels[l].Random++ })
		for l := range levels {
			levels[l].MatchingOf, levels[l].RandomOf = matching, random
		}
	}
	all := []LevelEvidence{}
	for f := range fields {
		for l, of := range counts[f] {
			if seen[f] && l > 0 && (of.Level != "" || of.Joined+of.Apart > 0) {
				all = append(all, of)
			}
		}
	}
	return all
}

// tally calls one for the level of each vector that has a level in a field, and returns the number of these vectors.
func tally(f int, vectors []match.Vector, one func(level int)) (of int) {
	for _, v := range vectors {
		if l := v.Level(f); l > 0 {
			one(l)
			of++
		}
	}
	return of
}

// keysOf counts the blocking keys of records.
func keysOf(records []*entity.Record, normalise func(*entity.Record) *match.Record) []KeyCount {
	of := map[match.KeyKind]*KeyCount{}
	for _, rec := range records {
		norm, has := normalise(rec), map[match.KeyKind]bool{}
		if norm == nil {
			continue
		}
		for _, key := range norm.BlockingKeys() {
			if of[key.Kind] == nil {
				of[key.Kind] = &KeyCount{Key: key.Kind.String()}
			}
			if of[key.Kind].Keys++; !has[key.Kind] {
				has[key.Kind] = true
				of[key.Kind].Records++
			}
		}
	}
	all := []KeyCount{}
	for _, n := range of {
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b KeyCount) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Key, b.Key))
	})
	return all
}
