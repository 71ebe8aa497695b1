// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"context"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/locality"
)

// Store stores the records, births and entities of one cell, inside one transaction of that cell. Reading
// methods that take a list return results in the order of the list. Reads see earlier writes of the same
// transaction. A backend proves its conformance with entitytest.Run.
type Store interface {
	// Records returns the record of each puid, nil where the cell has none. A deleted record is returned as
	// its tombstone. In an update, no other transaction changes these records until this one ends.
	Records(ctx context.Context, puids []PUID) ([]*Record, error)
	// PutRecords writes whole records by their puid, new records and new versions alike. If a puid occurs
	// twice, the later record wins.
	PutRecords(ctx context.Context, records []*Record) error
	// Assign sets the anchor of existing records. It is idempotent.
	Assign(ctx context.Context, assignments []Assignment) error
	// ListRecords returns up to limit live records with puids above after, ordered by puid. A non-empty
	// source restricts the list to that source.
	ListRecords(ctx context.Context, source string, after PUID, limit int) ([]*Record, error)
	// CountRecords counts the first live records with puids above after, at most limit, by source and kind, in any
	// order. next is the puid to continue after, 0 if there are no more.
	CountRecords(ctx context.Context, after PUID, limit int) (counts []SourceCount, next PUID, err error)

	// Births returns the birth of each id, nil where this cell never issued the id.
	Births(ctx context.Context, ids []locality.ID) ([]*Birth, error)
	// PutBirths writes births by their ids.
	PutBirths(ctx context.Context, births []Birth) error
	// ListBirths returns up to limit births after the given id, ordered by id, including those of deleted
	// records. The zero id precedes all others.
	ListBirths(ctx context.Context, after locality.ID, limit int) ([]Birth, error)

	// Entities returns the entity stored under each anchor, nil if there is none.
	Entities(ctx context.Context, anchors []PUID) ([]*Entity, error)
	// PutEntities writes entities under their anchors, with their search keys. It replaces an existing
	// entity.
	PutEntities(ctx context.Context, entities []Indexed) error
	// DeleteEntities removes the entities under these anchors from the store and the search index. Missing
	// ones are skipped.
	DeleteEntities(ctx context.Context, anchors []PUID) error
	// ListEntities returns up to limit entities with anchors above after, ordered by anchor.
	ListEntities(ctx context.Context, after PUID, limit int) ([]*Entity, error)
	// Search returns the entities that match every part of the query, in the order that the query asks for.
	Search(ctx context.Context, query Query) ([]*Entity, error)

	// Unfound returns the anchors of the entities that a search for all of their words and terms does not find, in any
	// order. For thousands of entities with adjacent anchors, the cost per entity does not depend on the content of the
	// cell.
	Unfound(ctx context.Context, entities []Indexed) ([]PUID, error)

	// Occurrences returns up to limit of the words that entities can be found by, each with each entity that has it,
	// after the given one, the zero Occurrence to begin. The order depends on the backend. Words that an entity does
	// not have any more may be among them until the cell is vacuumed, and words of more than 1,024 bytes may have
	// another form.
	Occurrences(ctx context.Context, after Occurrence, limit int) ([]Occurrence, error)

	// Decisions returns all decisions stored under these records, including withdrawn ones, ordered by A,
	// then topic.
	Decisions(ctx context.Context, puids []PUID) ([]Decision, error)
	// PutDecisions writes decisions by A and topic. A decision older than the stored one is skipped. Of two
	// made in the same millisecond the one with the greater JSON wins, in whatever order they come.
	PutDecisions(ctx context.Context, decisions []Decision) error
	// ListDecisions returns up to limit decisions after the given key, ordered by key.
	ListDecisions(ctx context.Context, after DecisionKey, limit int) ([]Decision, error)
	// DeleteDecisions removes all decisions stored under these records.
	DeleteDecisions(ctx context.Context, puids []PUID) error

	// AddCounts adds delta to the counts of the cell.
	AddCounts(ctx context.Context, delta Counts) error
	// Counts returns the counts of the cell in constant time.
	Counts(ctx context.Context) (Counts, error)
}

// Assignment assigns a record to the entity of an anchor.
type Assignment struct{ PUID, Anchor PUID }

// Indexed is an entity with its search keys.
type Indexed struct {
	*Entity
	// Words are the normalised words of all searchable names, one word per element: lower-case letters,
	// digits and marks only.
	Words []string
	// Terms are hashes of exact attribute values; see Term.
	Terms []uint64
}

// Query selects entities. The zero Query matches every entity.
type Query struct {
	// Words are normalised words that the entity must all have. The last one also matches as a prefix.
	Words []string
	// Instead has, for each of Words, alternatives that may occur in its place. Alternatives are not matched as
	// prefixes. Nil if there are none.
	Instead [][]string
	// Except is Instead of another query with the same words, whose results are left out. With a list of empty lists
	// these are the results of a query without Instead; nil, or a query without words,
	// leaves out nothing.
	Except [][]string
	// Terms are terms that the entity must all have; see Term.
	Terms []uint64
	// Without are terms that the entity must not have.
	Without []uint64
	// Best orders by points, highest first, then by anchor. The default order is by anchor.
	Best bool
	// After skips anchors up to and including this one; with Best, it does so among entities with exactly
	// Points points.
	After PUID
	// Points, with Best, skips entities with more points. MaxRank skips none.
	Points int
	// Limit is the maximum number of entities to return, at least 1.
	Limit int
}

// SourceCount is the number of live records of a source and a kind.
type SourceCount struct {
	Source  string
	Kind    string
	Records int64
	// Created of the records created their entities: they are their own anchors. The others matched one.
	Created int64
	// Newest is the latest time at which the source observed one of its records.
	Newest time.Time
}

// Occurrence is a word of an entity.
type Occurrence struct {
	Word   string
	Anchor PUID
}

// Counts are the running totals of one cell. Merges and Splits count events since the creation of the cell.
type Counts struct {
	Records  int64 `json:"records"`
	Entities int64 `json:"entities"`
	Merges   int64 `json:"merges"`
	Splits   int64 `json:"splits"`
}

// Add returns the sum of two counts.
func (c Counts) Add(d Counts) Counts {
	return Counts{c.Records + d.Records, c.Entities + d.Entities, c.Merges + d.Merges, c.Splits + d.Splits}
}

// Term returns the search key for "this attribute has exactly this normalised value": the XXH64 of the
// length of the attribute name as one byte, the name, and the value. Names have at most 64 bytes. The empty
// value, which no attribute has, means "this attribute has a value"; the empty name, which no attribute
// has, means the kind.
func Term(attribute, normalised string) uint64 {
	var room [128]byte // on the stack; most terms fit
	b := append(room[:0], byte(len(attribute)))
	return xxhash.Sum64(append(append(b, attribute...), normalised...))
}
