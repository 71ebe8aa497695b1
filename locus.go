// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Put is a record to be written: what a source says about a thing under its own key.
type Put struct {
	entity.Ref
	// Kind of the thing, one of Service.Kinds; "" is the first of Options.Kinds.
	Kind string
	// Observed is when the source saw it so; the zero time means now. A record that is older than
	// the one already stored under its key does not replace it.
	Observed   time.Time
	Attributes entity.Attributes
}

// PutResult is what became of one Put.
type PutResult struct {
	entity.Ref
	PUID    entity.PUID
	Version int64
	// Entity is the id of the entity that the record belongs to now.
	Entity  locality.ID
	Outcome resolve.Outcome
	// Pending tells that the record is durable, and that its entity is not worked out yet: a cell that it
	// takes does not answer, or another process is at it. It is done as soon as that can be.
	Pending bool
	// Watermark is a place in the logs of the cells that the write touched, at or after the write: a rollup
	// read with it as its minimum contains the write.
	Watermark Watermark
	// Err is set if this item was refused or failed; the other fields but Ref are zero then. It is
	// an *InvalidError for what could not be accepted.
	Err error
}

// DeleteResult is what became of one deletion.
type DeleteResult struct {
	entity.Ref
	// Entity is the entity that the record belonged to.
	Entity locality.ID
	// Pending tells that what it held together is not separated yet; see PutResult.
	Pending bool
	// Watermark is a place in the logs at or after the deletion; see PutResult.
	Watermark Watermark
	// Err is entity.ErrNotFound if there was no such record.
	Err error
}

// Record is a stored record with the id of its entity.
type Record struct {
	*entity.Record
	Entity locality.ID
}

// RecordQuery asks for live records in the order of their puids.
type RecordQuery struct {
	Source string      // only this source's; "" for all
	After  entity.PUID // leaves out records up to and including this one; 0 to begin
	Limit  int         // 1 to 1000; 0 for 100
	// Damaged, if set, is called for each row that cannot be read, and the others are listed. Otherwise such a row
	// fails the list.
	Damaged func(*cell.DamagedError)
}

// EntityQuery asks for entities of which all holds that is asked for. The zero query asks for all.
type EntityQuery struct {
	Kind    string       // only of this kind; "" for all
	Text    string       // every word must be in a name, a category or a city; the last may be the beginning of one
	Where   []Filter     // attributes and the values that they must have
	Has     []string     // attributes that must have a value
	Without []string     // attributes that must have none
	Order   Order        // "" is OrderBest if anything is asked for, OrderID otherwise
	After   entity.Place // leaves out what comes before it, and it; the zero place to begin
	Limit   int          // 1 to 1000; 0 for 100
}

// Filter asks for an attribute that has a value, compared as its kind normalises it. An entity has all the
// values that its records have.
type Filter struct{ Attribute, Value string }

// Order is the order of a list of entities.
type Order string

// The orders of entities.
const (
	// OrderBest has the highest ranks first, see entity.Rank; within one rank the order is OrderID.
	OrderBest Order = "best"
	// OrderID is the order of the anchors' puids, in which pages of everything are stable.
	OrderID Order = "id"
)

// MaxFilters is how much one EntityQuery may ask for, of filters, of attributes present and absent.
const MaxFilters = 32

// Entity is an entity as read.
type Entity struct {
	*entity.Entity
	// Requested is the id that was asked for. It differs from ID if it was merged away; both lead
	// here for ever.
	Requested locality.ID
}

// Redirected tells whether the entity was asked for by a former id.
func (e *Entity) Redirected() bool { return e.Requested != e.ID }

// Why explains what holds an entity together.
type Why struct {
	Entity    *entity.Entity   `json:"entity"`
	Requested locality.ID      `json:"requested"`
	Threshold match.Score      `json:"threshold"`
	Records   []*entity.Record `json:"records"` // the members' records, in the entity's order
	// Joins are the comparisons that join the records, strongest first: as many as it takes to
	// connect them, each with the bits that it is made of.
	Joins []Join `json:"joins"`
}

// Join is one comparison of two records: A, the first by source and key, is the first side of the
// explanation, B the second.
type Join struct {
	A           entity.Ref        `json:"a"`
	B           entity.Ref        `json:"b"`
	Explanation match.Explanation `json:"explanation"`
	// Decided is what a person said: that the two are one thing, whatever the comparison says.
	Decided *entity.Decision `json:"decided,omitempty"`
}

// WhyNot explains why two records are in one entity or in two. A, the record that was asked for
// first, is the first side of the explanation, B the second.
type WhyNot struct {
	A       entity.Ref  `json:"a"`
	B       entity.Ref  `json:"b"`
	EntityA locality.ID `json:"entity_a"`
	EntityB locality.ID `json:"entity_b"`
	// Reason is the first of Reasons, and Message says it in a sentence, with its figures.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Reasons are all that there are, the strongest first: same_entity; decided (a person said that they, or
	// two of the records around them, are two things), relation, no_common_feature, only_generic_features,
	// below_threshold, not_joined (they match, but what else is around them speaks against it), cut (too many
	// are connected), two_kinds.
	Reasons []Reason `json:"reasons"`
	// Decided is what a person said of the two, if anybody did.
	Decided *entity.Decision `json:"decided,omitempty"`
	// Shared are the features that both carry, with how many records carry them.
	Shared      []SharedFeature   `json:"shared"`
	Threshold   match.Score       `json:"threshold"`
	Explanation match.Explanation `json:"explanation"`
}

// Reason is why two records are in two entities, or in one.
type Reason struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// SharedFeature is a feature that two records have in common.
type SharedFeature struct {
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	Carriers int    `json:"carriers"` // counted up to resolve.MaxCarriers+1
	Generic  bool   `json:"generic"`  // carried by too many records to make candidates
}

// Route says where an address lives and why. Exactly one of Key, PUID and ID is set, by what
// was asked for.
type Route struct {
	Address string            `json:"address"`
	Key     *cell.KeyRoute    `json:"key,omitempty"`
	PUID    *cell.PuidRoute   `json:"puid,omitempty"`
	ID      *cell.EntityRoute `json:"id,omitempty"`
	// Found tells whether the store has a record or an entity there.
	Found bool `json:"found"`
	// Record and Entity are what was found, and where they live.
	Record *entity.PUID `json:"record,omitempty"`
	Entity *locality.ID `json:"entity,omitempty"`
}

// Status is the state of the whole installation.
type Status struct {
	Ready  bool         `json:"ready"`
	Reason string       `json:"reason,omitempty"` // why it is not ready, or what is missing
	Rules  string       `json:"rules"`            // the code that the entities are made with
	Kinds  []KindStatus `json:"kinds"`
	// Documents is the database of documents beside the cells, "" if there is none.
	Documents string `json:"documents,omitempty"`
	// Switching is a kind whose records are being resolved anew, "" if there is none, and Switched how many
	// were.
	Switching string `json:"switching,omitempty"`
	Switched  int    `json:"switched,omitempty"`
	// Epoch is that of the cell map; it speaks about ids until Until. Generation is the one that takes
	// new keys, Floor the oldest that still holds keys, Generations how many there are.
	Epoch       uint64        `json:"epoch"`
	Generation  int           `json:"generation"`
	Floor       int           `json:"floor"`
	Generations int           `json:"generations"`
	Until       time.Time     `json:"until,omitzero"`
	Counts      entity.Counts `json:"counts"`
	// Redo is how many records there are whose consequences are still being worked out. A cell that came back from a
	// backup or a replica counts as one more until what it lost is made good in all cells.
	Redo  int          `json:"redo"`
	Queue int          `json:"queue"`
	Cells []CellStatus `json:"cells"`
	// Down lists the cells that do not answer. Counts and Redo are sums over the others.
	Down []cell.ID `json:"down,omitempty"`
}

// KindStatus says how a kind of things is resolved.
type KindStatus struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	Pack    string `json:"pack"` // hash of the statistics that names are weighed with
}

// CellStatus is the state of one cell.
type CellStatus struct {
	cell.Stats
	Counts entity.Counts `json:"counts"`
	Redo   int           `json:"redo"`
	// Writes is whether the cell takes writes at the moment: another program may hold a lock.
	Writes bool `json:"writes"`
	// Down says that the cell did not answer: no more is known than which cell it is, and where.
	Down bool `json:"down,omitempty"`
}

// Decision is one record that joined an entity.
type Decision struct {
	Time   time.Time   `json:"time"`
	Record entity.Ref  `json:"record"`
	Name   string      `json:"name"`
	Entity locality.ID `json:"entity"`
}
