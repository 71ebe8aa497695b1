// SPDX-License-Identifier: Apache-2.0

package console

import (
	"math"
	"strconv"

	"github.com/locus-db/locus/cell"
)

// The ring is drawn around the centre of a square, in its units. Each cell is a piece of the band that is filled from
// the inside out.
const (
	ringSize  = 320
	ringInner = 92.0
	ringOuter = 148.0
	// ringEven is the fill level at which a cell with an even share is drawn. A cell with half as much again is drawn
	// full, and the picture does not change while all cells grow alike.
	ringEven = 2.0 / 3
	ringGap  = 2.0 // gap between two cells at the outer edge
)

// piece is one cell of the ring: its position in the picture, with links to its table row.
type piece struct {
	Cell  string // its name, also the prefix of its slots
	Name  string // the same; the first and the last of several cells drawn as one
	Track string // outline of the whole piece
	Start string // first position of its segment
}

// pieces lays out the cells of one generation.
func pieces(groups []group) []piece {
	all := make([]piece, len(groups))
	for i, g := range groups {
		all[i] = piece{
			Cell:  g.First.String(),
			Name:  g.Name(),
			Track: band(g.Arc, 1),
			Start: position(g.Arc.From),
		}
	}
	return all
}

// position formats a fraction of a turn as a 32-bit ring position.
func position(turn float64) string { return hexPosition(uint64(turn * (1 << 32))) }

// fill returns how full a cell is drawn, 0 to 1.
func fill(records, all int64, share float64) float64 {
	if records <= 0 || all <= 0 || share <= 0 {
		return 0
	}
	return min(1, float64(records)/(float64(all)*share)*ringEven)
}

// band returns the path of a cell's piece, from the inner edge to the given fraction of its height; empty for a cell
// without records.
func band(a cell.Arc, full float64) string {
	if full <= 0 {
		return ""
	}
	return slice(a, ringInner, ringInner+(ringOuter-ringInner)*min(full, 1), ringGap/(2*math.Pi*ringOuter))
}

// slice returns the path of a piece of a band between two radii, with a gap to its neighbours, given as a fraction of a
// turn.
func slice(a cell.Arc, inner, outer, gap float64) string {
	gap = min(gap, a.Share()/4) / 2
	if a.Share() == 1 {
		gap = 0
	}
	from, to := a.From+gap, a.To-gap
	middle := (from + to) / 2 // SVG cannot draw an arc of a whole turn: its ends coincide
	var p outline
	p.point('M', from, outer)
	p.arc(middle, outer, true)
	p.arc(to, outer, true)
	p.point('L', to, inner)
	p.arc(middle, inner, false)
	p.arc(from, inner, false)
	return string(append(p, 'Z'))
}

// outline builds the text of an SVG path.
type outline []byte

func (p *outline) number(v float64) {
	*p = strconv.AppendFloat(*p, math.Round(v*100)/100, 'f', -1, 64)
}

// point adds a command to the point at a fraction of a turn, clockwise from the top.
func (p *outline) point(command byte, turn, radius float64) {
	*p = append(*p, command)
	sin, cos := math.Sincos(2 * math.Pi * turn)
	p.number(ringSize/2 + radius*sin)
	*p = append(*p, ' ')
	p.number(ringSize/2 - radius*cos)
}

// arc adds an arc to that point along the circle, by at most half a turn.
func (p *outline) arc(turn, radius float64, clockwise bool) {
	*p = append(*p, 'A')
	p.number(radius)
	*p = append(*p, ' ')
	p.number(radius)
	if clockwise {
		*p = append(*p, " 0 0 1"...)
	} else {
		*p = append(*p, " 0 0 0"...)
	}
	p.point(' ', turn, radius)
}

// curve returns the path of an arc of any length, clockwise.
func curve(from, to, radius float64) string {
	var p outline
	p.point('M', from, radius)
	p.arc((from+to)/2, radius, true)
	p.arc(to, radius, true)
	return string(p)
}

// at adds a command to a point given by its coordinates.
func (p *outline) at(command byte, x, y float64) {
	*p = append(*p, command)
	p.number(x)
	*p = append(*p, ' ')
	p.number(y)
}
