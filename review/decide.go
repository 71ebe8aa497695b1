// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
)

// ErrChanged means that other pairs are chosen now than when their effect was shown.
var ErrChanged = errors.New(
	"the selected pairs have changed since the preview: nothing was decided; request the preview again")

// DecideAll makes one decision about each chosen pair, all with the same batch, which it returns; Undo of
// package decisions withdraws them.
// A choice by a filter needs the stamp of the effect that was shown: if other pairs are chosen by now, the error is
// ErrChanged and nothing is decided.
func (h *Handle) DecideAll(ctx context.Context, s *Selection, stamp string, verdict entity.Verdict,
	by decisions.By) (batch string, results []decisions.Result, err error) {
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
	results, err = h.decisions.Decide(ctx, list)
	return batch, results, err
}

// inputs are decisions about pairs.
func inputs(pairs []Pair, verdict entity.Verdict, by decisions.By) []decisions.Input {
	list := make([]decisions.Input, len(pairs))
	for i := range pairs {
		list[i] = decisions.Input{Verdict: verdict, A: pairs[i].A.String(), B: pairs[i].B.String(), Author: by.Author,
			By: by.Principal, Reason: by.Reason}
	}
	return list
}
