// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"errors"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

// route gives the keys of a sample a puid and a birth ID in their cell, and routes both by every version of the
// map.
func (s *simulation) route() (Routed, error) {
	r := s.rand("route", 0)
	var maps []*cell.Map
	records := make([]int64, len(s.gens))
	for g := range s.gens {
		m, err := s.mapOf(g + 1)
		if err != nil {
			return Routed{}, err
		}
		maps, records[g] = append(maps, m), s.gens[g].Records
	}
	routed := Routed{Sample: SampleSize}
	for gen := range homes(records) {
		position := r.Uint32()
		home := maps[gen].Home(position)
		lo, _ := maps[gen].PuidRange(home)
		puid := lo + 1 + r.Int64N(puids)
		id := born(maps[gen].Segment(home, position), r.Uint64())
		for _, m := range maps {
			byPuid, errPuid := m.Puid(puid)
			byID, errID := m.Entity(id)
			if errPuid == nil && byPuid != home || errID == nil && byID != home ||
				errPuid != nil && (!errors.Is(errPuid, cell.ErrNoCell) || m.Has(home)) ||
				errID != nil && (!errors.Is(errID, cell.ErrStaleMap) || m.Has(home)) {
				routed.Wrong++
			}
		}
	}
	return routed, nil
}

// born returns an ID in the segment, chosen by random.
func born(s locality.Segment, random uint64) (id locality.ID) {
	until := s.Until
	if until == 0 {
		until = s.From + 1000
	}
	position, millis := uint64(s.Lo)+random%(s.Hi-uint64(s.Lo)), s.From+int64(random>>32)%(until-s.From)
	for i := range 4 {
		id[i] = byte(position >> (24 - 8*i))
	}
	for i := range 6 {
		id[10+i] = byte(millis >> (40 - 8*i))
	}
	return id
}
