// SPDX-License-Identifier: Apache-2.0

package sqlite

import "strings"

// rowsAtOnce are the numbers of rows of multi-row inserts: binding and stepping a statement costs more than most rows do.
var rowsAtOnce = [...]int{48, 8, 1}

// insert is an INSERT of each number of rowsAtOnce.
type insert [len(rowsAtOnce)]string

// inserting builds the statements. into names a table with the given number of columns; then is the conflict
// clause.
func inserting(into string, columns int, then string) (in insert) {
	row := "(" + holds(columns) + ")"
	for i, rows := range rowsAtOnce {
		in[i] = "INSERT INTO " + into + " VALUES " + row + strings.Repeat(", "+row, rows-1) + " " + then
	}
	return in
}

// one is the INSERT of one row.
func (in insert) one() string { return in[len(in)-1] }

// insertAll inserts a row per item; values appends the item's columns to a list.
func insertAll[T any](t *tx, in insert, items []T, values func(to []any, item T) []any) (err error) {
	if len(items) > 0 {
		if of := t.statement(in.one()); of.On() {
			defer func() { of.End(err) }()
		}
	}
	var list []any
	for i, rows := range rowsAtOnce {
		if len(items) < rows {
			continue
		}
		s, err := t.conn.prepare(in[i])
		if err != nil {
			return t.fail(err)
		}
		for ; len(items) >= rows; items = items[rows:] {
			list = list[:0]
			for _, item := range items[:rows] {
				list = values(list, item)
			}
			if err := s.exec(list...); err != nil {
				return t.fail(err)
			}
		}
	}
	return nil
}
