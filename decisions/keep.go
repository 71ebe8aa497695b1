// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
)

// keepAnswers notes in decisions about pairs the answers that they replace. Of two answers to a pair that are made at
// the same moment, one may be missing from the other: it is for figures, and changes no entity.
func (h *Handle) keepAnswers(ctx context.Context, list []entity.Decision) error {
	var puids []entity.PUID
	for i := range list {
		if list[i].Pair() {
			puids = append(puids, list[i].A)
		}
	}
	slices.Sort(puids)
	stood, err := h.engine.Decisions(ctx, slices.Compact(puids))
	if err != nil {
		return err
	}
	of := make(map[entity.DecisionKey]*entity.Decision, len(stood))
	for i := range stood {
		of[stood[i].Key()] = &stood[i]
	}
	now := h.engine.Now().UTC().Truncate(time.Millisecond)
	for i := range list {
		d := &list[i]
		if !d.Pair() {
			continue
		}
		was := of[d.Key()]
		if was == nil { // or an earlier one in the list
			was = of[mirrored(d)]
		}
		if was != nil {
			if d.Earlier, err = was.Replacing(d.Author, d.Settles, d.Withdrawn); err != nil {
				return err
			}
		}
		next := *d
		next.At = now // the resolver sets it
		of[d.Key()] = &next
	}
	return nil
}

func mirrored(d *entity.Decision) entity.DecisionKey {
	m := d.Mirror()
	return m.Key()
}
