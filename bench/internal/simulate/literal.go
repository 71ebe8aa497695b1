// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math/rand/v2"
	"slices"
)

// literal simulates the time after each new generation under the literal scheme.
func (s *simulation) literal() Literal {
	last := s.gens[len(s.gens)-1]
	l := Literal{Servers: s.Servers, Lag: s.Lag.Seconds(), Mentions: s.Mentions, Absent: last.Absent, Known: last.Known}
	for g := 1; g < len(s.gens); g++ {
		keys := s.rate(s.gens[g].Day) * s.Lag.Seconds()
		r, twice := s.rand("literal", g), 0
		for range SampleSize {
			if s.twice(r) {
				twice++
			}
		}
		l.Window += int64(keys)
		l.Duplicates += int64(keys * float64(twice) / SampleSize)
	}
	return l
}

// twice simulates one new key that arrives while servers learn of a generation, and reports whether it gets two
// puids. Time is in fractions of Lag; the servers learn of the generation at random times, and each mention of the
// key reaches a random server.
func (s *simulation) twice(r *rand.Rand) bool {
	knows := make([]float64, s.Servers)
	for i := range knows {
		knows[i] = r.Float64()
	}
	mentions := []float64{r.Float64()}
	for mean := s.Mentions; r.Float64() < mean/(1+mean); { // a geometric number, mean on average
		mentions = append(mentions, mentions[0]+r.ExpFloat64())
	}
	slices.Sort(mentions)
	var older, newer bool // where the key has a row
	for _, now := range mentions {
		switch learned := now >= knows[r.IntN(s.Servers)]; {
		case learned && !older:
			newer = true // it looks in both, and inserts in the newer one
		case !learned:
			older = true // it knows only the older one
		}
	}
	return older && newer
}
