// SPDX-License-Identifier: Apache-2.0

// Package entity has the words of resolution: what sources say (Record), what they say it about
// (Entity), and what of it is shown (View).
//
//	source osm ──► Record puid 7, born first ─┐          Entity
//	                                          ├─ Anchor ─► ID       birth id of record 7
//	source crawl ► Record puid 9 ─────────────┘  = 7       Members  7, 9: in the order of birth
//	                                                       View     what they say together
//	Birth of 7 ──► puid 7 ──► anchor 7                     Stamp    hash of what it was made from
//	Birth of 9 ──► puid 9 ──► anchor 7: an id merged away leads here for ever
//
// # Who an entity is
//
// Every record gets a birth id when it is first put. The earliest record of an entity is its
// anchor, unless people chose another (Decision), and the anchor's birth id is the entity's id. So a redirect is not a chain that somebody
// must keep short, but a question: a birth id names a record, the record names its anchor. Merging
// re-points records; taking a merge back gives every id back, since none was lost. When an
// anchor is deleted, its birth keeps the id of the record that was next in line.
//
// # What of it is shown
//
// A View is a pure function of the members and of what people chose: see Merge. Every value names the records that say so.
// Nothing depends on the order of arrival or on the day of reading, so a view can be made again at
// any time, and two entities with equal stamps are equal.
//
// # Where it is kept
//
// A Store holds the records, births and entities of one cell inside one transaction; the suite for
// its implementations is package entitytest. Attributes are packed: a record or an entity is
// one row with one document, and what can be searched for (words of names, and attributes as
// hashed by Term) is declared when the entity is written.
//
// Source: "MongoDB schema design at scale" and its sequel on merchant data, whose businesses
// are matched, merged and presented as one consistent view; weights and birth ids are Locus's.
package entity
