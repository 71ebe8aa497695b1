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
	// ErrForeign says that a target has the mirror of another installation.
	ErrForeign = errors.New("mirror: the target has the mirror of another installation")
	// ErrFormat says that a target was written by a later release, in a form that this one does not know.
	ErrFormat = errors.New("mirror: the target was written by a later release")
)

// Document is what a target keeps of an id.
type Document struct {
	State
	// Version is 1 when the document is first written and rises by 1 with every write.
	Version int64
}

// Held is what a target has of an id, without its content.
type Held struct {
	ID      locality.ID
	Version int64 // 0 if there is no document
	Kind    Kind
	Stamp   string
}

// holds tells whether a state is there already.
func (h *Held) holds(s *State) bool { return h.Version > 0 && h.Kind == s.Kind && h.Stamp == s.Stamp() }

// Target is where a mirror is kept. Each document is written atomically; nothing is asked for that spans two. What
// was read or written is as good as acknowledged: no failure of a server takes it back. An error that wraps
// cell.ErrUnavailable or cell.ErrUnknownOutcome means: try again.
type Target interface {
	// Held answers what is there of each id, in the order asked.
	Held(ctx context.Context, ids []locality.ID) ([]Held, error)
	// Write writes each document if the version that is there is one below its own, where none counts as 0,
	// and passes it over if not. It answers how many it wrote. The documents come in the order of their ids.
	Write(ctx context.Context, docs []Document) (written int, err error)
	// Documents answers with those of some ids, in order, leaving out what is not there.
	Documents(ctx context.Context, ids []locality.ID) ([]Document, error)
	// Scan answers with the documents after an id, in the order of ids, at most limit. The zero id is before
	// all.
	Scan(ctx context.Context, after locality.ID, limit int) ([]Document, error)

	// Fill answers with what the mirror began with, the zero value if nothing did.
	Fill(ctx context.Context) (Fill, error)
	// PutFill writes it in the place of the one that was read, by its Name, or where there is none if that is the
	// zero one. It answers whether it did.
	PutFill(ctx context.Context, was, is Fill) (bool, error)
	// Controls answers with the control documents of all cells that have one.
	Controls(ctx context.Context) ([]Control, error)
	// PutControl writes one in the place of the one that was read, by its Fill and Version, or where there is none
	// if that is the zero one. It answers whether it did.
	PutControl(ctx context.Context, was, is Control) (bool, error)
}

// Format is the form of what this release writes.
const Format = 1

// Fill is what a mirror begins with. A change in the log of one cell may be about ids of any other one. So the places
// in all logs are noted together, in one document, before the first id is read; and if the log of one cell was trimmed
// too early, all cells are filled again.
type Fill struct {
	// Name is drawn at random.
	Name string
	// Installation is the id of the cell map.
	Installation string
	// Format is that of all documents.
	Format int
	// From are the places in the logs. A cell that was added later is followed from its beginning.
	From map[cell.ID]changelog.Seq
	// Begun is when that was, to the millisecond.
	Begun time.Time
}

// Control says how far the mirror of a cell is.
type Control struct {
	Cell cell.ID
	// Fill is the name of that which the cell is filled for.
	Fill string
	// After is the last id that was written, and Filled says that there are no more; Count is how many there were.
	After  locality.ID
	Filled bool
	Count  int64
	// At is the place in the log up to which the mirror has everything, once it is filled, and Time that of the
	// change there, or when the filling began.
	At   changelog.Seq
	Time time.Time
	// Settling are ids to be looked at again, in order.
	Settling []locality.ID
	// Version rises by 1 with every write.
	Version int64
}
