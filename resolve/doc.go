// SPDX-License-Identifier: Apache-2.0

// Package resolve keeps entities equal to their definition while records are added, changed and deleted:
//
//	entities = f(live records, decisions of people, schema, term-frequency table)
//
// Batch computes f directly and is the oracle of the tests. Resolver computes it incrementally over many
// cells, in three rounds of transactions per batch of writes:
//
//	          put                          post                      resolve
//	home cell of each key        cell of each blocking key       all of these cells
//	┌─────────────────────┐     ┌───────────────────────┐     ┌────────────────────────────────┐
//	│ key → puid          │     │ who carries the keys? │     │ read records, compare, walk,   │
//	│ record, birth id    │ ──► │ reads only            │ ──► │ cluster, merge; then write     │
//	│ change, redo        │     └───────────────────────┘     │ postings, edges, anchors,      │
//	└─────────────────────┘                                   │ entities, changes              │
//	 durable from here                                        └────────────────────────────────┘
//	                                                           redo entries go with the next put
//
// What a round writes is one transaction per cell, and cells work in parallel. The second round counts the postings of
// the batch as written, since no other process posts before the third round writes them. The first round makes the records
// durable; what the others write is derived and can be recomputed. A crash therefore loses nothing: the redo set of a
// cell, written with its records, names the records whose consequences may be missing, and they are worked off before
// anything else is written.
//
// # Several processes
//
// Several processes may share cells, each with a Resolver of its own name (Options.Owner). The first round
// runs in all of them at any time: it is one transaction per cell, guarded by the directory of keys
// (package cell). The other two rounds run in one process at a time, under a lease (package lease), because
// they discover what to read and write on the way, in cells that no transaction spans:
//
//	process A   put ──► post ──► resolve ──► gives the lease back, since B wants it
//	process B   put ──► waits ─────────────► redo of A and C, then its own ──► answers
//	process C   put ──► is killed
//
// The next lease holder works off the redo sets, which contain everything that the previous one put and did
// not resolve, and drops its cached records. If the previous holder did not release the lease, it may only
// be paused. So before reading, the new holder raises the fence of each cell, the lowest token that the
// cell accepts (cell.Head.Fence), and every write of these rounds checks it in its own transaction. Without
// Owner there is one process and none of this overhead.
//
// # Unavailable cells
//
// A cell that does not answer fails only the records whose home it is, with ErrUnavailable. Other records
// are put. If a cell of their blocking keys or neighbours does not answer, the redo entry stays, the Result is
// Pending, and the resolver retries about every second. Until then batches do not trust stored data around
// their records but read all of it, as a repair does. A record is also Pending if the lease could not be
// acquired in time.
//
// # Generations of cells
//
// Cells are added while records arrive. A record stays in the cell that its puid names. Its postings go to
// the cell that the blocking keys' hashes select in the current generation, and are read there and in older
// generations. Older cells are sealed before a posting is written, so that of two records that share a
// blocking key one sees the other, whatever cell map each process has. A write refused by a sealed or moved cell
// makes the batch refresh the cell map and continue. Compact copies postings of old generations into the
// current one; Move takes a whole cell to another database.
//
// # What a batch can change
//
// Records are compared if they share a blocking key (package match). Among records with
// identical content the one with the lowest puid is the leader and is compared on behalf of all; the others
// have a single edge, to the leader. A blocking key carried by too many records (match.BlockLimit) is a stop
// key and yields no candidates. That depends on the current set of records and is not a stored
// flag: a write that crosses the limit in either direction draws all records into the batch. So does a
// write that changes the weight of an identifier, which depends on the number of different names among its
// records (match.Names). A repair, which does not know what was posted before a crash, counts the records
// that are in no redo set.
//
// Compared pairs become edges. Records connected by edges of at least match.Threshold form a component; one
// of more than match.MaxComponent records is cut at higher weights until its parts are small enough. Each
// component is clustered on its own (match.Cluster). So a batch can change only entities of the components,
// before and after, of records whose edges changed. The walk reads only these and stops at the limits,
// which bounds the work of a write.
//
// # Decisions
//
// A decision is stored under the puid of its record; one about a pair is stored under both. It is read
// together with their edges, and its edge replaces the result of the comparison. Decide writes it under the
// lower puid with a redo entry; working that off copies the decision to the other record and resolves both
// neighbourhoods again. A decision counts only while its records exist.
//
// # Rules
//
// Kinds and term-frequency tables are data of the installation (Rules), stored in the authority of the cell map. Every
// cell's head has their version: the first round refuses to write under any other version, and a new lease
// holder reads the rules again, because they are changed under the lease. Migrate changes a kind; Resume
// then adds its records to the redo set, cell by cell, with the blocking keys that they no longer carry, and
// works them off.
//
// # IDs
//
// A record gets a birth id when it is first put. The anchor of an entity is its earliest record, or one
// that a decision chose, and the entity's id is the anchor's birth id. Merging and splitting re-point
// records to anchors and move nothing. A birth id is never removed: it names a record, which names its
// anchor; the birth of a deleted record names a successor.
//
// No transaction spans cells. Within one process Resolver runs one batch at a time, and Queue lets callers
// share batches.
package resolve
