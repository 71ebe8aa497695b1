// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		counts                Counts
		precision, recall, f1 float64
	}{
		{Counts{}, 1, 1, 1},
		{Counts{TruePositive: 3, FalsePositive: 1, FalseNegative: 2}, 0.75, 0.6, 2.0 / 3},
		{Counts{FalsePositive: 1}, 0, 1, 0},
		{Counts{FalseNegative: 1}, 1, 0, 0},
	} {
		if p, r, f := c.counts.Precision(), c.counts.Recall(), c.counts.F1(); !near(p, c.precision) || !near(r, c.recall) || !near(f, c.f1) {
			t.Errorf("%+v: %v %v %v, want %v %v %v", c.counts, p, r, f, c.precision, c.recall, c.f1)
		}
	}
}

func TestFigures_IntervalHoldsTheValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		units := make([]Counts, rapid.IntRange(0, 40).Draw(t, "units"))
		for i := range units {
			units[i] = decided(rapid.Bool().Draw(t, "decision"), rapid.Bool().Draw(t, "truth"))
		}
		p, r, f := figures(units)
		again, _, _ := figures(units)
		if p != again {
			t.Fatalf("%+v and %+v from the same units", p, again)
		}
		for _, x := range []Figure{p, r, f} {
			if x.Low > x.High || x.Low < 0 || x.High > 1 || math.IsNaN(x.Value) {
				t.Fatalf("%+v", x)
			}
		}
	})
}

func TestFigures_MoreUnitsNarrowerInterval(t *testing.T) {
	t.Parallel()
	width := func(n int) float64 {
		var units []Counts
		for i := range n {
			units = append(units, decided(true, i%4 != 0))
		}
		p, _, _ := figures(units)
		return p.High - p.Low
	}
	if few, many := width(40), width(4000); many*5 > few {
		t.Errorf("40 units: %v wide, 4,000: %v", few, many)
	}
}

func TestAveragePrecision(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		pairs []judged
		lost  int
		want  float64
	}{
		{"nothing to find", nil, 0, 1},
		{"all lost", nil, 2, 0},
		{"perfect", []judged{{900, true}, {800, true}, {100, false}}, 0, 1},
		{"one wrong first", []judged{{900, false}, {800, true}}, 0, 0.5},
		{"a tie is one step", []judged{{900, false}, {900, true}}, 0, 0.5},
		{"one of two lost", []judged{{900, true}}, 1, 0.5},
		{"order of input does not matter", []judged{{100, false}, {800, true}, {900, true}}, 0, 1},
	} {
		if got := averagePrecision(c.pairs, c.lost); !near(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCurve(t *testing.T) {
	t.Parallel()
	points := curve([]judged{{500, true}, {450, false}, {700, true}}, 1)
	for _, p := range points {
		want := Counts{TruePositive: 2, FalsePositive: 1, FalseNegative: 1}
		if p.Threshold > 450 {
			want.FalsePositive = 0
		}
		if p.Threshold > 500 {
			want.TruePositive, want.FalseNegative = 1, 2
		}
		if p.Threshold > 700 {
			want.TruePositive, want.FalseNegative = 0, 3
		}
		if !near(p.F1, want.F1()) || !near(p.Precision, want.Precision()) || !near(p.Recall, want.Recall()) {
			t.Errorf("at %s: %+v, want %+v", p.Threshold, p, want)
		}
	}
	if len(points) != 17 {
		t.Errorf("%d points", len(points))
	}
}

func TestPrecisionAt(t *testing.T) {
	t.Parallel()
	pairs := []judged{{900, true}, {800, true}, {800, false}, {700, true}, {600, false}, {500, true}}
	for _, c := range []struct {
		recall float64
		lost   int
		want   float64
	}{{0.75, 0, 0.75}, {0.8, 0, 4.0 / 6}, {0.25, 0, 1}, {0.9, 1, 0}} {
		if got := precisionAt(c.recall, pairs, c.lost); got != c.want {
			t.Errorf("recall %v, %d lost: %v, want %v", c.recall, c.lost, got, c.want)
		}
	}
}
