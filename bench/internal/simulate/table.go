// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"time"

	"github.com/locus-db/locus/internal/term"
)

// Table returns the generations, a row each.
func (r *Report) Table() *term.Table {
	t := &term.Table{
		Header: []string{"generation", "cells", "from day", "records", "a cell", "fullest", "emptiest", "puids used",
			"absent", "absent+filters", "known", "known+filters"},
		Right: map[int]bool{},
	}
	for i := range t.Header {
		t.Right[i] = true
	}
	for _, g := range r.Generations {
		t.Add(
			fmt.Sprintf("g%d", g.Generation), term.Count(int64(g.Cells)), fmt.Sprintf("%.0f", g.Day),
			term.Short(float64(g.Records)),
			term.Short(float64(g.Records)/float64(g.Cells)), fmt.Sprintf("%.3f", g.Fullest), fmt.Sprintf("%.3f", g.Emptiest),
			fmt.Sprintf("%.4f%%", 100*g.Used),
			fmt.Sprintf("%.2f", g.Absent), fmt.Sprintf("%.2f", g.AbsentFilters),
			fmt.Sprintf("%.2f", g.Known), fmt.Sprintf("%.2f", g.KnownFilters),
		)
	}
	return t
}

// Beside compares the end of the growth with the literal scheme and with redistributing all rows.
func (r *Report) Beside() *term.Table {
	t := &term.Table{
		Header: []string{"in the end", "Locus", "literal scheme", "jump hash", "key ranges"},
		Right:  map[int]bool{1: true, 2: true, 3: true, 4: true},
	}
	last := r.Generations[len(r.Generations)-1]
	probes := func(n float64) string { return fmt.Sprintf("%.2f", n) }
	t.Add("rows moved", "0", "0", short(float64(r.Rehash.JumpRows)), short(float64(r.Rehash.RangeRows)))
	t.Add("bytes moved", "0", "0", short(r.Rehash.JumpBytes), short(r.Rehash.RangeBytes))
	t.Add("keys with two puids", "0", term.Count(r.Literal.Duplicates), "0", "0")
	t.Add("cells looked at, absent key", probes(last.AbsentFilters), probes(r.Literal.Absent), "1.00", "1.00")
	t.Add("cells looked at, known key", probes(last.KnownFilters), probes(r.Literal.Known), "1.00", "1.00")
	t.Add("cells", term.Count(int64(r.Room.Cells)), term.Count(int64(r.Room.Cells)), term.Count(int64(r.Rehash.Cells)),
		term.Count(int64(r.Rehash.Cells)))
	return t
}

// Notes returns sentences on what the tables have no column for.
func (r *Report) Notes() []string {
	last := r.Generations[len(r.Generations)-1]
	return []string{
		fmt.Sprintf("room: %s more records in generation %d, and %d more generations of twice as many cells each",
			short(float64(r.Room.Puids)), last.Generation, r.Room.Doublings),
		fmt.Sprintf("filters of the older cells take %sB in all", short(float64(r.Room.FilterBytes))),
		fmt.Sprintf("routed: %s puids and ids by each of %d maps, %d to a wrong cell",
			term.Count(int64(r.Routed.Sample)), len(r.Generations), r.Routed.Wrong),
		fmt.Sprintf("literal scheme: %d servers learn of a generation within %v, meanwhile %s new keys come, each %g more times on average",
			r.Literal.Servers, time.Duration(r.Literal.Lag*float64(time.Second)), term.Count(r.Literal.Window), r.Literal.Mentions),
	}
}

// short is term.Short with one more unit.
func short(n float64) string {
	if n >= 1e12 {
		return fmt.Sprintf("%.2fT", n/1e12)
	}
	return term.Short(n)
}
