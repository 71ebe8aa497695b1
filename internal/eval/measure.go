// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/locus-db/locus/match"
)

// Counts are the outcomes of a set of decisions, or one entity's share of them.
type Counts struct {
	TruePositive  int `json:"true_positive"`
	FalsePositive int `json:"false_positive"`
	FalseNegative int `json:"false_negative"`
}

func (c *Counts) add(d Counts) {
	c.TruePositive += d.TruePositive
	c.FalsePositive += d.FalsePositive
	c.FalseNegative += d.FalseNegative
}

// Precision returns the share of correct matches among all matches, 1 if there is none.
func (c Counts) Precision() float64 { return ratio(c.TruePositive, c.TruePositive+c.FalsePositive) }

// Recall returns the share of true pairs that were found, 1 if there is none.
func (c Counts) Recall() float64 { return ratio(c.TruePositive, c.TruePositive+c.FalseNegative) }

// F1 returns the harmonic mean of precision and recall.
func (c Counts) F1() float64 {
	return ratio(2*c.TruePositive, 2*c.TruePositive+c.FalsePositive+c.FalseNegative)
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// Figure is a value between 0 and 1 with its 95 % interval.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// A fixed number of draws and a fixed seed make an interval a function of the counts.
const (
	draws = 2000
	seed  = 20130618
)

// figures returns precision, recall and F1 with the percentile intervals of a bootstrap over entities: units are drawn
// with replacement and their counts summed.
func figures(units []Counts) (precision, recall, f1 Figure) {
	var all Counts
	for _, u := range units {
		all.add(u)
	}
	of := bootstrap(len(units), func(drawn func() int) [3]float64 {
		var sum Counts
		for range units {
			sum.add(units[drawn()])
		}
		return [3]float64{sum.Precision(), sum.Recall(), sum.F1()}
	}, [3]float64{all.Precision(), all.Recall(), all.F1()})
	return of[0], of[1], of[2]
}

// bootstrap repeatedly draws from n units with replacement.
func bootstrap(n int, draw func(drawn func() int) [3]float64, values [3]float64) (of [3]Figure) {
	random := rand.New(rand.NewPCG(seed, seed))
	samples := [3][]float64{}
	for range draws {
		for i, v := range draw(func() int { return random.IntN(n) }) {
			samples[i] = append(samples[i], v)
		}
	}
	for i, sample := range samples {
		slices.Sort(sample)
		of[i] = Figure{Value: values[i], Low: sample[draws*25/1000], High: sample[draws*975/1000]}
	}
	return of
}

// judged is a compared pair and its truth.
type judged struct {
	score match.Weight
	same  bool
}

// averagePrecision returns the mean of the precision at every true pair, from the highest score down. Lost true pairs,
// which were never compared, count as 0. Pairs with the same score are counted together.
func averagePrecision(pairs []judged, lost int) float64 {
	pairs = slices.Clone(pairs)
	slices.SortStableFunc(pairs, func(a, b judged) int { return cmp.Compare(b.score, a.score) })
	var sum float64
	positive, seen := 0, 0
	for i := 0; i < len(pairs); {
		j, found := i, 0
		for ; j < len(pairs) && pairs[j].score == pairs[i].score; j++ {
			if pairs[j].same {
				found++
			}
		}
		seen, positive = seen+j-i, positive+found
		sum += float64(found) * float64(positive) / float64(seen)
		i = j
	}
	if positive+lost == 0 {
		return 1
	}
	return sum / float64(positive+lost)
}

// automaticRecall is the share of the pairs that automatic merges are to find.
const automaticRecall = 0.8

// precisionAt returns the best precision of a threshold with at least the given recall: the quality of automatic merges
// if the rest is left to human review.
func precisionAt(recall float64, pairs []judged, lost int) float64 {
	pairs = slices.Clone(pairs)
	slices.SortStableFunc(pairs, func(a, b judged) int { return cmp.Compare(b.score, a.score) })
	positive := lost
	for _, p := range pairs {
		if p.same {
			positive++
		}
	}
	best, found := 0.0, 0
	for i, p := range pairs {
		if p.same {
			found++
		}
		last := i+1 == len(pairs) || pairs[i+1].score != p.score
		if last && float64(found) >= recall*float64(positive) {
			best = max(best, ratio(found, i+1))
		}
	}
	return best
}

// Point is one threshold on a curve.
type Point struct {
	Threshold match.Weight `json:"threshold"`
	Precision float64      `json:"precision"`
	Recall    float64      `json:"recall"`
	F1        float64      `json:"f1"`
}

// curve returns the quality at thresholds from T - 4 to T + 4 bits.
func curve(pairs []judged, lost int) []Point {
	var points []Point
	for t := match.Threshold - 400; t <= match.Threshold+400; t += 50 {
		c := Counts{FalseNegative: lost}
		for _, p := range pairs {
			switch {
			case p.score >= t && p.same:
				c.TruePositive++
			case p.score >= t:
				c.FalsePositive++
			case p.same:
				c.FalseNegative++
			}
		}
		points = append(points, Point{Threshold: t, Precision: c.Precision(), Recall: c.Recall(), F1: c.F1()})
	}
	return points
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
