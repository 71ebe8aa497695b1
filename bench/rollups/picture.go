// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/bench/internal/rounds"
)

// The picture: on the left updates per second against the time until they are visible, on the right how stale
// answers are while a foreign transaction is open. Its colours are readable on white and on black.

const (
	pictureWidth, pictureHeight = 1100, 470

	style = `.shade { fill: #888; fill-opacity: 0.18 }
.load { stroke: #888; stroke-dasharray: 5 4 }
`
)

// colours of the methods.
var colours = map[string]string{
	"locus": "#1f77d0", "locus-sqlite": "#17a2a2", "ceiling": "#888888", "trigger-row": "#c06a00",
	"trigger-sum": "#e0a000",
	"view":        "#8a5cd0", "xmin": "#d0342c", "gin": "#4f9a3a", "group": "#b0589a",
}

// label is the name of a method at a height.
type label struct {
	method string
	y      float64
}

// plot is one half of the picture.
type plot struct {
	rounds.Plot
	// labels are the methods with the ends of their lines.
	labels []label
}

// frame draws the axes with their names and the grid.
func (p *plot) frame(title, x, y string, xs, ys []float64) {
	p.Text(p.X.From, p.Y.To-28, "start", "title", title)
	p.Text((p.X.From+p.X.To)/2, p.Y.From+38, "middle", "", x)
	p.Text(p.X.From-44, p.Y.To-8, "start", "", y)
	p.Frame(xs, ys, rounds.Whole)
}

// curve draws connected points, with the name of the method at their end.
func (p *plot) curve(method string, points [][2]float64, dots bool) {
	if len(points) == 0 {
		return
	}
	colour := colours[method]
	var path strings.Builder
	for i, pt := range points {
		if i > 0 {
			path.WriteByte(' ')
		}
		fmt.Fprintf(&path, "%.1f,%.1f", p.X.At(pt[0]), p.Y.At(pt[1]))
	}
	if len(points) > 1 {
		fmt.Fprintf(p, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", colour, path.String())
	}
	for _, pt := range points {
		if dots {
			fmt.Fprintf(p, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", p.X.At(pt[0]), p.Y.At(pt[1]), colour)
		}
	}
	p.labels = append(p.labels, label{method, p.Y.At(points[len(points)-1][1])})
}

// names writes the methods beside the plot, from the top, without overlaps.
func (p *plot) names() {
	const height = 15
	slices.SortFunc(p.labels, func(a, b label) int { return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.method, b.method)) })
	least := 0.0
	for i, l := range p.labels {
		y := max(l.y+4, least)
		if below := p.Y.From + 4 - height*float64(len(p.labels)-1-i); l.y >= p.Y.From {
			y = max(below, least) // of several labels at the lower edge the last one is not moved
		}
		least = y + height
		fmt.Fprintf(p, `<text x="%.0f" y="%.0f" style="fill: %s">%s</text>`+"\n",
			p.X.To+8, y, colours[l.method], html.EscapeString(strings.ReplaceAll(title(l.method), "**", "")))
	}
}

// picture draws both halves.
func picture(reports []Report) string {
	return rounds.SVG(pictureWidth, pictureHeight,
		"updates a second against the time until they are visible, and how stale answers are over time",
		style, func(b *strings.Builder) {
			drawSpeed(b, reports)
			drawFreshness(b, reports)
		})
}

func drawSpeed(b *strings.Builder, reports []Report) {
	p := &plot{Plot: rounds.Plot{Builder: b, X: rounds.Axis{Low: 100, High: 100_000, From: 60, To: 400, Log: true},
		Y: rounds.Axis{Low: 1, High: 100_000, From: 400, To: 60, Log: true}}}
	p.frame("How fast, and how late", "updates a second", "p99 until visible, ms", rounds.Decades(100, 100_000),
		rounds.Decades(1, 100_000))
	p.Line("load", p.X.At(textLoad), p.Y.From, p.X.At(textLoad), p.Y.To)
	p.Text(p.X.At(textLoad)+4, p.Y.To+14, "start", "", "the text's load")
	for _, m := range methods {
		var points [][2]float64
		for _, l := range loads(reports, m.Key) {
			x := ofRun(reports, m.Key, l, func(r *Run) float64 { return r.PerSecond }).Median()
			y := ofRun(reports, m.Key, l, func(r *Run) float64 { return r.VisibleP99 }).Median()
			if y > 0 && !l.Foreign && (l.Queue || m.Key == "view" || m.Key == "xmin") {
				points = append(points, [2]float64{x, y})
			}
		}
		slices.SortFunc(points, func(a, b [2]float64) int { return int(a[0] - b[0]) })
		p.curve(m.Key, points, true)
	}
	// A method that counts on demand is as late as an answer takes, however fast the documents change.
	for _, of := range [][2]string{{"gin", "gin"}, {"group", "ceiling"}} {
		key, writers := of[0], of[1]
		y := ofAnswer(reports, key, func(a *Answer) float64 { return a.All }).Median()
		x := ofRun(reports, writers, single, func(r *Run) float64 { return r.PerSecond }).Median()
		if !math.IsNaN(x + y) {
			p.curve(key, [][2]float64{{100, y}, {x, y}}, false)
		}
	}
	// Zero has no logarithm: it is drawn at the lower edge.
	for _, key := range append(slices.Clone(triggers), "ceiling") {
		if x := ofRun(reports, key, single, func(r *Run) float64 { return r.PerSecond }).Median(); !math.IsNaN(x) {
			p.curve(key, [][2]float64{{x, 0}}, true)
		}
	}
	p.Text(p.X.From+4, p.Y.From-8, "start", "", "0: at commit")
	p.names()
}

// drawFreshness draws how stale answers are, for the methods measured with a foreign transaction.
func drawFreshness(b *strings.Builder, reports []Report) {
	var end, from, to float64
	for i := range reports {
		for _, f := range reports[i].Fresh {
			from, to = f.From, f.To
			end = max(end, f.Points[len(f.Points)-1][0])
		}
	}
	if end == 0 {
		return
	}
	p := &plot{Plot: rounds.Plot{Builder: b, X: rounds.Axis{Low: 0, High: end, From: 650, To: 940},
		Y: rounds.Axis{Low: 1, High: 100_000, From: 400, To: 60, Log: true}}}
	var seconds []float64
	for s := 0.0; s <= end; s += 5 {
		seconds = append(seconds, s)
	}
	fmt.Fprintf(p, `<rect class="shade" x="%.1f" y="%.0f" width="%.1f" height="%.0f"/>`+"\n", p.X.At(from), p.Y.To,
		p.X.At(to)-p.X.At(from), p.Y.From-p.Y.To)
	p.frame("A foreign transaction is open", "seconds", "oldest update not visible, ms", seconds,
		rounds.Decades(1, 100_000))
	for _, m := range methods {
		p.curve(m.Key, freshness(reports, m.Key), false)
	}
	p.names()
}

// freshness returns the median of the invocations, point by point.
func freshness(reports []Report, method string) (points [][2]float64) {
	values := map[float64]rounds.Series{}
	for i := range reports {
		for _, f := range reports[i].Fresh {
			for _, pt := range f.Points {
				if f.Method == method {
					values[pt[0]] = append(values[pt[0]], pt[1])
				}
			}
		}
	}
	for at, s := range values {
		slices.Sort(s)
		points = append(points, [2]float64{at, s.Median()})
	}
	slices.SortFunc(points, func(a, b [2]float64) int { return int(10*a[0]) - int(10*b[0]) })
	return points
}
