// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/records"
)

// BenchmarkMatch matches records of the demo that are not stored yet among 20,000 that are, on 16 SQLite cells, and
// puts the same records in the same run: one at a time, with the median and the 99th percentile of both, and 1,000 at a
// time. A ratio below 1 means that the match is faster. An iteration is one probe and one put, or 1,000 of each.
//
//	go test -run '^$' -bench Match -benchtime 2000x ./e2e/library
func BenchmarkMatch(b *testing.B) {
	const stored = 20_000
	for _, size := range []int{1, entities.MaxProbes} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			n := b.N
			if size > 1 {
				n = max(b.N*size/stored, 5) // as many records as -benchtime names probes, five batches at least
			}
			generator := demo.New(1, stored+int64(n*size))
			next := int64(0)
			draw := func(n int) (puts []records.Input) {
				for range n {
					r := generator.Record(next)
					next++
					puts = append(puts, records.Input{Ref: entity.Ref{Source: r.Source, Key: r.Key}, Attributes: r.Attributes})
				}
				return puts
			}
			s := open(b, b.TempDir(), 16)
			defer s.Close()
			for range stored / 1000 {
				put(b, s, draw(1000)...)
			}
			b.ResetTimer()
			var matches, puts []time.Duration
			for range n {
				batch := draw(size)
				probes := make([]entities.Probe, size)
				for i := range batch {
					probes[i] = entities.Probe{Ref: batch[i].Ref, Attributes: batch[i].Attributes}
				}
				begin := time.Now()
				if _, err := s.Entities().Match(b.Context(), probes, &entities.MatchOptions{Put: true}); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				if _, err := s.Records().Put(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
				matches, puts = append(matches, middle.Sub(begin)), append(puts, time.Since(middle))
			}
			slices.Sort(matches)
			slices.Sort(puts)
			for name, share := range map[string]float64{"p50": 0.5, "p99": 0.99} {
				at := int(share * float64(n-1))
				b.ReportMetric(matches[at].Seconds()*1000, name+"-match-ms")
				b.ReportMetric(puts[at].Seconds()*1000, name+"-put-ms")
				b.ReportMetric(matches[at].Seconds()/puts[at].Seconds(), name+"-ratio")
			}
		})
	}
}
