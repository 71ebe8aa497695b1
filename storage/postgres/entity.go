// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage/internal/document"
)

const (
	entityColumns = "anchor, id, stamp, rank, body"

	sqlEntities     = "SELECT " + entityColumns + " FROM entity WHERE anchor = ANY ($1::bigint[])"
	sqlListEntities = "SELECT " + entityColumns + " FROM entity WHERE anchor > $1 ORDER BY anchor LIMIT $2"

	sqlPutEntities = `INSERT INTO entity (anchor, id, stamp, words, rank, body)
		SELECT anchor, id, stamp, words::tsvector, rank, body
		FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::integer[], $6::bytea[]) AS e (anchor, id, stamp, words, rank, body)
		ON CONFLICT (anchor) DO UPDATE SET id = excluded.id, stamp = excluded.stamp, words = excluded.words, rank = excluded.rank, body = excluded.body`
)

// readEntity reads a row and returns the anchor it is stored under.
func readEntity(r pgx.Rows) (anchor entity.PUID, e *entity.Entity, err error) {
	var stamp, rank int64
	var body []byte
	e = new(entity.Entity)
	if err := r.Scan((*int64)(&anchor), &e.ID, &stamp, &rank, &body); err != nil {
		return 0, nil, err
	}
	e.Stamp, e.Rank = uint64(stamp), document.ParseRank(rank)
	if err = document.ParseEntity(body, e); err != nil {
		return 0, nil, cell.Damaged("entity", anchor, err)
	}
	return anchor, e, nil
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
	at := places(anchors)
	err := t.query(ctx, sqlEntities, func(r pgx.Rows) error {
		anchor, e, err := readEntity(r)
		if err != nil {
			return err
		}
		for n, i := range at[anchor] {
			if n > 0 {
				e = new(*e)
			}
			entities[i] = e
		}
		return nil
	}, numbers(anchors))
	if err != nil {
		return nil, fmt.Errorf("read %d entities: %w", len(anchors), err)
	}
	return entities, nil
}

// PutEntities runs one statement.
func (t *tx) PutEntities(ctx context.Context, entities []entity.Indexed) error {
	if err := t.alter(ctx); err != nil || len(entities) == 0 {
		return err
	}
	entities = inOrder(entities, func(a, b entity.Indexed) int { return cmp.Compare(a.Anchor(), b.Anchor()) })
	t.noteNumbers(cell.JournaledEntity, column(entities, func(e entity.Indexed) int64 { return int64(e.Anchor()) }))
	t.exec(sqlPutEntities,
		column(entities, func(e entity.Indexed) int64 { return int64(e.Anchor()) }),
		column(entities, func(e entity.Indexed) locality.ID { return e.ID }),
		column(entities, func(e entity.Indexed) int64 { return int64(e.Stamp) }),
		column(entities, func(e entity.Indexed) string { return words(e, " ") }),
		column(entities, func(e entity.Indexed) int32 { return int32(document.RankNumber(e.Rank)) }),
		column(entities, func(e entity.Indexed) []byte { return document.AppendEntity(nil, e.Entity) }))
	return nil
}

// DeleteEntities runs one statement.
func (t *tx) DeleteEntities(ctx context.Context, anchors []entity.PUID) error {
	if err := t.alter(ctx); err != nil || len(anchors) == 0 {
		return err
	}
	t.noteNumbers(cell.JournaledEntity, numbers(anchors))
	t.exec("DELETE FROM entity WHERE anchor = ANY ($1::bigint[])", numbers(anchors))
	return nil
}

// ListEntities reads the table in the order of anchors.
func (t *tx) ListEntities(ctx context.Context, after entity.PUID, limit int) ([]*entity.Entity, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	entities, err := rows(ctx, t, onlyEntity, sqlListEntities, int64(after), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list entities after %s: %w", after, err)
	}
	return entities, nil
}

func onlyEntity(r pgx.Rows) (*entity.Entity, error) {
	_, e, err := readEntity(r)
	return e, err
}
