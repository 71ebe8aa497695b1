// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"testing"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
)

// Every place of the stream has one to five records at the positions given by the lags. After the first million, every
// part has the same share of records about earlier places.
func TestSteady_Shape(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	g := Steady(1)
	const n = 3_000_000 / block * block
	of := map[int64]int{}
	var further [3]int
	for i := range int64(n) {
		place, nth := g.place(i)
		if of[place] > 0 {
			further[min(i/(n/3), 2)]++
		}
		of[place]++
		if of[place] > 5 || nth > 4 {
			t.Fatalf("place %d has %d records", place, of[place])
		}
	}
	for part, want := range []float64{0.45, 12.0 / block, 12.0 / block} {
		if got := float64(further[part]) / (n / 3); got < want-0.01 || got > want+0.08 {
			t.Errorf("%.3f of the records of part %d are about a place that is known, want %.3f", got, part, want)
		}
	}
}

func TestSteady_Records(t *testing.T) {
	t.Parallel()
	g, schema, keys := Steady(1), match.Place(), map[string]bool{}
	for _, from := range []int64{0, 1_000_000, 9_990_000, 1 << 33} {
		for i := from; i < from+2000; i++ {
			r := g.Record(i)
			if id := r.Source + ":" + r.Key; keys[id] {
				t.Fatalf("key %s twice", id)
			} else {
				keys[id] = true
			}
			if problems := schema.Check(r.Attributes); len(problems) > 0 {
				t.Fatalf("record %v is refused: %v", r, problems)
			}
			if place, err := g.PlaceOf(r.Key); place != r.Place || err != nil {
				t.Fatalf("key %s is about place %d, %v, want %d", r.Key, place, err, r.Place)
			}
		}
	}
}
