// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage/internal/document"
)

// bucketTable holds the statements for one table of buckets.
type bucketTable struct {
	name string
	// Read rows by key; hold locks them in key order.
	read, hold string
	// Insert missing rows as zeros. prepare skips existing rows, claim locks them. Both return the keys of the rows
	// they inserted.
	prepare, claim string
	// The values of many rows are sent as one flat array. put inserts or updates rows, set updates existing ones.
	put, set string
	remove   string
	first    string
}

// bucketTables is indexed by counter.Table.
var bucketTables = [...]bucketTable{
	counter.Hours:         newBucketTable("counter_hour", "counts", counter.Hours),
	counter.Days:          newBucketTable("counter_day", "counts", counter.Days),
	counter.GaugeQuarters: newBucketTable("gauge_quarter", "readings", counter.GaugeQuarters),
	counter.GaugeDays:     newBucketTable("gauge_day", "readings", counter.GaugeDays),
}

func newBucketTable(name, values string, table counter.Table) bucketTable {
	text := strings.NewReplacer("{table}", name, "{values}", values, "{width}", fmt.Sprint(table.Width()))
	s := bucketTable{name: name}
	for of, sql := range map[*string]string{
		&s.read: "SELECT bucket, {values} FROM {table} WHERE bucket = ANY ($1::bigint[])",
		&s.hold: "SELECT bucket, {values} FROM {table} WHERE bucket = ANY ($1::bigint[]) ORDER BY bucket FOR NO KEY UPDATE",
		&s.prepare: `INSERT INTO {table} (bucket, {values})
			SELECT bucket, array_fill(0::bigint, '{{width}}') FROM unnest($1::bigint[]) AS v (bucket)
			ON CONFLICT (bucket) DO NOTHING RETURNING bucket`,
		&s.claim: `INSERT INTO {table} (bucket, {values})
			SELECT bucket, array_fill(0::bigint, '{{width}}') FROM unnest($1::bigint[]) AS v (bucket)
			ON CONFLICT (bucket) DO UPDATE SET {values} = excluded.{values} WHERE false RETURNING bucket`,
		&s.put: `INSERT INTO {table} (bucket, {values})
			SELECT bucket, ($2::bigint[])[(n - 1) * {width} + 1 : n * {width}] FROM unnest($1::bigint[]) WITH ORDINALITY AS v (bucket, n)
			ON CONFLICT (bucket) DO UPDATE SET {values} = excluded.{values}`,
		&s.set: `UPDATE {table} AS s SET {values} = ($2::bigint[])[(v.n - 1) * {width} + 1 : v.n * {width}]
			FROM unnest($1::bigint[]) WITH ORDINALITY AS v (bucket, n) WHERE s.bucket = v.bucket`,
		&s.remove: `WITH doomed AS MATERIALIZED (SELECT bucket FROM {table} WHERE bucket = ANY ($1::bigint[]) ORDER BY bucket FOR UPDATE)
			DELETE FROM {table} AS s USING doomed WHERE s.bucket = doomed.bucket`,
		&s.first: "SELECT bucket, {values} FROM {table} WHERE bucket < $1 ORDER BY bucket LIMIT $2",
	} {
		*of = text.Replace(sql)
	}
	return s
}

// keysInOrder returns the keys in the order of locking, without duplicates.
func keysInOrder(keys []counter.BucketKey) []int64 {
	sorted := numbers(keys)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

func scanBucket(r pgx.Rows) (s counter.Bucket, err error) {
	err = r.Scan((*int64)(&s.Key), &s.Values)
	return s, err
}

// Buckets runs one statement. An update locks the rows in key order.
func (t *tx) Buckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) ([][]int64, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	found := make([][]int64, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	sql := bucketTables[table].read
	if t.mode != reading {
		sql = bucketTables[table].hold
	}
	at := places(keys)
	err := t.query(ctx, sql, func(r pgx.Rows) error {
		s, err := scanBucket(r)
		for n, i := range at[s.Key] {
			found[i] = s.Values
			if n > 0 {
				found[i] = slices.Clone(s.Values) // duplicate keys get separate slices
			}
		}
		return err
	}, keysInOrder(keys))
	if err != nil {
		return nil, fmt.Errorf("read %d buckets of %s: %w", len(keys), bucketTables[table].name, err)
	}
	return found, nil
}

// PutBuckets runs one statement.
func (t *tx) PutBuckets(ctx context.Context, table counter.Table, buckets []counter.Bucket) error {
	if err := t.alter(ctx); err != nil || len(buckets) == 0 {
		return err
	}
	return t.writeBuckets(table, bucketTables[table].put, buckets)
}

// writeBuckets queues a statement that writes whole buckets.
func (t *tx) writeBuckets(table counter.Table, sql string, buckets []counter.Bucket) error {
	buckets = inOrder(buckets, func(a, b counter.Bucket) int { return cmp.Compare(a.Key, b.Key) })
	values := make([]int64, 0, len(buckets)*table.Width())
	for _, s := range buckets {
		if len(s.Values) != table.Width() {
			return t.fail(fmt.Errorf("postgres: a bucket of %s has %d values, not %d", bucketTables[table].name,
				table.Width(), len(s.Values)))
		}
		values = append(values, s.Values...)
	}
	keys := column(buckets, func(s counter.Bucket) int64 { return int64(s.Key) })
	t.noteNumbers(bucketTables[table].name, keys)
	t.exec(sql, keys, values)
	return nil
}

// PrepareBuckets runs one statement.
func (t *tx) PrepareBuckets(ctx context.Context, table counter.Table,
	keys []counter.BucketKey) (made []counter.BucketKey, err error) {
	if err := t.alter(ctx); err != nil || len(keys) == 0 {
		return nil, err
	}
	made, err = rows(ctx, t, scalar[counter.BucketKey], bucketTables[table].prepare, keysInOrder(keys))
	if err != nil {
		return nil, fmt.Errorf("prepare %d buckets of %s: %w", len(keys), bucketTables[table].name, err)
	}
	t.noteNumbers(bucketTables[table].name, numbers(made))
	return made, nil
}

// DeleteBuckets runs one statement.
func (t *tx) DeleteBuckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) error {
	if err := t.alter(ctx); err != nil || len(keys) == 0 {
		return err
	}
	gone := keysInOrder(keys)
	t.noteNumbers(bucketTables[table].name, gone)
	t.exec(bucketTables[table].remove, gone)
	return nil
}

// FirstBuckets reads the index in order. An update locks the rows; if some were deleted concurrently, it reads further
// rows.
func (t *tx) FirstBuckets(ctx context.Context, table counter.Table, below counter.BucketKey,
	limit int) ([]counter.Bucket, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	sql := bucketTables[table].first
	if t.mode != reading {
		sql += " FOR NO KEY UPDATE"
	}
	for last := -1; ; {
		buckets, err := rows(ctx, t, scanBucket, sql, int64(below), int64(limit))
		if err != nil {
			return nil, fmt.Errorf("read the first buckets of %s: %w", bucketTables[table].name, err)
		}
		if t.mode == reading || len(buckets) >= limit || len(buckets) == last {
			return buckets, nil
		}
		last = len(buckets)
	}
}

const (
	compactedColumns = "bucket, total, detail, body"

	sqlCompactedDays = "SELECT " + compactedColumns + " FROM counter_compacted WHERE bucket = ANY ($1::bigint[])"
	sqlLockBuckets   = " ORDER BY bucket FOR NO KEY UPDATE"

	sqlPutCompacted = `INSERT INTO counter_compacted (bucket, total, detail, body)
		SELECT bucket, total, detail, body FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) AS v (bucket, total, detail, body)
		ON CONFLICT (bucket) DO UPDATE SET total = excluded.total, detail = excluded.detail, body = excluded.body`

	// The detail is a literal, so that the partial index of days with details is used.
	sqlDetailed = "SELECT " + compactedColumns + " FROM counter_compacted WHERE detail = %d AND bucket >= $1 AND bucket < $2 ORDER BY bucket LIMIT $3"
)

func scanCompacted(r pgx.Rows) (c counter.CompactedDay, err error) {
	var detail int16
	err = r.Scan((*int64)(&c.Key), &c.N, &detail, &c.Body)
	c.Detail = counter.Detail(detail)
	return c, err
}

// CompactedDays runs one statement. An update locks the rows, because merging and dropping details write back the rows
// that they read.
func (t *tx) CompactedDays(ctx context.Context, keys []counter.BucketKey) ([]counter.CompactedDay, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	days := make([]counter.CompactedDay, len(keys))
	if len(keys) == 0 {
		return days, nil
	}
	sql, at := sqlCompactedDays, places(keys)
	if t.mode != reading {
		sql += sqlLockBuckets
	}
	err := t.query(ctx, sql, func(r pgx.Rows) error {
		c, err := scanCompacted(r)
		for _, i := range at[c.Key] {
			days[i] = c
		}
		return err
	}, keysInOrder(keys))
	if err != nil {
		return nil, fmt.Errorf("read %d compacted days: %w", len(keys), err)
	}
	return days, nil
}

// PutCompactedDays runs one statement.
func (t *tx) PutCompactedDays(ctx context.Context, days []counter.CompactedDay) error {
	if err := t.alter(ctx); err != nil || len(days) == 0 {
		return err
	}
	type day = counter.CompactedDay
	days = inOrder(days, func(a, b day) int { return cmp.Compare(a.Key, b.Key) })
	keys := column(days, func(d day) int64 { return int64(d.Key) })
	t.noteNumbers("counter_compacted", keys)
	t.exec(sqlPutCompacted, keys,
		column(days, func(d day) int64 { return d.N }),
		column(days, func(d day) int64 { return int64(d.Detail) }),
		column(days, func(d day) []byte { return document.NotNull(d.Body) }))
	return nil
}

// DetailedDays reads an index in order. An update locks the rows.
func (t *tx) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.BucketKey,
	limit int) ([]counter.CompactedDay, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	sql := fmt.Sprintf(sqlDetailed, detail)
	if t.mode != reading {
		sql += " FOR NO KEY UPDATE"
	}
	days, err := rows(ctx, t, scanCompacted, sql, int64(from), int64(below), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read compacted days of detail %d: %w", detail, err)
	}
	return days, nil
}
