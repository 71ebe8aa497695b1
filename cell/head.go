// SPDX-License-Identifier: Apache-2.0

package cell

import "errors"

// ErrMoved says that the cell is not at this database, or not for now: refresh the
// map and try again. Nothing was done.
var ErrMoved = errors.New("cell: the cell has moved: refresh the cell map and try again")

// ErrFenced says that a cell takes no keys and postings, or none from a map as old as
// the writer's: refresh the map and begin again. Nothing was done.
var ErrFenced = errors.New("cell: the cell takes no keys from a map as old as this: refresh it and begin again")

// Head is what a cell says about itself to everybody who wants to write: one row,
// read in the transaction of every write, under a lock that changing it conflicts
// with. So a cell refuses by itself, whatever map the writer has.
type Head struct {
	// Keys says whether the cell takes keys and postings. It only moves forward.
	Keys Keys `json:"keys"`
	// Home says whether the cell is at this database.
	Home Residence `json:"home"`
	// Incarnation counts the databases that the cell has lived in, from 1.
	Incarnation int `json:"incarnation"`
	// Epoch is the lowest epoch of a map that may write here.
	Epoch uint64 `json:"epoch"`
	// Told is the highest epoch of a map that the cell has heard of.
	Told uint64 `json:"told"`
	// Fence is the lowest token of a lease that may still write what is done under one
	// (package lease).
	Fence int64 `json:"fence"`
	// Images says which entries of the log carry what was and what is, for those who count by it: the text
	// of an Images of package changelog.
	Images string `json:"images,omitempty"`
	// Rules is the version of the rules by which records may be written here (package resolve). It only
	// rises; who works by others reads them again and begins anew.
	Rules int64 `json:"rules,omitempty"`
	// Returns counts how often the cell came back from a copy of itself. Settled is the last return
	// whose losses were made good in all cells (package resolve).
	Returns int `json:"returns,omitempty"`
	Settled int `json:"settled,omitempty"`
	// Move is the move of the cell to another database that was begun last, and the attempt at it that may go on: see
	// Move. The database that the cell leaves and the one that is filled have the same, "" for none.
	Move string `json:"move,omitempty"`
}

// Unsettled reports whether other cells may still hold what followed from rows that the cell lost.
func (h Head) Unsettled() bool { return h.Settled < h.Returns }

// Admits reports whether the cell takes keys and postings from who routes with a map of
// this epoch.
func (h Head) Admits(epoch uint64) bool {
	return h.Keys == Open && h.Home == Serving && h.Epoch <= epoch
}

// Seal returns the head of the cell sealed, by who routes with a map of this epoch. A
// cell that is not open stays as it is.
func (h Head) Seal(epoch uint64) Head { return h.advance(Sealed, epoch) }

// Retire returns the head of the cell retired, by who routes with a map of this epoch.
func (h Head) Retire(epoch uint64) Head { return h.advance(Retired, epoch) }

func (h Head) advance(keys Keys, epoch uint64) Head {
	if h.Keys < keys {
		h.Keys, h.Epoch = keys, max(h.Epoch, epoch)
	}
	h.Told = max(h.Told, epoch)
	return h
}

// Rejoin returns the head of a cell that came back from a copy of itself, a replica or a
// backup, which may have missed that it was sealed. m must be the newest map, read from
// the authority after the cell was locked as for sealing: only then may the cell answer
// as open. It may also have lost rows that other cells have followed: it is unsettled.
func (h Head) Rejoin(c ID, m *Map) Head {
	h.Returns++
	return h.rejoin(c.Gen, m.View())
}

func (h Head) rejoin(gen uint16, v View) Head {
	switch {
	case gen < v.Floor:
		return h.Retire(v.Epoch)
	case gen < v.Current:
		return h.Seal(v.Epoch)
	}
	return h
}

// Filterable reports whether the rows of the cell are final, so that a filter of them
// proves what the cell lacks.
func (h Head) Filterable() bool { return h.Keys == Sealed }

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
