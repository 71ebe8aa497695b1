// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"errors"
	"fmt"
)

// ErrDamaged means that a row, or a whole database, is corrupt. Nothing was done and retrying does not help; all other
// rows are still served.
var ErrDamaged = errors.New("cell: damaged")

// DamagedError is an ErrDamaged that names the row.
type DamagedError struct {
	Cell  string // "" if the database belongs to no installation
	Table string // "" if the whole database is unreadable
	Key   string // of the row; "" if it is unreadable too
	Err   error
}

// Damaged returns a DamagedError for a row. Cells adds the name of the cell.
func Damaged(table string, key any, err error) error {
	return &DamagedError{Table: table, Key: fmt.Sprint(key), Err: err}
}

// Error returns the location of the damage and its cause.
func (e *DamagedError) Error() string { return e.Where() + ": " + e.Err.Error() }

// Where names the cell, the table and the row, and none of the row's content.
func (e *DamagedError) Where() string {
	text := ""
	if e.Cell != "" {
		text = "cell " + e.Cell + ": "
	}
	switch {
	case e.Table == "":
		return text + "its database is damaged"
	case e.Key == "":
		return text + "a row of table " + e.Table + " is damaged"
	}
	return text + "row " + e.Key + " of table " + e.Table + " is damaged"
}

// Unwrap returns ErrDamaged and the cause.
func (e *DamagedError) Unwrap() []error { return []error{ErrDamaged, e.Err} }
