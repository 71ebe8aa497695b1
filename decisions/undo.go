// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
)

// Undo withdraws the decisions of a batch that still stand, about the given kinds, nil for all. A decision that another
// one has replaced is left alone. It may be repeated.
func (h *Handle) Undo(ctx context.Context, batch string, kinds []string, by By) (results []Result, err error) {
	if batch == "" {
		return nil, problem.Invalid("/batch", "required", "the batch is missing")
	}
	var found []entity.Decision
	if err := h.EachPair(ctx, func(d *entity.Decision) {
		if d.Batch == batch && !d.Withdrawn {
			found = append(found, *d)
		}
	}); err != nil {
		return nil, engine.Wrap(err)
	}
	told, err := h.Describe(ctx, found)
	if err != nil {
		return nil, err
	}
	var list []Input
	for _, d := range told {
		if kinds == nil || slices.Contains(kinds, d.Kind) {
			list = append(list, Input{
				Verdict: d.Verdict, A: d.A.String(), B: d.B.String(), Author: by.Author, By: by.Principal, Reason: by.Reason,
				Withdraw: true, Batch: batch,
			})
		}
	}
	if len(list) == 0 {
		return nil, problem.Invalid("/batch", "not_decided", "the batch %.60q has no decision in force", batch)
	}
	return h.Decide(ctx, list)
}
