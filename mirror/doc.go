// SPDX-License-Identifier: Apache-2.0

// Package mirror keeps a copy of the current state of every entity ID of an installation in another store.
//
//	installation                       mirror                           target
//	cell g0-0: log ──────────────────► which ids does a change touch?
//	                                   1 the current versions ◄───────── documents by id
//	cells: births, records, entities ► 2 the current states of these ids
//	                                   3 write them ──────────────────► only where the version is still that of 1
//	                                   4 the place in the log ─────────► control document of the cell
//
// A document is a function of the state, not of the change. It holds what an ID currently leads to ([State]): an
// entity with its merged view, another ID, or nothing any more. So a change may be applied twice, late, or by two
// mirrors at once. IDs are never forgotten, so documents are never deleted.
//
// # Ordering of writes
//
// The entity of an ID is stored in the ID's own cell, whose log could order its states. Redirects cannot be
// ordered this way: which record belongs to which entity is written in three cells by three transactions, and the
// one in the record's own cell appends nothing to its log. Therefore log positions do not decide which state is
// newer. Instead each document has a version. A writer reads the version before the state, and writes only if the
// version is still the same: then no other writer has seen a newer state. A late writer finds another version and
// reads again. For this reason a document is written even if its content is already correct: leaving it unchanged
// would allow a late writer to overwrite it with a state that was true in between.
//
// While those three transactions are in progress, a record and its entity disagree: the ID is settling
// ([State.Settling]). It is kept in the control document and read again until both agree. From then on the log is
// sufficient, since every transaction except that in the record's own cell logs a change.
//
// # Initial fill
//
// A cell is filled first: its log position is stored, then all birth IDs are read in order, page by page, and
// then the log is followed from the stored position. Each written page is stored as progress. If the log has been
// trimmed beyond the mirror's position, the fill is repeated over the existing documents.
//
// [Mirror] does this for all cells of a [Source] and any [Target]; [Verify] compares the two.
//
// Source: "MongoDB schema design at scale", whose merged businesses are published to a collection for readers.
package mirror
