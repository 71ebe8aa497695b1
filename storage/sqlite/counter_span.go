// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage/document"
)

// spanTable is a table of spans with its statements.
type spanTable struct {
	name                              string
	read, put, prepare, remove, first string
}

var spanTables = [...]spanTable{
	counter.Hours:         newSpanTable(counter.Hours, "counter_hour", "counts"),
	counter.Days:          newSpanTable(counter.Days, "counter_day", "counts"),
	counter.GaugeQuarters: newSpanTable(counter.GaugeQuarters, "gauge_quarter", "readings"),
	counter.GaugeDays:     newSpanTable(counter.GaugeDays, "gauge_day", "readings"),
}

func newSpanTable(table counter.Table, name, values string) spanTable {
	return spanTable{
		name: name,
		read: fmt.Sprintf("SELECT j.key, s.%s FROM json_each(?) AS j CROSS JOIN %s AS s ON s.span = j.value", values, name),
		put:  fmt.Sprintf("INSERT INTO %[1]s (span, %[2]s) VALUES (?, ?) ON CONFLICT (span) DO UPDATE SET %[2]s = excluded.%[2]s", name, values),
		prepare: fmt.Sprintf("INSERT INTO %s (span, %s) VALUES (?, zeroblob(%d)) ON CONFLICT DO NOTHING",
			name, values, 8*table.Width()),
		remove: fmt.Sprintf("DELETE FROM %s WHERE span = ?", name),
		first:  fmt.Sprintf("SELECT span, %s FROM %s WHERE span < ? ORDER BY span LIMIT ?", values, name),
	}
}

// readSpan decodes the numbers of a span.
func readSpan(table counter.Table, b []byte) ([]int64, error) {
	if len(b) != 8*table.Width() {
		return nil, cell.Damaged(spanTables[table].name, "", fmt.Errorf("it has %d bytes, want %d", len(b), 8*table.Width()))
	}
	values := make([]int64, table.Width())
	for i := range values {
		values[i] = int64(binary.BigEndian.Uint64(b[8*i:]))
	}
	return values, nil
}

// Spans runs one statement. In an Update no other transaction can write the spans.
func (t *tx) Spans(ctx context.Context, table counter.Table, keys []counter.SpanKey) ([][]int64, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	spans := make([][]int64, len(keys))
	if len(keys) == 0 {
		return spans, nil
	}
	err := t.query(ctx, spanTables[table].read, func(r row) (err error) {
		spans[r.int(0)], err = readSpan(table, r.blob(1))
		return err
	}, numbers(t, keys))
	if err != nil {
		return nil, fmt.Errorf("read %d spans of %s: %w", len(keys), spanTables[table].name, err)
	}
	return spans, nil
}

// PutSpans runs a statement per row.
func (t *tx) PutSpans(ctx context.Context, table counter.Table, spans []counter.Span) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	spans = inOrder(spans, func(a, b counter.Span) int { return cmp.Compare(a.Key, b.Key) })
	err := each(t, spanTables[table].put, spans, func(s *stmt, span counter.Span) error {
		if len(span.Values) != table.Width() {
			return fmt.Errorf("span %d has %d values, not %d", span.Key, len(span.Values), table.Width())
		}
		b := t.text[:0]
		for _, v := range span.Values {
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		}
		t.text = b
		return s.exec(int64(span.Key), b)
	})
	if err != nil {
		return fmt.Errorf("put %d spans of %s: %w", len(spans), spanTables[table].name, err)
	}
	return nil
}

// PrepareSpans runs a statement per row.
func (t *tx) PrepareSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) (made []counter.SpanKey, err error) {
	if err := t.alter(ctx); err != nil {
		return nil, err
	}
	err = each(t, spanTables[table].prepare, inOrder(keys, cmp.Compare), func(s *stmt, key counter.SpanKey) error {
		n, err := s.change(int64(key))
		if n > 0 {
			made = append(made, key)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("prepare %d spans of %s: %w", len(keys), spanTables[table].name, err)
	}
	return made, nil
}

// DeleteSpans runs a statement per row.
func (t *tx) DeleteSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	err := each(t, spanTables[table].remove, inOrder(keys, cmp.Compare), func(s *stmt, key counter.SpanKey) error { return s.exec(int64(key)) })
	if err != nil {
		return fmt.Errorf("delete %d spans of %s: %w", len(keys), spanTables[table].name, err)
	}
	return nil
}

// FirstSpans reads the table in order. In an Update no other transaction can write the spans.
func (t *tx) FirstSpans(ctx context.Context, table counter.Table, below counter.SpanKey, limit int) ([]counter.Span, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	spans, err := rows(ctx, t, func(r row) (counter.Span, error) {
		values, err := readSpan(table, r.blob(1))
		return counter.Span{Key: counter.SpanKey(r.int(0)), Values: values}, err
	}, spanTables[table].first, int64(below), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read the first spans of %s: %w", spanTables[table].name, err)
	}
	return spans, nil
}

const (
	sqlClosedDays = "SELECT j.key, c.span, c.total, c.detail, c.body FROM json_each(?) AS j CROSS JOIN counter_closed AS c ON c.span = j.value"
	sqlPutClosed  = `INSERT INTO counter_closed (span, total, detail, body) VALUES (?, ?, ?, ?)
		ON CONFLICT (span) DO UPDATE SET total = excluded.total, detail = excluded.detail, body = excluded.body`
	// The index covers only days with a detail above 0.
	sqlDetailedDays = "SELECT 0, span, total, detail, body FROM counter_closed WHERE detail = ? AND detail > 0 AND span >= ? AND span < ? ORDER BY span LIMIT ?"
	sqlBareDays     = "SELECT 0, span, total, detail, body FROM counter_closed WHERE detail = ? AND span >= ? AND span < ? ORDER BY span LIMIT ?"
)

func readClosed(r row) (counter.ClosedDay, error) {
	return counter.ClosedDay{Key: counter.SpanKey(r.int(1)), N: r.int(2), Detail: counter.Detail(r.int(3)), Body: r.blob(4)}, nil
}

// ClosedDays runs one statement.
func (t *tx) ClosedDays(ctx context.Context, keys []counter.SpanKey) ([]counter.ClosedDay, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	days := make([]counter.ClosedDay, len(keys))
	if len(keys) == 0 {
		return days, nil
	}
	err := t.query(ctx, sqlClosedDays, func(r row) (err error) { days[r.int(0)], err = readClosed(r); return err }, numbers(t, keys))
	if err != nil {
		return nil, fmt.Errorf("read %d closed days: %w", len(keys), err)
	}
	return days, nil
}

// PutClosedDays runs a statement per row.
func (t *tx) PutClosedDays(ctx context.Context, days []counter.ClosedDay) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	days = inOrder(days, func(a, b counter.ClosedDay) int { return cmp.Compare(a.Key, b.Key) })
	err := each(t, sqlPutClosed, days, func(s *stmt, d counter.ClosedDay) error {
		return s.exec(int64(d.Key), d.N, int64(d.Detail), document.NotNull(d.Body))
	})
	if err != nil {
		return fmt.Errorf("put %d closed days: %w", len(days), err)
	}
	return nil
}

// DetailedDays reads the index on detail, or the table for days without detail.
func (t *tx) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.SpanKey, limit int) ([]counter.ClosedDay, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	sql := sqlDetailedDays
	if detail == counter.NoDetail {
		sql = sqlBareDays
	}
	days, err := rows(ctx, t, readClosed, sql, int64(detail), int64(from), int64(below), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list closed days: %w", err)
	}
	return days, nil
}
