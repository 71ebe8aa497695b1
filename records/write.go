// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"errors"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/resolve"
)

// Put writes and resolves records. Reported results are durable when it returns. Results are in the order of puts; a
// rejected item has Err set and does not affect the others. A returned error concerns the whole batch: nothing was
// applied. Put is idempotent.
func (h *Handle) Put(ctx context.Context, puts []Input) ([]Result, error) {
	if err := errors.Join(h.engine.CheckWrites(), h.engine.Resolver.Upgraded(ctx)); err != nil {
		return nil, err
	}
	results := make([]Result, len(puts))
	ops := make([]resolve.Op, 0, len(puts))
	at := make([]int, 0, len(puts))
	now := h.engine.Now()
	for i, p := range puts {
		results[i].Ref = p.Ref
		p.Attributes = Sent(p.Attributes)
		kind := h.engine.Schema(p.Kind)
		if kind == nil && !h.engine.Alone() && h.engine.EnsureKind(ctx, p.Kind) == nil {
			kind = h.engine.Schema(p.Kind)
		}
		if kind == nil {
			results[i].Err = h.engine.UnknownKind(p.Kind)
			continue
		}
		if problems := Check(kind, now, p); len(problems) > 0 {
			results[i].Err = &problem.InvalidError{Problems: problems}
			continue
		}
		ops = append(ops, resolve.Op{Ref: p.Ref, Kind: kind.Kind, Observed: p.Observed.UTC().Truncate(time.Millisecond),
			Later: p.Later, Unless: p.Unless, Attributes: p.Attributes})
		at = append(at, i)
	}
	if len(ops) == 0 {
		h.count(results)
		return results, nil
	}
	done, err := h.engine.Queue.Do(ctx, ops)
	if err != nil {
		return nil, engine.Wrap(err)
	}
	written := 0
	var failed error
	for n, res := range done {
		r := &results[at[n]]
		r.PUID, r.Version, r.Entity = res.PUID, res.Version, res.Entity
		r.Outcome, r.Pending, r.Err = res.Outcome, res.Pending, engine.Wrap(res.Err)
		r.Watermark = res.Marks
		if res.Err == nil {
			written++
		} else if !errors.Is(res.Err, entity.ErrRefused) {
			failed = res.Err
		}
	}
	h.count(results)
	if failed != nil {
		h.engine.Logger.Error("records not written", "count", len(done)-written, "err", failed)
	}
	return results, nil
}

// count adds the outcomes of records to the counters of Locus itself. A pending record counts as received only.
func (h *Handle) count(results []Result) {
	became := map[resolve.Outcome]int64{}
	var received, refused int64
	for i := range results {
		if results[i].Err != nil {
			refused++
			continue
		}
		received++
		if !results[i].Pending {
			became[results[i].Outcome]++
		}
	}
	h.engine.Count(engine.OwnRecords, received)
	h.engine.Count(engine.OwnCreated, became[resolve.Created])
	h.engine.Count(engine.OwnMatched, became[resolve.Matched])
	h.engine.Count(engine.OwnRefused, refused)
}

// Deletion is a record to delete.
type Deletion struct {
	entity.Ref
	// IfVersion, if not 0, is the version that the record must have. A record that was written since stays.
	IfVersion int64
	// Unless is the Unless of Input.
	Unless func(stored *entity.Record) bool
}

// Delete deletes records and separates what they held together. Tombstones without content remain, so that all ids ever
// returned keep resolving. Results are in the order of refs; a rejected item has Err set and does not affect the
// others. A returned error concerns the whole batch: nothing was applied.
func (h *Handle) Delete(ctx context.Context, refs []entity.Ref) ([]DeleteResult, error) {
	return h.DeleteIf(ctx, deletionsOf(refs))
}

func deletionsOf(refs []entity.Ref) []Deletion {
	deletions := make([]Deletion, len(refs))
	for i, ref := range refs {
		deletions[i].Ref = ref
	}
	return deletions
}

// DeleteIf is Delete of records that have the given versions.
func (h *Handle) DeleteIf(ctx context.Context, deletions []Deletion) ([]DeleteResult, error) {
	if err := errors.Join(h.engine.CheckWrites(), h.engine.Resolver.Upgraded(ctx)); err != nil {
		return nil, err
	}
	results := make([]DeleteResult, len(deletions))
	ops := make([]resolve.Op, 0, len(deletions))
	at := make([]int, 0, len(deletions))
	for i, d := range deletions {
		results[i].Ref = d.Ref
		if problems := CheckRef(d.Ref); len(problems) > 0 {
			results[i].Err = &problem.InvalidError{Problems: problems}
			continue
		}
		ops = append(ops, resolve.Op{Ref: d.Ref, Delete: true, IfVersion: d.IfVersion, Unless: d.Unless})
		at = append(at, i)
	}
	if len(ops) == 0 {
		return results, nil
	}
	done, err := h.engine.Queue.Do(ctx, ops)
	if err != nil {
		return nil, engine.Wrap(err)
	}
	for n, res := range done {
		r := &results[at[n]]
		r.Entity, r.Pending, r.Watermark, r.Err = res.Entity, res.Pending, res.Marks, engine.Wrap(res.Err)
	}
	return results, nil
}
