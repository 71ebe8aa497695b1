// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"iter"
	"math/rand/v2"

	"github.com/locus-db/locus/internal/protocol"
)

// probe counts the cells that lookups visit while a generation is the newest.
func (s *simulation) probe(gen int) {
	g, r := &s.gens[gen], s.rand("probes", gen)
	older := make([]int64, gen+1)
	for i := range older {
		older[i] = s.gens[i].Records
	}
	for home := range homes(older) {
		g.Absent += float64(walk(r, gen, -1, false))
		g.AbsentFilters += float64(walk(r, gen, -1, true))
		g.Known += float64(walk(r, gen, home, false))
		g.KnownFilters += float64(walk(r, gen, home, true))
	}
	for _, sum := range []*float64{&g.Absent, &g.AbsentFilters, &g.Known, &g.KnownFilters} {
		*sum /= SampleSize
	}
}

// walk looks up a key whose row is in the cell of generation home, or nowhere if that is negative, and returns the
// number of cells it visited. The older cells are sealed, with or without filters.
func walk(r *rand.Rand, newest, home int, filters bool) (probes int) {
	view := protocol.View{Epoch: 1, Generations: uint16(newest + 1), Current: uint16(newest)}
	for g := 0; filters && g < newest && newest-g <= 64; g++ {
		if g != home && r.Float64() >= filterLies {
			view.Skip |= 1 << (newest - 1 - g)
		}
	}
	w := protocol.Walk{Op: protocol.WalkLookup}.Start(view)
	for w.Next().Do != protocol.ActionDone {
		reply := protocol.Reply{Keys: protocol.Sealed}
		switch g := int(w.Next().Gen); {
		case g == newest && g == home:
			reply = protocol.Reply{Keys: protocol.Open, Row: 1}
		case g == newest:
			reply = protocol.Reply{Keys: protocol.Open}
		case g == home:
			reply.Row = 1
		}
		w = w.Step(reply)
		probes++
	}
	return probes
}

// homes returns a sample of generations, each in proportion to its share of the records.
func homes(records []int64) iter.Seq[int] {
	total, ends := 0.0, make([]float64, len(records))
	for g, n := range records {
		total += float64(n)
		ends[g] = total
	}
	return func(yield func(int) bool) {
		home := 0
		for i := range SampleSize {
			for at := (float64(i) + 0.5) / SampleSize * total; at >= ends[home]; {
				home++
			}
			if !yield(home) {
				return
			}
		}
	}
}
