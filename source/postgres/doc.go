// SPDX-License-Identifier: Apache-2.0

// Package postgres reads a table of PostgreSQL as a stream: its rows, and from then on every change, by logical
// replication.
//
//	slot, then the rows of a snapshot ──► changes of the slot, transaction by transaction
//	   all with the time before the slot     with the time of their commit
//
// A row that changed after the slot was created is put as it was read, and again by each change, so the newest stays.
// A killed reader starts reading the rows again with the same slot; nothing is missing, not even deletions.
//
// Partition 0 of a position is the location in the write-ahead log from which the slot continues. A change has the
// location of its own log record, which is below that of its commit, so a transaction that was read in part is read
// again. Partition 1 counts the rows of the snapshot, and ends at snapshotDone.
package postgres
