// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"
	"math"
	"slices"
)

// Series are the values of a figure in the rounds that have it, sorted.
type Series []float64

// Over gathers a figure of every report; NaN is none.
func Over[R any](reports []R, figure func(*R) float64) (s Series) {
	for i := range reports {
		if v := figure(&reports[i]); !math.IsNaN(v) {
			s = append(s, v)
		}
	}
	slices.Sort(s)
	return s
}

// Median is the one in the middle, or the mean of two, NaN of none.
func (s Series) Median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Ranged is the median with its unit, and the least and the greatest if there are several.
func (s Series) Ranged(figure func(float64) string, unit string) string {
	switch {
	case len(s) == 0:
		return ""
	case len(s) == 1:
		return figure(s[0]) + unit
	}
	return fmt.Sprintf("%s%s (%s to %s)", figure(s.Median()), unit, figure(s[0]), figure(s[len(s)-1]))
}
