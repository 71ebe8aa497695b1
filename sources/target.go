// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/source"
)

// target writes the operations of a batch into the installation.
type target struct{ records *records.Handle }

// Apply puts and deletes.
func (t target) Apply(ctx context.Context, ops []source.Op) ([]error, error) {
	refused := make([]error, len(ops))
	var puts []records.Input
	var putAt, deleteAt []int
	for i, op := range ops {
		if op.Delete {
			deleteAt = append(deleteAt, i)
			continue
		}
		puts = append(puts, records.Input{Ref: op.Ref, Kind: op.Kind, Observed: op.Observed, Later: true, Attributes: op.Attributes})
		putAt = append(putAt, i)
	}
	if len(puts) > 0 {
		results, err := t.records.Put(ctx, puts)
		if err != nil {
			return nil, err
		}
		for n, r := range results {
			if refused[putAt[n]], err = refusal(r.Err); err != nil {
				return nil, fmt.Errorf("put %v: %w", r.Ref, err)
			}
		}
	}
	for attempt := 0; len(deleteAt) > 0; attempt++ {
		left, err := t.delete(ctx, ops, deleteAt, refused)
		if err != nil {
			return nil, err
		}
		if deleteAt = left; attempt == maxAttempts {
			return nil, fmt.Errorf("delete %v: it is written all the time", ops[left[0]].Ref)
		}
	}
	return refused, nil
}

// maxAttempts is how often a deletion is repeated because the record was written in between.
const maxAttempts = 10

// delete deletes the records that are not newer than their messages. left are the operations whose records were written
// in between.
func (t target) delete(ctx context.Context, ops []source.Op, at []int, refused []error) (left []int, err error) {
	var refs []entity.Ref
	var of []int
	for _, i := range at {
		if problems := records.CheckRef(ops[i].Ref); len(problems) > 0 {
			refused[i] = &problem.InvalidError{Problems: problems}
			continue
		}
		refs, of = append(refs, ops[i].Ref), append(of, i)
	}
	stored, err := t.records.StoredEach(ctx, refs)
	if err != nil {
		return nil, err
	}
	var deletions []records.Deletion
	var deleted []int
	for n, rec := range stored {
		if rec != nil && !rec.Observed.After(ops[of[n]].Observed) {
			deletions = append(deletions, records.Deletion{Ref: refs[n], IfVersion: rec.Version})
			deleted = append(deleted, of[n])
		}
	}
	if len(deletions) == 0 {
		return nil, nil
	}
	results, err := t.records.DeleteIf(ctx, deletions)
	if err != nil {
		return nil, err
	}
	for n, r := range results {
		switch {
		case r.Err == nil, errors.Is(r.Err, entity.ErrNotFound), errors.Is(r.Err, entity.ErrErased):
		case errors.Is(r.Err, entity.ErrVersion):
			left = append(left, deleted[n])
		default:
			return nil, fmt.Errorf("delete %v: %w", r.Ref, r.Err)
		}
	}
	return left, nil
}

// refusal returns an error that no repetition can change, and otherwise err.
func refusal(failed error) (refused, err error) {
	if errors.Is(failed, problem.ErrInvalid) {
		return failed, nil
	}
	return nil, failed
}
