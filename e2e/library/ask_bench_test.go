// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/review"
)

// BenchmarkExplain explains every entity in turn, in 20,000 records of the demo on 16 SQLite cells, and reports the
// median and the 99th percentile.
//
//	go test -run '^$' -bench Explain -benchtime 2000x ./e2e/library
func BenchmarkExplain(b *testing.B) {
	s := loaded(b, 20_000)
	var list []*entity.Entity
	for after := (entity.Place{}); ; {
		page, next, err := s.Entities().Search(b.Context(), entities.Query{After: after, Limit: 1000})
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, page...)
		if after = next; next == (entity.Place{}) {
			break
		}
	}
	for _, question := range []struct {
		name string
		ask  func(e, other *entity.Entity) error
	}{
		{"why", func(e, _ *entity.Entity) error { _, err := s.Explain().Why(b.Context(), e.ID); return err }},
		{"why-not", func(e, other *entity.Entity) error {
			_, err := s.Explain().WhyNot(b.Context(), e.ID.String(), other.ID.String())
			return err
		}},
		{"how", func(e, _ *entity.Entity) error { _, err := s.Explain().How(b.Context(), e.ID); return err }},
		{"what-if-deleted", func(e, _ *entity.Entity) error {
			_, err := s.Explain().WhatIf(b.Context(),
				explain.Scenario{Of: e.ID.String(), Delete: []string{e.Members[len(e.Members)-1].Ref.String()}})
			return err
		}},
		{"what-if-decided", func(e, other *entity.Entity) error {
			_, err := s.Explain().WhatIf(b.Context(), explain.Scenario{Of: e.ID.String(), Decide: []decisions.Input{
				{Verdict: entity.VerdictSame, A: e.ID.String(), B: other.ID.String()},
			}})
			return err
		}},
		{"what-if-weights", func(e, _ *entity.Entity) error {
			_, err := s.Explain().WhatIf(b.Context(),
				explain.Scenario{Of: e.ID.String(), Weights: map[string]match.Weight{"phone: equal": 450}})
			return err
		}},
		{"relations", func(e, _ *entity.Entity) error { _, err := s.Entities().Relations(b.Context(), e.ID); return err }},
	} {
		b.Run(question.name, func(b *testing.B) {
			took := make([]time.Duration, 0, b.N)
			for i := range b.N {
				begin := time.Now()
				if err := question.ask(list[i%len(list)], list[(i+1)%len(list)]); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			for name, share := range map[string]float64{"p50-ms": 0.5, "p99-ms": 0.99} {
				b.ReportMetric(took[int(share*float64(len(took)-1))].Seconds()*1000, name)
			}
		})
	}
	b.Run("review", func(b *testing.B) {
		for range b.N {
			if _, err := s.Review().List(b.Context(), review.Query{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMigrate counts a term-frequency table from 20,000 records, compares, and switches to it.
//
//	go test -run '^$' -bench Switch -benchtime 1x ./e2e/library
func BenchmarkMigrate(b *testing.B) {
	s := loaded(b, 20_000)
	for range b.N {
		begin := time.Now()
		report := func(step string) {
			b.ReportMetric(20_000/time.Since(begin).Seconds(), step+"-records/s")
			begin = time.Now()
		}
		pack, err := s.Kinds().BuildTermFrequencies(b.Context(), "place", nil)
		if err != nil {
			b.Fatal(err)
		}
		report("pack")
		p := kinds.Proposal{Kind: "place", Terms: pack.Hash}
		if _, err := s.Kinds().Compare(b.Context(), p, nil); err != nil {
			b.Fatal(err)
		}
		report("diff")
		if err := s.Kinds().Migrate(b.Context(), p, nil); err != nil {
			b.Fatal(err)
		}
		report("switch")
	}
}
