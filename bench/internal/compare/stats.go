// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"slices"

	"github.com/locus-db/locus/bench/internal/rounds"
)

// median returns the middle value, or the mean of the two middle ones; NaN if there is none.
func median(values []float64) float64 {
	return rounds.Series(slices.Sorted(slices.Values(values))).Median()
}

// series holds a value of each invocation that has one.
type series []float64

func (s series) median() float64 { return median(s) }
func (s series) min() float64    { return slices.Min(s) }
func (s series) max() float64    { return slices.Max(s) }

// runs are the invocations of one toolchain.
type runs []*invocation

// values returns the median of m's figures in each invocation that measured it.
func (r runs) values(m measured, unit string) (s series) {
	for _, inv := range r {
		if of := inv.samples[m][unit]; len(of) > 0 {
			s = append(s, median(of))
		}
	}
	return s
}

// allocs returns the maximum number of allocations per operation over all invocations.
func (r runs) allocs(m measured) float64 {
	most := 0.0
	for _, inv := range r {
		if of := inv.samples[m]["allocs/op"]; len(of) > 0 {
			most = max(most, median(of))
		}
	}
	return most
}

// ratios divides the figure of one by that of the other in each invocation that measured both.
func (r runs) ratios(dividend, divisor measured, unit string) (s series) {
	for _, inv := range r {
		a, b := inv.samples[dividend][unit], inv.samples[divisor][unit]
		if len(a) > 0 && len(b) > 0 {
			s = append(s, median(a)/median(b))
		}
	}
	return s
}

// cpus returns the processor counts that a benchmark was measured with, in order.
func (r runs) cpus(bench string) (counts []int) {
	for _, inv := range r {
		for m := range inv.samples {
			if m.bench == bench && !slices.Contains(counts, m.cpu) {
				counts = append(counts, m.cpu)
			}
		}
	}
	slices.Sort(counts)
	return counts
}
