// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
)

// rejoin returns withdrawals of the decisions that keep records of two entities apart, if the input is that these
// entities are the same thing: otherwise some of their records would leave them.
func (h *Handle) rejoin(ctx context.Context, d Input, same entity.Decision, before []entity.Decision) ([]entity.Decision, error) {
	a, noA := locality.Parse(d.A)
	b, noB := locality.Parse(d.B)
	if d.Verdict != entity.VerdictSame || d.Withdraw || noA != nil || noB != nil {
		return nil, nil
	}
	x, err := h.entities.Get(ctx, a)
	if err != nil {
		return nil, problem.At("/a", err)
	}
	y, err := h.entities.Get(ctx, b)
	if err != nil {
		return nil, problem.At("/b", err)
	}
	ofX, ofY := x.PUIDs(), y.PUIDs()
	stood, err := h.engine.Decisions(ctx, ofX)
	if err != nil {
		return nil, err
	}
	between := func(p, q entity.PUID) bool { return slices.Contains(ofX, p) && slices.Contains(ofY, q) }
	var list []entity.Decision
	for _, was := range slices.Concat(stood, before) {
		if was.Verdict == entity.VerdictDifferent && !was.Withdrawn && was.Key() != same.Key() &&
			(between(was.A, was.B) || between(was.B, was.A)) {
			w := same
			w.Verdict, w.A, w.B, w.Withdrawn, w.Batch = was.Verdict, was.A, was.B, true, was.Batch
			list = append(list, w)
		}
	}
	if len(list) >= records.MaxBatch {
		return nil, problem.Invalid("/b", "too_large", "decisions keep %d pairs of their records apart, more than %d: withdraw some",
			len(list), records.MaxBatch-1)
	}
	return list, nil
}
