// SPDX-License-Identifier: Apache-2.0

package entities

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// sampleSize is about how many records Largest reads, at most.
const sampleSize = 4096

// Largest returns up to limit entities of several records, the largest first. It takes those with the most records in a
// sample, which contains all records of a small installation. An entity is in the sample once for each of its records,
// so large ones are not missed.
func (h *Handle) Largest(ctx context.Context, limit int) ([]*entity.Entity, error) {
	windows, _, err := h.engine.Sample(ctx, sampleSize)
	if err != nil {
		return nil, err
	}
	sampled := map[entity.PUID]int{}
	for _, w := range windows {
		if err := h.engine.View(ctx, w.Cell, func(tx storage.Tx) error {
			found, err := w.Records(ctx, tx)
			for _, rec := range found {
				sampled[rec.Anchor]++
			}
			return err
		}); err != nil {
			return nil, fmt.Errorf("records of cell %v: %w", w.Cell, err)
		}
	}
	anchors := slices.SortedFunc(maps.Keys(sampled), func(a, b entity.PUID) int {
		return cmp.Or(sampled[b]-sampled[a], cmp.Compare(a, b))
	})
	found, err := h.engine.Stored(ctx, anchors[:min(limit, len(anchors))])
	if err != nil {
		return nil, err
	}
	// some change while they are read
	found = slices.DeleteFunc(found, func(e *entity.Entity) bool { return e == nil || len(e.Members) < 2 })
	slices.SortStableFunc(found, func(a, b *entity.Entity) int { return len(b.Members) - len(a.Members) })
	return found, nil
}
