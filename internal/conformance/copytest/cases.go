// SPDX-License-Identifier: Apache-2.0

package copytest

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/storage"
)

func tablesAreWellFormed(t tester, p Pair) {
	all := tables(t, p.From)
	same(t, "tables of the other cell", tables(t, p.To), all)
	seen := map[string]bool{cell.JournaledEntity: true}
	for i, table := range all {
		if table.Key < 1 || table.Key > len(table.Columns) || seen[table.Name] {
			t.Fatalf("table %+v: want a name of its own and a key of its first columns", table)
		}
		if (table.Name == cell.Total) != (i == len(all)-1) {
			t.Fatalf("tables %+v: want the totals last", all)
		}
		seen[table.Name] = true
	}
}

func readsInOrder(t tester, p Pair) {
	populate(t, p.From)
	for _, table := range tables(t, p.From) {
		all := read(t, p.From, table, many)
		want := population
		if hasOne(table) {
			want = 1
		}
		if len(all) < want-1 {
			t.Fatalf("%s has %d rows of %d things", table.Name, len(all), want)
		}
		for i, row := range all {
			if len(row) != len(table.Columns) {
				t.Fatalf("%s: row %v, want values of %v", table.Name, row, table.Columns)
			}
			for k, v := range row {
				switch v.(type) {
				case int64, string, []byte:
				case nil:
					if k < table.Key {
						t.Fatalf("%s: row %v has no %s", table.Name, row, table.Columns[k])
					}
				default:
					t.Fatalf("%s: %s is a %T", table.Name, table.Columns[k], v)
				}
			}
			if i > 0 && compareKeys(key(table, all[i-1]), key(table, row)) >= 0 {
				t.Fatalf("%s: row %v after %v", table.Name, row, all[i-1])
			}
		}
		for _, page := range []int{1, 7} {
			same(t, table.Name+" in pages", read(t, p.From, table, page), all)
		}
	}
}

func rowsAt(t tester, c storage.Cell, table string, keys [][]any) [][]any {
	t.Helper()
	return view(t, c, func(ctx context.Context, c cell.Copier) ([][]any, error) { return c.RowsAt(ctx, table, keys) })
}

func write(t tester, c storage.Cell, table string, rows ...[]any) {
	t.Helper()
	update(t, c, func(ctx context.Context, c cell.Copier) error { return c.WriteRows(ctx, table, rows) })
}

func keysOf(table cell.Table, rows [][]any) [][]any {
	keys := make([][]any, len(rows))
	for i, row := range rows {
		keys[i] = key(table, row)
	}
	return keys
}

func rowsAtTheirKeys(t tester, p Pair) {
	populate(t, p.From)
	for _, table := range rowTables(t, p.From) {
		rows := read(t, p.From, table, many)
		same(t, table.Name+" of no keys", rowsAt(t, p.From, table.Name, nil), nil)
		same(t, table.Name+" of a cell that has none", rowsAt(t, p.To, table.Name, keysOf(table, rows[:9])), make([][]any, 9))
		asked := [][]any{rows[5], rows[1], rows[5], rows[len(rows)-1]}
		keys := keysOf(table, asked)
		update(t, p.From, func(ctx context.Context, c cell.Copier) error { return c.DeleteRows(ctx, table.Name, keys[1:2]) })
		same(t, table.Name+" at keys", rowsAt(t, p.From, table.Name, keys), [][]any{rows[5], nil, rows[5], rows[len(rows)-1]})
	}
}

func writingReplaces(t tester, p Pair) {
	populate(t, p.From)
	for _, table := range rowTables(t, p.From) {
		rows := read(t, p.From, table, many)
		if len(rows) < 4 {
			t.Fatalf("%s has %d rows", table.Name, len(rows))
		}
		a, b := rows[2], rows[3]
		swapped := append(slices.Clone(key(table, a)), b[table.Key:]...)
		write(t, p.To, table.Name)
		write(t, p.To, table.Name, b, a)
		same(t, table.Name+", written", read(t, p.To, table, many), [][]any{a, b})
		write(t, p.To, table.Name, swapped)
		same(t, table.Name+", written again", read(t, p.To, table, many), [][]any{swapped, b})
		write(t, p.To, table.Name, swapped, b, a)
		same(t, table.Name+", twice in a batch", read(t, p.To, table, many), [][]any{a, b})
	}
}

func deletingTwiceIsOnce(t tester, p Pair) {
	populate(t, p.From)
	for _, table := range rowTables(t, p.From) {
		rows := read(t, p.From, table, many)
		keys := keysOf(table, rows)
		for range 2 {
			update(t, p.From, func(ctx context.Context, c cell.Copier) error {
				return errors.Join(c.DeleteRows(ctx, table.Name, nil),
					c.DeleteRows(ctx, table.Name, [][]any{keys[3], keys[0], keys[3]}))
			})
			same(t, table.Name+" after deleting", read(t, p.From, table, many), append(rows[1:3:3], rows[4:]...))
		}
	}
}

func totals(t tester, p Pair) {
	populate(t, p.From)
	table := tables(t, p.From)[len(tables(t, p.From))-1]
	row := read(t, p.From, table, many)
	if len(row) != 1 || row[0][0] != int64(1) {
		t.Fatalf("the totals are %v, want one row of key 1", row)
	}
	write(t, p.To, cell.Total, row...)
	same(t, "totals", read(t, p.To, table, many), row)
	same(t, "totals at their key", rowsAt(t, p.To, cell.Total, [][]any{{int64(2)}, {int64(1)}}), [][]any{nil, row[0]})
	from, to := ask(t, p.From, population), ask(t, p.To, 0)
	same(t, "counts, next puid, ends of the log, next place in it", []any{to.Counts, to.Next, to.Bounds, to.Seq},
		[]any{from.Counts, from.Next, from.Bounds, from.Seq})
	if err := p.To.Update(context.Background(), func(tx storage.Tx) error {
		return copier(tx).DeleteRows(context.Background(), cell.Total, [][]any{{int64(1)}})
	}); err == nil {
		t.Fatalf("the totals were deleted")
	}
}

// oneRow covers the tables that have a single row from the beginning, except the totals.
func oneRow(t tester, p Pair) {
	populate(t, p.From)
	for _, table := range tables(t, p.From) {
		if !hasOne(table) || table.Name == cell.Total {
			continue
		}
		was, rows := read(t, p.To, table, many), read(t, p.From, table, many)
		if len(was) != 1 || len(rows) != 1 || rows[0][0] != int64(1) {
			t.Fatalf("%s has rows %v at first, and %v then, want one row of key 1", table.Name, was, rows)
		}
		write(t, p.To, table.Name, rows[0])
		same(t, table.Name, read(t, p.To, table, many), rows)
		same(t, table.Name+" at its key", rowsAt(t, p.To, table.Name, [][]any{{int64(2)}, {int64(1)}}), [][]any{nil, rows[0]})
		write(t, p.To, table.Name, was[0])
		same(t, table.Name+", written again", read(t, p.To, table, many), was)
	}
}

func refusesOtherTables(t tester, p Pair) {
	ctx := context.Background()
	for _, table := range []string{"", "invoices", "locus_total", cell.JournaledEntity, "record; DROP TABLE record"} {
		for name, call := range map[string]func(c cell.Copier) error{
			"ReadRows":   func(c cell.Copier) error { _, err := c.ReadRows(ctx, table, nil, 1); return err },
			"RowsAt":     func(c cell.Copier) error { _, err := c.RowsAt(ctx, table, [][]any{{int64(1)}}); return err },
			"WriteRows":  func(c cell.Copier) error { return c.WriteRows(ctx, table, [][]any{{int64(1)}}) },
			"DeleteRows": func(c cell.Copier) error { return c.DeleteRows(ctx, table, [][]any{{int64(1)}}) },
		} {
			if table == cell.JournaledEntity && (name == "ReadRows" || name == "RowsAt") {
				continue // the anchors can be read
			}
			if err := p.From.Update(ctx, func(tx storage.Tx) error { return call(copier(tx)) }); err == nil {
				t.Fatalf("%s of table %q is no error", name, table)
			}
		}
	}
}

func viewsDoNotWrite(t tester, p Pair) {
	populate(t, p.From)
	ctx := context.Background()
	before := contents(t, p.From)
	for _, table := range rowTables(t, p.From) {
		row := before[table.Name][1]
		for name, run := range map[string]func(context.Context, func(storage.Tx) error) error{"View": p.From.View, "Read": p.From.Read} {
			for _, err := range []error{
				run(ctx, func(tx storage.Tx) error { return copier(tx).WriteRows(ctx, table.Name, [][]any{row}) }),
				run(ctx, func(tx storage.Tx) error {
					return copier(tx).DeleteRows(ctx, table.Name, [][]any{key(table, row)})
				}),
				run(ctx, func(tx storage.Tx) error { return copier(tx).Journal(ctx, true) }),
			} {
				if err == nil {
					t.Fatalf("%s: a %s wrote", table.Name, name)
				}
			}
		}
	}
	same(t, "contents", contents(t, p.From), before)
}

func rollbackLeavesNothing(t tester, p Pair) {
	populate(t, p.From)
	ctx := context.Background()
	before := contents(t, p.From)
	err := p.From.Exclusive(ctx, func(tx storage.Tx) error {
		c := copier(tx)
		if err := c.Journal(ctx, true); err != nil {
			return err
		}
		for _, table := range rowTables(t, p.To) {
			rows := before[table.Name]
			if err := errors.Join(c.DeleteRows(ctx, table.Name, keysOf(table, rows)), c.WriteRows(ctx, table.Name, rows[:1])); err != nil {
				return err
			}
		}
		return errors.Join(c.WriteRows(ctx, cell.Total, [][]any{{int64(1), int64(9), int64(9), int64(9), int64(9), int64(9), int64(9), int64(9), int64(9)}}), conformance.ErrRollback)
	})
	if !errors.Is(err, conformance.ErrRollback) {
		t.Fatalf("Exclusive returned %v, want the error of its function", err)
	}
	same(t, "contents", contents(t, p.From), before)
	conformance.Update(t, p.From.Update, func(ctx context.Context, tx storage.Tx) error {
		return put(ctx, tx, population, 1, 1)
	})
	if got := journaled(t, p.From, math.MinInt64, many); len(got) > 0 {
		t.Fatalf("a journal that was rolled back notes %v", got)
	}
}

// copyAll copies the rows of all tables, page by page, the last pages first.
func copyAll(t tester, p Pair) {
	t.Helper()
	for _, table := range tables(t, p.From) {
		rows := read(t, p.From, table, 7)
		slices.Reverse(rows)
		for page := range slices.Chunk(rows, 11) {
			write(t, p.To, table.Name, page...)
		}
	}
}

func copyIsTheCell(t tester, p Pair) {
	populate(t, p.From)
	copyAll(t, p)
	same(t, "rows", contents(t, p.To), contents(t, p.From))
	same(t, "answers of the Stores", ask(t, p.To, population+2), ask(t, p.From, population+2))
}
