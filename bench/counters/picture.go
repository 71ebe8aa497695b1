// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/term"
)

// The picture is the source text's: over the time of the day how many hits a second are written, a dot for each
// minute. A column for each database; above each has an axis of its own, which is linear, below all have the same
// one, which is logarithmic. Its colours are read on white and on black.

const (
	pictureWidth, pictureHeight = 1110, 730
	panelWidth, panelHeight     = 285, 250

	style = `<style>
text { font: 12px sans-serif; fill: #444 }
.title { font-size: 14px; font-weight: bold }
.grid { stroke: #888; stroke-opacity: 0.25 }
.frame { stroke: #888; fill: none }
.dots { fill: none; stroke-width: 22; stroke-linecap: round; stroke-opacity: 0.75 }
@media (prefers-color-scheme: dark) { text { fill: #ccc } }
</style>
`
)

// panels are the columns of the picture, with the methods in each and their colours.
var panels = []struct {
	title   string
	methods []Method
	colours []string
}{
	{
		"PostgreSQL",
		[]Method{{"locus", "Locus"}, {"growing", "document, growing"}, {"flat", "preallocated, flat"}, {"tree", "preallocated, hierarchical"}},
		[]string{"#1f77d0", "#d0342c", "#e0a000", "#8a5cd0"},
	},
	{"SQLite", []Method{{"locus-sqlite", "Locus"}, {"growing-sqlite", "document, growing"}}, []string{"#1f77d0", "#d0342c"}},
	{"Redis", []Method{{"redis", "hash tables"}, {"redis-list", "its default: lists at first"}}, []string{"#4f9a3a", "#c06a00"}},
}

// axis maps values of a range to a line of pixels, by their logarithm if it says so.
type axis struct {
	low, high float64 // values
	from, to  float64 // pixels
	log       bool
}

func (a axis) at(v float64) float64 {
	v = min(max(v, a.low), a.high)
	if a.log {
		return a.from + (a.to-a.from)*math.Log(v/a.low)/math.Log(a.high/a.low)
	}
	return a.from + (a.to-a.from)*(v-a.low)/(a.high-a.low)
}

// plot is one panel.
type plot struct {
	*strings.Builder
	x, y axis
}

func (p *plot) text(x, y float64, anchor, class, text string) {
	fmt.Fprintf(p, `<text x="%.0f" y="%.0f" text-anchor="%s"`, x, y, anchor)
	if class != "" {
		fmt.Fprintf(p, ` class="%s"`, class)
	}
	fmt.Fprintf(p, ">%s</text>\n", html.EscapeString(text))
}

func (p *plot) line(x1, y1, x2, y2 float64) {
	fmt.Fprintf(p, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", x1, y1, x2, y2)
}

// frame draws the axes and the grid.
func (p *plot) frame(ys []float64) {
	for h := 0; h <= 24; h += 6 {
		x := p.x.at(float64(60 * h))
		p.line(x, p.y.from, x, p.y.to)
		p.text(x, p.y.from+18, "middle", "", fmt.Sprintf("%02d:00", h))
	}
	for _, v := range ys {
		p.line(p.x.from, p.y.at(v), p.x.to, p.y.at(v))
		p.text(p.x.from-6, p.y.at(v)+4, "end", "", term.Count(int64(int(v))))
	}
	fmt.Fprintf(p, `<rect class="frame" x="%.0f" y="%.0f" width="%.0f" height="%.0f"/>`+"\n", p.x.from, p.y.to, p.x.to-p.x.from, p.y.from-p.y.to)
}

// dots draws a dot for each minute: one path of tenths of pixels, each dot relative to the one before, so
// that a day is some kilobytes.
func (p *plot) dots(colour string, dots map[int]float64) {
	fmt.Fprintf(p, `<path class="dots" stroke="%s" transform="scale(0.1)" d="M`, colour)
	x, y := 0, 0
	for i, minute := range sortedKeys(dots) {
		toX, toY := int(math.Round(10*p.x.at(float64(minute)))), int(math.Round(10*p.y.at(dots[minute])))
		if i == 0 {
			fmt.Fprintf(p, "%d %dh0", toX, toY)
		} else {
			fmt.Fprintf(p, "m%d %dh0", toX-x, toY-y)
		}
		x, y = toX, toY
	}
	p.WriteString("\"/>\n")
}

func sortedKeys(dots map[int]float64) []int {
	keys := make([]int, 0, len(dots))
	for k := range dots {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// picture draws all panels.
func picture(reports []Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="hits written a second over the time of the day, in the source text's documents, in Locus and in Redis">`+"\n",
		pictureWidth, pictureHeight)
	b.WriteString(style)
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
		left := 70 + float64(i)*(panelWidth+75)
		x := axis{low: 0, high: 24 * 60, from: left, to: left + panelWidth}
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
		linear := &plot{&b, x, axis{low: 0, high: step * math.Ceil(highest/step), from: 60 + panelHeight, to: 60}}
		log := &plot{&b, x, axis{low: low, high: high, from: 375 + panelHeight, to: 375, log: true}}
		linear.text(left, 25, "start", "title", panel.title)
		linear.text(left-60, 48, "start", "", "hits a second")
		log.text(left-60, 363, "start", "", "the same, one logarithmic axis")
		linear.frame(multiples(step, highest))
		log.frame(decades(low, high))
		for n, m := range panel.methods {
			if len(all[m.Key]) == 0 {
				continue
			}
			linear.dots(panel.colours[n], all[m.Key])
			log.dots(panel.colours[n], all[m.Key])
			y := 665 + 17*float64(n)
			fmt.Fprintf(&b, `<circle cx="%.0f" cy="%.0f" r="4" fill="%s"/>`+"\n", left+5, y-4, panel.colours[n])
			log.text(left+16, y, "start", "", m.Title)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// nice is a round number near v: 1, 2 or 5 times a power of ten.
func nice(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 2, 5} {
		if v <= n*unit {
			return n * unit
		}
	}
	return 10 * unit
}

// multiples of a step, from 0 to the first that is not below high.
func multiples(step, high float64) (all []float64) {
	for n := range int(math.Ceil(high/step)) + 1 {
		all = append(all, float64(n)*step)
	}
	return all
}

// decades are the powers of ten of a range.
func decades(low, high float64) (all []float64) {
	for v := low; v <= 1.001*high; v *= 10 {
		all = append(all, v)
	}
	return all
}
