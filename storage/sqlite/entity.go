// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/document"
)

const (
	entityColumns   = "e.anchor, e.id, e.stamp, e.rank, e.body"
	sqlEntities     = "SELECT j.key, " + entityColumns + " FROM json_each(?) AS j CROSS JOIN entity AS e ON e.anchor = j.value"
	sqlListEntities = "SELECT 0, " + entityColumns + " FROM entity AS e WHERE anchor > ? ORDER BY anchor LIMIT +?"
)

var insertEntity = inserting("entity (anchor, id, stamp, words, rank, body)", 6,
	`ON CONFLICT (anchor) DO UPDATE SET id = excluded.id, stamp = excluded.stamp, words = excluded.words, rank = excluded.rank, body = excluded.body`)

func readEntity(r row) (*entity.Entity, error) {
	e := &entity.Entity{Stamp: uint64(r.int(3)), Rank: document.ParseRank(r.int(4))}
	var err error
	if e.ID, err = readID(r.blob(2)); err == nil {
		err = document.ParseEntity(r.blob(5), e)
	}
	if err != nil {
		return nil, cell.Damaged("entity", r.int(1), err)
	}
	return e, nil
}

// Entities runs one statement.
func (t *tx) Entities(ctx context.Context, anchors []entity.PUID) ([]*entity.Entity, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	entities := make([]*entity.Entity, len(anchors))
	if len(anchors) == 0 {
		return entities, nil
	}
	err := t.query(ctx, sqlEntities, func(r row) (err error) {
		entities[r.int(0)], err = readEntity(r)
		return err
	}, numbers(t, anchors))
	if err != nil {
		return nil, fmt.Errorf("read %d entities: %w", len(anchors), err)
	}
	return entities, nil
}

// PutEntities reads the hashes of the stored search documents, writes a row per entity, and replaces the search
// document of each entity whose hash changed.
func (t *tx) PutEntities(ctx context.Context, entities []entity.Indexed) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	entities = lastOf(inOrder(entities, func(a, b entity.Indexed) int { return cmp.Compare(a.Anchor(), b.Anchor()) }))
	anchors := make([]entity.PUID, len(entities))
	for i, e := range entities {
		anchors[i] = e.Anchor()
	}
	stored, err := t.indexed(ctx, anchors)
	if err != nil {
		return fmt.Errorf("put %d entities: %w", len(entities), err)
	}
	var stale []int64
	found := make([]entry, 0, len(entities))
	_, err = insertAll(t, insertEntity, entities, func(to *list, e entity.Indexed) {
		d := newEntry(e)
		if old, there := stored[d.anchor]; !there || old != d.hash {
			found = append(found, d)
			if there {
				stale = append(stale, d.anchor)
			}
		}
		t.text = document.AppendEntity(t.text[:0], e.Entity)
		to.add(d.anchor, e.ID[:], int64(e.Stamp), d.hash, document.RankNumber(e.Rank), t.text)
	})
	if err == nil {
		err = t.unindex(stale)
	}
	if err == nil {
		err = t.index(found)
	}
	if err != nil {
		return fmt.Errorf("put %d entities: %w", len(entities), err)
	}
	return nil
}

// lastOf keeps the last entity of each anchor. Entities of one anchor must be adjacent.
func lastOf(entities []entity.Indexed) []entity.Indexed {
	kept := entities[:0:0]
	for i, e := range entities {
		if i+1 == len(entities) || entities[i+1].Anchor() != e.Anchor() {
			kept = append(kept, e)
		}
	}
	return kept
}

// DeleteEntities deletes a row and a search document for each entity that exists.
func (t *tx) DeleteEntities(ctx context.Context, anchors []entity.PUID) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	anchors = inOrder(anchors, cmp.Compare[entity.PUID])
	stored, err := t.indexed(ctx, anchors)
	if err == nil {
		err = t.unindex(slices.Sorted(maps.Keys(stored)))
	}
	if err == nil {
		err = each(t, "DELETE FROM entity WHERE anchor = ?", anchors, func(s *stmt, a entity.PUID) error {
			return s.exec(int64(a))
		})
	}
	if err != nil {
		return fmt.Errorf("delete %d entities: %w", len(anchors), err)
	}
	return nil
}

// ListEntities reads the table in the order of anchors.
func (t *tx) ListEntities(ctx context.Context, after entity.PUID, limit int) ([]*entity.Entity, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	entities, err := rows(ctx, t, readEntity, sqlListEntities, int64(after), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list entities after %s: %w", after, err)
	}
	return entities, nil
}
