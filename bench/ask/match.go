// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/records"
)

// matches matches records and then puts them, one at a time and 1,000 at a time, and prints the table.
func matches(ctx context.Context, db *locus.DB, o options, draw func(int) []records.Input) error {
	fmt.Print("| | match: p50, p99 ms | put: p50, p99 ms | ratio | processor, ms | ratio |\n|---|---|---|---|---|---|\n")
	for _, load := range []struct{ size, calls int }{{1, o.singles}, {entities.MaxProbes, o.batches}} {
		var match, put timed
		for range load.calls {
			batch := draw(load.size)
			probes := make([]entities.Probe, len(batch))
			for i := range batch {
				probes[i] = entities.Probe{Ref: batch[i].Ref, Attributes: batch[i].Attributes}
			}
			if err := match.call(func() error {
				_, err := db.Entities().Match(ctx, probes, &entities.MatchOptions{Put: true})
				return err
			}); err != nil {
				return err
			}
			if err := put.call(func() error {
				_, err := db.Records().Put(ctx, batch)
				return err
			}); err != nil {
				return err
			}
		}
		fmt.Printf("| %d | %.2f, %.2f | %.2f, %.2f | %.2f, %.2f | %.2f, %.2f | %.2f |\n", load.size,
			match.share(.5), match.share(.99), put.share(.5), put.share(.99), match.share(.5)/put.share(.5),
			match.share(.99)/put.share(.99),
			match.used(), put.used(), match.used()/put.used())
	}
	return nil
}
