// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage/internal/document"
)

const (
	recordColumns = "puid, source, key, version, birth, anchor, observed, body::text, kind"

	sqlRecords      = "SELECT " + recordColumns + " FROM record WHERE puid = ANY ($1::bigint[])"
	sqlHold         = " ORDER BY puid FOR NO KEY UPDATE"
	sqlListAll      = "SELECT " + recordColumns + " FROM record WHERE puid > $1 AND body IS NOT NULL ORDER BY puid LIMIT $2"
	sqlListSource   = "SELECT " + recordColumns + " FROM record WHERE puid > $1 AND source = $3 AND body IS NOT NULL ORDER BY puid LIMIT $2"
	sqlCountRecords = `SELECT source, kind, count(*), count(*) FILTER (WHERE anchor = puid), max(observed), max(puid)
		FROM (SELECT source, kind, anchor, observed, puid FROM record WHERE puid > $1 AND body IS NOT NULL ORDER BY puid LIMIT $2) AS r GROUP BY source, kind`

	sqlPutRecords = `INSERT INTO record (puid, source, key, version, birth, anchor, observed, body, kind, sum)
		SELECT puid, source, key, version, birth, anchor, observed, body::json, kind, sum
		FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::uuid[], $6::bigint[], $7::bigint[], $8::text[], $9::text[], $10::bigint[])
			AS r (puid, source, key, version, birth, anchor, observed, body, kind, sum)
		ON CONFLICT (puid) DO UPDATE SET source = excluded.source, key = excluded.key, version = excluded.version,
		birth = excluded.birth, anchor = excluded.anchor, observed = excluded.observed, body = excluded.body, kind = excluded.kind, sum = excluded.sum`

	sqlHoldRecords = "SELECT FROM record WHERE puid = ANY ($1::bigint[])" + sqlHold
	sqlAssign      = `UPDATE record AS r SET anchor = a.anchor FROM unnest($1::bigint[], $2::bigint[]) AS a (puid, anchor) WHERE r.puid = a.puid`
)

func readRecord(r pgx.Rows) (*entity.Record, error) {
	var record entity.Record
	var observed int64
	var body *string
	err := r.Scan((*int64)(&record.PUID), &record.Source, &record.Key, &record.Version, &record.Birth,
		(*int64)(&record.Anchor), &observed, &body, &record.Kind)
	if err != nil {
		return nil, err
	}
	record.Observed = time.UnixMilli(observed).UTC()
	if body != nil {
		if record.Attributes, err = document.ParseAttributes(*body); err != nil {
			return nil, cell.Damaged("record", record.PUID, err)
		}
	}
	return &record, nil
}

// Records runs one statement. An update locks the rows in key order.
func (t *tx) Records(ctx context.Context, puids []entity.PUID) ([]*entity.Record, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	records := make([]*entity.Record, len(puids))
	if len(puids) == 0 {
		return records, nil
	}
	sql, at := sqlRecords, places(puids)
	if t.mode != reading {
		sql += sqlHold
	}
	err := t.query(ctx, sql, func(r pgx.Rows) error {
		record, err := readRecord(r)
		if err != nil {
			return err
		}
		for n, i := range at[record.PUID] {
			if n > 0 {
				record = new(*record) // duplicate puids get separate copies
			}
			records[i] = record
		}
		return nil
	}, numbers(puids))
	if err != nil {
		return nil, fmt.Errorf("read %d records: %w", len(puids), err)
	}
	return records, nil
}

// PutRecords runs one statement.
func (t *tx) PutRecords(ctx context.Context, records []*entity.Record) error {
	if err := t.alter(ctx); err != nil || len(records) == 0 {
		return err
	}
	records = inOrder(records, func(a, b *entity.Record) int { return cmp.Compare(a.PUID, b.PUID) })
	type record = *entity.Record
	bodies := column(records, func(r record) *string {
		if r.Attributes == nil {
			return nil
		}
		t.text = document.AppendAttributes(t.text[:0], r.Attributes)
		text := string(t.text)
		return &text
	})
	sums := make([]int64, len(records))
	for i, r := range records {
		sums[i] = cell.Sum(int64(r.PUID), r.Source, r.Key, r.Version, r.Birth[:], r.Observed.UnixMilli(),
			textOrNil(bodies[i]), r.Kind)
	}
	t.noteNumbers("record", column(records, func(r record) int64 { return int64(r.PUID) }))
	t.exec(sqlPutRecords,
		column(records, func(r record) int64 { return int64(r.PUID) }),
		column(records, func(r record) string { return r.Source }),
		column(records, func(r record) string { return r.Key }),
		column(records, func(r record) int64 { return r.Version }),
		column(records, func(r record) locality.ID { return r.Birth }),
		column(records, func(r record) int64 { return int64(r.Anchor) }),
		column(records, func(r record) int64 { return r.Observed.UnixMilli() }),
		bodies,
		column(records, func(r record) string { return r.Kind }), sums)
	return nil
}

// Assign runs two statements: the first locks the rows in key order, which an UPDATE by join does not.
func (t *tx) Assign(ctx context.Context, assignments []entity.Assignment) error {
	if err := t.alter(ctx); err != nil || len(assignments) == 0 {
		return err
	}
	assignments = inOrder(assignments, func(a, b entity.Assignment) int { return cmp.Compare(a.PUID, b.PUID) })
	puids := column(assignments, func(a entity.Assignment) int64 { return int64(a.PUID) })
	t.noteNumbers("record", puids)
	t.exec(sqlHoldRecords, puids)
	t.exec(sqlAssign, puids, column(assignments, func(a entity.Assignment) int64 { return int64(a.Anchor) }))
	return nil
}

// ListRecords reads the table in the order of puids.
func (t *tx) ListRecords(ctx context.Context, source string, after entity.PUID, limit int) ([]*entity.Record, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	sql, args := sqlListAll, []any{int64(after), int64(limit)}
	if source != "" {
		sql, args = sqlListSource, append(args, source)
	}
	records, err := rows(ctx, t, readRecord, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("list records after %s: %w", after, err)
	}
	return records, nil
}

// CountRecords runs one statement.
func (t *tx) CountRecords(ctx context.Context, after entity.PUID,
	limit int) (counts []entity.SourceCount, next entity.PUID, err error) {
	if err := t.use(ctx); err != nil {
		return nil, 0, err
	}
	next, seen := math.MinInt64, int64(0)
	err = t.query(ctx, sqlCountRecords, func(r pgx.Rows) error {
		var c entity.SourceCount
		var newest, last int64
		if err := r.Scan(&c.Source, &c.Kind, &c.Records, &c.Created, &newest, &last); err != nil {
			return err
		}
		c.Newest = time.UnixMilli(newest).UTC()
		counts, next, seen = append(counts, c), max(next, entity.PUID(last)), seen+c.Records
		return nil
	}, int64(after), int64(limit))
	if err != nil {
		return nil, 0, fmt.Errorf("count records after %s: %w", after, err)
	}
	if seen < int64(limit) {
		next = 0
	}
	return counts, next, nil
}

const (
	sqlBirths     = "SELECT id, puid, successor FROM birth WHERE id = ANY ($1::uuid[])"
	sqlListBirths = "SELECT id, puid, successor FROM birth WHERE id > $1 ORDER BY id LIMIT $2"

	sqlPutBirths = `INSERT INTO birth (id, puid, successor) SELECT id, puid, successor FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) AS b (id, puid, successor)
		ON CONFLICT (id) DO UPDATE SET puid = excluded.puid, successor = excluded.successor`
)

// Births runs one statement.
func (t *tx) Births(ctx context.Context, ids []locality.ID) ([]*entity.Birth, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	births := make([]*entity.Birth, len(ids))
	if len(ids) == 0 {
		return births, nil
	}
	found := make(map[locality.ID]entity.Birth, len(ids))
	err := t.query(ctx, sqlBirths, func(r pgx.Rows) error {
		b, err := readBirth(r)
		found[b.ID] = b
		return err
	}, ids)
	if err != nil {
		return nil, fmt.Errorf("read %d births: %w", len(ids), err)
	}
	for i, id := range ids {
		if b, ok := found[id]; ok {
			births[i] = &b
		}
	}
	return births, nil
}

func readBirth(r pgx.Rows) (b entity.Birth, err error) {
	var successor locality.NullID
	err = r.Scan(&b.ID, (*int64)(&b.PUID), &successor)
	b.Successor = successor.ID
	return b, err
}

// ListBirths reads the table in the order of IDs.
func (t *tx) ListBirths(ctx context.Context, after locality.ID, limit int) ([]entity.Birth, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	births, err := rows(ctx, t, readBirth, sqlListBirths, after, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list births after %s: %w", after, err)
	}
	return births, nil
}

// PutBirths runs one statement.
func (t *tx) PutBirths(ctx context.Context, births []entity.Birth) error {
	if err := t.alter(ctx); err != nil || len(births) == 0 {
		return err
	}
	births = inOrder(births, func(a, b entity.Birth) int { return a.ID.Compare(b.ID) })
	t.noteIDs("birth", column(births, func(b entity.Birth) locality.ID { return b.ID }))
	t.exec(sqlPutBirths,
		column(births, func(b entity.Birth) locality.ID { return b.ID }),
		column(births, func(b entity.Birth) int64 { return int64(b.PUID) }),
		column(births, func(b entity.Birth) locality.NullID { return idOrNull(b.Successor) }))
	return nil
}
