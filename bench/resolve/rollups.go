// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// definitions are the rollups of -rollups.
var definitions = []rollup.Definition{
	{Name: "places_by_category", Kind: "place", Group: []string{"category"}, Dimension: "city"},
	{Name: "records_by_source", Kind: "place", Over: rollup.Records, Group: []string{"source"}, Dimension: "outcome"},
}

// define defines the rollups before the first record.
func define(ctx context.Context, s *locus.DB) error {
	for _, d := range definitions {
		if _, _, err := s.Rollups().Define(ctx, d); err != nil {
			return err
		}
		// wait until it serves
		if _, err := s.Rollups().Query(ctx, d.Name, rollups.Query{Read: rollups.Read{Patience: time.Minute}}); err != nil {
			return err
		}
	}
	return nil
}

// verify prints how far behind the rollups are after the last put, and compares them with their recomputation.
func verify(ctx context.Context, s *locus.DB) error {
	for _, d := range definitions {
		begin := time.Now()
		answer, err := s.Rollups().Query(ctx, d.Name,
			rollups.Query{Read: rollups.Read{Latest: true, Patience: time.Minute}, Limit: 1000})
		if err != nil {
			return err
		}
		caught := time.Since(begin)
		differs, rows := 0, 0
		if err := s.Rollups().Verify(ctx, d.Name, func(v rollups.CellVerification) error {
			differs += v.Differs
			rows += v.Rows
			return nil
		}, nil); err != nil {
			return err
		}
		if differs > 0 {
			return fmt.Errorf("rollup %s: %d rows differ from their recomputation", d.Name, differs)
		}
		fmt.Printf("\nrollup %s: %d groups, up to date %v after the last put, %d rows verified\n", d.Name, len(answer.Groups),
			caught.Round(time.Millisecond), rows)
	}
	return nil
}
