// SPDX-License-Identifier: Apache-2.0

package estimate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/locus-db/locus/internal/estimate"
	"github.com/locus-db/locus/internal/longtest"
)

// installation has the true share of each stratum of pairs that are the same thing.
type installation struct {
	strata []estimate.Stratum
	shares []float64
	asked  []int
}

// drawn returns the strata of one simulated installation with answers, and its true precision and recall. A quarter of
// the other pairs of the doubtful strata is decided too, always the wrong ones first, as a person does who looks for
// mistakes.
func (in *installation) drawn(random *rand.Rand, answers int) (strata []estimate.Stratum, precision, recall float64) {
	var together, wrong, missed float64
	for i, s := range in.strata {
		pairs := make([]bool, s.Pairs)
		for j := range pairs {
			pairs[j] = random.Float64() < in.shares[i]
		}
		s.Drawn = min(in.asked[i]*answers/100, s.Pairs)
		decided := make([]bool, s.Pairs)
		for j := range s.Drawn { // pairs are in an order by chance already
			decided[j] = true
		}
		for j := s.Pairs / 2; j < s.Pairs/2+s.Pairs/50; j++ {
			if pairs[j] != s.Joined {
				decided[j] = true
			}
		}
		for j, same := range pairs {
			if same {
				if j < s.Drawn {
					s.DrawnSame++
				}
				if decided[j] {
					s.DecidedSame++
				}
			}
			if decided[j] {
				s.Decided++
			}
			switch {
			case same && (s.Joined || decided[j]):
				together++
			case same:
				missed++
			case s.Joined && !decided[j]:
				wrong++
			}
		}
		strata = append(strata, s)
	}
	return strata, together / (together + wrong), together / (together + missed)
}

func simulated() map[string]*installation {
	joined, apart := estimate.Stratum{Joined: true}, estimate.Stratum{}
	of := func(s estimate.Stratum, pairs int) estimate.Stratum { s.Pairs = pairs; return s }
	return map[string]*installation{
		"as measured on places": {
			[]estimate.Stratum{of(joined, 4000), of(joined, 900), of(joined, 300), of(apart, 400), of(apart, 700),
				of(apart, 1500)},
			[]float64{.995, .95, .7, .5, .2, .03}, []int{30, 20, 15, 15, 10, 10},
		},
		"nearly perfect": {
			[]estimate.Stratum{of(joined, 20000), of(joined, 300), of(apart, 300)},
			[]float64{.9999, .98, .02}, []int{50, 25, 25},
		},
		"bad": {
			[]estimate.Stratum{of(joined, 500), of(joined, 500), of(apart, 500), of(apart, 3000)},
			[]float64{.6, .3, .5, .3}, []int{25, 25, 25, 25},
		},
		"small": {
			[]estimate.Stratum{of(joined, 80), of(joined, 20), of(apart, 20), of(apart, 30)},
			[]float64{.98, .8, .4, .1}, []int{40, 20, 20, 20},
		},
	}
}

// TestQuality_OneStratum checks known limits of simple cases: the result lies between the two limits of Clopper and
// Pearson that mid-P combines.
func TestQuality_OneStratum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		drawn, same     int
		low, value, top float64
	}{
		{0, 0, 0, .5, 1},
		{20, 20, .89, .977, 1},
		{20, 0, 0, .023, .11},
		{40, 20, .375, .5, .625},
	} {
		s := estimate.Stratum{Joined: true, Pairs: 100_000, Drawn: c.drawn, DrawnSame: c.same, Decided: c.drawn,
			DecidedSame: c.same}
		got := estimate.Quality([]estimate.Stratum{s}, .9)
		for what, pair := range map[string][2]float64{"low": {got.Precision.Low, c.low}, "value": {got.Precision.Value, c.value}, "high": {got.Precision.High, c.top}} {
			if math.Abs(pair[0]-pair[1]) > .015 {
				t.Errorf("%d of %d: %s is %.3f, want %.3f", c.same, c.drawn, what, pair[0], pair[1])
			}
		}
		if got.Recall != (estimate.Interval{Value: 1, Low: 1, High: 1}) {
			t.Errorf("%d of %d: recall %+v where nothing is missed", c.same, c.drawn, got.Recall)
		}
	}
	if got := estimate.Quality(nil, .9); got.Precision.Low != 1 || got.Recall.Value != 1 {
		t.Errorf("no pairs: %+v", got)
	}
	// Decided mistakes are put right.
	all := estimate.Stratum{Joined: true, Pairs: 50, Drawn: 50, DrawnSame: 30, Decided: 50, DecidedSame: 30}
	if got := estimate.Quality([]estimate.Stratum{all}, .9); got.Precision != (estimate.Interval{Value: 1, Low: 1, High: 1}) {
		t.Errorf("everything is decided: %+v", got)
	}
}

// TestQuality_IntervalsHoldTheTruth draws many installations and expects intervals of 90 % to contain the true values
// in about nine of ten or more, because intervals are wide if there are few answers.
func TestQuality_IntervalsHoldTheTruth(t *testing.T) {
	t.Parallel()
	runs := longtest.Sample(8, 8, 60, 1000)
	for name, in := range simulated() {
		for _, answers := range []int{60, 300} {
			random := rand.New(rand.NewPCG(5, uint64(answers)))
			precise, recalled, width := 0, 0, 0.0
			for range runs {
				strata, precision, recall := in.drawn(random, answers)
				e := estimate.Quality(strata, .9)
				if e.Precision.Low <= precision && precision <= e.Precision.High {
					precise++
				}
				if e.Recall.Low <= recall && recall <= e.Recall.High {
					recalled++
				}
				width += (e.Precision.High - e.Precision.Low + e.Recall.High - e.Recall.Low) / 2 / float64(runs)
			}
			t.Logf("%s, %d answers: precision held in %.1f %%, recall in %.1f %% of %d, mean width %.3f", name, answers,
				100*float64(precise)/float64(runs), 100*float64(recalled)/float64(runs), runs, width)
			// Three standard errors below 87 %, which the narrowest have in a thousand runs.
			if least := int(float64(runs)*.87 - 3*math.Sqrt(float64(runs)*.87*.13)); precise < least || recalled < least {
				t.Errorf("%s, %d answers: %d and %d of %d", name, answers, precise, recalled, runs)
			}
			if width > .5 {
				t.Errorf("%s, %d answers: intervals of width %.2f say nothing", name, answers, width)
			}
		}
	}
}
