// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"errors"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/locality"
)

var (
	// ErrForeign means that the target has the mirror of another installation.
	ErrForeign = errors.New("mirror: the target has the mirror of another installation")
	// ErrFormat means that the target was written by a later release in an unknown format.
	ErrFormat = errors.New("mirror: the target was written by a later release")
)

// Document is the document of an ID in a target.
type Document struct {
	State
	// Version is 1 when the document is first written and increases by 1 with every write.
	Version int64
}

// Held is a document without its content.
type Held struct {
	ID      locality.ID
	Version int64 // 0 if there is no document
	Kind    Kind
	Stamp   string
}

// holds reports whether the document already has the content of a state.
func (h *Held) holds(s *State) bool { return h.Version > 0 && h.Kind == s.Kind && h.Stamp == s.Stamp() }

// Target is the store of a mirror. Each document is written atomically; nothing spans two. Reads return, and
// writes are acknowledged for, only data that survives the failure of a server. An error that wraps
// cell.ErrUnavailable or cell.ErrCommitUnknown may be retried.
type Target interface {
	// Held returns the document of each ID without its content, in the order of ids.
	Held(ctx context.Context, ids []locality.ID) ([]Held, error)
	// Write writes each document whose stored version is one below its own (0 if there is none) and skips the
	// others. It returns how many it wrote. The documents are in ID order.
	Write(ctx context.Context, docs []Document) (written int, err error)
	// Documents returns the documents of ids in order, without missing ones.
	Documents(ctx context.Context, ids []locality.ID) ([]Document, error)
	// Scan returns at most limit documents after an ID, in ID order. The zero ID is before all.
	Scan(ctx context.Context, after locality.ID, limit int) ([]Document, error)

	// Fill returns the stored Fill, the zero value if there is none.
	Fill(ctx context.Context) (Fill, error)
	// PutFill replaces the Fill that has the Name of was; if was is zero, there must be none. It reports whether it
	// did.
	PutFill(ctx context.Context, was, is Fill) (bool, error)
	// Controls returns the control documents of all cells that have one.
	Controls(ctx context.Context) ([]Control, error)
	// PutControl replaces the Control that has the Fill and Version of was; if was is zero, there must be none. It
	// reports whether it did.
	PutControl(ctx context.Context, was, is Control) (bool, error)
}

// Format is the format that this release writes.
const Format = 1

// Fill is the start of a mirror. A change in the log of one cell may concern IDs of any other. So the positions
// in all logs are stored together, in one document, before the first ID is read; and if one log is trimmed too
// early, all cells are filled again.
type Fill struct {
	// Name is random.
	Name string
	// Installation is the ID of the cell map.
	Installation string
	// Format is the format of all documents.
	Format int
	// From has the log positions. A cell added later is followed from its beginning.
	From map[cell.ID]changelog.Seq
	// Begun is the start time, in milliseconds.
	Begun time.Time
}

// Control is the stored progress of a cell.
type Control struct {
	Cell cell.ID
	// Fill is the Name of the Fill that the cell works for.
	Fill string
	// After is the last ID written, Filled reports that there are no more, and Count is the number written.
	After  locality.ID
	Filled bool
	Count  int64
	// At is the log position up to which a filled mirror has everything. Time is the time of the change there, or
	// of the start of the fill.
	At   changelog.Seq
	Time time.Time
	// Settling has the IDs to be read again, sorted.
	Settling []locality.ID
	// Version increases by 1 with every write.
	Version int64
}
