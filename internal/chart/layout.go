// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"time"
)

// marks are the elements of a picture, in drawing order.
type marks struct {
	width, height int
	ground        string
	left, right   float64 // of the area of the values
	list          []mark
}

// mark is a path or a text.
type mark struct {
	// runs are the lines of a path; a run of one point is a dot. A fill closes them.
	runs  [][]point
	color string
	width float64 // line width; 0 fills
	alpha float64 // opacity of a fill

	text   string
	at     point
	anchor anchor
	bold   bool
}

type point struct{ x, y float64 }

// anchor is the part of a text that its position refers to.
type anchor uint8

const (
	begins anchor = iota
	centred
	ends
)

const (
	fontSize  = 12.0
	titleSize = 14.0            // font size of bold text
	em        = 0.56 * fontSize // approximate width of a character
)

// frame is the area of the values.
type frame struct {
	left, right, top, bottom float64
	from, to                 time.Time
	low, high                float64
}

func (f *frame) x(t time.Time) float64 {
	return f.left + (f.right-f.left)*float64(t.Sub(f.from))/float64(f.to.Sub(f.from))
}

func (f *frame) y(v float64) float64 {
	return f.bottom - (f.bottom-f.top)*(v-f.low)/(f.high-f.low)
}

func (c *Chart) layout() (*marks, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := c.Theme.palette()
	width, height := c.size()
	m := &marks{width: width, height: height, ground: p.ground}
	low, high := c.bounds()
	f := &frame{right: float64(width) - 14, top: 14, bottom: float64(height) - 26, from: c.Times[0], to: c.End}
	if c.Title != "" {
		m.words(clip(c.Title, int(float64(width-28)/(em*titleSize/fontSize))), point{14, 22}, begins, p.text, true)
		f.top += 22
	}
	if len(c.Lines) > 1 {
		f.top = c.legend(m, p, f.top)
	}
	ticks, from, to := valueTicks(low, high, max(2, int((f.bottom-f.top)/45)))
	f.low, f.high = from, to
	longest := 0
	for _, t := range ticks {
		longest = max(longest, len(t.label))
	}
	f.left = 16 + em*float64(longest)
	m.left, m.right = f.left, f.right
	for _, t := range ticks {
		y := f.y(t.at)
		color := p.grid
		if t.at == 0 {
			color = p.axis
		}
		m.path(color, 1, []point{{f.left, y}, {f.right, y}})
		m.words(t.label, point{f.left - 6, y + 4}, ends, p.soft, false)
	}
	for _, t := range timeTicks(f.from, f.to, max(2, int((f.right-f.left)/64))) {
		x := f.x(t.at)
		m.path(p.axis, 1, []point{{x, f.bottom}, {x, f.bottom + 4}})
		m.words(t.label, point{min(x, float64(width)-em*float64(len(t.label))/2-2), f.bottom + 18}, centred, p.soft, false)
	}
	c.draw(m, f, p)
	return m, nil
}

// Area returns where in the picture the first step begins and where the last one ends, in pixels from its left side.
func (c *Chart) Area() (left, right float64, err error) {
	m, err := c.layout()
	if err != nil {
		return 0, 0, err
	}
	return m.left, m.right, nil
}

// legend lays out the names of the lines in as many rows as they need, and returns the top of the remaining area.
func (c *Chart) legend(m *marks, p *palette, top float64) float64 {
	x, y := 14.0, top+8
	for i := range c.Lines {
		name := clip(c.Lines[i].Name, 60)
		wide := 24 + em*float64(len([]rune(name))) + 14
		if x > 14 && x+wide > float64(m.width) {
			x, y = 14, y+18
		}
		m.path(c.color(p, i), 2.5, []point{{x, y - 4}, {x + 16, y - 4}})
		m.words(name, point{x + 22, y}, begins, p.text, false)
		x += wide
	}
	return y + 14
}

func (c *Chart) color(p *palette, i int) string {
	if c.Lines[i].Faint {
		return p.faint
	}
	return p.lines[i]
}

// draw draws the lines, the faint ones first. A single bold line on an axis from 0 is filled.
func (c *Chart) draw(m *marks, f *frame, p *palette) {
	bold := 0
	for i := range c.Lines {
		if !c.Lines[i].Faint {
			bold++
		}
	}
	for _, faint := range []bool{true, false} {
		for i := range c.Lines {
			l := &c.Lines[i]
			if l.Faint != faint {
				continue
			}
			runs := c.runs(l.Values, f)
			if bold == 1 && !faint && f.low <= 0 && f.high >= 0 {
				zero := f.y(0)
				for _, run := range runs {
					shape := append([]point{{run[0].x, zero}}, run...)
					m.list = append(m.list, mark{runs: [][]point{append(shape, point{run[len(run)-1].x, zero})}, color: c.color(p, i),
						alpha: 0.14})
				}
			}
			lines, alone := apart(runs)
			m.path(c.color(p, i), 1.5, lines...)
			m.path(c.color(p, i), 3, alone...)
		}
	}
}

// apart separates lines from single points, which are drawn larger to be visible.
func apart(runs [][]point) (lines, alone [][]point) {
	for _, run := range runs {
		if len(run) == 1 {
			alone = append(alone, run)
		} else {
			lines = append(lines, run)
		}
	}
	return lines, alone
}

// runs splits the points of known values at gaps. If there are more than two values for each pixel, those of a pixel
// are reduced to the first, lowest, highest and last.
func (c *Chart) runs(values []float64, f *frame) (runs [][]point) {
	var run []point
	dense := float64(len(values)) > 2*(f.right-f.left)
	flush := func() {
		if len(run) > 0 {
			runs, run = append(runs, run), nil
		}
	}
	for i := 0; i < len(values); i++ {
		if math.IsNaN(values[i]) {
			flush()
			continue
		}
		x := f.x(c.Times[i])
		if !dense {
			run = append(run, point{x, f.y(values[i])})
			continue
		}
		last, low, high := i, i, i
		for ; last+1 < len(values) && !math.IsNaN(values[last+1]) && math.Floor(f.x(c.Times[last+1])) == math.Floor(x); last++ {
			if values[last+1] < values[low] {
				low = last + 1
			}
			if values[last+1] > values[high] {
				high = last + 1
			}
		}
		for _, at := range []int{i, min(low, high), max(low, high), last} {
			if next := (point{x, f.y(values[at])}); len(run) == 0 || run[len(run)-1] != next {
				run = append(run, next)
			}
		}
		i = last
	}
	flush()
	return runs
}

func (m *marks) path(color string, width float64, runs ...[]point) {
	if len(runs) > 0 {
		m.list = append(m.list, mark{runs: runs, color: color, width: width})
	}
}

func (m *marks) words(text string, at point, a anchor, color string, bold bool) {
	m.list = append(m.list, mark{text: text, at: at, anchor: a, color: color, bold: bold})
}

// clip cuts text to n characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:max(n-1, 0)]) + "…"
	}
	return s
}
