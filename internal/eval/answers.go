// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/internal/learn"
)

// Answered are figures with weights that were learned from answers about some pairs of a set.
type Answered struct {
	Wanted int `json:"answers"`
	Asked  int `json:"asked"` // fewer if the half that is asked about has no more that teach anything
	Learned
	// Erring are the figures if one of ten answers is wrong.
	Erring Learned `json:"one_of_ten_wrong"`
}

// ask replaces the weights by weights fitted to answers about the most informative pairs, unless they are refused. The
// pairs are from one half of the records, so that most measured pairs were not asked about.
func (s *set) ask(c Configuration, pairs [][2]int, same func(a, b int) bool) {
	if c.Erring {
		same = s.erring(same)
	}
	m := s.matcher.Thorough()
	asked := func(i int) bool { return xxhash.Sum64String(s.records[i].Key())%2 == 0 }
	var half [][2]int
	var questions []learn.Question
	for _, p := range pairs {
		if asked(p[0]) && asked(p[1]) {
			a, b := s.records[p[0]], s.records[p[1]]
			half, questions = append(half, p), append(questions, learn.Question{Lines: m.Explain(a, b, m.Compare(a, b)).Lines})
		}
	}
	var answers []learn.Answer
	taught := learn.Teaching(questions, m.Threshold(), nil)
	for _, t := range taught[:min(c.Answers, len(taught))] {
		answers = append(answers, learn.Answer{Lines: questions[t.At].Lines, Same: same(half[t.At][0], half[t.At][1])})
	}
	s.answered = learn.Answers(m.Schema(), answers)
	if len(s.answered.Refused()) == 0 {
		s.reweigh(s.answered.Schema)
	}
}
