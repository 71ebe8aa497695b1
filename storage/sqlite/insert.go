// SPDX-License-Identifier: Apache-2.0

package sqlite

import "strings"

// rowsAtOnce is how many rows a statement writes where there are so many: binding and stepping one costs more than
// most rows do.
const rowsAtOnce = 8

// insert is a statement that writes rows, and the same for several of them.
type insert struct{ one, many string }

// inserting makes the statement: into is a table with so many columns, then says what is done with a row that is there.
func inserting(into string, columns int, then string) insert {
	row := "(" + holds(columns) + ")"
	head := "INSERT INTO " + into + " VALUES " + row
	return insert{head + " " + then, head + strings.Repeat(", "+row, rowsAtOnce-1) + " " + then}
}

// insertAll writes a row for each item, whose values are appended to a list.
func insertAll[T any](t *tx, in insert, items []T, values func(to []any, item T) []any) error {
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
