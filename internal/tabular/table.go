// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"errors"
	"fmt"
)

// Column is a column of a table.
type Column struct {
	// Name is the path of the column, as in JSON: city, location.city, contacts[].email.
	Name string
	// Binary, if not "", is the reason why the column has no text; its cells are left out, or have the bytes.
	Binary string
}

// Cell is a value of a row. A column has several if it is a list, and none if it is null.
type Cell struct {
	Column int // its place in Table.Columns
	Text   string
}

// Row is a row of a table.
type Row struct {
	// Number is the number of the row, from 1; in a sheet it is the one that a spreadsheet shows.
	Number int64
	// Cells are in the order of the columns, valid until the next call of Next.
	Cells []Cell
	// Wrong says why the row does not fit the table, "" if it does.
	Wrong string
	// Position, if not nil, is where reading can go on after this row in a later run.
	Position []string
}

// Table reads rows in order. It is not safe for concurrent use.
type Table interface {
	Columns() []Column
	// Next returns the next row, and io.EOF at the end. After any other error nothing more can be read, and the error
	// is an *Error.
	Next() (Row, error)
	// Done returns the share of the table that was read, 0 to 1, or -1 if it is unknown.
	Done() float64
	Close() error
}

// Error says why a table cannot be read, or not to its end.
type Error struct {
	Reason string
	Hint   string // a suggestion, "" if there is none
	Err    error  // cause, nil if there is none
}

// Error returns the reason and the cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Reason + ": " + e.Err.Error()
	}
	return e.Reason
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// errPanic is the cause of an *Error after a panic of a library.
var errPanic = errors.New("the library that reads it failed")

// guard calls read and converts a panic to an error.
func guard(read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %.200v", errPanic, p)
		}
	}()
	return read()
}
