// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"math/rand/v2"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/survey"
	"github.com/locus-db/locus/match"
)

const (
	// mostWithin is how many records of an entity are compared with each other, and mostMatching how many pairs of all
	// entities.
	mostWithin, mostMatching = 8, 10_000
	// mostRandom is how many random pairs are compared, at most, and randomPerRecord how many for each record.
	mostRandom, randomPerRecord = 10_000, 20
)

// vectorsWithin compares the records of the sampled entities of a kind with each other, also pairs that share no
// blocking key: the levels of records that are the same thing according to the current entities.
func vectorsWithin(s *survey.Survey, m *match.Matcher,
	normalise func(*entity.Record) *match.Record) (all []match.Vector) {
	for _, e := range s.Entities {
		if e.Kind != m.Schema().Kind {
			continue
		}
		var records []*match.Record
		for _, member := range e.Members {
			if rec := s.Known[member.PUID]; rec != nil && len(records) < mostWithin {
				records = append(records, normalise(rec))
			}
		}
		for i, a := range records {
			for _, b := range records[:i] {
				if all = append(all, m.Compare(b, a)); len(all) == mostMatching {
					return all
				}
			}
		}
	}
	return all
}

// vectorsApart compares random pairs of records of two entities. The choice is the same each time.
func vectorsApart(m *match.Matcher, records []*entity.Record,
	normalise func(*entity.Record) *match.Record) (all []match.Vector) {
	if len(records) < 2 {
		return nil
	}
	normal := make([]*match.Record, len(records))
	for i, rec := range records {
		normal[i] = normalise(rec)
	}
	drawn := rand.New(rand.NewPCG(1969, 1183)) //nolint:gosec // a sample
	for range min(randomPerRecord*len(records), mostRandom) {
		a, b := drawn.IntN(len(records)), drawn.IntN(len(records)-1)
		if b >= a {
			b++
		}
		if records[a].Anchor != records[b].Anchor {
			all = append(all, m.Compare(normal[a], normal[b]))
		}
	}
	return all
}

// Shares returns the m and the u of a level: how often two records of one entity have it, and how often two random
// records of different entities do, among pairs where both have a value. A number of pairs is 0 if its share is
// unknown.
func (e *LevelEvidence) Shares() (m, u float64) {
	return float64(e.Matching) / float64(max(e.MatchingOf, 1)), float64(e.Random) / float64(max(e.RandomOf, 1))
}
