// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage/internal/document"
	"github.com/locus-db/locus/storage/internal/posting"
)

var _ cell.Copier = (*tx)(nil)

// Tables returns the tables of package document; the tables of the file have the same names and columns.
func (t *tx) Tables() []cell.Table { return document.Tables() }

// Summed returns the tables with checksums, see package document.
func (t *tx) Summed() []cell.Table { return document.Summed() }

// copied is a table whose rows are copied, with fragments of its statements.
type copied struct {
	cell.Table
	columns string // a, b, c
	keys    string // a, b
	at      string // a = ? AND b = ?
}

// rowsOf returns the table that find returns for a name. The totals are not a table.
func (t *tx) rowsOf(name string, find func(string) (cell.Table, bool)) (copied, error) {
	table, ok := find(name)
	if !ok {
		return copied{}, t.fail(fmt.Errorf("sqlite: no rows of a table %q are copied", name))
	}
	keys := table.Columns[:table.Key]
	return copied{table, strings.Join(table.Columns, ", "), strings.Join(keys, ", "), strings.Join(keys, " = ? AND ") + " = ?"}, nil
}

// holds returns n placeholders.
func holds(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

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
		where = fmt.Sprintf(" WHERE (%s) > (%s)", of.keys, holds(of.Key))
	}
	got, err := rows(ctx, t, readValues, fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s LIMIT +?", of.columns, table, where, of.keys), append(slices.Clip(after), int64(limit))...)
	if err != nil {
		return nil, fmt.Errorf("read rows of %s: %w", table, err)
	}
	return got, nil
}

func readValues(r row) ([]any, error) {
	return r.all(), nil
}

// RowsAt runs a statement per key.
func (t *tx) RowsAt(ctx context.Context, table string, keys [][]any) ([][]any, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	found := make([][]any, len(keys))
	if table == cell.Total {
		s, err := t.own(ctx)
		if err != nil {
			return nil, err
		}
		for i := range keys {
			if *s != (state{}) && document.IsTotals(keys[i]) {
				found[i] = document.Totals{Used: s.used, Seq: s.seq, Trimmed: s.trimmed, Counts: s.counts, Turns: s.turns}.Row()
			}
		}
		return found, nil
	}
	if table == posting.Table {
		return t.postings().RowsAt(ctx, keys)
	}
	of, err := t.rowsOf(table, document.Readable)
	if err != nil {
		return nil, err
	}
	sql := fmt.Sprintf("SELECT %s FROM %s WHERE %s", of.columns, table, of.at)
	for i, key := range keys {
		if len(key) != of.Key {
			return nil, t.fail(fmt.Errorf("read rows of %s: a key has %d values, not %d", table, of.Key, len(key)))
		}
		if err := t.query(ctx, sql, func(r row) (err error) { found[i], err = readValues(r); return err }, key...); err != nil {
			return nil, fmt.Errorf("read rows of %s: %w", table, err)
		}
	}
	return found, nil
}

// WriteRows runs a statement per row. A table has only its primary key, so REPLACE removes at most the row under
// that key.
func (t *tx) WriteRows(ctx context.Context, table string, rows [][]any) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if table == cell.Total {
		return t.writeTotal(ctx, rows)
	}
	if table == posting.Table {
		add, err := posting.Parse(rows)
		if err != nil {
			return t.fail(err)
		}
		return t.Post(ctx, add, nil)
	}
	t.posted = nil       // its rows may be postings
	t.cell.absent.stop() // or keys
	of, err := t.rowsOf(table, document.Table)
	if err != nil {
		return err
	}
	err = each(t, fmt.Sprintf("INSERT OR REPLACE INTO %s (%s) VALUES (%s)", table, of.columns, holds(len(of.Columns))), rows,
		func(s *stmt, values []any) error {
			if len(values) != len(of.Columns) {
				return fmt.Errorf("a row has %d values, not %d", len(of.Columns), len(values))
			}
			return s.exec(values...)
		})
	if err != nil {
		return fmt.Errorf("write %d rows of %s: %w", len(rows), table, err)
	}
	return nil
}

// writeTotal sets the totals in the state.
func (t *tx) writeTotal(ctx context.Context, rows [][]any) error {
	s, err := t.own(ctx)
	if err != nil {
		return err
	}
	for _, values := range rows {
		total, err := document.ParseTotals(values)
		if err != nil {
			return t.fail(fmt.Errorf("sqlite: write totals: %w", err))
		}
		s.used, s.seq, s.trimmed, s.counts, s.turns = total.Used, total.Seq, total.Trimmed, total.Counts, total.Turns
	}
	return nil
}

// DeleteRows runs a statement per key.
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
	if err != nil {
		return err
	}
	err = each(t, fmt.Sprintf("DELETE FROM %s WHERE %s", table, of.at), keys, func(s *stmt, key []any) error {
		if len(key) != of.Key {
			return fmt.Errorf("a key has %d values, not %d", of.Key, len(key))
		}
		return s.exec(key...)
	})
	if err != nil {
		return fmt.Errorf("delete %d rows of %s: %w", len(keys), table, err)
	}
	return nil
}

// Journal creates three triggers per table, or drops them.
func (t *tx) Journal(ctx context.Context, on bool) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if t.mode != alone {
		return t.fail(errors.New("sqlite: the journal of a cell is begun and ended in an Exclusive only"))
	}
	noted := append(document.Tables(), cell.Table{Name: cell.JournaledEntity, Columns: []string{"anchor"}, Key: 1})
	for _, table := range noted {
		if table.Name == cell.Total {
			continue
		}
		for event, row := range map[string]string{"INSERT": "new", "UPDATE": "new", "DELETE": "old"} {
			name := "journal_" + table.Name + "_" + strings.ToLower(event)
			sql := "DROP TRIGGER IF EXISTS " + name
			if on {
				key2 := "NULL"
				if table.Key == 2 {
					key2 = row + "." + table.Columns[1]
				}
				sql = fmt.Sprintf("CREATE TRIGGER IF NOT EXISTS %s AFTER %s ON %s BEGIN INSERT INTO locus_journal (tab, key1, key2) VALUES ('%s', %s.%s, %s); END",
					name, event, table.Name, table.Name, row, table.Columns[0], key2)
			}
			if _, err := t.conn.do(sql); err != nil {
				return fmt.Errorf("journal of cell %s: %w", t.cell, t.fail(err))
			}
		}
	}
	if on {
		return nil
	}
	if err := t.exec("DELETE FROM locus_journal"); err != nil {
		return fmt.Errorf("empty the journal of cell %s: %w", t.cell, err)
	}
	return nil
}

// Journaled reads the table in order. Only one transaction writes at a time, so this is the commit order.
func (t *tx) Journaled(ctx context.Context, after int64, limit int) ([]cell.JournalEntry, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	entries, err := rows(ctx, t, func(r row) (cell.JournalEntry, error) {
		e := cell.JournalEntry{Seq: r.int(0), Table: r.text(1), Key: []any{r.value(2)}}
		if !r.null(3) {
			e.Key = append(e.Key, r.value(3))
		}
		return e, nil
	}, "SELECT seq, tab, key1, key2 FROM locus_journal WHERE seq > ? ORDER BY seq LIMIT +?", after, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read journal of cell %s: %w", t.cell, err)
	}
	return entries, nil
}
