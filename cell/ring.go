// SPDX-License-Identifier: Apache-2.0

package cell

import "github.com/locus-db/locus/locality"

// family is the number of positions around a key for its IDs: enough that IDs of many keys can lie side by side, and
// few enough that they stay with their keys when segments are halved later, down to a 512th of the ring.
const family = 1 << 23

func (g generation) segment(position uint32) uint32 {
	return uint32(uint64(position) * g.cells >> 32)
}

// start returns the first position of a segment; the segment after the last starts at 2^32.
func (g generation) start(index uint64) uint64 {
	if index == g.cells {
		return ring
	}
	return ceilDiv(index<<32, g.cells)
}

// ceilDiv returns a / b, rounded up. It cannot overflow here: a is a multiple of 2^32 and b at most 2^32.
func ceilDiv(a, b uint64) uint64 { return (a + b - 1) / b }

// Segment returns the positions and times for minting an ID that lives in a cell close to a key: the cell's segment,
// cut to the 2^23 aligned positions around the key's position, from the start of the cell's generation until the next
// one starts or the map ends, whichever is first. Key, record and ID then share a cell, whatever the clock says. A
// position outside the cell's segment yields the whole segment. It panics if the map does not list the cell.
func (m *Map) Segment(c ID, position uint32) locality.Segment {
	lo, hi := m.bounds(c)
	if from := uint64(position) &^ (family - 1); max(lo, from) < min(hi, from+family) {
		lo, hi = max(lo, from), min(hi, from+family)
	}
	s := locality.Segment{Lo: uint32(lo), Hi: hi, From: m.gens[c.Gen].starts, Until: m.until}
	if next := int(c.Gen) + 1; next < len(m.gens) && (s.Until == 0 || m.gens[next].starts < s.Until) {
		s.Until = m.gens[next].starts
	}
	return s
}

// First returns the first position of a cell's segment. It panics if the map does not list the cell.
func (m *Map) First(c ID) uint32 {
	lo, _ := m.bounds(c)
	return uint32(lo)
}

// bounds returns the positions of a cell: lo to hi-1.
func (m *Map) bounds(c ID) (lo, hi uint64) {
	m.must(c)
	g := m.gens[c.Gen]
	return g.start(uint64(c.Index)), g.start(uint64(c.Index) + 1)
}

// Arc is a cell's piece of the ring, for pictures.
type Arc struct {
	Cell ID
	// From and To are parts of a turn, 0 to 1.
	From, To float64
}

// Share returns the part of the ring that the cell covers, 0 to 1.
func (a Arc) Share() float64 { return a.To - a.From }

// Ring returns the arcs of a generation in the order of the ring; together they are one turn. It panics if the map does
// not list the generation.
func (m *Map) Ring(gen int) []Arc {
	g := m.gens[gen]
	arcs := make([]Arc, 0, g.cells)
	for i := range g.cells {
		arcs = append(arcs, Arc{
			Cell: ID{Gen: uint16(gen), Index: uint32(i)},
			From: float64(g.start(i)) / ring,
			To:   float64(g.start(i+1)) / ring,
		})
	}
	return arcs
}
