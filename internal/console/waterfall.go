// SPDX-License-Identifier: Apache-2.0

package console

import (
	"strconv"

	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/match"
)

// waterfall is one join as bars that add up: each begins where the previous one ended, and the last is the sum.
type waterfall struct {
	Number    int // of the join on the page, from 1
	Open      bool
	Weak      bool // the weakest of several
	A, B      int  // numbers of the records
	RefA      string
	RefB      string
	Sum       string
	Verdict   string // the sum in words
	Threshold string
	Steps     []step
	Total     bar
	Zero      string // positions of the lines for zero and for the threshold
	Mark      string
	Met       []met
	Command   string
}

// step is one row of evidence.
type step struct {
	Attribute string
	Level     string
	Weight    string
	Running   string // the running sum
	A, B      []string
	Hidden    bool // the viewer may not see A and B
	Bar       bar
}

// bar is a part of the scale, in percent.
type bar struct {
	X, Width string
	Against  bool // evidence against the join
}

// met is a blocking key that the two records share.
type met struct{ Kind, Text string }

func waterfalls(why *explain.Explanation) []waterfall {
	all, weak := make([]waterfall, len(why.Joins)), weakestJoin(why.Joins)
	for i, j := range why.Joins {
		if j.Explanation.A == match.NodeKey(j.B) {
			j.A, j.B = j.B, j.A // the order of the values in the explanation
		}
		w := newWaterfall(j.Explanation, why.Threshold)
		w.Number, w.Open, w.Weak = i+1, len(why.Joins) <= openJoins, i == weak
		w.RefA, w.RefB = j.A.String(), j.B.String()
		w.A, w.B = number(why.Records, j.A), number(why.Records, j.B)
		w.Command = command("locus", "entity", "why", w.RefA, w.RefB)
		all[i] = w
	}
	return all
}

func newWaterfall(e match.Explanation, threshold match.Weight) waterfall {
	s := newScale(e.Lines, threshold)
	w := waterfall{
		Sum:       e.Weight.String(),
		Verdict:   odds(bits(e.Weight)),
		Threshold: threshold.String(),
		Total:     s.bar(0, int(e.Weight)),
		Zero:      s.at(0),
		Mark:      s.at(int(threshold)),
	}
	sum := 0
	for _, l := range e.Lines {
		w.Steps = append(w.Steps, step{
			Attribute: l.Attribute,
			Level:     l.Level,
			Weight:    l.Weight.String(),
			Running:   match.Weight(sum + int(l.Weight)).String(),
			A:         l.A,
			B:         l.B,
			Hidden:    l.Hidden,
			Bar:       s.bar(sum, sum+int(l.Weight)),
		})
		sum += int(l.Weight)
	}
	for _, f := range e.BlockingKeys {
		w.Met = append(w.Met, met{f.Kind.String(), f.Text})
	}
	return w
}

func bits(s match.Weight) float64 { return float64(s) / 100 }

// scale maps scores to positions in a waterfall, so that every running sum and the threshold fit.
type scale struct{ low, high int }

func newScale(lines []match.Line, threshold match.Weight) scale {
	s := scale{min(0, int(threshold)), max(0, int(threshold))}
	sum := 0
	for _, l := range lines {
		sum += int(l.Weight)
		s.low, s.high = min(s.low, sum), max(s.high, sum)
	}
	if s.low == s.high {
		s.high++
	}
	return s
}

// at returns the position of a score, in percent from the left.
func (s scale) at(weight int) string { return s.percent(weight - s.low) }

func (s scale) percent(distance int) string {
	return strconv.FormatFloat(100*float64(distance)/float64(s.high-s.low), 'f', 2, 64) + "%"
}

// bar returns the bar between two sums.
func (s scale) bar(from, to int) bar {
	low, high := min(from, to), max(from, to)
	return bar{X: s.at(low), Width: s.percent(high - low), Against: to < from}
}
