// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"errors"
	"fmt"
)

// ErrDamaged says that a row, or a whole database, holds what was never written there. Nothing was
// done, trying again does not help, and all other rows are served.
var ErrDamaged = errors.New("cell: damaged")

// DamagedError is an ErrDamaged that says which row it is about.
type DamagedError struct {
	Cell  string // "" for a database of no installation
	Table string // "" if the database as a whole cannot be read
	Key   string // of the row in its table, "" if that cannot be read either
	Err   error
}

// Damaged returns a DamagedError about a row. The Cells that the database belongs to add the name of the cell.
func Damaged(table string, key any, err error) error {
	return &DamagedError{Table: table, Key: fmt.Sprint(key), Err: err}
}

// Error says where the damage is, and what was found there.
func (e *DamagedError) Error() string { return e.Where() + ": " + e.Err.Error() }

// Where names the cell, the table and the row, and nothing of what stands there.
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

// Unwrap says what Damaged says.
func (e *DamagedError) Unwrap() []error { return []error{ErrDamaged, e.Err} }
