// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage/internal/document"
	"github.com/locus-db/locus/storage/internal/posting"
)

var _ cell.Copier = (*tx)(nil)

// Tables returns the tables of package document; the tables of the database have the same names and columns.
func (t *tx) Tables() []cell.Table { return document.Tables() }

// Summed returns the tables with checksums, see package document.
func (t *tx) Summed() []cell.Table { return document.Summed() }

func (t *tx) rowsOf(name string, find func(string) (cell.Table, bool)) (copied, error) {
	table, ok := find(name)
	if !ok {
		return copied{}, t.fail(fmt.Errorf("postgres: no rows of a table %q are copied", name))
	}
	return copied{table}, nil
}

// ReadRows reads the table in key order.
func (t *tx) ReadRows(ctx context.Context, table string, after []any, limit int) ([][]any, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if table == cell.Total {
		if after != nil || limit == 0 {
			return nil, nil
		}
		return t.RowsAt(ctx, table, [][]any{{int64(1)}})
	}
	if table == posting.Table {
		return t.postings().ReadRows(ctx, after, limit)
	}
	of, err := t.rowsOf(table, document.Readable)
	if err != nil {
		return nil, err
	}
	where := ""
	if after != nil {
		if len(after) != of.Key {
			return nil, t.fail(fmt.Errorf("read rows of %s: a key has %d values, not %d", table, of.Key, len(after)))
		}
		where = "WHERE (" + list(of.Columns[:of.Key], func(_ int, column string) string { return "t." + column }) + ") > (" +
			list(of.Columns[:of.Key], func(i int, column string) string {
				return fmt.Sprintf(of.kind(column).from, fmt.Sprintf("$%d::%s", i+2, of.kind(column).sent))
			}) + ")"
	}
	sql := fmt.Sprintf("SELECT %s FROM %s AS t %s ORDER BY %s LIMIT $1", of.read(), table, where,
		list(of.Columns[:of.Key], func(_ int, column string) string { return "t." + column }))
	got, err := rows(ctx, t, pgx.Rows.Values, sql, append([]any{int64(limit)}, after...)...)
	if err != nil {
		return nil, fmt.Errorf("read rows of %s: %w", table, err)
	}
	return got, nil
}

// RowsAt runs one statement.
func (t *tx) RowsAt(ctx context.Context, table string, keys [][]any) ([][]any, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if table == cell.Total {
		return t.totals(ctx, keys)
	}
	if table == posting.Table {
		return t.postings().RowsAt(ctx, keys)
	}
	of, err := t.rowsOf(table, document.Readable)
	if err != nil {
		return nil, err
	}
	found := make([][]any, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	args, err := of.arguments(of.Columns[:of.Key], keys)
	if err != nil {
		return nil, t.fail(fmt.Errorf("read rows of %s: %w", table, err))
	}
	sql := fmt.Sprintf("SELECT v.n, %s FROM %s WITH ORDINALITY AS v (%s, n) JOIN %s AS t ON %s",
		of.read(), of.arrays(of.Columns[:of.Key]), strings.Join(of.Columns[:of.Key], ", "), table, of.at())
	err = t.query(ctx, sql, func(r pgx.Rows) error {
		values, err := r.Values()
		if err == nil {
			found[values[0].(int64)-1] = values[1:]
		}
		return err
	}, args...)
	if err != nil {
		return nil, fmt.Errorf("read rows of %s: %w", table, err)
	}
	return found, nil
}

// WriteRows runs one statement.
func (t *tx) WriteRows(ctx context.Context, table string, rows [][]any) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if table == cell.Total {
		return t.writeTotals(ctx, rows)
	}
	if table == posting.Table {
		add, err := posting.Parse(rows)
		if err != nil {
			return t.fail(err)
		}
		return t.Post(ctx, add, nil)
	}
	t.posted = nil // its rows may be postings
	of, err := t.rowsOf(table, document.Table)
	if err != nil || len(rows) == 0 {
		return err
	}
	rows = inOrder(rows, func(a, b []any) int { return compareValues(a[:min(of.Key, len(a))], b[:min(of.Key, len(b))]) })
	args, err := of.arguments(of.Columns, rows)
	if err != nil {
		return t.fail(fmt.Errorf("write rows of %s: %w", table, err))
	}
	for _, row := range rows {
		t.noteRow(table, row[:of.Key])
	}
	set := "NOTHING"
	if rest := of.Columns[of.Key:]; len(rest) > 0 {
		set = "UPDATE SET " + list(rest, func(_ int, column string) string { return column + " = excluded." + column })
	}
	t.exec(fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s AS v (%s) ON CONFLICT (%s) DO %s",
		table, strings.Join(of.Columns, ", "), list(of.Columns, func(_ int, column string) string {
			return fmt.Sprintf(of.kind(column).from, "v."+column)
		}),
		of.arrays(of.Columns), strings.Join(of.Columns, ", "), strings.Join(of.Columns[:of.Key], ", "), set), args...)
	return nil
}

// DeleteRows runs one statement.
func (t *tx) DeleteRows(ctx context.Context, table string, keys [][]any) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if table == posting.Table {
		remove, err := posting.Parse(keys)
		if err != nil {
			return t.fail(err)
		}
		return t.Post(ctx, nil, remove)
	}
	t.posted = nil // its rows may be postings
	of, err := t.rowsOf(table, document.Table)
	if err != nil || len(keys) == 0 {
		return err
	}
	args, err := of.arguments(of.Columns[:of.Key], keys)
	if err != nil {
		return t.fail(fmt.Errorf("delete rows of %s: %w", table, err))
	}
	for _, key := range keys {
		t.noteRow(table, key)
	}
	t.exec(fmt.Sprintf("DELETE FROM %s AS t USING %s AS v (%s) WHERE %s",
		table, of.arrays(of.Columns[:of.Key]), strings.Join(of.Columns[:of.Key], ", "), of.at()), args...)
	return nil
}

const sqlTotal = "SELECT seq, trimmed, records, entities, merges, splits, turns, (SELECT last_value - (NOT is_called)::int FROM locus_puid) FROM locus_total"

// totals returns the row of totals for each key that is 1.
func (t *tx) totals(ctx context.Context, keys [][]any) ([][]any, error) {
	t.queueTotals()
	found := make([][]any, len(keys))
	err := t.query(ctx, sqlTotal, func(r pgx.Rows) error {
		var total document.Totals
		n := &total.Counts
		err := r.Scan(&total.Seq, &total.Trimmed, &n.Records, &n.Entities, &n.Merges, &n.Splits, &total.Turns, &total.Used)
		total.Used -= t.cell.identity().Lo
		for i, key := range keys {
			if document.IsTotals(key) {
				found[i] = total.Row()
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read totals: %w", err)
	}
	return found, nil
}

// writeTotals sets the totals and restarts the puids after them.
func (t *tx) writeTotals(ctx context.Context, rows [][]any) error {
	for _, values := range rows {
		total, err := document.ParseTotals(values)
		if err != nil {
			return t.fail(fmt.Errorf("postgres: write totals: %w", err))
		}
		n := total.Counts
		t.exec("UPDATE locus_total SET seq = $1, trimmed = $2, records = $3, entities = $4, merges = $5, splits = $6, turns = $7",
			total.Seq, total.Trimmed, n.Records, n.Entities, n.Merges, n.Splits, total.Turns)
		id := t.cell.identity()
		t.restart(id.Lo+total.Used, id.Hi)
	}
	return t.flush(ctx)
}

// restart sets the sequence as if last had just been drawn. The transaction holds its lock.
func (t *tx) restart(last, hi int64) {
	t.exec(fmt.Sprintf("ALTER SEQUENCE locus_puid RESTART WITH %d", min(last+1, hi)))
	if last >= hi {
		t.exec("SELECT nextval('locus_puid')")
	}
}
