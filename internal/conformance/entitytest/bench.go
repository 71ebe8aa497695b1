// SPDX-License-Identifier: Apache-2.0

package entitytest

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/locus-db/locus/entity"
)

// BenchSearch measures pages of 100 out of 100,000 entities of one city, most of them from a single source.
// settle runs before the measurement.
func BenchSearch(b *testing.B, c Cell, settle func()) {
	b.Helper()
	const n, step = 100_000, 2_000
	put := func(from int) {
		var entities []entity.Indexed
		for i := from; i < from+step; i++ {
			points := 4 + i%7
			if i%10 == 0 {
				points += 3 * (i / 10 % 5)
			}
			words := "pizza"
			if i%5000 == 0 {
				words += " trampoline"
			}
			entities = append(entities, ranked(entity.PUID(i+1), points, fmt.Sprintf("%s name%d", words, i), 1,
				1000+uint64(i%50), 1<<40+uint64(i)))
		}
		if err := c.Update(b.Context(), func(s entity.Store) error {
			return s.PutEntities(b.Context(), entities)
		}); err != nil {
			b.Fatal(err)
		}
	}
	for from := 0; from < n; from += step {
		put(from)
	}
	settle()
	for name, q := range map[string]entity.Query{
		"city": terms(1), "city and rare word": {Words: []string{"trampoline"}, Terms: []uint64{1}},
		"city and beginning": {Words: []string{"pi"}, Terms: []uint64{1}},
		"city and category":  terms(1, 1007), "city without": {Terms: []uint64{1}, Without: []uint64{1007}},
	} {
		for _, first := range []bool{false, true} {
			if q.Limit, q.After = 100, math.MinInt64; first {
				q, name = best(q), name+", best first"
			}
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					if err := c.Update(b.Context(), func(s entity.Store) error {
						_, err := s.Search(context.WithoutCancel(b.Context()), q)
						return err
					}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
