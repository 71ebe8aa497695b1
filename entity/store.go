// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"context"

	"github.com/locus-db/locus/locality"
)

// Store keeps the records, births and entities of one cell, inside one transaction of that cell.
// Every method takes a batch, answers in the order of its argument, and reads what the same
// transaction wrote. A backend certifies itself with entitytest.Run.
type Store interface {
	// Records answers with the record of each puid, nil where the cell has none. A deleted record
	// is answered as its tombstone. In an update nobody else changes these records until the
	// transaction ends.
	Records(ctx context.Context, puids []PUID) ([]*Record, error)
	// PutRecords writes whole records by their puid, new ones and new versions alike. A puid named
	// twice keeps the later one.
	PutRecords(ctx context.Context, records []*Record) error
	// Assign sets the anchor of records that exist. Repeating it changes nothing.
	Assign(ctx context.Context, assignments []Assignment) error
	// ListRecords answers with live records in the order of their puids, those after the given
	// puid only, at most limit. A source that is not empty restricts it to that source.
	ListRecords(ctx context.Context, source string, after PUID, limit int) ([]*Record, error)

	// Births answers with what each birth id leads to, nil where this cell never issued it.
	Births(ctx context.Context, ids []locality.ID) ([]*Birth, error)
	// PutBirths writes births by their id.
	PutBirths(ctx context.Context, births []Birth) error
	// ListBirths answers with all births, those of deleted records too, in the order of their ids, those after
	// the given id only, at most limit. The zero id is before all.
	ListBirths(ctx context.Context, after locality.ID, limit int) ([]Birth, error)

	// Entities answers with the entity stored under each anchor, nil where there is none.
	Entities(ctx context.Context, anchors []PUID) ([]*Entity, error)
	// PutEntities writes entities under their anchors, with what they can be found by. An entity
	// that was there is replaced.
	PutEntities(ctx context.Context, entities []Indexed) error
	// DeleteEntities removes the entities under these anchors from the store and from the search.
	// One that is not there is passed over.
	DeleteEntities(ctx context.Context, anchors []PUID) error
	// ListEntities answers with entities in the order of their anchors, those after the given
	// anchor only, at most limit.
	ListEntities(ctx context.Context, after PUID, limit int) ([]*Entity, error)
	// Search answers with the entities that match every part of the query, in the order that it asks
	// for.
	Search(ctx context.Context, query Query) ([]*Entity, error)

	// Decisions answers with all that stand under these records, those that were withdrawn too,
	// ordered by A and then topic.
	Decisions(ctx context.Context, puids []PUID) ([]Decision, error)
	// PutDecisions writes decisions by A and topic. One that is older than what is there is passed over; of
	// two that were made in one millisecond the one whose JSON is greater stays, in whatever order they come.
	PutDecisions(ctx context.Context, decisions []Decision) error
	// ListDecisions answers with decisions in the order of their keys, those after the given key only, at
	// most limit.
	ListDecisions(ctx context.Context, after DecisionKey, limit int) ([]Decision, error)
	// DeleteDecisions removes all that stand under these records.
	DeleteDecisions(ctx context.Context, puids []PUID) error

	// AddCounts adds to the counts of the cell.
	AddCounts(ctx context.Context, delta Counts) error
	// Counts answers with the counts of the cell in constant time.
	Counts(ctx context.Context) (Counts, error)
}

// Assignment gives a record to the entity of an anchor.
type Assignment struct{ PUID, Anchor PUID }

// Indexed is an entity with what it can be found by.
type Indexed struct {
	*Entity
	// Words are the normalised words of all that it is searched by: lower-case letters, digits and
	// marks only, each one word.
	Words []string
	// Terms are the exact attributes, hashed; see Term.
	Terms []uint64
}

// Query asks for entities. The zero query matches every entity.
type Query struct {
	// Words are normalised words that must all be among the entity's. The last one matches as a
	// prefix too.
	Words []string
	// Terms must all be among the entity's; see Term.
	Terms []uint64
	// Without are terms none of which may be among the entity's.
	Without []uint64
	// Best asks for the highest points first and, where they are equal, for the order of anchors, in
	// which all are otherwise.
	Best bool
	// After leaves out anchors up to and including this one: all of them, or with Best those with
	// Points points.
	After PUID
	// Points leaves out, with Best, entities with more points; MaxRank leaves out none.
	Points int
	// Limit is the largest number of entities to answer with, at least 1.
	Limit int
}

// Counts are the running totals of one cell. Merges and Splits count events since the beginning.
type Counts struct {
	Records  int64 `json:"records"`
	Entities int64 `json:"entities"`
	Merges   int64 `json:"merges"`
	Splits   int64 `json:"splits"`
}

// Add sums two counts.
func (c Counts) Add(d Counts) Counts {
	return Counts{c.Records + d.Records, c.Entities + d.Entities, c.Merges + d.Merges, c.Splits + d.Splits}
}
