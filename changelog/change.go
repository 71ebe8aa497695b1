// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"context"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// Seq is a change's place in its cell's log. It rises with every change and is never reused.
type Seq int64

// Kind says what happened.
type Kind string

// The first two kinds are facts about a record, committed together with the record. The others
// are about an entity and follow from the former.
const (
	Put     Kind = "put"     // a record was received, new or in a new version
	Deleted Kind = "deleted" // a record was deleted
	Created Kind = "created" // an entity came into being out of new records
	Changed Kind = "changed" // an entity has other members or another view
	Merged  Kind = "merged"  // an entity took over members of another one
	Split   Kind = "split"   // an entity lost members to another one, or was made of them
	Retired Kind = "retired" // an entity is no more; its id leads to Into
)

// Version is a record at one of its versions.
type Version struct {
	PUID    entity.PUID `json:"puid"`
	Version int64       `json:"version"`
}

// Change is one entry of a cell's log. An entity is a pure function of its members, so a change
// names the members before and after and copies nothing that the records say: whoever reads the
// changes of all cells knows every entity that ever was, and a record can be erased without
// rewriting the log.
type Change struct {
	Seq  Seq       `json:"seq,string"` // given by the cell
	Time time.Time `json:"time"`       // UTC, to the millisecond
	Kind Kind      `json:"kind"`
	// Entity is the entity that changed, or for Put and Deleted the birth id of the record.
	Entity locality.ID `json:"entity"`
	// Into is where the id of a retired entity leads; zero if its last record was deleted.
	Into locality.ID `json:"into,omitzero"`
	// Before and After are the members around the change, in the order of their birth; for Put and
	// Deleted the record itself. Nil where there was nothing.
	Before []Version `json:"before,omitempty"`
	After  []Version `json:"after,omitempty"`
}

// Store is the log of one cell, inside one transaction of that cell. A backend certifies itself
// with changelogtest.Run.
type Store interface {
	// Append adds changes at the end, in order. Their Seq is ignored: the cell gives the next ones.
	// Whoever appends second waits until the first has committed, so the order of Seq is the order
	// in which transactions commit: a reader that has seen a Seq has seen everything below it.
	Append(ctx context.Context, changes []Change) error
	// Changes answers with the changes after seq, in order, at most limit.
	Changes(ctx context.Context, after Seq, limit int) ([]Change, error)
}
