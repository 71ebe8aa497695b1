// SPDX-License-Identifier: Apache-2.0

package sqlite

import "strings"

// rowsAtOnce and valuesAtOnce limit a multi-row insert. Running a statement costs about as much as writing a narrow
// row, so inserting many rows at once only pays if they are narrow.
const (
	rowsAtOnce   = 8
	valuesAtOnce = 64
)

// insert is an INSERT of one row, and the same of several numbers of rows.
type insert []rowsOf

// rowsOf is an INSERT of a number of rows.
type rowsOf struct {
	sql  string
	rows int
}

// inserting builds the statements, the one with the most rows first. into names a table with the given number of
// columns; then is the conflict clause.
func inserting(into string, columns int, then string) (in insert) {
	row := "(" + holds(columns) + ")"
	for _, rows := range []int{valuesAtOnce / columns, rowsAtOnce, 1} {
		if rows >= rowsAtOnce || rows == 1 {
			in = append(in, rowsOf{"INSERT INTO " + into + " VALUES " + row + strings.Repeat(", "+row, rows-1) + " " + then, rows})
		}
	}
	return in
}

// insertAll inserts a row per item; values adds the item's columns to a list. It returns the items of the statements
// that inserted fewer rows than they have, because of a conflict clause.
func insertAll[T any](t *tx, in insert, items []T, values func(to *list, item T)) (conflicts []T, err error) {
	if len(items) > 0 {
		if of := t.statement(in[len(in)-1].sql); of.On() {
			defer func() { of.End(err) }()
		}
	}
	for _, of := range in {
		if len(items) < of.rows {
			continue
		}
		s, err := t.conn.prepare(of.sql)
		if err != nil {
			return nil, t.fail(err)
		}
		for ; len(items) >= of.rows; items = items[of.rows:] {
			t.conn.list.reset()
			for _, item := range items[:of.rows] {
				values(&t.conn.list, item)
			}
			if err := s.run(s.bind()); err != nil {
				return nil, t.fail(err)
			}
			if s.changed() < int64(of.rows) {
				conflicts = append(conflicts, items[:of.rows]...)
			}
		}
	}
	return conflicts, nil
}
