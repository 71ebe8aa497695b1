// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"errors"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Handle reads and writes records. Get it from DB.Records of package locus. It is safe for concurrent use.
type Handle struct {
	engine *engine.Engine
}

// New returns the records handle of an installation.
func New(e *engine.Engine) *Handle { return &Handle{e} }

// Result is the result of one Input.
type Result struct {
	entity.Ref
	PUID    entity.PUID
	Version int64
	// Entity is the id of the entity that the record now belongs to.
	Entity  locality.ID
	Outcome resolve.Outcome
	// Pending reports that the record is durable but not resolved yet, because a cell it needs is unreachable or
	// another process is resolving it. It will be resolved as soon as possible.
	Pending bool
	// Watermark is a position in the logs of the cells that the write touched, at or after the write. A rollup read
	// with it as its minimum includes the write.
	Watermark changelog.Watermark
	// Err is set if this item was rejected or failed; all other fields except Ref are then zero. It is a
	// *locus.InvalidError for invalid input.
	Err error
}

// DeleteResult is the result of one deletion.
type DeleteResult struct {
	entity.Ref
	// Entity is the entity that the record belonged to.
	Entity locality.ID
	// Pending reports that the entity has not been split yet; see Result.
	Pending bool
	// Watermark is a position in the logs at or after the deletion; see Result.
	Watermark changelog.Watermark
	// Err is entity.ErrNotFound if there was no such record, and entity.ErrVersion if its version is not
	// Deletion.IfVersion; all other fields except Ref are then zero.
	Err error
}

// Record is a stored record and the id of its entity.
type Record struct {
	*entity.Record
	Entity locality.ID
}

// Query selects live records, in the order of their puids.
type Query struct {
	Source string      // only this source; "" for all
	After  entity.PUID // exclusive start; 0 to begin
	Limit  int         // 1 to 1000; 0 for 100
	// Damaged, if set, is called for each unreadable row, and the list continues. If nil, such a row fails the list.
	Damaged func(*cell.DamagedError)
}

// Get returns the record of an external key. The error is entity.ErrNotFound if it was never put, entity.ErrErased if
// it was deleted.
func (h *Handle) Get(ctx context.Context, ref entity.Ref) (*Record, error) {
	rec, err := h.Stored(ctx, ref)
	if err != nil {
		return nil, err
	}
	of, err := h.WithEntities(ctx, []*entity.Record{rec})
	if err != nil {
		return nil, err
	}
	return of[0], nil
}

// Stored returns the record of an external key without its entity. The error is a *locus.InvalidError,
// entity.ErrNotFound or entity.ErrErased.
func (h *Handle) Stored(ctx context.Context, ref entity.Ref) (*entity.Record, error) {
	if problems := CheckRef(ref); len(problems) > 0 {
		return nil, &problem.InvalidError{Problems: problems}
	}
	key := h.engine.Map().KeyOf(ref.Source, ref.Key)
	for attempt := 0; ; attempt++ {
		puids, err := h.engine.Keys.Lookup(ctx, []cell.Key{key})
		if err != nil {
			return nil, fmt.Errorf("record %v: %w", ref, err)
		}
		if puids[0] == cell.Nothing {
			return engine.Present(ref, nil)
		}
		records, err := h.engine.Records(ctx, []entity.PUID{entity.PUID(puids[0])})
		if err != nil {
			return nil, err
		}
		if records[0] != nil || attempt > 0 {
			return engine.Present(ref, records[0])
		}
		h.engine.Keys.Forget(key) // stale cache: its cell was restored from a backup without the record
	}
}

// StoredEach returns the live records of external keys without their entities, nil for a key that has none.
func (h *Handle) StoredEach(ctx context.Context, refs []entity.Ref) ([]*entity.Record, error) {
	keys := make([]cell.Key, len(refs))
	for i, ref := range refs {
		keys[i] = h.engine.Map().KeyOf(ref.Source, ref.Key)
	}
	found := make([]*entity.Record, len(refs))
	for attempt := 0; ; attempt++ {
		puids, err := h.engine.Keys.Lookup(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("find %d records: %w", len(refs), err)
		}
		var known []entity.PUID
		var at []int
		for i, puid := range puids {
			if puid != cell.Nothing {
				known, at = append(known, entity.PUID(puid)), append(at, i)
			}
		}
		stored, err := h.engine.Records(ctx, known)
		if err != nil {
			return nil, err
		}
		stale := false
		for i, rec := range stored {
			if rec == nil && attempt == 0 {
				h.engine.Keys.Forget(keys[at[i]]) // as in Stored
				stale = true
			} else if rec != nil && !rec.Deleted() {
				found[at[i]] = rec
			}
		}
		if !stale {
			return found, nil
		}
	}
}

// WithEntities adds the entity id to each record.
func (h *Handle) WithEntities(ctx context.Context, records []*entity.Record) ([]*Record, error) {
	of := make([]*Record, len(records))
	var joined []*Record // records whose anchor is another record
	var anchors []entity.PUID
	for i, rec := range records {
		of[i] = &Record{Record: rec, Entity: rec.Birth}
		if rec.Anchor != rec.PUID {
			joined, anchors = append(joined, of[i]), append(anchors, rec.Anchor)
		}
	}
	found, err := h.engine.Records(ctx, anchors)
	if err != nil {
		return nil, err
	}
	for i, anchor := range found {
		if anchor != nil && !anchor.Deleted() {
			joined[i].Entity = anchor.Birth
		}
	}
	return of, nil
}

// List returns live records; next is the After of the next page, 0 at the end.
func (h *Handle) List(ctx context.Context, q Query) (records []*Record, next entity.PUID, err error) {
	if q.Source != "" && !isSource(q.Source) {
		return nil, 0, problem.Invalid("/source", "invalid", "no source has such a name")
	}
	limit, err := engine.Limit(q.Limit)
	if err != nil {
		return nil, 0, err
	}
	page, next, err := engine.List[*entity.Record]{
		Read: func(tx storage.Tx, after entity.PUID, limit int) ([]*entity.Record, error) {
			return tx.ListRecords(ctx, q.Source, after, limit)
		},
		PUID:    func(rec *entity.Record) entity.PUID { return rec.PUID },
		Damaged: q.Damaged,
	}.Page(ctx, h.engine, q.After, limit)
	if err != nil {
		return nil, 0, err
	}
	records, err = h.WithEntities(ctx, page)
	if err != nil && q.Damaged != nil && errors.Is(err, cell.ErrDamaged) {
		records, err = h.withReadable(ctx, page, q.Damaged)
	}
	return records, next, err
}

// withReadable is WithEntities for a page where some anchor cannot be read. For such a record the id is taken from the
// stored entity. If that cannot be read either, the record is left out and reported to damaged.
func (h *Handle) withReadable(ctx context.Context, page []*entity.Record,
	damaged func(*cell.DamagedError)) ([]*Record, error) {
	records := make([]*Record, 0, len(page))
	for _, rec := range page {
		of, err := h.WithEntities(ctx, []*entity.Record{rec})
		if errors.Is(err, cell.ErrDamaged) {
			stored, failed := h.engine.Stored(ctx, []entity.PUID{rec.Anchor})
			switch {
			case failed != nil:
				err = failed
			case stored[0] != nil:
				of, err = []*Record{{Record: rec, Entity: stored[0].ID}}, nil
			}
		}
		if row, ok := errors.AsType[*cell.DamagedError](err); ok {
			damaged(row)
			continue
		}
		if err != nil {
			return nil, err
		}
		records = append(records, of...)
	}
	return records, nil
}
