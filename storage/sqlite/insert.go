// SPDX-License-Identifier: Apache-2.0

package sqlite

import "strings"

// rowsAtOnce is the number of rows of a multi-row insert: binding and stepping a statement costs more than most
// rows do.
const rowsAtOnce = 8

// insert is an INSERT of one row, and the same of rowsAtOnce rows.
type insert struct{ one, many string }

// inserting builds the statements. into names a table with the given number of columns; then is the conflict
// clause.
func inserting(into string, columns int, then string) insert {
	row := "(" + holds(columns) + ")"
	head := "INSERT INTO " + into + " VALUES " + row
	return insert{head + " " + then, head + strings.Repeat(", "+row, rowsAtOnce-1) + " " + then}
}

// insertAll inserts a row per item; values appends the item's columns to a list.
func insertAll[T any](t *tx, in insert, items []T, values func(to []any, item T) []any) (err error) {
	if len(items) > 0 {
		if of := t.statement(in.one); of.On() {
			defer func() { of.End(err) }()
		}
	}
	var list []any
	several := len(items) - len(items)%rowsAtOnce
	for _, part := range []struct {
		sql   string
		items []T
		n     int
	}{{in.many, items[:several], rowsAtOnce}, {in.one, items[several:], 1}} {
		if len(part.items) == 0 {
			continue
		}
		s, err := t.conn.prepare(part.sql)
		if err != nil {
			return t.fail(err)
		}
		for from := 0; from < len(part.items); from += part.n {
			list = list[:0]
			for _, item := range part.items[from : from+part.n] {
				list = values(list, item)
			}
			if err := s.exec(list...); err != nil {
				return t.fail(err)
			}
		}
	}
	return nil
}
