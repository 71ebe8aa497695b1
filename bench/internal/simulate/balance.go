// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"math"

	"github.com/locus-db/locus/cell"
)

// balance draws the fullest and the emptiest cell of a generation. Hashing gives each of C cells a Poisson number
// of the records. The maximum of C such numbers is at most k with probability F(k)^C: it is drawn directly, as the
// quantile of F at u^(1/C), and the minimum in the same way from below.
func (s *simulation) balance(g *Generation) error {
	r := s.rand("balance", g.Generation)
	mean := float64(g.Records) / float64(g.Cells)
	fullest, emptiest := mean, mean
	if g.Cells > 1 {
		// The probability that one cell is beyond: 1 - u^(1/C), computed so that it is exact for large C.
		beyond := func() float64 { return -math.Expm1(math.Log(1-r.Float64()) / float64(g.Cells)) }
		fullest, emptiest = max(mean, above(mean, beyond())), min(mean, below(mean, beyond()))
	}
	g.Fullest, g.Emptiest, g.Used = fullest/mean, emptiest/mean, fullest/puids
	if fullest > puids {
		return fmt.Errorf("%w: generation %d would have to take %d records, %.0f of them in the fullest of its %d cells, but a cell has %d puids: begin the next generation earlier (a lower fill), or plan more cells",
			cell.ErrNoRoom, g.Generation, g.Records, fullest, g.Cells, int64(puids))
	}
	return nil
}

// counted is the mean up to which a Poisson distribution is summed; above it, the normal distribution corrected for
// skewness is accurate to a thousandth of a standard deviation.
const counted = 500

// above returns the number that a Poisson variable exceeds with probability q.
func above(mean, q float64) float64 {
	if mean > counted {
		return normal(mean, math.Sqrt2*math.Erfcinv(2*q))
	}
	k, p := 0.0, math.Exp(-mean)
	for rest := 1 - p; rest > q; rest -= p {
		k++
		p *= mean / k
	}
	return k
}

// below returns the number that a Poisson variable does not exceed with probability q.
func below(mean, q float64) float64 {
	if mean > counted {
		return normal(mean, -math.Sqrt2*math.Erfcinv(2*q))
	}
	k, p := 0.0, math.Exp(-mean)
	for sum := p; sum < q; sum += p {
		k++
		p *= mean / k
	}
	return k
}

// normal returns the Poisson number z standard deviations from the mean (Cornish and Fisher).
func normal(mean, z float64) float64 {
	return math.Round(mean + z*math.Sqrt(mean) + (z*z-1)/6)
}
