// SPDX-License-Identifier: Apache-2.0

// Package resolve keeps entities equal to their definition while records come, change and go:
//
//	entities = f(live records, decisions of people, schema, pack)
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
// # Several processes
//
// Cells may be shared by several processes, each with a Resolver that has a name of its own
// (Options.Owner). The first round runs in all of them at any time: it is one transaction for each
// cell, guarded by the directory of keys (package cell). The other two are done by one at a time,
// under a lease (package lease), since what they read and write is found on the way and lies in
// cells that no transaction spans:
//
//	process A   put ──► post ──► resolve ──► gives the lease back, since B wants it
//	process B   put ──► waits ─────────────► redo of A and C, then its own ──► answers
//	process C   put ──► is killed
//
// Who gets the lease after another process works off the redo sets, which is all that the other one
// put and did not resolve, and forgets what it remembers of records. If the other one did not give
// the lease back it may only have been stopped: so each cell is told the lowest token that it takes
// from now on (cell.Head.Fence), before anything is read there, and every write of these rounds looks
// at it in its own transaction. Without Owner the process is alone, and none of this costs anything.
//
// # Cells that do not answer
//
// A cell that does not answer fails the records whose home it is, with ErrUnavailable, and nothing
// else. Any other record is put; if a cell of its features or neighbours does not answer, its entry
// stays in the redo set, its Result is Pending, and it is tried again every second. Until then batches
// do not rely on what is stored around their records but read it, as a repair does. A record is also
// Pending if the lease was not to be had in time.
//
// # Generations of cells
//
// Cells are added while records come. A record stays in the cell that its puid names; its postings
// go to the cell that its features' hashes name in the current generation, and are read there and in
// the older ones, which are sealed before a posting is written: so of two records that share a
// feature one still sees the other, whatever map each process has. A cell that refuses, because it
// was sealed or has moved, makes the batch read the map anew and go on. Compact copies postings of
// old generations into the current one; Move takes a whole cell to another database.
//
// # What a batch can change
//
// A record meets others through its features (package match). Of records that say the same the one with the lowest puid
// leads, and meets others for all of them; the others have an edge to it and no other. A feature that more carry than
// may (match.MostCarriers) is generic and yields no candidates; that is a question about the set of records and not a
// flag, so a write that takes a feature over the limit, or back, draws in everybody who carries it. So does one that
// changes what an identifier weighs, for the different names that its carriers have (match.Names). A repair,
// which does not know what was posted before a crash, asks how many of the carriers are in no redo set.
// Compared pairs become edges. Records that edges of at least match.Threshold connect are a
// component; one of more than match.MaxComponent records is cut at higher scores until its parts
// are small enough. Each component is clustered by itself (match.Cluster), so the entities that a
// batch can change are those of the components, as they were and as they are, of the records whose
// own edges changed. The walk reads these and no others, and stops at the limits: the work of a
// write is bounded, whatever is stored.
//
// # What people decide
//
// A decision stands under the puid of its record, one about a pair under both, and is read together with
// their edges: the edge that it makes of the pair takes the place of what a comparison says. Decide writes it
// under the lower of the two puids, with a redo entry, which carries it to the other and has everything
// around both looked at again. As records go and return, it ceases to count, and counts again.
//
// # Rules
//
// Kinds and packs are data of the installation (Rules), kept in the cell that keeps the cell map. Every cell's
// head has their version: the first round writes nothing by any other, and who is given the lease, under
// which they are changed, reads them again. Switch changes a kind; Resume then enters its records in the redo
// set, cell by cell, with the features that they carry no more, and works them off.
//
// # Ids
//
// A record is given a birth id when it is first put. The anchor of an entity is its earliest record, or the one that
// people chose, and the entity's id is the anchor's birth id: merging and unmerging re-point records to anchors
// and move nothing. A birth id is never forgotten. It names a record, and that names its anchor; the
// tombstone of a deleted record names a successor.
//
// No transaction spans cells. Within one process Resolver takes one batch at a time, and Queue lets
// callers share them.
package resolve
