// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
)

// ErrChanged means that other pairs are chosen now than when their effect was shown.
var ErrChanged = errors.New("the selected pairs have changed since the preview: nothing was decided; request the preview again")

// DecideAll makes one decision about each chosen pair, all with the same batch, which it returns; Undo withdraws them.
// A choice by a filter needs the stamp of the effect that was shown: if other pairs are chosen by now, the error is
// ErrChanged and nothing is decided.
func (h *Handle) DecideAll(ctx context.Context, s *Selection, stamp string, verdict entity.Verdict,
	by By) (batch string, results []Result, err error) {
	if verdict != entity.VerdictSame && verdict != entity.VerdictDifferent {
		return "", nil, problem.Invalid("/verdict", "invalid", "%.60q is not a verdict about pairs: want same or different",
			string(verdict))
	}
	pairs, err := h.Choose(ctx, s)
	switch {
	case err != nil:
		return "", nil, err
	case stamp == "" && len(s.Pairs) == 0:
		return "", nil, problem.Invalid("/stamp", "required", "a selection by a filter needs the stamp of its preview")
	case stamp != "" && stamp != stampOf(pairs):
		return "", nil, ErrChanged
	case len(pairs) == 0:
		return "", nil, problem.Invalid("/filter", "invalid", "it selects no pair of the review queue")
	}
	batch = strings.ToLower(rand.Text()[:12])
	list := inputs(pairs, verdict, by)
	for i := range list {
		list[i].Batch = batch
	}
	results, err = h.Decide(ctx, list)
	return batch, results, err
}

// Undo withdraws the decisions of a batch that still stand, about the given kinds, nil for all. A decision that another
// one has replaced is left alone. It may be repeated.
func (h *Handle) Undo(ctx context.Context, batch string, kinds []string, by By) (results []Result, err error) {
	if batch == "" {
		return nil, problem.Invalid("/batch", "required", "the batch is missing")
	}
	var found []entity.Decision
	if err := h.eachAnswer(ctx, func(d *entity.Decision) {
		if d.Batch == batch && !d.Withdrawn {
			found = append(found, *d)
		}
	}); err != nil {
		return nil, engine.Wrap(err)
	}
	told, err := h.describe(ctx, found)
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
