// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// Records returns the record of each puid, at the same index; nil for a missing record.
func (e *Engine) Records(ctx context.Context, puids []entity.PUID) ([]*entity.Record, error) {
	records := make([]*entity.Record, len(puids))
	if err := ByCell(ctx, e, puids, e.LocateRecord, func(tx storage.Tx, puids []entity.PUID, at []int) error {
		found, err := tx.Records(ctx, puids)
		for n, rec := range found {
			records[at[n]] = rec
		}
		return err
	}); err != nil {
		return nil, err
	}
	for i, rec := range records {
		if rec == nil {
			continue
		}
		if err := e.EnsureKind(ctx, rec.Kind); err != nil {
			return nil, fmt.Errorf("record %v: %w", puids[i], err)
		}
	}
	return records, nil
}

// Record reads the record of a puid. The error is entity.ErrNotFound or entity.ErrErased.
func (e *Engine) Record(ctx context.Context, puid entity.PUID) (*entity.Record, error) {
	records, err := e.Records(ctx, []entity.PUID{puid})
	if err != nil {
		return nil, err
	}
	return Present(puid, records[0])
}

// Present returns rec, or an error if there is none: entity.ErrNotFound or entity.ErrErased.
func Present(address fmt.Stringer, rec *entity.Record) (*entity.Record, error) {
	switch {
	case rec == nil:
		return nil, fmt.Errorf("record %v: %w", address, entity.ErrNotFound)
	case rec.Deleted():
		return nil, fmt.Errorf("record %v: %w", address, entity.ErrErased)
	default:
		return rec, nil
	}
}

// Stored returns the stored entity of each anchor, at the same index; nil for a missing one. The entity of a single
// record need not be stored.
func (e *Engine) Stored(ctx context.Context, anchors []entity.PUID) ([]*entity.Entity, error) {
	entities := make([]*entity.Entity, len(anchors))
	err := ByCell(ctx, e, anchors, e.LocateRecord, func(tx storage.Tx, anchors []entity.PUID, at []int) error {
		found, err := tx.Entities(ctx, anchors)
		for n, of := range found {
			entities[at[n]] = of
		}
		return err
	})
	return entities, err
}

// EntitiesOf reads the entities of records, by anchor. Records may be nil or deleted. Entities that a concurrent merge
// or deletion has changed are left out.
func (e *Engine) EntitiesOf(ctx context.Context, records []*entity.Record) (map[entity.PUID]*entity.Entity, error) {
	var anchors []entity.PUID
	for _, rec := range records {
		if rec != nil && !rec.Deleted() {
			anchors = append(anchors, rec.Anchor)
		}
	}
	slices.Sort(anchors)
	anchors = slices.Compact(anchors)
	found, err := e.Stored(ctx, anchors)
	if err != nil {
		return nil, err
	}
	of := map[entity.PUID]*entity.Entity{}
	for i, stored := range found {
		if stored != nil {
			of[anchors[i]] = stored
		}
	}
	for _, rec := range records {
		if rec != nil && !rec.Deleted() && rec.Anchor == rec.PUID && of[rec.PUID] == nil {
			of[rec.PUID] = e.Resolver.Alone(rec)
		}
	}
	return of, nil
}

// EntityOf reads the entity of a record. It returns nil if the record is deleted or a concurrent merge or deletion
// intervened.
func (e *Engine) EntityOf(ctx context.Context, puid entity.PUID) (*entity.Entity, error) {
	records, err := e.Records(ctx, []entity.PUID{puid})
	if err != nil || records[0] == nil {
		return nil, err
	}
	of, err := e.EntitiesOf(ctx, records)
	return of[records[0].Anchor], err
}

// Decisions reads the decisions stored under records, ordered by record and topic.
func (e *Engine) Decisions(ctx context.Context, puids []entity.PUID) ([]entity.Decision, error) {
	groups := make([][]entity.Decision, len(puids))
	if err := ByCell(ctx, e, puids, e.LocateRecord, func(tx storage.Tx, puids []entity.PUID, at []int) error {
		found, err := tx.Decisions(ctx, puids)
		if len(at) > 0 {
			groups[at[0]] = found
		}
		return err
	}); err != nil {
		return nil, err
	}
	all := slices.Concat(groups...)
	slices.SortFunc(all, func(a, b entity.Decision) int { return a.Key().Compare(b.Key()) })
	return all, nil
}
