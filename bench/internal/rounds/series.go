// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Series holds the values of a figure in the rounds that have it, sorted.
type Series []float64

// Over collects a figure of every report; NaN means none.
func Over[R any](reports []R, figure func(*R) float64) (s Series) {
	for i := range reports {
		if v := figure(&reports[i]); !math.IsNaN(v) {
			s = append(s, v)
		}
	}
	slices.Sort(s)
	return s
}

// Median returns the middle value, or the mean of the two middle ones; NaN if there is none.
func (s Series) Median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Ranged returns the median with its unit, and the minimum and maximum if there are several values.
func (s Series) Ranged(figure func(float64) string, unit string) string {
	switch {
	case len(s) == 0:
		return ""
	case len(s) == 1:
		return figure(s[0]) + unit
	}
	return fmt.Sprintf("%s%s (%s to %s)", figure(s.Median()), unit, figure(s[0]), figure(s[len(s)-1]))
}

// Find returns the first part of a report, for example a run, for which is returns true, or nil.
func Find[P any](parts []P, is func(*P) bool) *P {
	for i := range parts {
		if is(&parts[i]) {
			return &parts[i]
		}
	}
	return nil
}

// Of returns a figure of a part of a report, or NaN if the report has no such part.
func Of[P any](part *P, figure func(*P) float64) float64 {
	if part == nil {
		return math.NaN()
	}
	return figure(part)
}

// Quantile returns a quantile of times in milliseconds. It sorts the times.
func Quantile(times []time.Duration, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return float64(times[int(q*float64(len(times)-1))]) / float64(time.Millisecond)
}
