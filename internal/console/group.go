// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
)

// A band with more than singly cells would be too fine to see. Neighbours are then combined into at most together
// pieces.
const (
	singly   = 512
	together = 256
)

// group is a run of neighbouring cells of a generation that is drawn and counted as one; a single cell if the band is
// drawn singly.
type group struct {
	First, Last cell.ID
	Arc         cell.Arc
	Cells       int
	// Known is how many of the cells answered; the sums cover these.
	Known int
	Sum   cells.CellStatus
	// States counts the cells by cell.KeyState.
	States [3]int
	// Away is how many cells are being moved.
	Away int
}

// census holds the state of the cells that answered.
type census map[cell.ID]cells.CellStatus

func censusOf(s *cells.Status) census {
	all := make(census, len(s.Cells))
	for _, c := range s.Cells {
		if c.PUIDRoom > 0 {
			all[c.Cell] = c
		}
	}
	return all
}

// groups returns the pieces of a generation's band.
func (known census) groups(m *cell.Map, gen int) []group {
	arcs := m.Ring(gen)
	stride := 1
	if len(arcs) > singly {
		stride = (len(arcs) + together - 1) / together
	}
	var all []group
	for from := 0; from < len(arcs); from += stride {
		to := min(from+stride, len(arcs))
		g := group{
			First: arcs[from].Cell, Last: arcs[to-1].Cell, Cells: to - from,
			Arc: cell.Arc{Cell: arcs[from].Cell, From: arcs[from].From, To: arcs[to-1].To},
		}
		for _, a := range arcs[from:to] {
			if c, ok := known[a.Cell]; ok {
				g.add(&c)
			}
		}
		all = append(all, g)
	}
	return all
}

func (g *group) add(c *cells.CellStatus) {
	g.Known++
	g.Sum.Counts = g.Sum.Counts.Add(c.Counts)
	g.Sum.Redo += c.Redo
	g.Sum.PUIDs += c.PUIDs
	g.Sum.PUIDRoom += c.PUIDRoom
	g.Sum.Bytes += c.Bytes
	g.States[c.Head.Keys]++
	if c.Head.Home != cell.Serving {
		g.Away++
	}
}

func total(groups []group) group {
	var t group
	for _, g := range groups {
		t.Cells += g.Cells
		t.Known += g.Known
		t.Sum.Counts = t.Sum.Counts.Add(g.Sum.Counts)
		t.Away += g.Away
		for k, n := range g.States {
			t.States[k] += n
		}
	}
	return t
}

// Name returns the name of the cell, or of the first and the last.
func (g *group) Name() string {
	if g.Cells == 1 {
		return g.First.String()
	}
	return fmt.Sprintf("%v to %v", g.First, g.Last)
}

// whole reports whether all cells answered.
func (g *group) whole() bool { return g.Known == g.Cells }

// state returns the most open state of the cells' directories.
func (g *group) state() cell.KeyState {
	for k, n := range g.States {
		if n > 0 {
			return cell.KeyState(k)
		}
	}
	return cell.Open
}

// states formats the number of cells by state: "5 open, 3 sealed".
func (g *group) states() string {
	var words []string
	for k, n := range g.States {
		if n > 0 {
			words = append(words, count(int64(n))+" "+cell.KeyState(k).String())
		}
	}
	if silent := g.Cells - g.Known; silent > 0 {
		words = append(words, count(int64(silent))+" unavailable")
	}
	if g.Away > 0 {
		words = append(words, count(int64(g.Away))+" moving")
	}
	return strings.Join(words, ", ")
}
