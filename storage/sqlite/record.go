// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage/internal/document"
)

const (
	recordColumns = "r.puid, r.source, r.key, r.version, r.birth, r.anchor, r.observed, r.body, r.kind"

	sqlRecords      = "SELECT j.key, " + recordColumns + " FROM json_each(?) AS j CROSS JOIN record AS r ON r.puid = j.value"
	sqlListAll      = "SELECT 0, " + recordColumns + " FROM record AS r WHERE puid > ? AND body IS NOT NULL ORDER BY puid LIMIT +?"
	sqlListSource   = "SELECT 0, " + recordColumns + " FROM record AS r WHERE source = ? AND puid > ? AND body IS NOT NULL ORDER BY puid LIMIT +?"
	sqlCountRecords = `SELECT source, kind, count(*), sum(anchor = puid), max(observed), max(puid)
		FROM (SELECT source, kind, anchor, observed, puid FROM record WHERE puid > ? AND body IS NOT NULL ORDER BY puid LIMIT +?) GROUP BY source, kind`

	sqlListBirths = "SELECT id, puid, successor FROM birth WHERE id > ? ORDER BY id LIMIT +?"
)

var (
	insertRecord = inserting("record (puid, source, key, version, birth, anchor, observed, body, kind, sum)", 10,
		`ON CONFLICT (puid) DO UPDATE SET source = excluded.source, key = excluded.key, version = excluded.version,
		birth = excluded.birth, anchor = excluded.anchor, observed = excluded.observed, body = excluded.body, kind = excluded.kind, sum = excluded.sum`)
	insertBirth = inserting("birth (id, puid, successor)", 3,
		"ON CONFLICT (id) DO UPDATE SET puid = excluded.puid, successor = excluded.successor")
)

func readRecord(r row) (*entity.Record, error) {
	birth, err := readID(r.blob(5))
	if err != nil {
		return nil, cell.Damaged("record", r.int(1), err)
	}
	record := &entity.Record{
		PUID: entity.PUID(r.int(1)), Ref: entity.Ref{Source: r.text(2), Key: r.text(3)}, Version: r.int(4),
		Birth: birth, Anchor: entity.PUID(r.int(6)), Observed: time.UnixMilli(r.int(7)).UTC(), Kind: r.text(9),
	}
	if !r.null(8) {
		if record.Attributes, err = document.ParseAttributes(r.text(8)); err != nil {
			return nil, cell.Damaged("record", r.int(1), err)
		}
	}
	return record, nil
}

// readID decodes the 16 bytes of an ID; NULL is the zero ID.
func readID(b []byte) (locality.ID, error) {
	if b == nil {
		return locality.ID{}, nil
	}
	return locality.FromBytes(b)
}

// Records runs one statement.
func (t *tx) Records(ctx context.Context, puids []entity.PUID) ([]*entity.Record, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	records := make([]*entity.Record, len(puids))
	if len(puids) == 0 {
		return records, nil
	}
	err := t.query(ctx, sqlRecords, func(r row) (err error) {
		records[r.int(0)], err = readRecord(r)
		return err
	}, numbers(t, puids))
	if err != nil {
		return nil, fmt.Errorf("read %d records: %w", len(puids), err)
	}
	return records, nil
}

// PutRecords inserts the records, several per statement.
func (t *tx) PutRecords(ctx context.Context, records []*entity.Record) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	records = inOrder(records, func(a, b *entity.Record) int { return cmp.Compare(a.PUID, b.PUID) })
	_, err := insertAll(t, insertRecord, records, func(to *list, r *entity.Record) {
		var body any
		if r.Attributes != nil {
			t.text = document.AppendAttributes(t.text[:0], r.Attributes)
			body = string(t.text)
		}
		sum := cell.Sum(int64(r.PUID), r.Source, r.Key, r.Version, r.Birth[:], r.Observed.UnixMilli(), body, r.Kind)
		to.add(int64(r.PUID), r.Source, r.Key, r.Version, r.Birth[:], int64(r.Anchor), r.Observed.UnixMilli(), body, r.Kind, sum)
	})
	if err != nil {
		return fmt.Errorf("put %d records: %w", len(records), err)
	}
	return nil
}

// Assign runs a statement per row.
func (t *tx) Assign(ctx context.Context, assignments []entity.Assignment) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	assignments = inOrder(assignments, func(a, b entity.Assignment) int { return cmp.Compare(a.PUID, b.PUID) })
	err := each(t, "UPDATE record SET anchor = ?2 WHERE puid = ?1", assignments, func(s *stmt, a entity.Assignment) error {
		return s.exec(int64(a.PUID), int64(a.Anchor))
	})
	if err != nil {
		return fmt.Errorf("assign %d records: %w", len(assignments), err)
	}
	return nil
}

// ListRecords reads the table, or the records of one source, in the order of puids.
func (t *tx) ListRecords(ctx context.Context, source string, after entity.PUID, limit int) ([]*entity.Record, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	sql, args := sqlListAll, []any{int64(after), int64(limit)}
	if source != "" {
		sql, args = sqlListSource, []any{source, int64(after), int64(limit)}
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
	err = t.query(ctx, sqlCountRecords, func(r row) error {
		counts = append(counts, entity.SourceCount{
			Source: r.text(0), Kind: r.text(1), Records: r.int(2), Created: r.int(3),
			Newest: time.UnixMilli(r.int(4)).UTC(),
		})
		next, seen = max(next, entity.PUID(r.int(5))), seen+r.int(2)
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

// Births runs one statement.
func (t *tx) Births(ctx context.Context, ids []locality.ID) ([]*entity.Birth, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	births := make([]*entity.Birth, len(ids))
	if len(ids) == 0 {
		return births, nil
	}
	err := t.query(ctx, "SELECT j.key, b.puid, b.successor FROM json_each(?) AS j CROSS JOIN birth AS b ON b.id = unhex(j.value)",
		func(r row) error {
			successor, err := readID(r.blob(2))
			if err != nil {
				return cell.Damaged("birth", ids[r.int(0)], err)
			}
			births[r.int(0)] = &entity.Birth{ID: ids[r.int(0)], PUID: entity.PUID(r.int(1)), Successor: successor}
			return nil
		}, hexes(t, ids, func(id *locality.ID) []byte { return id[:] }))
	if err != nil {
		return nil, fmt.Errorf("read %d births: %w", len(ids), err)
	}
	return births, nil
}

// PutBirths inserts the births, several per statement.
func (t *tx) PutBirths(ctx context.Context, births []entity.Birth) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	births = inOrder(births, func(a, b entity.Birth) int { return a.ID.Compare(b.ID) })
	_, err := insertAll(t, insertBirth, births, func(to *list, b entity.Birth) {
		to.add(b.ID[:], int64(b.PUID), idOrNull(b.Successor))
	})
	if err != nil {
		return fmt.Errorf("put %d births: %w", len(births), err)
	}
	return nil
}

// ListBirths reads the table in the order of IDs, which is the order of their bytes.
func (t *tx) ListBirths(ctx context.Context, after locality.ID, limit int) ([]entity.Birth, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	births, err := rows(ctx, t, readBirth, sqlListBirths, after[:], int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list births after %s: %w", after, err)
	}
	return births, nil
}

func readBirth(r row) (b entity.Birth, err error) {
	id, err1 := readID(r.blob(0))
	successor, err2 := readID(r.blob(2))
	if err := cmp.Or(err1, err2); err != nil {
		return b, cell.Damaged("birth", id, err)
	}
	return entity.Birth{ID: id, PUID: entity.PUID(r.int(1)), Successor: successor}, nil
}

// idOrNull returns the 16 bytes of an ID, or NULL for the zero ID.
func idOrNull(id locality.ID) any {
	if id.IsZero() {
		return nil
	}
	return id[:]
}
