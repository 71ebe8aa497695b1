// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"math"
	"time"
)

// View is how often the pages of a source were looked at, at some time.
type View struct {
	Metric string
	At     time.Time
	N      int64
}

// popular is how many views a minute each source has on the average.
var popular = [len(Sources)]float64{90, 40, 140, 12}

// Views are those of each source in one minute, or in one second of it: more by day than by night, by UTC, and never
// twice the same. They depend on the seed and the time alone.
func (g *Generator) Views(at time.Time, in time.Duration) []View {
	views := make([]View, 0, len(Sources))
	hour := float64(at.Unix()%86400) / 3600
	day := 0.6 + 0.4*math.Sin((hour-9)/24*2*math.Pi) // least at 3, most at 15
	for i, source := range Sources {
		r := random(g.seed, forViews+uint64(i), at.Unix())
		mean := popular[i] * day * in.Minutes()
		if n := int64(mean + math.Sqrt(mean)*r.NormFloat64()/2 + r.Float64()); n > 0 {
			views = append(views, View{Metric: "views " + source, At: at, N: n})
		}
	}
	return views
}
