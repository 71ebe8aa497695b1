// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/dgryski/go-jump"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

// BenchmarkBalance spreads a million IDs of one generator, which visits the ring in even steps, over cells: by
// their positions, and by hashing the same IDs.
func BenchmarkBalance(b *testing.B) {
	const cells = 1000
	m, err := cell.NewMap(cell.Spec{ID: "flat", Generations: []cell.Generation{{Cells: cells}}})
	if err != nil {
		b.Fatal(err)
	}
	g, err := locality.NewGenerator(nil)
	if err != nil {
		b.Fatal(err)
	}
	ids := make([]locality.ID, little(1_000_000))
	for peer, place := range map[string]func(locality.ID) int{
		"locus": func(id locality.ID) int {
			c, err := m.Entity(id)
			if err != nil {
				b.Fatal(err)
			}
			return int(c.Index)
		},
		"hashed": func(id locality.ID) int { return int(jump.Hash(xxhash.Sum64(id[:]), cells)) },
	} {
		b.Run("peer="+peer, func(b *testing.B) {
			var fullest float64
			for range b.N {
				g.Fill(ids)
				counts := make([]int, cells)
				for _, id := range ids {
					counts[place(id)]++
				}
				fullest = float64(slices.Max(counts)) / (float64(len(ids)) / cells)
			}
			b.ReportMetric(fullest, "max/mean")
		})
	}
}
