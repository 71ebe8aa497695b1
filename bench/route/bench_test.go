// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/locality"
)

type (
	loop    = compare.Loop
	subject = compare.Subject
)

// Every benchmark runs, is known to the tables, and no goal is left without its two sides.
func TestBenchmarks_MeasureWhatTheTablesShow(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	suite.Check(t, nil)
}

// grown is the map of an installation whose cells were doubled each year from 2015 on: 16 have
// become 16,384, 32,752 in all.
var grown = func() *cell.Map {
	spec := cell.Spec{ID: "grown", Current: 10}
	for g := range 11 {
		starts := time.Date(2015+g, 1, 1, 0, 0, 0, 0, time.UTC)
		spec.Generations = append(spec.Generations, cell.Generation{Cells: 16 << g, Starts: starts})
	}
	m, err := cell.NewMap(spec)
	if err != nil {
		panic(err)
	}
	return m
}()

// nodes is how many nodes the rings of peers have. A test that measures nothing takes fewer: some rings
// take long to make.
func nodes() int { return either(1024, 32) }

// pool is how many addresses each loop goes through; a power of two.
const pool = 1 << 16

// million is how many addresses tables and caches hold, and groups are made of: 2^20. A test that
// measures nothing takes less.
func million() int { return either(16*pool, pool) }

// little is n, or a few for a test that measures nothing.
func little(n int) int { return either(n, n/100) }

// either is how much is measured, or how much a test takes that measures nothing.
func either(measured, short int) int {
	if testing.Short() {
		return short
	}
	return measured
}

// draw returns n different puids and ids of the map's cells, as many in each on average.
func draw(n int) (puids []int64, ids []locality.ID) {
	r := rand.New(rand.NewPCG(1, 2))
	cells := grown.Cells()
	for i := range n {
		c := cells[r.IntN(len(cells))]
		lo, _ := grown.PuidRange(c)
		puids = append(puids, lo+1+int64(i))
		s := grown.Segment(c, 0)
		until := s.Until
		if until == 0 {
			until = s.From + 365*24*3600*1000
		}
		id := locality.ID{15: 0}
		position, millis := uint64(s.Lo)+r.Uint64N(s.Hi-uint64(s.Lo)), s.From+r.Int64N(until-s.From)
		for b := range 4 {
			id[b] = byte(position >> (24 - 8*b))
		}
		for b := range 6 {
			id[10+b] = byte(millis >> (40 - 8*b))
		}
		id[5], id[6] = byte(i>>8), byte(0xb0|i&15)
		id[4], id[7] = byte(i>>16), byte(i)
		ids = append(ids, id)
	}
	return puids, ids
}

// kept is what the last benchmark that took long to set up uses: measuring calls a benchmark again
// and again, and two tables of a million at a time would share their caches and collectors.
var kept struct {
	name  string
	value any
}

func keep[T any](name string, build func() T) T {
	if kept.name != name {
		kept.value = nil
		kept.name, kept.value = name, build()
	}
	return kept.value.(T)
}
