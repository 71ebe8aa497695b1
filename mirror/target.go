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

	// Controls answers with the control documents of all cells that have one.
	Controls(ctx context.Context) ([]Control, error)
	// PutControl writes a control document in the place of the one that was read, by its Fill and Version, or
	// where there is none if that is the zero one. It answers whether it did.
	PutControl(ctx context.Context, was, is Control) (bool, error)
}

// Format is the form of what this release writes.
const Format = 1

// Control says how far the mirror of a cell is.
type Control struct {
	Cell cell.ID
	// Installation is the id of the cell map whose cell it is.
	Installation string
	// Format is that of all documents of the cell.
	Format int
	// Fill names the filling that the mirror began with, by a random text.
	Fill string
	// From is the place in the log that was noted when that began, and After the last id that it has written;
	// Filled says that there are no more.
	From   changelog.Seq
	After  locality.ID
	Filled bool
	// Count is how many ids were filled.
	Count int64
	// At is the place in the log up to which the mirror has everything, once it is filled.
	At changelog.Seq
	// Time is that of the change At, or when the filling began.
	Time time.Time
	// Settling are ids to be looked at again.
	Settling []locality.ID
	// Version rises by 1 with every write.
	Version int64
}
