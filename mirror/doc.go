// SPDX-License-Identifier: Apache-2.0

// Package mirror keeps a copy of what every id of an installation leads to, in a store of somebody else's.
//
//	installation                       mirror                           target
//	cell g0-0: log ──────────────────► which ids does a change touch?
//	                                   1 the versions that are there ◄── documents by id
//	cells: births, records, entities ► 2 what do these ids lead to now?
//	                                   3 write that ───────────────────► only where the version is still that of 1
//	                                   4 the place in the log ─────────► control document of the cell
//
// A document is a function of the state, not of the change: it says what an id leads to ([State]): an entity
// with its merged view, another id, or nothing any more. So a change may be followed twice, late, or by two
// mirrors at once. An id is never forgotten, so no document is ever deleted.
//
// # Which of two is newer
//
// The entity of an id is kept in the id's own cell, whose log could order its states. Where a redirect leads
// cannot be ordered so: which record belongs to which entity is written in three cells by three transactions,
// of which that of the record's own cell appends nothing to its log. Therefore no place in a log decides.
// A document has a version, and whoever writes it has read that version before the state: if it is still
// the same when the document is written, then nobody has seen a newer state meanwhile. Who comes late finds
// another version and looks again. For that a document is written though it says the same already: whoever
// left it as it is would let one that is late, and read what was true in between, write that.
//
// While those three transactions are under way, what a record says and what its entity says do not agree: the id
// is settling ([State.Settling]). It is kept in the control document and looked at again until they do. After
// that the log is enough, since each of them but the record's own is told by a change.
//
// # Where a mirror begins
//
// A cell is filled first: the place in its log is noted, then every birth id is read in its order, page by
// page, and then the log is followed from the place that was noted. A page that was written is noted too. If
// the log has been trimmed beyond the place where a mirror stands, it is filled again, over what is there.
//
// [Mirror] does that for all cells of a [Source] and any [Target]; [Verify] holds one against the other.
//
// Source: "MongoDB schema design at scale", whose merged businesses are put where everybody can read them.
package mirror
