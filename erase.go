// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
)

// Erase deletes records, as Delete does, and what otherwise outlives a record: what people have decided about it, and
// its birth id, which a key that is put again would have again. It does so too if a record is deleted already. What was in the tables before it stays in the files
// of the cells until Vacuum.
func (s *Service) Erase(ctx context.Context, refs []entity.Ref) ([]DeleteResult, error) {
	results, err := s.Delete(ctx, refs)
	if err != nil {
		return nil, err
	}
	keys := make([]cell.Key, len(refs))
	for i, ref := range refs {
		keys[i] = s.Map().KeyOf(ref.Source, ref.Key)
	}
	puids, err := s.keys.Lookup(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("erase %d records: %w", len(refs), err)
	}
	for _, puid := range puids {
		if puid != cell.Nothing {
			if err := s.forget(ctx, entity.PUID(puid)); err != nil {
				return nil, fmt.Errorf("erase what outlives record %v: %w", entity.PUID(puid), err)
			}
		}
	}
	return results, nil
}

// forget removes the decisions about a record: what stands under the other records of its pairs is
// overwritten by one without words that is withdrawn. A tombstone forgets its birth id.
func (s *Service) forget(ctx context.Context, puid entity.PUID) error {
	home, err := located(ctx, s, int64(puid), (*cell.Map).Puid)
	if err != nil {
		return err
	}
	var made []entity.Decision
	if err := s.view(ctx, home, func(tx resolve.Tx) (err error) {
		made, err = tx.Decisions(ctx, []entity.PUID{puid})
		return err
	}); err != nil {
		return err
	}
	for _, d := range made {
		if !d.Pair() {
			continue
		}
		other, err := located(ctx, s, int64(d.B), (*cell.Map).Puid)
		if err != nil {
			return err
		}
		bare := entity.Decision{Verdict: d.Verdict, A: d.B, B: d.A, At: d.At.Add(time.Millisecond), Withdrawn: true}
		if err := s.at(ctx, other, func(c resolve.Cell) error {
			return c.Update(ctx, func(tx resolve.Tx) error { return tx.PutDecisions(ctx, []entity.Decision{bare}) })
		}); err != nil {
			return err
		}
	}
	return s.at(ctx, home, func(c resolve.Cell) error {
		return c.Update(ctx, func(tx resolve.Tx) error {
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
	})
}

// Vacuumed is what Vacuum did in a cell.
type Vacuumed struct {
	Cell    cell.ID `json:"cell"`
	Trimmed int     `json:"trimmed"` // changes of the log
	// Behind tells that the log still says what deleted records said, since a rollup has not counted all of
	// it. Vacuum again.
	Behind bool `json:"behind,omitempty"`
}

// Vacuum removes what deleted records said from the files of every cell, one after the other: it trims the
// log as far as its images tell of them, but nothing that a rollup has yet to count, and writes the database
// anew. The other cells go on meanwhile; writers of the cell wait. It may be stopped and called again.
func (s *Service) Vacuum(ctx context.Context, done func(Vacuumed)) error {
	if err := s.changes(); err != nil {
		return err
	}
	for _, id := range s.Map().Cells() {
		v, err := s.trimErased(ctx, id)
		if err == nil {
			err = s.cells.Vacuum(ctx, id)
		}
		if err != nil {
			return fmt.Errorf("vacuum cell %v: %w", id, err)
		}
		done(v)
	}
	return nil
}

// logPage is how many changes are read at once.
const logPage = 1000

// trimErased trims the log of a cell up to the last image that tells of a deleted record.
func (s *Service) trimErased(ctx context.Context, id cell.ID) (v Vacuumed, err error) {
	v.Cell = id
	last, err := s.lastErased(ctx, id)
	if err != nil || last == nil {
		return v, err
	}
	before := last.Time.Add(time.Nanosecond)
	for {
		var bounds changelog.Bounds
		n := 0
		if err := s.rollups(id).Update(ctx, func(tx rollup.Tx) (err error) {
			if n, err = rollup.Trim(ctx, tx, before, logPage); err == nil {
				bounds, err = tx.Bounds(ctx)
			}
			return err
		}); err != nil {
			return v, err
		}
		if v.Trimmed += n; n == 0 || bounds.Trimmed >= last.Seq {
			v.Behind = bounds.Trimmed < last.Seq
			return v, nil
		}
	}
}

// lastErased is the last change of a log with an image that tells of a record which is deleted now.
func (s *Service) lastErased(ctx context.Context, id cell.ID) (last *changelog.Change, err error) {
	var after changelog.Seq
	if err := s.view(ctx, id, func(tx resolve.Tx) error {
		bounds, err := tx.Bounds(ctx)
		after = bounds.Trimmed
		return err
	}); err != nil {
		return nil, err
	}
	for {
		var changes []changelog.Change
		if err := s.view(ctx, id, func(tx resolve.Tx) (err error) {
			changes, err = tx.Changes(ctx, after, logPage)
			return err
		}); err != nil || len(changes) == 0 {
			return last, err
		}
		var puids []entity.PUID
		var of []int // the change that names it
		for i, c := range changes {
			for _, members := range [][]changelog.Version{c.Before, c.After} {
				for _, m := range members {
					if c.Was != nil || c.Is != nil {
						puids, of = append(puids, m.PUID), append(of, i)
					}
				}
			}
		}
		records, err := s.records(ctx, puids)
		if err != nil {
			return nil, err
		}
		for i, rec := range records {
			if rec == nil || rec.Deleted() {
				last = &changes[of[i]]
			}
		}
		after = changes[len(changes)-1].Seq
	}
}
