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

// Every benchmark runs and appears in the tables, and every goal has both sides.
func TestBenchmarks_MeasureWhatTheTablesShow(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	suite.Check(t, nil)
}

// grown is the map of an installation whose cells were doubled each year from 2015 on: 16 have become 16,384,
// 32,752 in all.
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

// nodes returns the number of nodes in the rings of peers. A short test takes fewer: some rings are slow to build.
func nodes() int { return either(1024, 32) }

// pool is the number of addresses each loop cycles through; a power of two.
const pool = 1 << 16

// million returns the number of addresses in tables, caches and groups: 2^20, or fewer in a short test.
func million() int { return either(16*pool, pool) }

// little returns n, or a few in a short test.
func little(n int) int { return either(n, n/100) }

// either returns measured, or short in a short test.
func either(measured, short int) int {
	if testing.Short() {
		return short
	}
	return measured
}

// draw returns n different puids and IDs of the map's cells, evenly distributed on average.
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

// kept is the setup of the last benchmark with a slow setup: a benchmark is called repeatedly, and two tables of a
// million would compete for caches and the garbage collector.
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
