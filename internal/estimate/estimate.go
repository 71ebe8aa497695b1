// SPDX-License-Identifier: Apache-2.0

package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
)

// draws is the number of draws behind an interval.
const draws = 2000

// Stratum is a set of pairs that are alike, with the answers about them.
type Stratum struct {
	// Joined means that the pairs are in one entity, so the different ones are mistakes. In other strata the same ones
	// are mistakes.
	Joined bool
	Pairs  int // all
	// Drawn is how many were drawn by chance and answered, DrawnSame how many of these are the same thing.
	Drawn, DrawnSame int
	// Decided is how many pairs were answered for any reason, DecidedSame how many of these are the same thing. Both
	// include the drawn pairs. Answers are taken as right, and the mistakes that they found as corrected.
	Decided, DecidedSame int
}

// Interval is an estimate with its confidence interval.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Estimate is the estimated quality of a set of pairs.
type Estimate struct {
	// Precision is the share of the pairs put together that are the same thing.
	Precision Interval `json:"precision"`
	// Recall is the share of the pairs that are the same thing that were put together.
	Recall Interval `json:"recall"`
}

// Quality estimates precision and recall over all strata. level is how often the intervals should contain the truth,
// such as .9. Equal arguments give equal results. Without pairs both are 1.
func Quality(strata []Stratum, level float64) Estimate {
	random := rand.New(rand.NewPCG(17, 23))
	precisions, recalls := make([]float64, draws), make([]float64, draws)
	same := make([]float64, len(strata))
	for d := range draws {
		for i := range strata {
			same[i] = strata[i].draw(random)
		}
		precisions[d], recalls[d] = measured(strata, same)
	}
	for i, s := range strata {
		rest := float64(s.Pairs - s.Drawn)
		same[i] = s.within(float64(s.DrawnSame) + rest*(float64(s.DrawnSame)+.5)/(float64(s.Drawn)+1))
	}
	precision, recall := measured(strata, same)
	return Estimate{interval(precision, precisions, level), interval(recall, recalls, level)}
}

// measured returns precision and recall if that many pairs of each stratum are the same thing.
func measured(strata []Stratum, same []float64) (precision, recall float64) {
	var together, wrong, missed float64 // pairs that are the same thing and put together, that differ, that were not
	for i, s := range strata {
		if s.Joined {
			together += same[i]
			wrong += float64(s.Pairs) - same[i] - float64(s.Decided-s.DecidedSame)
		} else {
			together += float64(s.DecidedSame)
			missed += same[i] - float64(s.DecidedSame)
		}
	}
	return share(together, wrong), share(together, missed)
}

func share(of, and float64) float64 {
	if of+and == 0 {
		return 1
	}
	return of / (of + and)
}

// interval returns the middle part of results. It includes the value.
func interval(value float64, results []float64, level float64) Interval {
	slices.Sort(results)
	tail := int((1 - level) / 2 * float64(len(results)))
	return Interval{value, min(value, results[tail]), max(value, results[len(results)-1-tail])}
}

// draw returns how many pairs of the stratum may be the same thing.
func (s *Stratum) draw(random *rand.Rand) float64 {
	more, other := float64(s.DrawnSame), float64(s.Drawn-s.DrawnSame)
	if random.IntN(2) == 0 {
		more++
	} else {
		other++
	}
	return s.within(float64(s.DrawnSame) + binomial(random, s.Pairs-s.Drawn, beta(random, more, other)))
}

// within limits a number of pairs that are the same thing to a number consistent with the decisions.
func (s *Stratum) within(same float64) float64 {
	return min(max(same, float64(s.DecidedSame)), float64(s.Pairs-(s.Decided-s.DecidedSame)))
}

// beta draws from a beta distribution. One of a and b may be 0.
func beta(random *rand.Rand, a, b float64) float64 {
	switch {
	case a == 0:
		return 0
	case b == 0:
		return 1
	}
	x, y := gamma(random, a), gamma(random, b)
	return x / (x + y)
}

// gamma draws from a gamma distribution of shape 1 or more (Marsaglia and Tsang, 2000).
func gamma(random *rand.Rand, shape float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := random.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-random.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// binomial draws how many of n items have a property that each has with probability p. Large numbers are approximated.
func binomial(random *rand.Rand, n int, p float64) float64 {
	if mean := float64(n) * p; n > 100 && mean > 10 && float64(n)-mean > 10 {
		return min(max(math.Round(mean+math.Sqrt(mean*(1-p))*random.NormFloat64()), 0), float64(n))
	} else if n > 1000 { // one side is rare: Poisson
		if p > .5 {
			return float64(n) - poisson(random, float64(n)*(1-p))
		}
		return poisson(random, mean)
	}
	count := 0.0
	for range n {
		if random.Float64() < p {
			count++
		}
	}
	return count
}

// poisson draws from a Poisson distribution with a small mean.
func poisson(random *rand.Rand, mean float64) float64 {
	count := -1.0
	for left := mean; left >= 0; count++ {
		left -= random.ExpFloat64()
	}
	return count
}
