// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// TextOptions say how a chart is written.
type TextOptions struct {
	// Columns and Rows are the size of one line's picture, with its axes. Default to 80 and 12.
	Columns, Rows int
	// Paint, if set, colours what a line draws.
	Paint func(line int, text string) string
}

// Text writes the chart in characters, each of which has two by four dots: a picture for every line, under its
// name, all over the same axis of time. Dots of what is known are at the value or below, down to zero; where nothing
// is known there are none.
func Text(w io.Writer, c *Chart, o TextOptions) error {
	if err := c.check(); err != nil {
		return err
	}
	if o.Columns == 0 {
		o.Columns = 80
	}
	if o.Rows == 0 {
		o.Rows = 12
	}
	o.Columns, o.Rows = max(o.Columns, 30), max(o.Rows, 5)
	var b strings.Builder
	for i := range c.Lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		c.text(&b, i, o)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// text writes one line of the chart.
func (c *Chart) text(b *strings.Builder, i int, o TextOptions) {
	one := *c
	one.Lines = c.Lines[i : i+1]
	low, high := one.bounds()
	rows := o.Rows - 2 // the axis and its labels
	ticks, from, to := valueTicks(low, high, max(2, rows/3))
	gutter := 0
	for _, t := range ticks {
		gutter = max(gutter, len(t.label))
	}
	if name := c.Lines[i].Name; name != "" {
		fmt.Fprintf(b, "%s\n", clip(name, o.Columns))
	}
	grid := newDots(max(o.Columns-gutter-2, 10), rows)
	grid.draw(c, c.Lines[i].Values, from, to)
	labels := map[int]string{}
	for _, t := range ticks {
		labels[int(math.Round((to-t.at)/(to-from)*float64(rows-1)))] = t.label
	}
	for row := range rows {
		axis := "│"
		if labels[row] != "" {
			axis = "┤"
		}
		line := grid.row(row)
		if o.Paint != nil && line != "" {
			line = o.Paint(i, line)
		}
		fmt.Fprintf(b, "%*s %s%s\n", gutter, labels[row], axis, line)
	}
	bar, words := c.axis(grid.columns)
	fmt.Fprintf(b, "%*s └%s\n", gutter, "", bar)
	fmt.Fprintf(b, "%*s  %s\n", gutter, "", words)
}

// axis is the axis of time, so many characters wide, and what stands below it.
func (c *Chart) axis(columns int) (bar, words string) {
	line := []rune(strings.Repeat("─", columns))
	below := []rune(strings.Repeat(" ", columns+4))
	free := 0
	for _, t := range timeTicks(c.Times[0], c.End, max(2, columns/10)) {
		at := int(float64(columns) * float64(t.at.Sub(c.Times[0])) / float64(c.End.Sub(c.Times[0])))
		if at >= columns {
			continue
		}
		line[at] = '┬'
		if at >= free && at+utf8.RuneCountInString(t.label) <= len(below) {
			copy(below[at:], []rune(t.label))
			free = at + utf8.RuneCountInString(t.label) + 1
		}
	}
	return string(line), strings.TrimRight(string(below), " ")
}

// dots are a picture of two by four dots a character.
type dots struct {
	columns, rows int
	cells         []rune
}

func newDots(columns, rows int) *dots {
	return &dots{columns: columns, rows: rows, cells: make([]rune, columns*rows)}
}

// braille has the bits of the dots of a character, by row and column.
var braille = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

func (d *dots) set(x, y int) {
	if x < 0 || y < 0 || x >= 2*d.columns || y >= 4*d.rows {
		return
	}
	d.cells[y/4*d.columns+x/2] |= braille[y%4][x%2]
}

// draw fills each column of dots from zero to the highest value of its time, or to the lowest below zero. A range
// without zero has a dot from the lowest to the highest.
func (d *dots) draw(c *Chart, values []float64, from, to float64) {
	wide, tall := 2*d.columns, 4*d.rows
	y := func(v float64) int { return int(math.Round((to - v) / (to - from) * float64(tall-1))) }
	begin, span := c.Times[0], float64(c.End.Sub(c.Times[0]))
	column := func(t time.Time) int { return int(float64(wide) * float64(t.Sub(begin)) / span) }
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		end := c.End
		if i+1 < len(c.Times) {
			end = c.Times[i+1]
		}
		first, last := column(c.Times[i]), column(end)-1
		low, high := min(v, 0), max(v, 0)
		if from > 0 || to < 0 {
			low, high = v, v
		}
		for x := first; x <= max(first, last); x++ {
			for row := y(high); row <= y(low); row++ {
				d.set(x, row)
			}
		}
	}
}

// row is a row of characters, without the empty ones at its end.
func (d *dots) row(n int) string {
	var b strings.Builder
	for _, cell := range d.cells[n*d.columns : (n+1)*d.columns] {
		if cell == 0 {
			b.WriteByte(' ')
		} else {
			b.WriteRune(0x2800 + cell)
		}
	}
	return strings.TrimRight(b.String(), " ")
}
