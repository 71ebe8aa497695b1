// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage/internal/document"
)

// bucketTable is a table of buckets with its statements.
type bucketTable struct {
	name                              string
	read, put, prepare, remove, first string
}

var bucketTables = [...]bucketTable{
	counter.Hours:         newBucketTable(counter.Hours, "counter_hour", "counts"),
	counter.Days:          newBucketTable(counter.Days, "counter_day", "counts"),
	counter.GaugeQuarters: newBucketTable(counter.GaugeQuarters, "gauge_quarter", "readings"),
	counter.GaugeDays:     newBucketTable(counter.GaugeDays, "gauge_day", "readings"),
}

func newBucketTable(table counter.Table, name, values string) bucketTable {
	return bucketTable{
		name: name,
		read: fmt.Sprintf("SELECT j.key, s.%s FROM json_each(?) AS j CROSS JOIN %s AS s ON s.bucket = j.value", values, name),
		put:  fmt.Sprintf("INSERT INTO %[1]s (bucket, %[2]s) VALUES (?, ?) ON CONFLICT (bucket) DO UPDATE SET %[2]s = excluded.%[2]s", name, values),
		prepare: fmt.Sprintf("INSERT INTO %s (bucket, %s) VALUES (?, zeroblob(%d)) ON CONFLICT DO NOTHING",
			name, values, 8*table.Width()),
		remove: fmt.Sprintf("DELETE FROM %s WHERE bucket = ?", name),
		first:  fmt.Sprintf("SELECT bucket, %s FROM %s WHERE bucket < ? ORDER BY bucket LIMIT +?", values, name),
	}
}

// readBucket decodes the numbers of a bucket.
func readBucket(table counter.Table, b []byte) ([]int64, error) {
	if len(b) != 8*table.Width() {
		return nil, cell.Damaged(bucketTables[table].name, "", fmt.Errorf("it has %d bytes, want %d", len(b),
			8*table.Width()))
	}
	values := make([]int64, table.Width())
	for i := range values {
		values[i] = int64(binary.BigEndian.Uint64(b[8*i:]))
	}
	return values, nil
}

// Buckets runs one statement. In an Update no other transaction can write the buckets.
func (t *tx) Buckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) ([][]int64, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	buckets := make([][]int64, len(keys))
	if len(keys) == 0 {
		return buckets, nil
	}
	err := t.query(ctx, bucketTables[table].read, func(r row) (err error) {
		buckets[r.int(0)], err = readBucket(table, r.blob(1))
		return err
	}, numbers(t, keys))
	if err != nil {
		return nil, fmt.Errorf("read %d buckets of %s: %w", len(keys), bucketTables[table].name, err)
	}
	return buckets, nil
}

// PutBuckets runs a statement per row.
func (t *tx) PutBuckets(ctx context.Context, table counter.Table, buckets []counter.Bucket) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	buckets = inOrder(buckets, func(a, b counter.Bucket) int { return cmp.Compare(a.Key, b.Key) })
	err := each(t, bucketTables[table].put, buckets, func(s *stmt, bucket counter.Bucket) error {
		if len(bucket.Values) != table.Width() {
			return fmt.Errorf("bucket %d has %d values, not %d", bucket.Key, len(bucket.Values), table.Width())
		}
		b := t.text[:0]
		for _, v := range bucket.Values {
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		}
		t.text = b
		return s.exec(int64(bucket.Key), b)
	})
	if err != nil {
		return fmt.Errorf("put %d buckets of %s: %w", len(buckets), bucketTables[table].name, err)
	}
	return nil
}

// PrepareBuckets runs a statement per row.
func (t *tx) PrepareBuckets(ctx context.Context, table counter.Table,
	keys []counter.BucketKey) (made []counter.BucketKey, err error) {
	if err := t.alter(ctx); err != nil {
		return nil, err
	}
	err = each(t, bucketTables[table].prepare, inOrder(keys, cmp.Compare), func(s *stmt, key counter.BucketKey) error {
		n, err := s.change(int64(key))
		if n > 0 {
			made = append(made, key)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("prepare %d buckets of %s: %w", len(keys), bucketTables[table].name, err)
	}
	return made, nil
}

// DeleteBuckets runs a statement per row.
func (t *tx) DeleteBuckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	err := each(t, bucketTables[table].remove, inOrder(keys, cmp.Compare), func(s *stmt, key counter.BucketKey) error {
		return s.exec(int64(key))
	})
	if err != nil {
		return fmt.Errorf("delete %d buckets of %s: %w", len(keys), bucketTables[table].name, err)
	}
	return nil
}

// FirstBuckets reads the table in order. In an Update no other transaction can write the buckets.
func (t *tx) FirstBuckets(ctx context.Context, table counter.Table, below counter.BucketKey,
	limit int) ([]counter.Bucket, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	buckets, err := rows(ctx, t, func(r row) (counter.Bucket, error) {
		values, err := readBucket(table, r.blob(1))
		return counter.Bucket{Key: counter.BucketKey(r.int(0)), Values: values}, err
	}, bucketTables[table].first, int64(below), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read the first buckets of %s: %w", bucketTables[table].name, err)
	}
	return buckets, nil
}

const (
	sqlCompactedDays = "SELECT j.key, c.bucket, c.total, c.detail, c.body FROM json_each(?) AS j CROSS JOIN counter_compacted AS c ON c.bucket = j.value"
	sqlPutCompacted  = `INSERT INTO counter_compacted (bucket, total, detail, body) VALUES (?, ?, ?, ?)
		ON CONFLICT (bucket) DO UPDATE SET total = excluded.total, detail = excluded.detail, body = excluded.body`
	// The index covers only days with a detail above 0.
	sqlDetailedDays = "SELECT 0, bucket, total, detail, body FROM counter_compacted WHERE detail = ? AND detail > 0 AND bucket >= ? AND bucket < ? ORDER BY bucket LIMIT +?"
	sqlBareDays     = "SELECT 0, bucket, total, detail, body FROM counter_compacted WHERE detail = ? AND bucket >= ? AND bucket < ? ORDER BY bucket LIMIT +?"
)

func readCompacted(r row) (counter.CompactedDay, error) {
	return counter.CompactedDay{Key: counter.BucketKey(r.int(1)), N: r.int(2), Detail: counter.Detail(r.int(3)), Body: r.blob(4)}, nil
}

// CompactedDays runs one statement.
func (t *tx) CompactedDays(ctx context.Context, keys []counter.BucketKey) ([]counter.CompactedDay, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	days := make([]counter.CompactedDay, len(keys))
	if len(keys) == 0 {
		return days, nil
	}
	err := t.query(ctx, sqlCompactedDays, func(r row) (err error) { days[r.int(0)], err = readCompacted(r); return err }, numbers(t, keys))
	if err != nil {
		return nil, fmt.Errorf("read %d compacted days: %w", len(keys), err)
	}
	return days, nil
}

// PutCompactedDays runs a statement per row.
func (t *tx) PutCompactedDays(ctx context.Context, days []counter.CompactedDay) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	days = inOrder(days, func(a, b counter.CompactedDay) int { return cmp.Compare(a.Key, b.Key) })
	err := each(t, sqlPutCompacted, days, func(s *stmt, d counter.CompactedDay) error {
		return s.exec(int64(d.Key), d.N, int64(d.Detail), document.NotNull(d.Body))
	})
	if err != nil {
		return fmt.Errorf("put %d compacted days: %w", len(days), err)
	}
	return nil
}

// DetailedDays reads the index on detail, or the table for days without detail.
func (t *tx) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.BucketKey,
	limit int) ([]counter.CompactedDay, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	sql := sqlDetailedDays
	if detail == counter.NoDetail {
		sql = sqlBareDays
	}
	days, err := rows(ctx, t, readCompacted, sql, int64(detail), int64(from), int64(below), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list compacted days: %w", err)
	}
	return days, nil
}
