// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/records"
)

// Merge decides that two entities are the same thing: it adds a must-link between their anchors, and withdraws
// decisions that keep records of one apart from records of the other. Unmerge reverses it.
func (h *Handle) Merge(ctx context.Context, a, b string, by By) (*Result, error) {
	x, err := h.entities.Find(ctx, a)
	if err != nil {
		return nil, problem.At("/a", err)
	}
	y, err := h.entities.Find(ctx, b)
	if err != nil {
		return nil, problem.At("/b", err)
	}
	if x.ID == y.ID {
		return nil, problem.Invalid("/b", "invalid", "%.300s and %.300s are already one entity, %v", a, b, x.ID)
	}
	results, err := h.Decide(ctx, []Input{{
		Verdict: entity.VerdictSame, A: x.ID.String(), B: y.ID.String(), Author: by.Author, By: by.Principal,
		Reason: by.Reason,
	}})
	if err != nil {
		return nil, err
	}
	return &results[0], results[0].Err
}

// Unmerge decides that records do not belong to their entity: it adds a cannot-link between each of them and each
// member that is not named, overriding earlier decisions. After a Merge it restores both ids.
func (h *Handle) Unmerge(ctx context.Context, address string, out []string, by By) ([]Result, error) {
	e, err := h.entities.Find(ctx, address)
	if err != nil {
		return nil, problem.At("/id", err)
	}
	if len(out) == 0 || len(out) > MaxUnmerged {
		return nil, problem.Invalid("/records", "invalid", "want 1 to %d records", MaxUnmerged)
	}
	var named []entity.PUID
	for i, address := range out {
		pointer := fmt.Sprintf("/records/%d", i)
		rec, err := h.entities.Record(ctx, address)
		if err != nil {
			return nil, problem.At(pointer, err)
		}
		if !slices.Contains(e.Entity.PUIDs(), rec.PUID) {
			return nil, problem.Invalid(pointer, "invalid", "%v is not in entity %v", rec.Ref, e.ID)
		}
		named = append(named, rec.PUID)
	}
	var list []Input
	for _, gone := range e.Members {
		for _, in := range e.Members {
			if slices.Contains(named, gone.PUID) && !slices.Contains(named, in.PUID) {
				list = append(list, Input{Verdict: entity.VerdictDifferent, A: gone.PUID.String(), B: in.PUID.String(),
					Author: by.Author, By: by.Principal, Reason: by.Reason})
			}
		}
	}
	switch {
	case len(list) == 0:
		return nil, problem.Invalid("/records", "invalid",
			"these are all records of entity %v: name only those that do not belong to it", e.ID)
	case len(list) > records.MaxBatch:
		return nil, problem.Invalid("/records", "too_large", "that makes %d pairs, more than %d: name fewer records",
			len(list), records.MaxBatch)
	}
	return h.Decide(ctx, list)
}
