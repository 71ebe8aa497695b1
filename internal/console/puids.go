// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"strconv"

	"github.com/locus-db/locus/cell"
)

// The ring of puids is drawn as a line. Below it, as if through a lens, are the ranges at three neighbouring starts: a
// row for each generation and a column for each range. Each generation is one column to the right of the previous one,
// so no two ranges share a column.
const (
	stripWidth  = 640.0
	stripEdge   = 10.0 // margin left and right of the line
	stripLine   = 26.0 // y position of the line
	stripRows   = 84.0
	stripRow    = 20.0
	stripNames  = 34.0 // for the names of the rows
	stripGap    = 40.0 // between two starts
	stripColumn = 44.0 // at most
	stripTicks  = 128  // at most
)

// strip is the picture of the puids.
type strip struct {
	Height  float64
	Lens    string // outline connecting the line with the rows
	Ticks   string
	Marker  string // position of the requested puid on the line, "" without one
	Rows    []text // names of generations
	Shelves []shelf
	Gaps    []text
	// Room is how many generations fit between two starts, Shift the position of the numbers.
	Room  string
	Slots []slot
	// Beyond says that the puid is further behind a start than the picture shows.
	Beyond string
}

// shelf holds the ranges at one start.
type shelf struct {
	Title text
	Boxes []box
}

// box is a range: of a cell, of no cell, or free.
type box struct {
	X, Y, W, H string
	Class      string
	Name       text
}

// slot is a row of the table behind the picture.
type slot struct {
	Start, Gen, Cell, Lo, Hi string
	Here                     bool
}

// newStrip draws the start before a puid and its neighbours; without a puid, the first start of a cell that is not the
// ring's own.
func newStrip(m *cell.Map, p *cell.PuidRoute) *strip {
	gens := m.Generations()
	finest := m.Count(gens - 1)
	middle := finest / m.Count(0) % finest
	if p != nil {
		middle = p.Finest
	}
	shown := min(finest, 3)
	first := min(max(middle, 1)-1, finest-shown)

	s := &strip{Height: stripRows + float64(gens+1)*stripRow + 44, Room: count(int64((1 << 32) / finest))}
	width := (stripWidth - stripNames - 2*stripGap) / 3
	column := min(stripColumn, width/float64(gens+1))
	for g := range gens {
		s.Rows = append(s.Rows, text{X: "0", Y: figure(stripRows + (float64(g)+0.68)*stripRow), Text: "g" + strconv.Itoa(g)})
	}
	starts := make([]uint64, shown)
	for i := range shown {
		x := stripNames + float64(i)*(width+stripGap)
		slots := m.Slots(first + i)
		starts[i] = startOf(slots)
		s.shelf(x, column, slots, p)
		if i > 0 {
			s.Gaps = append(s.Gaps, text{
				X: figure(x - stripGap/2), Y: figure(s.Height - 8),
				Text: counted(int64(starts[i]-starts[i-1]), "range") + " further →",
			})
		}
	}
	s.line(m, starts, stripNames+float64(shown-1)*(width+stripGap)+column*float64(gens+1), p)
	if p != nil && p.Distance > uint64(gens) {
		s.Beyond = fmt.Sprintf("The range of this puid is %s after the start, far beyond the last generation.",
			count(int64(p.Distance)))
	}
	return s
}

// startOf returns the number of the first range at a start.
func startOf(slots []cell.Slot) uint64 { return (uint64(slots[0].Lo) ^ 1<<63) >> 32 }

// shelf draws the ranges at one start, and the next free one.
func (s *strip) shelf(x, column float64, slots []cell.Slot, p *cell.PuidRoute) {
	sh := shelf{Title: text{X: figure(x), Y: figure(s.Height - 26), Text: "from " + strconv.FormatInt(slots[0].Lo, 10)}}
	start := startOf(slots)
	for g := range len(slots) + 1 {
		b := box{
			X: figure(x + float64(g)*column), Y: figure(stripRows + float64(g)*stripRow + 2),
			W: figure(column - 1), H: figure(stripRow - 4), Class: "free",
		}
		here := p != nil && p.Slot == start+uint64(g)
		line := slot{Start: hexPosition(start), Gen: "the next", Cell: "–"}
		if g == len(slots) {
			b.Name.Text = "the next"
			line.Lo = strconv.FormatInt(slots[g-1].Hi+1, 10)
			line.Hi = strconv.FormatInt(slots[g-1].Hi+1<<32, 10)
		} else {
			r := slots[g]
			b.Class, b.Name.Text = "nobody", "unused"
			line.Gen, line.Lo, line.Hi = "g"+strconv.Itoa(g), strconv.FormatInt(r.Lo, 10), strconv.FormatInt(r.Hi, 10)
			if r.Cell != nil {
				b.Class, b.Name.Text = "cells", r.Cell.String()
				line.Cell = b.Name.Text
			}
		}
		b.Name.Y, b.Name.X, b.Name.Anchor = figure(stripRows+(float64(g)+0.68)*stripRow), figure(x+float64(g+1)*column+4), "start"
		if 2*g >= len(slots)+1 {
			b.Name.X, b.Name.Anchor = figure(x+float64(g)*column-4), "end"
		}
		if here {
			b.Class, line.Here = b.Class+" here", true
		}
		sh.Boxes = append(sh.Boxes, b)
		s.Slots = append(s.Slots, line)
	}
	s.Shelves = append(s.Shelves, sh)
}

// line draws all puids as a line, from -2^63 at the left, with the starts and the lens.
func (s *strip) line(m *cell.Map, starts []uint64, right float64, p *cell.PuidRoute) {
	at := func(slot uint64) float64 { return stripEdge + (stripWidth-2*stripEdge)*float64(slot)/(1<<32) }
	gen := m.Generations() - 1
	for gen > 0 && m.Count(gen) > stripTicks {
		gen--
	}
	var ticks outline
	if m.Count(gen) <= stripTicks {
		for _, a := range m.Ring(gen) {
			x := at(uint64(a.From * (1 << 32)))
			ticks.at('M', x, stripLine-6)
			ticks.at('L', x, stripLine+6)
		}
	}
	s.Ticks = string(ticks)
	var lens outline
	lens.at('M', at(starts[0])-3, stripLine+8)
	lens.at('L', at(starts[len(starts)-1])+3, stripLine+8)
	lens.at('L', right, stripRows-6)
	lens.at('L', stripNames, stripRows-6)
	s.Lens = string(append(lens, 'Z'))
	if p != nil {
		x := at(p.Slot)
		var marker outline
		marker.at('M', x, stripLine-2)
		marker.at('L', x-5, stripLine-13)
		marker.at('L', x+5, stripLine-13)
		s.Marker = string(append(marker, 'Z'))
	}
}

func figure(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
