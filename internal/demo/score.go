// SPDX-License-Identifier: Apache-2.0

package demo

// Score measures how well entities agree with the truth, in pairs of records. The zero value is ready to use.
type Score struct {
	places map[int64]int64
	both   int64 // pairs in one entity about one place
	found  int64 // pairs in one entity
}

// Add counts an entity, given the place of each of its records.
func (s *Score) Add(places []int64) {
	if s.places == nil {
		s.places = map[int64]int64{}
	}
	here := map[int64]int64{}
	for _, p := range places {
		here[p]++
		s.places[p]++
	}
	s.found += pairs(int64(len(places)))
	for _, n := range here {
		s.both += pairs(n)
	}
}

// Places returns the number of different places among the records.
func (s *Score) Places() int64 { return int64(len(s.places)) }

// Precision returns the share of pairs in one entity that are about one place; 1 without pairs.
func (s *Score) Precision() float64 { return share(s.both, s.found) }

// Recall returns the share of pairs about one place that are in one entity; 1 without pairs.
func (s *Score) Recall() float64 {
	var all int64
	for _, n := range s.places {
		all += pairs(n)
	}
	return share(s.both, all)
}

// F1 returns the harmonic mean of precision and recall.
func (s *Score) F1() float64 {
	p, r := s.Precision(), s.Recall()
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

func pairs(n int64) int64 { return n * (n - 1) / 2 }

func share(part, all int64) float64 {
	if all == 0 {
		return 1
	}
	return float64(part) / float64(all)
}
