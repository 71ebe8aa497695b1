// SPDX-License-Identifier: Apache-2.0

package cell

// Head is what a cell says about itself to everybody who wants to write: one row,
// read in the transaction of every write, under a lock that changing it conflicts
// with. So a cell refuses by itself, whatever map the writer has.
type Head struct {
	// Keys says whether the cell takes keys and postings. It only moves forward.
	Keys Keys
	// Home says whether the cell is at this database.
	Home Residence
	// Incarnation counts the databases that the cell has lived in, from 1.
	Incarnation int
	// Epoch is the lowest epoch of a map that may write here.
	Epoch uint64
	// Told is the highest epoch of a map that the cell has heard of.
	Told uint64
	// Fence is the lowest token of a lease that may still write what is done under one
	// (package lease).
	Fence int64
}

// Keys is the state of a key directory.
type Keys uint8

// A directory is open, then sealed, then retired.
const (
	Open    Keys = iota // takes keys and postings
	Sealed              // takes none: what it holds is all it will ever hold
	Retired             // holds none: they were copied to newer cells
)

// String returns open, sealed or retired.
func (k Keys) String() string { return [...]string{"open", "sealed", "retired"}[k] }

// Residence says where a cell is that is asked at one of its databases.
type Residence uint8

// A cell serves, and leaves a database once.
const (
	Serving Residence = iota // the cell is here
	Moving                   // writers wait: the last rows are on their way to its new database
	Moved                    // the cell is elsewhere; the map says where
)

// String returns serving, moving or moved.
func (r Residence) String() string { return [...]string{"serving", "moving", "moved"}[r] }
