// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"github.com/locus-db/locus/internal/problem"

	"github.com/locus-db/locus/internal/protocol"
)

// ErrMoved means that the cell is not, or temporarily not, at this database: refresh the map and try again. Nothing was
// done.
var ErrMoved = problem.Class(problem.ErrUnavailable, "cell: the cell has moved: refresh the cell map and try again")

// ErrFenced means that a cell takes no keys and postings, or none from a map as old as the writer's: refresh the map
// and begin again. Nothing was done.
var ErrFenced = problem.Class(problem.ErrUnavailable,
	"cell: cell map too old to allocate keys: refresh it and try again")

// Head is the state of a cell: one row, read in the transaction of every write, under a lock that conflicts with
// changing it. So a cell rejects outdated writers itself, whatever map they use.
type Head struct {
	// Keys states whether the cell takes keys and postings. It only moves forward.
	Keys KeyState `json:"keys"`
	// Home states whether the cell is at this database.
	Home Placement `json:"home"`
	// Incarnation counts the databases that the cell has lived in, from 1.
	Incarnation int `json:"incarnation"`
	// Epoch is the lowest epoch of a map that may write here.
	Epoch uint64 `json:"epoch"`
	// KnownEpoch is the highest epoch of a map that the cell has heard of.
	KnownEpoch uint64 `json:"known_epoch"`
	// Fence is the lowest token of a lease whose holder may still write (package lease).
	Fence int64 `json:"fence"`
	// Images states which entries of the changelog carry before and after images, for rollups: the text of an Images of
	// package changelog.
	Images string `json:"images,omitempty"`
	// Rules is the version of the matching rules that writers of records must use here (package resolve). It only
	// rises; a writer with other rules reloads them and starts again.
	Rules int64 `json:"rules,omitempty"`
	// Returns counts how often the cell was restored from a copy of itself. Settled is the last such restore whose
	// losses were repaired in all cells (package resolve).
	Returns int `json:"returns,omitempty"`
	Settled int `json:"settled,omitempty"`
	// Move identifies the last move of the cell to another database and the attempt that may continue it; see Move.
	// Source and target of the move have the same value; "" means no move.
	Move string `json:"move,omitempty"`
}

// Unsettled reports whether other cells may still contain consequences of rows that the cell lost.
func (h Head) Unsettled() bool { return h.Settled < h.Returns }

// admits reports whether the cell takes keys and postings from a writer with a map of this epoch.
func (h Head) admits(epoch uint64) bool {
	return h.Keys == Open && h.Home == Serving && h.Epoch <= epoch
}

// Seal returns the head of the cell sealed by a writer with a map of this epoch. The key state of a cell that is not
// open is unchanged.
func (h Head) Seal(epoch uint64) Head { return h.advance(Sealed, epoch) }

// retire returns the head of the cell retired by a writer with a map of this epoch.
func (h Head) retire(epoch uint64) Head { return h.advance(Retired, epoch) }

func (h Head) advance(keys KeyState, epoch uint64) Head {
	if h.Keys < keys {
		h.Keys, h.Epoch = keys, max(h.Epoch, epoch)
	}
	h.KnownEpoch = max(h.KnownEpoch, epoch)
	return h
}

// RecoverFromReplica returns the head of a cell that was restored from a replica or a backup, which may have missed
// that it was sealed. m must be the newest map, read from the authority after the cell was locked as for sealing: only
// then may the cell serve as open. It may also have lost rows that other cells have built on, so it is unsettled.
func (h Head) RecoverFromReplica(c ID, m *Map) Head {
	h.Returns++
	return h.recoverFromReplica(c.Gen, m.view())
}

func (h Head) recoverFromReplica(gen uint16, v protocol.View) Head {
	switch {
	case gen < v.Floor:
		return h.retire(v.Epoch)
	case gen < v.Current:
		return h.Seal(v.Epoch)
	}
	return h
}

// filterable reports whether the rows of the cell are final, so that a filter of them can prove absence.
func (h Head) filterable() bool { return h.Keys == Sealed }

// KeyState is the state of a key directory.
type KeyState uint8

// A directory is open, then sealed, then retired.
const (
	Open    = KeyState(protocol.Open)    // takes keys and postings
	Sealed  = KeyState(protocol.Sealed)  // takes none: its rows are final
	Retired = KeyState(protocol.Retired) // has none: they were copied to newer cells
)

// String returns open, sealed or retired.
func (k KeyState) String() string { return [...]string{"open", "sealed", "retired"}[k] }

// Placement states whether a cell is at one of its databases.
type Placement uint8

// A cell serves at a database and leaves it at most once.
const (
	Serving Placement = iota // the cell is here
	Moving                   // writers wait while the last rows are copied to its new database
	Moved                    // the cell is elsewhere; the map says where
)

// String returns serving, moving or moved.
func (r Placement) String() string { return [...]string{"serving", "moving", "moved"}[r] }
