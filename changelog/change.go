// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"context"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
)

// Seq is a change's position in its cell's log. It increases with every change and is never reused.
type Seq int64

// Kind is the type of a change.
type Kind string

// Put and Deleted are facts about a record, committed together with it; Assigned is also about a record. The
// others are about an entity and follow from these facts.
const (
	Put     Kind = "put"     // a record was received, new or in a new version
	Deleted Kind = "deleted" // a record was deleted
	// Assigned means that a record has become a member of another entity, or the anchor of its own. It is logged
	// only while changes of records carry images.
	Assigned Kind = "assigned"
	Created  Kind = "created" // an entity was created from new records
	Changed  Kind = "changed" // an entity has other members or another view
	Merged   Kind = "merged"  // an entity took over members of another one
	Split    Kind = "split"   // an entity lost members to another one, or was made of them
	Retired  Kind = "retired" // an entity ended; its ID leads to Into
)

// OfRecord reports whether changes of the kind are about a record; the others are about an entity.
func (k Kind) OfRecord() bool { return k == Put || k == Deleted || k == Assigned }

// Cause is the reason of a change.
type Cause string

// The causes. A change made by a batch of several writes has the cause of its own records.
const (
	CausePut      Cause = "put"              // a record was put
	CauseDelete   Cause = "delete"           // a record was deleted
	CauseDecision Cause = "decision"         // a person decided about a record, or withdrew a decision
	CauseRedo     Cause = "redo"             // work was completed that a crash or an unavailable cell had left undone
	CauseTerms    Cause = "term_frequencies" // records are resolved with other rules
)

// Version is a record at one of its versions.
type Version struct {
	PUID    entity.PUID `json:"puid"`
	Version int64       `json:"version"`
}

// Change is one entry of a cell's log. An entity is a pure function of its members, so a change names the members
// before and after it: a reader of the changes of all cells can reconstruct every entity that ever existed. The
// members' content is included only where an aggregate needs it, as images.
type Change struct {
	Seq  Seq       `json:"seq,string"` // assigned by the cell
	Time time.Time `json:"time"`       // UTC, in milliseconds
	Kind Kind      `json:"kind"`
	// Cause is the reason of the change.
	Cause Cause `json:"cause,omitempty"`
	// Entity is the changed entity, or for Put and Deleted the birth ID of the record.
	Entity locality.ID `json:"entity"`
	// Into is the target of a retired entity's ID; zero if its last record was deleted.
	Into locality.ID `json:"into,omitzero"`
	// Before and After are the members before and after the change, in the order of their birth; for Put and
	// Deleted, the record itself. Nil if there were none.
	Before []Version `json:"before,omitempty"`
	After  []Version `json:"after,omitempty"`
	// Was and Is are the images before and after the transaction: nil if there was nothing, and both nil if
	// images of this kind are not requested.
	Was *Image `json:"was,omitempty"`
	Is  *Image `json:"is,omitempty"`
}

// ErrTrimmed means that changes after the requested number were trimmed: start from a snapshot. The numbers of a
// history that was lost in a restore are never used again, so a reader that continues from one of them finds no change
// with that number.
var ErrTrimmed = problem.Class(problem.ErrTrimmed, "changelog: changes were trimmed")

// Bounds are the ends of a log.
type Bounds struct {
	// Trimmed is the last trimmed change; all later ones exist.
	Trimmed Seq
	// Last is the last number assigned. A restored cell skips numbers, so there may be no such change.
	Last Seq
}

// Tail returns the position before the newest n numbers, or before the oldest change that exists.
func (b Bounds) Tail(n int) Seq { return max(b.Trimmed, b.Last-Seq(n)) }

// Store is the log of one cell, inside one transaction of it. A backend runs changelogtest.Run to certify itself.
type Store interface {
	// Append adds changes at the end, in order. Their Seq is ignored: the cell assigns the next numbers. A second
	// writer waits until the first has committed, so the order of Seq is the commit order: a reader that has seen
	// a Seq has seen everything below it.
	Append(ctx context.Context, changes []Change) error
	// Changes returns at most limit changes after seq, in order. The error is ErrTrimmed if some of them were
	// trimmed.
	Changes(ctx context.Context, after Seq, limit int) ([]Change, error)
	// Bounds returns the ends of the log, including this transaction's own changes.
	Bounds(ctx context.Context) (Bounds, error)
	// Trim deletes at most limit changes up to seq, oldest first, and returns how many. Repeat it to delete more.
	Trim(ctx context.Context, upTo Seq, limit int) (int, error)
}
