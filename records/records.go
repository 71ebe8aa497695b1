// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

// Handle reads and writes records: DB.Records of package locus. It is safe for concurrent use.
type Handle struct {
	engine *engine.Engine
}

// New returns the handle of an installation.
func New(e *engine.Engine) *Handle { return &Handle{e} }

// Input is a record to be written: what a source says about a thing under its own key.
type Input struct {
	entity.Ref
	// Kind of the thing, the name of one that the installation has; "" is that of records which name none.
	Kind string
	// Observed is when the source saw it so; the zero time means now. A record that is older than
	// the one already stored under its key does not replace it.
	Observed   time.Time
	Attributes entity.Attributes
}

// Result is what became of one Input.
type Result struct {
	entity.Ref
	PUID    entity.PUID
	Version int64
	// Entity is the id of the entity that the record belongs to now.
	Entity  locality.ID
	Outcome resolve.Outcome
	// Pending tells that the record is durable, and that its entity is not worked out yet: a cell that it
	// takes does not answer, or another process is at it. It is done as soon as that can be.
	Pending bool
	// Watermark is a place in the logs of the cells that the write touched, at or after the write: a rollup
	// read with it as its minimum contains the write.
	Watermark changelog.Watermark
	// Err is set if this item was refused or failed; the other fields but Ref are zero then. It is
	// a *locus.InvalidError for what could not be accepted.
	Err error
}

// DeleteResult is what became of one deletion.
type DeleteResult struct {
	entity.Ref
	// Entity is the entity that the record belonged to.
	Entity locality.ID
	// Pending tells that what it held together is not separated yet; see Result.
	Pending bool
	// Watermark is a place in the logs at or after the deletion; see Result.
	Watermark changelog.Watermark
	// Err is entity.ErrNotFound if there was no such record.
	Err error
}

// Record is a stored record with the id of its entity.
type Record struct {
	*entity.Record
	Entity locality.ID
}

// Query asks for live records in the order of their puids.
type Query struct {
	Source string      // only this source's; "" for all
	After  entity.PUID // leaves out records up to and including this one; 0 to begin
	Limit  int         // 1 to 1000; 0 for 100
	// Damaged, if set, is called for each row that cannot be read, and the others are listed. Otherwise such a row
	// fails the list.
	Damaged func(*cell.DamagedError)
}

// Get returns the record of an external key. The error is entity.ErrNotFound if it was
// never put, entity.ErrErased if it was deleted.
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

// Stored returns the record of an external key as it is stored. The error is a *locus.InvalidError, entity.ErrNotFound or
// entity.ErrErased.
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
		h.engine.Keys.Forget(key) // its cell came back from a backup that does not know of the record
	}
}

// WithEntities adds the id of its entity to each record.
func (h *Handle) WithEntities(ctx context.Context, records []*entity.Record) ([]*Record, error) {
	of := make([]*Record, len(records))
	var joined []*Record // to records that were there before them
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

// List returns live records; next is the After of the next page, 0 if there is none.
func (h *Handle) List(ctx context.Context, q Query) (records []*Record, next entity.PUID, err error) {
	if q.Source != "" && !isSource(q.Source) {
		return nil, 0, problem.Invalid("/source", "invalid", "%s", "no source has such a name")
	}
	limit, err := engine.Limit(q.Limit)
	if err != nil {
		return nil, 0, err
	}
	page, next, err := engine.List[*entity.Record]{
		Read: func(tx resolve.Tx, after entity.PUID, limit int) ([]*entity.Record, error) {
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

// withReadable is WithEntities for records of which one has an anchor that cannot be read: its entity has the id then. If that
// cannot be read either, the record is left out.
func (h *Handle) withReadable(ctx context.Context, page []*entity.Record, damaged func(*cell.DamagedError)) ([]*Record, error) {
	records := make([]*Record, 0, len(page))
	for _, rec := range page {
		of, err := h.WithEntities(ctx, []*entity.Record{rec})
		if errors.Is(err, cell.ErrDamaged) {
			var e *entity.Entity
			if e, err = h.engine.EntityOf(ctx, rec.Anchor); err == nil {
				of = []*Record{{Record: rec, Entity: e.ID}}
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
