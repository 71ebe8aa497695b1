// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"math"
	"time"
)

// View is a number of page views of a source at some time.
type View struct {
	Metric string
	At     time.Time
	N      int64
}

// popular is the average number of views per minute of each source.
var popular = [len(Sources)]float64{90, 40, 140, 12}

// Views returns the views of each source in one minute, or in one second of it: more by day than by night (UTC), and
// varying. They depend only on the seed and the time.
func (g *Generator) Views(at time.Time, in time.Duration) []View {
	views := make([]View, 0, len(Sources))
	hour := float64(at.Unix()%86400) / 3600
	day := 0.6 + 0.4*math.Sin((hour-9)/24*2*math.Pi) // lowest at 3:00, highest at 15:00
	for i, source := range Sources {
		r := random(g.seed, forViews+uint64(i), at.Unix())
		mean := popular[i] * day * in.Minutes()
		if n := int64(mean + math.Sqrt(mean)*r.NormFloat64()/2 + r.Float64()); n > 0 {
			views = append(views, View{Metric: "views " + source, At: at, N: n})
		}
	}
	return views
}
