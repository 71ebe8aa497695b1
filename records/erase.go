// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

// Erase deletes records, as Delete does, and also removes the data that otherwise remains: human decisions about the
// record, and its birth id, which a later Put of the same key would get back. It also works for records that are
// already deleted. The old row contents stay in the files of the cells until Vacuum.
func (h *Handle) Erase(ctx context.Context, refs []entity.Ref) ([]DeleteResult, error) {
	return h.EraseIf(ctx, deletionsOf(refs))
}

// EraseIf is Erase on conditions. A record whose condition is not met, or that is deleted, is left unchanged.
func (h *Handle) EraseIf(ctx context.Context, deletions []Deletion) ([]DeleteResult, error) {
	results, err := h.DeleteIf(ctx, deletions)
	if err != nil {
		return nil, err
	}
	keys := make([]cell.Key, 0, len(deletions))
	for i, d := range deletions {
		if results[i].Err == nil || d.Unless == nil && d.IfVersion == 0 {
			keys = append(keys, h.engine.Map().KeyOf(d.Source, d.Key))
		}
	}
	puids, err := h.engine.Keys.Lookup(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("erase %d records: %w", len(deletions), err)
	}
	for _, puid := range puids {
		if puid != cell.Nothing {
			if err := h.forget(ctx, entity.PUID(puid)); err != nil {
				return nil, fmt.Errorf("erase what outlives record %v: %w", entity.PUID(puid), err)
			}
		}
	}
	return results, nil
}

// forget removes the decisions about a record. Copies stored under the other records of its pairs are overwritten by a
// withdrawn decision without text. The tombstone loses its birth id.
func (h *Handle) forget(ctx context.Context, puid entity.PUID) error {
	home, err := engine.Locate(ctx, h.engine, int64(puid), (*cell.Map).Puid)
	if err != nil {
		return err
	}
	var made []entity.Decision
	if err := h.engine.View(ctx, home, func(tx storage.Tx) (err error) {
		made, err = tx.Decisions(ctx, []entity.PUID{puid})
		return err
	}); err != nil {
		return err
	}
	for _, d := range made {
		if !d.Pair() {
			continue
		}
		other, err := engine.Locate(ctx, h.engine, int64(d.B), (*cell.Map).Puid)
		if err != nil {
			return err
		}
		bare := entity.Decision{Verdict: d.Verdict, A: d.B, B: d.A, At: d.At.Add(time.Millisecond), Withdrawn: true}
		if err := h.engine.Update(ctx, other, func(tx storage.Tx) error {
			return tx.PutDecisions(ctx, []entity.Decision{bare})
		}); err != nil {
			return err
		}
	}
	return h.engine.Update(ctx, home, func(tx storage.Tx) error {
		records, err := tx.Records(ctx, []entity.PUID{puid})
		if err != nil {
			return err
		}
		if rec := records[0]; rec != nil && rec.Deleted() && !rec.Birth.IsZero() {
			rec.Birth = locality.ID{}
			if err := tx.PutRecords(ctx, []*entity.Record{rec}); err != nil {
				return err
			}
		}
		return tx.DeleteDecisions(ctx, []entity.PUID{puid})
	})
}
