// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"
	"math"
	"slices"
	"time"
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

// Find answers with the first of a report's parts, such as its runs, that is the one; nil if none is.
func Find[P any](parts []P, is func(*P) bool) *P {
	for i := range parts {
		if is(&parts[i]) {
			return &parts[i]
		}
	}
	return nil
}

// Of is a figure of a part of a report, NaN if the report has no such part.
func Of[P any](part *P, figure func(*P) float64) float64 {
	if part == nil {
		return math.NaN()
	}
	return figure(part)
}

// Quantile of some times, which it sorts, in milliseconds.
func Quantile(times []time.Duration, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return float64(times[int(q*float64(len(times)-1))]) / float64(time.Millisecond)
}
