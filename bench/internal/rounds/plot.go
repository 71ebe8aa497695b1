// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/locus-db/locus/internal/term"
)

// SVG returns a picture that draw fills. label is its alternative text; style adds classes to those of a Plot.
// Neither is escaped. Text and lines are readable on white and on black.
func SVG(width, height int, label, style string, draw func(*strings.Builder)) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", width,
		height, label)
	b.WriteString(`<style>
text { font: 12px sans-serif; fill: #444 }
.title { font-size: 14px; font-weight: bold }
.grid { stroke: #888; stroke-opacity: 0.25 }
.frame { stroke: #888; fill: none }
` + style + `@media (prefers-color-scheme: dark) { text { fill: #ccc } }
</style>
`)
	draw(&b)
	b.WriteString("</svg>\n")
	return b.String()
}

// Axis maps a range of values to a line of pixels, by logarithm if Log is set.
type Axis struct {
	Low, High float64 // values
	From, To  float64 // pixels
	Log       bool
}

// At returns the pixel of a value, clamped to the range.
func (a Axis) At(v float64) float64 {
	v = min(max(v, a.Low), a.High)
	if a.Log {
		return a.From + (a.To-a.From)*math.Log(v/a.Low)/math.Log(a.High/a.Low)
	}
	return a.From + (a.To-a.From)*(v-a.Low)/(a.High-a.Low)
}

// Plot is a part of a picture that has axes.
type Plot struct {
	*strings.Builder
	X, Y Axis
}

// Text writes text at a point that is its start, middle or end.
func (p *Plot) Text(x, y float64, anchor, class, text string) {
	fmt.Fprintf(p, `<text x="%.0f" y="%.0f" text-anchor="%s"`, x, y, anchor)
	if class != "" {
		fmt.Fprintf(p, ` class="%s"`, class)
	}
	fmt.Fprintf(p, ">%s</text>\n", html.EscapeString(text))
}

// Line draws a line between two points.
func (p *Plot) Line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(p, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", class, x1, y1, x2, y2)
}

// Frame draws a grid for some values of each axis, and a frame around it. name labels a value of the lower axis.
func (p *Plot) Frame(xs, ys []float64, name func(float64) string) {
	for _, v := range xs {
		p.Line("grid", p.X.At(v), p.Y.From, p.X.At(v), p.Y.To)
		p.Text(p.X.At(v), p.Y.From+18, "middle", "", name(v))
	}
	for _, v := range ys {
		p.Line("grid", p.X.From, p.Y.At(v), p.X.To, p.Y.At(v))
		p.Text(p.X.From-6, p.Y.At(v)+4, "end", "", Whole(v))
	}
	fmt.Fprintf(p, `<rect class="frame" x="%.0f" y="%.0f" width="%.0f" height="%.0f"/>`+"\n", p.X.From, p.Y.To,
		p.X.To-p.X.From, p.Y.From-p.Y.To)
}

// Whole labels a value of an axis by its integer part.
func Whole(v float64) string { return term.Count(int64(v)) }

// Decades returns the powers of ten in a range. The tolerance includes the upper end despite rounding.
func Decades(low, high float64) (all []float64) {
	for v := low; v <= 1.001*high; v *= 10 {
		all = append(all, v)
	}
	return all
}
