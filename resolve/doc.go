// SPDX-License-Identifier: Apache-2.0

// Package resolve keeps entities equal to their definition while records come, change and go:
//
//	entities = f(live records, schema, pack)
//
// Batch is f, written as simply as can be; it is the oracle of every test. Resolver does the same
// incrementally, over many cells, in three rounds of transactions for a batch of writes:
//
//	          put                          post                      resolve
//	home cell of each key        cell of each feature       cells of records and entities
//	┌─────────────────────┐     ┌──────────────────┐     ┌────────────────────────────────┐
//	│ key → puid          │     │ feature → record │     │ read carriers, compare, walk,  │
//	│ record, birth id    │ ──► │ (added, removed) │ ──► │ cluster, merge; then write     │
//	│ change, redo        │     └──────────────────┘     │ edges, anchors, entities,      │
//	└─────────────────────┘      read after commit:      │ changes                        │
//	 durable from here           of two that share a     └────────────────────────────────┘
//	                             feature, one sees         redo entries go with the next put
//	                             the other
//
// In each round a cell has one transaction, and the cells work side by side. The first makes the
// records durable; what the others write follows from the records and can be made again. So a crash
// loses nothing: the redo set of a cell, written together with its records, names those whose
// consequences may be missing, and Drain works them out again before anything else is written.
//
// # What a batch can change
//
// A record meets others through its features (package match). A feature that more than MaxCarriers
// carry is generic and yields no candidates; that is a question about the set of records and not a
// flag, so a write that takes a feature over the limit, or back, draws in everybody who carries it.
// Compared pairs become edges. Records that edges of at least match.Threshold connect are a
// component; one of more than match.MaxComponent records is cut at higher scores until its parts
// are small enough. Each component is clustered by itself (match.Cluster), so the entities that a
// batch can change are those of the components, as they were and as they are, of the records whose
// own edges changed. The walk reads these and no others, and stops at the limits: the work of a
// write is bounded, whatever is stored.
//
// # Ids
//
// A record is given a birth id when it is first put. The anchor of an entity is its earliest record,
// and the entity's id is the anchor's birth id: merging and unmerging re-point records to anchors
// and move nothing. A birth id is never forgotten. It names a record, and that names its anchor; the
// tombstone of a deleted record names a successor.
//
// No transaction spans cells. Within
// one process Resolver takes one batch at a time, and Queue lets callers share them.
package resolve
