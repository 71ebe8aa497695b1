// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/locus-db/locus/locality"
)

// Groups sorts many addresses by their cells, for whoever asks each cell once: a
// radix sort of the cells' numbers, so that the price of an address depends neither
// on how many there are nor on the cells. The zero value is ready to use, one call at
// a time; used again, it allocates nothing for no more addresses than before.
type Groups struct {
	cells []ID     // those that have an address, in their order
	ends  []uint32 // where their groups end in order
	order []uint32 // the places of the addresses, cell by cell

	bases  []uint64 // the number of each generation's first cell, then that of all cells
	packed []uint64 // the number of each address's cell, its place in the lower half
	other  []uint64 // as large: what packed is sorted into
}

// GroupPuids sorts puids by the cells whose ranges hold them: at most 2^32 of them.
// The error is that of Map.Puid for the first that has none; there are no groups
// then.
func GroupPuids[P ~int64](g *Groups, m *Map, puids []P) error {
	g.begin(m, len(puids))
	for i, p := range puids {
		c, err := m.Puid(int64(p))
		if err != nil {
			return err
		}
		g.put(c, i)
	}
	g.sort()
	return nil
}

// GroupEntities sorts ids by their cells: at most 2^32 of them. The error is that of
// Map.Entity for the first that has none; there are no groups then.
func GroupEntities(g *Groups, m *Map, ids []locality.ID) error {
	g.begin(m, len(ids))
	for i, id := range ids {
		c, err := m.Entity(id)
		if err != nil {
			return err
		}
		g.put(c, i)
	}
	g.sort()
	return nil
}

// All hands out each cell that has an address, in the order of cells, with the
// places that its addresses had in what was grouped, in their order. The places are
// good until the Groups is used again.
func (g *Groups) All() iter.Seq2[ID, []uint32] {
	return func(yield func(ID, []uint32) bool) {
		from := uint32(0)
		for i, c := range g.cells {
			if !yield(c, g.order[from:g.ends[i]:g.ends[i]]) {
				return
			}
			from = g.ends[i]
		}
	}
}

// Len returns how many cells have an address.
func (g *Groups) Len() int { return len(g.cells) }

// begin makes room for n addresses.
func (g *Groups) begin(m *Map, n int) {
	g.cells, g.ends = g.cells[:0], g.ends[:0]
	g.bases = append(g.bases[:0], 0)
	for i, gen := range m.gens {
		g.bases = append(g.bases, g.bases[i]+gen.cells)
	}
	g.packed = slices.Grow(g.packed[:0], n)[:n]
	g.other = slices.Grow(g.other[:0], n)[:n]
	g.order = slices.Grow(g.order[:0], n)[:n]
}

// put notes the cell of an address. The number of a cell has at most 32 bits: of G
// generations none is larger than the last, and G times that is at most 2^32.
func (g *Groups) put(c ID, place int) {
	g.packed[place] = (g.bases[c.Gen]+uint64(c.Index))<<32 | uint64(place)
}

// sort sorts by eight bits of the numbers at a time, the lowest first, keeping the
// order of equal ones, and notes where each cell's group ends.
func (g *Groups) sort() {
	highest := g.bases[len(g.bases)-1] - 1
	for shift := 32; shift < 32+bits.Len64(highest); shift += 8 {
		var next [256]uint32
		from, to := g.packed, g.other
		for _, p := range from {
			next[byte(p>>shift)]++
		}
		place := uint32(0)
		for i, n := range next {
			next[i] = place
			place += n
		}
		for _, p := range from {
			b := byte(p >> shift)
			at := next[b]
			next[b] = at + 1
			to[at] = p
		}
		g.packed, g.other = to, from
	}
	gen, last := 0, uint64(1<<32)
	for i, p := range g.packed {
		g.order[i] = uint32(p)
		if number := p >> 32; number != last {
			for number >= g.bases[gen+1] {
				gen++
			}
			g.cells = append(g.cells, ID{Gen: uint16(gen), Index: uint32(number - g.bases[gen])})
			g.ends = append(g.ends, 0)
			last = number
		}
		g.ends[len(g.ends)-1] = uint32(i + 1)
	}
}
