// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/bench/internal/rounds"
)

// The picture is the source text's: hits written per second over the time of day, a dot per minute. There is a
// column per database; the upper panel has its own linear axis, the lower panels share a logarithmic one. Its
// colours are readable on white and on black.

const (
	pictureHeight           = 730
	panelWidth, panelHeight = 285, 250
	panelLeft, panelGap     = 70, 75

	style = `.dots { fill: none; stroke-width: 22; stroke-linecap: round; stroke-opacity: 0.75 }
`
)

// panels are the columns of the picture, with the methods and colours of each. The last one is left out if it was
// not measured.
var panels = []struct {
	title   string
	methods []Method
	colours []string
}{
	{
		"PostgreSQL",
		[]Method{{"locus", "Locus"}, {"growing", "document, growing"}, {"flat", "preallocated, flat"},
			{"tree", "preallocated, hierarchical"}},
		[]string{"#1f77d0", "#d0342c", "#e0a000", "#8a5cd0"},
	},
	{"SQLite", []Method{{"locus-sqlite", "Locus"}, {"growing-sqlite", "document, growing"}},
		[]string{"#1f77d0", "#d0342c"}},
	{"Redis", []Method{{"redis", "hash tables"}, {"redis-list", "its default: lists at first"}},
		[]string{"#4f9a3a", "#c06a00"}},
	{
		"MongoDB",
		[]Method{{"locus-mongodb", "Locus"}, {"growing-mongodb", "document, growing"}, {"flat-mongodb", "preallocated, flat"},
			{"tree-mongodb", "preallocated, hierarchical"}},
		[]string{"#1f77d0", "#d0342c", "#e0a000", "#8a5cd0"},
	},
}

// plot is one panel.
type plot struct{ rounds.Plot }

// frame draws the axes, the lower one in hours, and the grid.
func (p *plot) frame(ys []float64) {
	p.Frame([]float64{0, 6 * 60, 12 * 60, 18 * 60, 24 * 60}, ys, func(minute float64) string { return fmt.Sprintf("%02.0f:00", minute/60) })
}

// dots draws a dot per minute: one path in tenths of pixels with relative moves, so that a day takes only some
// kilobytes.
func (p *plot) dots(colour string, dots map[int]float64) {
	fmt.Fprintf(p, `<path class="dots" stroke="%s" transform="scale(0.1)" d="M`, colour)
	x, y := 0, 0
	for i, minute := range slices.Sorted(maps.Keys(dots)) {
		toX, toY := int(math.Round(10*p.X.At(float64(minute)))), int(math.Round(10*p.Y.At(dots[minute])))
		if i == 0 {
			fmt.Fprintf(p, "%d %dh0", toX, toY)
		} else {
			fmt.Fprintf(p, "m%d %dh0", toX-x, toY-y)
		}
		x, y = toX, toY
	}
	p.WriteString("\"/>\n")
}

// picture draws all panels.
func picture(reports []Report) string {
	columns := len(panels)
	if !slices.ContainsFunc(panels[columns-1].methods, func(m Method) bool { return len(dotsOf(reports, m.Key)) > 0 }) {
		columns--
	}
	return rounds.SVG(panelLeft-40+columns*(panelWidth+panelGap), pictureHeight,
		"hits written a second over the time of the day, in the source text's documents, in Locus and in Redis",
		style, func(b *strings.Builder) { drawPanels(b, reports) })
}

func drawPanels(b *strings.Builder, reports []Report) {
	all := map[string]map[int]float64{}
	low, high := math.Inf(1), 0.0
	for _, p := range panels {
		for _, m := range p.methods {
			all[m.Key] = dotsOf(reports, m.Key)
			for _, v := range all[m.Key] {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	low, high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
	for i, panel := range panels {
		left := panelLeft + float64(i)*(panelWidth+panelGap)
		x := rounds.Axis{Low: 0, High: 24 * 60, From: left, To: left + panelWidth}
		highest := 0.0
		for _, m := range panel.methods {
			for _, v := range all[m.Key] {
				highest = max(highest, v)
			}
		}
		if highest == 0 {
			continue
		}
		step := nice(highest / 5)
		linear := &plot{rounds.Plot{Builder: b, X: x,
			Y: rounds.Axis{Low: 0, High: step * math.Ceil(highest/step), From: 60 + panelHeight, To: 60}}}
		log := &plot{rounds.Plot{Builder: b, X: x,
			Y: rounds.Axis{Low: low, High: high, From: 375 + panelHeight, To: 375, Log: true}}}
		linear.Text(left, 25, "start", "title", panel.title)
		linear.Text(left-60, 48, "start", "", "hits a second")
		log.Text(left-60, 363, "start", "", "the same, one logarithmic axis")
		linear.frame(multiples(step, highest))
		log.frame(rounds.Decades(low, high))
		for n, m := range panel.methods {
			if len(all[m.Key]) == 0 {
				continue
			}
			linear.dots(panel.colours[n], all[m.Key])
			log.dots(panel.colours[n], all[m.Key])
			y := 665 + 17*float64(n)
			fmt.Fprintf(b, `<circle cx="%.0f" cy="%.0f" r="4" fill="%s"/>`+"\n", left+5, y-4, panel.colours[n])
			log.Text(left+16, y, "start", "", m.Title)
		}
	}
}

// nice returns a round number near v: 1, 2 or 5 times a power of ten.
func nice(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 2, 5} {
		if v <= n*unit {
			return n * unit
		}
	}
	return 10 * unit
}

// multiples returns the multiples of a step, from 0 to the first that is not below high.
func multiples(step, high float64) (all []float64) {
	for n := range int(math.Ceil(high/step)) + 1 {
		all = append(all, float64(n)*step)
	}
	return all
}
