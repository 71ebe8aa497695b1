// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
)

// judge compares the entities with the truth.
func judge(ctx context.Context, g *demo.Generator, s *locus.DB) (string, error) {
	var score demo.Score
	for after := (entity.Place{}); ; {
		page, next, err := s.Entities().Search(ctx, entities.Query{After: after, Limit: locus.MaxLimit})
		if err != nil {
			return "", err
		}
		for _, e := range page {
			var of []int64
			for _, m := range e.Members {
				place, err := g.PlaceOf(m.Key)
				if err != nil {
					return "", err
				}
				of = append(of, place)
			}
			score.Add(of)
		}
		if next == (entity.Place{}) {
			return fmt.Sprintf("precision %.3f, recall %.3f, F1 %.3f", score.Precision(), score.Recall(), score.F1()), nil
		}
		after = next
	}
}
