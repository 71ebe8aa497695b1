// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"errors"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
)

// Decide makes or withdraws decisions, in order: if two contradict each other, the later one counts. They are durable
// when it returns, and entities reflect them, except those that are Pending. Results are in the order of the list; a
// rejected item has Err set and does not affect the others. A returned error concerns the whole list: nothing was
// decided.
func (h *Handle) Decide(ctx context.Context, list []Input) ([]Result, error) {
	if err := h.engine.CheckWrites(); err != nil {
		return nil, err
	}
	if len(list) > records.MaxBatch {
		return nil, problem.Invalid("", "too_large", "there are %d decisions, more than %d", len(list), records.MaxBatch)
	}
	results := make([]Result, len(list))
	var decisions []entity.Decision
	var at []int // the index of the result
	for i, d := range list {
		prepared, err := h.Prepare(ctx, d, decisions)
		if err != nil {
			results[i].Err = err
			continue
		}
		decisions = append(decisions, prepared...)
		at = append(at, slices.Repeat([]int{i}, len(prepared))...)
	}
	if len(decisions) == 0 {
		return results, nil
	}
	if err := h.keepAnswers(ctx, decisions); err != nil {
		return nil, engine.Wrap(err)
	}
	made := h.engine.Resolver.Decide(ctx, decisions)
	h.engine.Written()
	var stand []entity.Decision
	for n, d := range made {
		r := &results[at[n]]
		switch {
		case errors.Is(d.Err, resolve.ErrDecision):
			r.Err = problem.Invalid("", "invalid", "%s", d.Err.Error())
		case d.Err != nil:
			r.Err = engine.Wrap(d.Err)
		}
		r.Watermark = d.Marks
		stand = append(stand, d.Decision)
	}
	told, err := h.Describe(ctx, stand)
	if err != nil {
		h.engine.Logger.Warn("reading back decisions failed", "err", err)
		told = make([]Decided, len(stand))
		for n, d := range stand {
			told[n].Decision = d
		}
	}
	for n, d := range made {
		first := n == 0 || at[n] != at[n-1] // not one that it implies
		if r := &results[at[n]]; first && r.Err == nil {
			r.Decided = told[n]
			if r.Pending = d.Pending; d.Pending {
				r.Conflict = "" // not known yet
			}
		}
	}
	return results, nil
}

// Prepare returns the decisions that an input makes, without making them: the one that it describes, then those that it
// implies. before are the decisions that would be made before it. The error is a *locus.InvalidError,
// entity.ErrNotFound or entity.ErrErased.
func (h *Handle) Prepare(ctx context.Context, d Input, before []entity.Decision) ([]entity.Decision, error) {
	decision, err := h.prepare(ctx, d, before)
	if err != nil {
		return nil, err
	}
	implied, err := h.rejoin(ctx, d, decision, before)
	return append([]entity.Decision{decision}, implied...), err
}

// prepare validates a decision and looks up its records.
func (h *Handle) prepare(ctx context.Context, d Input, before []entity.Decision) (entity.Decision, error) {
	decision := entity.Decision{Verdict: d.Verdict, Attribute: d.Attribute, Value: d.Value, Author: d.Author, By: d.By,
		Reason: d.Reason, Withdrawn: d.Withdraw, Batch: d.Batch, Settles: d.Settles}
	if problems := d.check(); problems != nil {
		return decision, &problem.InvalidError{Problems: problems}
	}
	a, err := h.record(ctx, d.A, d.Withdraw)
	if err != nil {
		return decision, problem.At("/a", err)
	}
	decision.A = a.PUID
	if decision.Pair() {
		b, err := h.record(ctx, d.B, d.Withdraw)
		if err != nil {
			return decision, problem.At("/b", err)
		}
		decision.B = b.PUID
		switch {
		case a.PUID == b.PUID:
			return decision, problem.Invalid("/b", "invalid", "%.300s and %.300s are the same record, %v", d.A, d.B, a.Ref)
		case a.Kind != b.Kind && !d.Withdraw:
			return decision, problem.Invalid("/b", "invalid", "%v is a %s and %v a %s: things of different kinds are different",
				a.Ref, a.Kind, b.Ref, b.Kind)
		}
	}
	if d.Verdict == entity.VerdictValue && !d.Withdraw {
		if problems := h.checkValue(a.Kind, d.Attribute, d.Value); problems != nil {
			return decision, &problem.InvalidError{Problems: problems}
		}
	}
	if !d.Withdraw {
		return decision, nil
	}
	stood, err := h.engine.Decisions(ctx, []entity.PUID{a.PUID})
	if err != nil {
		return decision, err
	}
	stood = slices.Concat(stood, before)
	for _, was := range slices.Backward(stood) {
		if was.Pair() && was.B == decision.A {
			was = was.Mirror()
		}
		if was.Key() == decision.Key() && (d.Batch == "" || was.Batch == d.Batch && !was.Withdrawn) {
			decision.Batch = was.Batch
			decision.Verdict, decision.Value = was.Verdict, was.Value
			return decision, nil
		}
	}
	about := "and " + d.B + "; a merge of entities is a decision about their representative records"
	switch d.Verdict {
	case entity.VerdictAnchor:
		about = "as the representative record"
	case entity.VerdictValue:
		about = "and attribute " + d.Attribute
	}
	return decision, problem.Invalid("/withdraw", "not_decided", "there is no decision about %.300s %.400s", d.A, about)
}

// record reads the record at an address. If deleted is set it may be a tombstone, so that decisions about a deleted
// record can be withdrawn.
func (h *Handle) record(ctx context.Context, address string, deleted bool) (*entity.Record, error) {
	rec, err := h.entities.Record(ctx, address)
	if !deleted || !errors.Is(err, entity.ErrErased) {
		return rec, err
	}
	puid, parsed := entity.ParsePUID(address)
	if ref, noRef := records.ParseRef(address); parsed != nil && noRef == nil {
		puids, lookedUp := h.engine.Keys.Lookup(ctx, []cell.Key{h.engine.Map().KeyOf(ref.Source, ref.Key)})
		if lookedUp != nil {
			return nil, lookedUp
		}
		puid = entity.PUID(puids[0])
	}
	if puid == 0 {
		return nil, err
	}
	return &entity.Record{PUID: puid}, nil
}

// Describe adds to decisions the keys of the records, their current entities, and any conflict.
func (h *Handle) Describe(ctx context.Context, decisions []entity.Decision) ([]Decided, error) {
	var puids []entity.PUID
	for _, d := range decisions {
		if puids = append(puids, d.A); d.Pair() {
			puids = append(puids, d.B)
		}
	}
	slices.Sort(puids)
	puids = slices.Compact(puids)
	found, err := h.engine.Records(ctx, puids)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(rec *entity.Record) bool { return rec == nil || rec.Deleted() })
	of, err := h.records.WithEntities(ctx, found)
	if err != nil {
		return nil, err
	}
	at := map[entity.PUID]*records.Record{}
	for _, rec := range of {
		at[rec.PUID] = rec
	}
	told := make([]Decided, len(decisions))
	for i, d := range decisions {
		told[i].Decision = d
		if a := at[d.A]; a != nil {
			told[i].RefA, told[i].EntityA, told[i].Kind = a.Ref, a.Entity, a.Kind
		}
		if b := at[d.B]; b != nil && d.Pair() {
			told[i].RefB, told[i].EntityB = b.Ref, b.Entity
		}
		told[i].Conflict = conflict(&told[i], at[d.A])
	}
	return told, nil
}

// conflict returns the sentence for Decided.Conflict, "" if entities agree with the decision.
func conflict(d *Decided, a *records.Record) string {
	if d.Withdrawn || a == nil || d.Pair() && d.EntityB == (locality.ID{}) {
		return ""
	}
	switch one := d.EntityA == d.EntityB; {
	case d.Verdict == entity.VerdictSame && !one:
		return "newer decisions separate the two"
	case d.Verdict == entity.VerdictDifferent && one:
		return "newer decisions join the two"
	case d.Verdict == entity.VerdictAnchor && d.EntityA != a.Birth:
		return "a newer decision gives the entity another anchor"
	}
	return ""
}
