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
	"github.com/locus-db/locus/storage/document"
)

// spanTable holds the statements for one table of spans.
type spanTable struct {
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

// spanTables is indexed by counter.Table.
var spanTables = [...]spanTable{
	counter.Hours:         newSpanTable("counter_hour", "counts", counter.Hours),
	counter.Days:          newSpanTable("counter_day", "counts", counter.Days),
	counter.GaugeQuarters: newSpanTable("gauge_quarter", "readings", counter.GaugeQuarters),
	counter.GaugeDays:     newSpanTable("gauge_day", "readings", counter.GaugeDays),
}

func newSpanTable(name, values string, table counter.Table) spanTable {
	text := strings.NewReplacer("{table}", name, "{values}", values, "{width}", fmt.Sprint(table.Width()))
	s := spanTable{name: name}
	for of, sql := range map[*string]string{
		&s.read: "SELECT span, {values} FROM {table} WHERE span = ANY ($1::bigint[])",
		&s.hold: "SELECT span, {values} FROM {table} WHERE span = ANY ($1::bigint[]) ORDER BY span FOR NO KEY UPDATE",
		&s.prepare: `INSERT INTO {table} (span, {values})
			SELECT span, array_fill(0::bigint, '{{width}}') FROM unnest($1::bigint[]) AS v (span)
			ON CONFLICT (span) DO NOTHING RETURNING span`,
		&s.claim: `INSERT INTO {table} (span, {values})
			SELECT span, array_fill(0::bigint, '{{width}}') FROM unnest($1::bigint[]) AS v (span)
			ON CONFLICT (span) DO UPDATE SET {values} = excluded.{values} WHERE false RETURNING span`,
		&s.put: `INSERT INTO {table} (span, {values})
			SELECT span, ($2::bigint[])[(n - 1) * {width} + 1 : n * {width}] FROM unnest($1::bigint[]) WITH ORDINALITY AS v (span, n)
			ON CONFLICT (span) DO UPDATE SET {values} = excluded.{values}`,
		&s.set: `UPDATE {table} AS s SET {values} = ($2::bigint[])[(v.n - 1) * {width} + 1 : v.n * {width}]
			FROM unnest($1::bigint[]) WITH ORDINALITY AS v (span, n) WHERE s.span = v.span`,
		&s.remove: `WITH doomed AS MATERIALIZED (SELECT span FROM {table} WHERE span = ANY ($1::bigint[]) ORDER BY span FOR UPDATE)
			DELETE FROM {table} AS s USING doomed WHERE s.span = doomed.span`,
		&s.first: "SELECT span, {values} FROM {table} WHERE span < $1 ORDER BY span LIMIT $2",
	} {
		*of = text.Replace(sql)
	}
	return s
}

// keysInOrder returns the keys in the order of locking, without duplicates.
func keysInOrder(keys []counter.SpanKey) []int64 {
	sorted := numbers(keys)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

func scanSpan(r pgx.Rows) (s counter.Span, err error) {
	err = r.Scan((*int64)(&s.Key), &s.Values)
	return s, err
}

// Spans runs one statement. An update locks the rows in key order.
func (t *tx) Spans(ctx context.Context, table counter.Table, keys []counter.SpanKey) ([][]int64, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	found := make([][]int64, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	sql := spanTables[table].read
	if t.mode != reading {
		sql = spanTables[table].hold
	}
	at := places(keys)
	err := t.query(ctx, sql, func(r pgx.Rows) error {
		s, err := scanSpan(r)
		for n, i := range at[s.Key] {
			found[i] = s.Values
			if n > 0 {
				found[i] = slices.Clone(s.Values) // duplicate keys get separate slices
			}
		}
		return err
	}, keysInOrder(keys))
	if err != nil {
		return nil, fmt.Errorf("read %d spans of %s: %w", len(keys), spanTables[table].name, err)
	}
	return found, nil
}

// PutSpans runs one statement.
func (t *tx) PutSpans(ctx context.Context, table counter.Table, spans []counter.Span) error {
	if err := t.alter(ctx); err != nil || len(spans) == 0 {
		return err
	}
	return t.writeSpans(table, spanTables[table].put, spans)
}

// writeSpans queues a statement that writes whole spans.
func (t *tx) writeSpans(table counter.Table, sql string, spans []counter.Span) error {
	spans = inOrder(spans, func(a, b counter.Span) int { return cmp.Compare(a.Key, b.Key) })
	values := make([]int64, 0, len(spans)*table.Width())
	for _, s := range spans {
		if len(s.Values) != table.Width() {
			return t.fail(fmt.Errorf("postgres: a span of %s has %d values, not %d", spanTables[table].name, table.Width(), len(s.Values)))
		}
		values = append(values, s.Values...)
	}
	keys := column(spans, func(s counter.Span) int64 { return int64(s.Key) })
	t.noteNumbers(spanTables[table].name, keys)
	t.exec(sql, keys, values)
	return nil
}

// PrepareSpans runs one statement.
func (t *tx) PrepareSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) (made []counter.SpanKey, err error) {
	if err := t.alter(ctx); err != nil || len(keys) == 0 {
		return nil, err
	}
	made, err = rows(ctx, t, scalar[counter.SpanKey], spanTables[table].prepare, keysInOrder(keys))
	if err != nil {
		return nil, fmt.Errorf("prepare %d spans of %s: %w", len(keys), spanTables[table].name, err)
	}
	t.noteNumbers(spanTables[table].name, numbers(made))
	return made, nil
}

// DeleteSpans runs one statement.
func (t *tx) DeleteSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) error {
	if err := t.alter(ctx); err != nil || len(keys) == 0 {
		return err
	}
	gone := keysInOrder(keys)
	t.noteNumbers(spanTables[table].name, gone)
	t.exec(spanTables[table].remove, gone)
	return nil
}

// FirstSpans reads the index in order. An update locks the rows; if some were deleted concurrently, it reads again
// for the ones that follow.
func (t *tx) FirstSpans(ctx context.Context, table counter.Table, below counter.SpanKey, limit int) ([]counter.Span, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	sql := spanTables[table].first
	if t.mode != reading {
		sql += " FOR NO KEY UPDATE"
	}
	for last := -1; ; {
		spans, err := rows(ctx, t, scanSpan, sql, int64(below), int64(limit))
		if err != nil {
			return nil, fmt.Errorf("read the first spans of %s: %w", spanTables[table].name, err)
		}
		if t.mode == reading || len(spans) >= limit || len(spans) == last {
			return spans, nil
		}
		last = len(spans)
	}
}

const (
	closedColumns = "span, total, detail, body"

	sqlClosedDays = "SELECT " + closedColumns + " FROM counter_closed WHERE span = ANY ($1::bigint[])"
	sqlHoldSpans  = " ORDER BY span FOR NO KEY UPDATE"

	sqlPutClosed = `INSERT INTO counter_closed (span, total, detail, body)
		SELECT span, total, detail, body FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) AS v (span, total, detail, body)
		ON CONFLICT (span) DO UPDATE SET total = excluded.total, detail = excluded.detail, body = excluded.body`

	// The detail is a literal, so that the partial index of days with details is used.
	sqlDetailed = "SELECT " + closedColumns + " FROM counter_closed WHERE detail = %d AND span >= $1 AND span < $2 ORDER BY span LIMIT $3"
)

func scanClosed(r pgx.Rows) (c counter.ClosedDay, err error) {
	var detail int16
	err = r.Scan((*int64)(&c.Key), &c.N, &detail, &c.Body)
	c.Detail = counter.Detail(detail)
	return c, err
}

// ClosedDays runs one statement. An update locks the rows, because merging and dropping details write back what
// they read.
func (t *tx) ClosedDays(ctx context.Context, keys []counter.SpanKey) ([]counter.ClosedDay, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	days := make([]counter.ClosedDay, len(keys))
	if len(keys) == 0 {
		return days, nil
	}
	sql, at := sqlClosedDays, places(keys)
	if t.mode != reading {
		sql += sqlHoldSpans
	}
	err := t.query(ctx, sql, func(r pgx.Rows) error {
		c, err := scanClosed(r)
		for _, i := range at[c.Key] {
			days[i] = c
		}
		return err
	}, keysInOrder(keys))
	if err != nil {
		return nil, fmt.Errorf("read %d closed days: %w", len(keys), err)
	}
	return days, nil
}

// PutClosedDays runs one statement.
func (t *tx) PutClosedDays(ctx context.Context, days []counter.ClosedDay) error {
	if err := t.alter(ctx); err != nil || len(days) == 0 {
		return err
	}
	type day = counter.ClosedDay
	days = inOrder(days, func(a, b day) int { return cmp.Compare(a.Key, b.Key) })
	keys := column(days, func(d day) int64 { return int64(d.Key) })
	t.noteNumbers("counter_closed", keys)
	t.exec(sqlPutClosed, keys,
		column(days, func(d day) int64 { return d.N }),
		column(days, func(d day) int64 { return int64(d.Detail) }),
		column(days, func(d day) []byte { return document.NotNull(d.Body) }))
	return nil
}

// DetailedDays reads an index in order. An update locks the rows.
func (t *tx) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.SpanKey, limit int) ([]counter.ClosedDay, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	sql := fmt.Sprintf(sqlDetailed, detail)
	if t.mode != reading {
		sql += " FOR NO KEY UPDATE"
	}
	days, err := rows(ctx, t, scanClosed, sql, int64(from), int64(below), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read closed days of detail %d: %w", detail, err)
	}
	return days, nil
}
