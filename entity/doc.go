// SPDX-License-Identifier: Apache-2.0

// Package entity defines the vocabulary of entity resolution: what a source says (Record), the thing that
// it is about (Entity), and the merged values that are shown (View).
//
//	source osm ──► Record puid 7, born first ─┐          Entity
//	                                          ├─ Anchor ─► ID       birth id of record 7
//	source crawl ► Record puid 9 ─────────────┘  = 7       Members  7, 9: in the order of birth
//	                                                       View     what they say together
//	Birth of 7 ──► puid 7 ──► anchor 7                     Stamp    hash of what it was made from
//	Birth of 9 ──► puid 9 ──► anchor 7: an id merged away leads here for ever
//
// # Identity
//
// Every record gets a birth id when it is first put. The anchor of an entity is its earliest record, unless
// a Decision chose another; the entity's id is the anchor's birth id. Redirects are therefore looked up,
// not stored as chains: a birth id names a record, and the record names its anchor. A merge re-points
// records, and undoing it restores every id. When an anchor is deleted, its birth keeps the id of the next
// record of the entity.
//
// # View
//
// A View is a pure function of the members and the decisions about them; see Merge. Every value names the
// records that support it. The result depends neither on the order of arrival nor on the day of reading, so
// a view can be rebuilt at any time, and two entities with equal stamps are equal.
//
// # Storage
//
// A Store holds the records, births and entities of one cell within one transaction. A record or an entity is one row
// with one packed document. Search keys (words of names, and attributes hashed by Term) are declared when the entity is
// written.
//
// Source: "MongoDB schema design at scale" and its sequel on merchant data, which match and merge
// businesses into one consistent view; weights and birth ids are Locus's own.
package entity
