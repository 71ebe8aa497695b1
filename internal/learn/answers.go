// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"maps"
	"math"

	"github.com/locus-db/locus/match"
)

const (
	// fewestAnswers of each kind, same and different, are needed to learn from people.
	fewestAnswers = 5
	// folds of the cross-validation.
	folds = 5
	// sure is the distance from the threshold, in bits, beyond which an answer teaches almost nothing: it agrees with
	// the weights, or it is a slip, or it is based on facts that the records do not contain.
	sure = 10
	// slips is the share of answers that are assumed to be wrong whatever the records contain, so that no answer weighs
	// more than log2(1/slips) bits against the others.
	slips = 0.05
	// cannot is the weight of evidence that excludes a match, which no answer changes.
	cannot = 2000
	// sweeps of coordinate descent. The weights settle within ten.
	sweeps = 40
)

// Answer is the answer of a person about a pair.
type Answer struct {
	Lines []match.Line // from the explanation of the pair, with today's weights
	Same  bool
}

// Fitted is a kind with weights that are fitted to answers.
type Fitted struct {
	// Schema is the kind with the fitted weights.
	Schema *match.Schema `json:"-"`
	// Levels are the weights that moved, with today's weights, by field.
	Levels []Moved `json:"levels"`
	// Answers is the number of answers, Same the number of answers "same".
	Answers int `json:"answers"`
	Same    int `json:"same"`
	// Today and Learned are how both tables do on answers that they did not see: a fifth of the answers is judged by
	// weights that are fitted to the others.
	Today   Judged `json:"today"`
	Learned Judged `json:"learned"`
}

// Moved is a level whose weight moved.
type Moved struct {
	Field  string       `json:"field"`
	Text   string       `json:"level"`
	Before match.Weight `json:"today"`
	After  match.Weight `json:"learned"`
	// Same and Different are the numbers of answers about pairs with this level.
	Same      int `json:"same"`
	Different int `json:"different"`
}

// Judged is how a table of weights does on answers.
type Judged struct {
	// Loss is how many bits an answer surprises the weights by, on average.
	Loss float64 `json:"loss"`
	// Wrong is the number of answers on the other side of the threshold.
	Wrong int `json:"wrong"`
}

// Refused returns the reasons to keep today's weights, none if the fitted ones do better on answers that they did not
// see.
func (f *Fitted) Refused() (reasons []string) {
	if different := f.Answers - f.Same; f.Same < fewestAnswers || different < fewestAnswers {
		return []string{fmt.Sprintf("answers: %d same, %d different; at least %d of each are needed", f.Same, different,
			fewestAnswers)}
	}
	if f.Learned.Loss >= f.Today.Loss {
		return []string{fmt.Sprintf("an answer that the learned weights did not see surprises them by %.2f bits, those of today by %.2f", f.Learned.Loss, f.Today.Loss)}
	}
	return nil
}

// said is an answer as the fit reads it: the weight of the pair today from the threshold, in bits, and its levels.
type said struct {
	today  float64
	levels []int
	same   float64 // 1 or 0
}

// pupil fits weights to answers.
type pupil struct {
	levels []Moved        // all levels of the kind except those with fixed weights
	of     map[string]int // by field and text
}

// Answers fits the weights of a kind to answers about pairs by logistic regression on the levels, with the current
// weights as the prior mean and a deviation of about two bits. The weights of a kind are bits of evidence, so they need
// no calibration. The order of the answers affects only the cross-validation.
func Answers(schema *match.Schema, answers []Answer) *Fitted {
	m := match.New(schema, nil)
	p := pupil{of: map[string]int{}}
	for _, field := range m.Fields() {
		if field.Fixed {
			continue
		}
		for n, level := range field.Levels {
			if n > 0 && level.Text != "" && level.Weight > -cannot {
				p.of[field.Name+"\x00"+level.Text] = len(p.levels)
				p.levels = append(p.levels, Moved{Field: field.Name, Text: level.Text, Before: level.Weight})
			}
		}
	}
	all := make([]said, len(answers))
	f := &Fitted{Answers: len(answers)}
	for i, a := range answers {
		all[i] = p.read(a, m.Threshold())
		if a.Same {
			f.Same++
		}
		for _, l := range all[i].levels {
			if a.Same {
				p.levels[l].Same++
			} else {
				p.levels[l].Different++
			}
		}
	}
	moved := p.fit(all)
	for l, level := range p.levels {
		if decides(level.Before) {
			continue
		}
		if level.After = hundredths(float64(level.Before)/100 + moved[l]); level.After != level.Before {
			f.Levels = append(f.Levels, level)
		}
	}
	f.Schema = reweighed(schema, f.Levels)
	f.validate(&p, all)
	return f
}

func (p *pupil) read(a Answer, threshold match.Weight) said {
	s := said{today: -float64(threshold) / 100}
	if a.Same {
		s.same = 1
	}
	for _, line := range a.Lines {
		s.today += float64(line.Weight) / 100
		if l, known := p.of[line.Attribute+"\x00"+line.Level]; known {
			s.levels = append(s.levels, l)
		}
	}
	return s
}

// of returns the distance of a pair's weight from the threshold.
func (s *said) of(moved []float64) float64 {
	sum := s.today
	for _, l := range s.levels {
		sum += moved[l]
	}
	return sum
}

// answered returns the probability that people say "same" of a pair that is so with probability p.
func answered(p float64) float64 { return slips + (1-2*slips)*p }

// fit returns by how many bits each level moves: coordinate descent with Newton's steps.
func (p *pupil) fit(answers []said) []float64 {
	moved := make([]float64, len(p.levels))
	with := make([][]int, len(p.levels)) // answers by level
	bits := make([]float64, len(answers))
	for i := range answers {
		bits[i] = answers[i].today
		for _, l := range answers[i].levels {
			with[l] = append(with[l], i)
		}
	}
	const certainty = 1.0 / (spread * spread)
	for range sweeps {
		for l := range moved {
			if len(with[l]) == 0 {
				continue
			}
			slope, curve := certainty*moved[l], certainty
			for _, i := range with[l] {
				p := likely(bits[i])
				said, rises := answered(p), math.Ln2*(1-2*slips)*p*(1-p)
				slope += rises * (said - answers[i].same) / (said * (1 - said))
				curve += rises * rises / (said * (1 - said))
			}
			step := min(max(-slope/curve, -1), 1)
			moved[l] += step
			for _, i := range with[l] {
				bits[i] += step
			}
		}
	}
	return moved
}

// reweighed returns the kind with moved weights.
func reweighed(today *match.Schema, levels []Moved) *match.Schema {
	schema := *today
	schema.Weights = map[string]map[string]match.Weight{}
	for line, of := range today.Weights {
		schema.Weights[line] = maps.Clone(of)
	}
	for _, level := range levels {
		if schema.Weights[level.Field] == nil {
			schema.Weights[level.Field] = map[string]match.Weight{}
		}
		schema.Weights[level.Field][level.Text] = level.After
	}
	return &schema
}

// validate judges both tables by answers that they did not see.
func (f *Fitted) validate(p *pupil, answers []said) {
	none := make([]float64, len(p.levels))
	for fold := range folds {
		var seen, unseen []said
		for i, s := range answers {
			if i%folds == fold {
				unseen = append(unseen, s)
			} else {
				seen = append(seen, s)
			}
		}
		moved := p.fit(seen)
		for i := range unseen {
			f.Today.add(&unseen[i], none)
			f.Learned.add(&unseen[i], moved)
		}
	}
	f.Today.Loss /= float64(max(len(answers), 1))
	f.Learned.Loss /= float64(max(len(answers), 1))
}

// add judges one answer.
func (j *Judged) add(s *said, moved []float64) {
	bits := s.of(moved)
	if (bits >= 0) != (s.same == 1) {
		j.Wrong++
	}
	bits = min(max(bits, -sure), sure)
	if s.same == 0 {
		bits = -bits
	}
	j.Loss -= math.Log2(answered(likely(bits)))
}
