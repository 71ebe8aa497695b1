// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/locus-db/locus/cell"
)

// SampleSize is the number of members of a sample.
const SampleSize = 20_000

// puids is how many puids a cell can give out.
const puids = 1<<32 - 1

// filterBits is the size of a key in a filter of a sealed cell, filterLies the false positive rate: binary fuse
// filters of eight bits.
const (
	filterBits = 9.04
	filterLies = 1.0 / 256
)

// began is when the first record arrives.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// simulation is a run: the plan, as far as the records reach.
type simulation struct {
	Options
	gens []Generation
}

// Run simulates the growth. The error is cell.ErrMap if the generations are not possible, cell.ErrNoRoom if a cell
// would exceed its puids.
func Run(opts Options) (*Report, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &simulation{Options: o}
	s.arrive()
	if _, err := s.mapOf(len(s.gens)); err != nil { // checks that the generations are possible
		return nil, err
	}
	for g := range s.gens {
		if err := s.balance(&s.gens[g]); err != nil {
			return nil, err
		}
		s.probe(g)
	}
	r := &Report{Seed: o.Seed, Records: o.Records, Fill: o.Fill, Generations: s.gens, Room: s.room(), Literal: s.literal(),
		Rehash: s.rehash()}
	r.Routed, err = s.route()
	return r, err
}

// rand returns separate random numbers for each purpose, so that drawing more for one does not change the others.
func (s *simulation) rand(what string, gen int) *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed, cell.Hash(what, fmt.Sprint(gen))))
}

// arrive assigns the records to the generations: each takes what fills its cells, the last one all the rest.
func (s *simulation) arrive() {
	left := s.Records
	for g, cells := range s.Cells {
		take := left
		if g < len(s.Cells)-1 && s.Fill < left/int64(min(cells, uint64(left))) {
			take = s.Fill * int64(cells)
		}
		s.gens = append(s.gens, Generation{Generation: g, Cells: cells, Day: s.day(s.Records - left), Records: take})
		if left -= take; left == 0 {
			return
		}
	}
}

// day returns when that many records have arrived: their rate grows by a factor per year.
func (s *simulation) day(records int64) float64 {
	part, years := float64(records)/float64(s.Records), s.years()
	if s.Growth != 1 {
		part = math.Log1p(part*(math.Pow(s.Growth, years)-1)) / math.Log(s.Growth) / years
	}
	return part * years * 365
}

// rate returns the number of records per second on a day.
func (s *simulation) rate(day float64) float64 {
	years := s.years()
	if s.Growth == 1 {
		return float64(s.Records) / s.Time.Seconds()
	}
	first := float64(s.Records) * math.Log(s.Growth) / (math.Pow(s.Growth, years) - 1) // per year, on the first day
	return first * math.Pow(s.Growth, day/365) / year.Seconds()
}

// before returns the number of records that came before a generation.
func (s *simulation) before(gen int) (n int64) {
	for _, g := range s.gens[:gen] {
		n += g.Records
	}
	return n
}

// mapOf returns the map of the first n generations, when the last of them is current and the next one is not
// announced yet.
func (s *simulation) mapOf(n int) (*cell.Map, error) {
	spec := cell.Spec{ID: "simulated", Current: n - 1}
	for g, starts := range s.starts() {
		if g == n {
			spec.Until = starts
			break
		}
		spec.Generations = append(spec.Generations, cell.Generation{Cells: s.gens[g].Cells, Starts: starts})
	}
	return cell.NewMap(spec)
}

// starts returns the times from which IDs belong to the generations.
func (s *simulation) starts() (all []time.Time) {
	for g, gen := range s.gens {
		t := time.UnixMilli(began.UnixMilli() + int64(gen.Day*24*3600*1000))
		if g > 0 && !t.After(all[g-1]) {
			t = all[g-1].Add(time.Millisecond) // so few records that they arrive in the same millisecond
		}
		all = append(all, t)
	}
	return all
}

// room returns what is left.
func (s *simulation) room() Room {
	last := s.gens[len(s.gens)-1]
	room := Room{Puids: int64((1/last.Used - 1) * float64(last.Records))}
	for _, g := range s.gens {
		room.Cells += g.Cells
	}
	room.FilterBytes = int64(float64(s.before(len(s.gens)-1)) * filterBits / 8)
	for cells, n := 2*last.Cells, uint64(len(s.gens)+1); cells <= 1<<32 && n <= 1<<32/cells; n++ {
		room.Doublings++
		cells *= 2
	}
	return room
}
