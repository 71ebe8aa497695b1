// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"context"
	"errors"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// Seq is a change's place in its cell's log. It rises with every change and is never reused.
type Seq int64

// Kind says what happened.
type Kind string

// Put and Deleted are facts about a record, committed together with the record, and Assigned is about
// a record too. The others are about an entity and follow from the former.
const (
	Put     Kind = "put"     // a record was received, new or in a new version
	Deleted Kind = "deleted" // a record was deleted
	// Assigned says that a record has become a member of another entity, or the anchor of its own. It
	// is logged only while changes of records carry images: nobody else needs it.
	Assigned Kind = "assigned"
	Created  Kind = "created" // an entity came into being out of new records
	Changed  Kind = "changed" // an entity has other members or another view
	Merged   Kind = "merged"  // an entity took over members of another one
	Split    Kind = "split"   // an entity lost members to another one, or was made of them
	Retired  Kind = "retired" // an entity is no more; its id leads to Into
)

// OfRecord tells whether changes of the kind are about a record; the others are about an entity.
func (k Kind) OfRecord() bool { return k == Put || k == Deleted || k == Assigned }

// Cause says what made a change.
type Cause string

// The causes. A change that a batch of several writes made has that of its own records.
const (
	CausePut      Cause = "put"      // a record was put
	CauseDelete   Cause = "delete"   // a record was deleted
	CauseDecision Cause = "decision" // a person decided about a record, or withdrew that
	CauseRedo     Cause = "redo"     // what a crash, or a cell that did not answer, had left undone was done
	CausePack     Cause = "pack"     // records are resolved by other rules
)

// Version is a record at one of its versions.
type Version struct {
	PUID    entity.PUID `json:"puid"`
	Version int64       `json:"version"`
}

// Change is one entry of a cell's log. An entity is a pure function of its members, so a change
// names the members before and after: whoever reads the changes of all cells knows every entity that
// ever was. What the members said is in it only where an aggregate asks for it, as images.
type Change struct {
	Seq  Seq       `json:"seq,string"` // given by the cell
	Time time.Time `json:"time"`       // UTC, to the millisecond
	Kind Kind      `json:"kind"`
	// Cause is what made the change.
	Cause Cause `json:"cause,omitempty"`
	// Entity is the entity that changed, or for Put and Deleted the birth id of the record.
	Entity locality.ID `json:"entity"`
	// Into is where the id of a retired entity leads; zero if its last record was deleted.
	Into locality.ID `json:"into,omitzero"`
	// Before and After are the members around the change, in the order of their birth; for Put and
	// Deleted the record itself. Nil where there was nothing.
	Before []Version `json:"before,omitempty"`
	After  []Version `json:"after,omitempty"`
	// Was and Is are the images around the change, as the transaction found and left them: nil where
	// there was nothing, and both nil where nobody asks for images of this kind.
	Was *Image `json:"was,omitempty"`
	Is  *Image `json:"is,omitempty"`
}

// ErrTrimmed says that changes after the number asked for were trimmed: begin with a snapshot. Numbers of a
// history that was lost to a backup are passed over for ever, so that whoever goes on from one finds no
// change with it.
var ErrTrimmed = errors.New("changelog: changes were trimmed")

// Bounds are the ends of a log.
type Bounds struct {
	// Trimmed is the last change that was trimmed: those after it are there.
	Trimmed Seq
	// Last is the number given last. A restored cell passes over numbers, so there may be no such
	// change.
	Last Seq
}

// Store is the log of one cell, inside one transaction of that cell. A backend certifies itself
// with changelogtest.Run.
type Store interface {
	// Append adds changes at the end, in order. Their Seq is ignored: the cell gives the next ones.
	// Whoever appends second waits until the first has committed, so the order of Seq is the order
	// in which transactions commit: a reader that has seen a Seq has seen everything below it.
	Append(ctx context.Context, changes []Change) error
	// Changes answers with the changes after seq, in order, at most limit. The error is ErrTrimmed if
	// some of them were trimmed.
	Changes(ctx context.Context, after Seq, limit int) ([]Change, error)
	// Bounds answers with the ends of the log, what this transaction appended included.
	Bounds(ctx context.Context) (Bounds, error)
	// Trim deletes changes up to seq, the oldest first, at most limit, and answers how many. Repeating
	// it goes on.
	Trim(ctx context.Context, upTo Seq, limit int) (int, error)
}
