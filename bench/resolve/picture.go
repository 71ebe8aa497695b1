// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/locus-db/locus/bench/internal/rounds"
)

// colours of the backends, readable on white and on black.
var colours = map[string]string{"sqlite": "#1f77d0", "postgres": "#c06a00"}

// names of the backends for display.
var names = [][2]string{{"sqlite", "SQLite"}, {"postgres", "PostgreSQL"}}

// picture draws, over the number of records, the rate of resolution, the cost of a record, its comparisons, and the
// size.
func picture(all []slice) string {
	var most float64
	for _, s := range all {
		most = max(most, float64(s.Records))
	}
	return rounds.SVG(1460, 380, "resolves a second, processor time, candidates and bytes a record, over the number of records", "", func(b *strings.Builder) {
		if most == 0 {
			return
		}
		for i, what := range []struct {
			title  string
			figure func(slice) float64
		}{
			{"Durable resolves a second", func(s slice) float64 { return s.PerSecond }},
			{"Processor time in Locus, µs", func(s slice) float64 { return s.CPU }},
			{"Candidates of a record", func(s slice) float64 { return s.Compared }},
			{"Bytes of a record on disk", func(s slice) float64 { return s.Bytes }},
		} {
			left := 60 + 360*float64(i)
			draw(b, what.title, all, most, left, left+295, what.figure)
		}
	})
}

func draw(b *strings.Builder, title string, all []slice, most, left, right float64, figure func(slice) float64) {
	var high float64
	for _, s := range all {
		high = max(high, figure(s))
	}
	ys := steps(high)
	p := rounds.Plot{Builder: b, X: rounds.Axis{Low: 0, High: most, From: left, To: right},
		Y: rounds.Axis{Low: 0, High: ys[len(ys)-1], From: 310, To: 60}}
	p.Text(left, 24, "start", "title", title)
	xs := steps(most)
	if xs[len(xs)-1] > most {
		xs = xs[:len(xs)-1]
	}
	p.Frame(xs, ys, func(v float64) string {
		if v >= 1e6 {
			return fmt.Sprintf("%gM", v/1e6)
		}
		return fmt.Sprintf("%gk", v/1e3)
	})
	p.Text((left+right)/2, 350, "middle", "", "records")
	x := left
	for _, name := range names {
		var points strings.Builder
		for _, s := range all {
			if s.Backend == name[0] && figure(s) > high/50 { // early in a run the data is still in the logs
				fmt.Fprintf(&points, "%.1f,%.1f ", p.X.At(float64(s.Records)), p.Y.At(figure(s)))
			}
		}
		if points.Len() == 0 {
			continue
		}
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", colours[name[0]],
			strings.TrimSpace(points.String()))
		fmt.Fprintf(b, `<text x="%.0f" y="46" style="fill: %s">%s</text>`+"\n", x, colours[name[0]], name[1])
		x += 90
	}
}

// steps returns round values from 0 to the first above high, four to eight of them.
func steps(high float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10(max(high, 1)/2)))
	for _, times := range []float64{1, 2, 5, 10} {
		if high/(times*step) <= 6 {
			step *= times
			break
		}
	}
	all := []float64{0}
	for v := step; all[len(all)-1] < high; v += step {
		all = append(all, v)
	}
	return all
}
