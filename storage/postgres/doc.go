// SPDX-License-Identifier: Apache-2.0

// Package postgres stores cells in databases of PostgreSQL servers. It is the backend for several machines; any
// number of processes share the databases.
//
//	OpenMap ── Driver ── one pool for each server        Template: postgres://db1/locus names
//	            ├─ Cell g0-0   postgres://db1/locus_g0_0     the authority, locus_g0_0,
//	            ├─ Cell g0-1   postgres://db1/locus_g0_1     and all others, locus_g{g}_{i}
//	            └─ ...
//	Update ──► BEGIN, gate ──► reads of fn ──► writes of fn, totals, COMMIT
//	View   ──► BEGIN, first read of fn ──► ...
//
// A Cell is a storage.Cell: its transactions implement the Stores of storage.Tx and pass their suites. Every Store method takes a batch and runs one or two
// statements, with arrays as arguments and rows in key order. Writes are queued and sent with the next read or with
// the commit, so a transaction takes one round trip per read.
//
// # Transactions
//
// An Update runs READ COMMITTED behind a gate: its first statement reads the cell's row FOR SHARE. An Exclusive
// first locks the whole table of that one row. It waits for the updates in flight, and new ones queue behind it; a
// lock of the row alone would starve among busy writers. Statements after the lock have their own snapshots: a
// snapshot older than the lock would miss the last writer's changes. The statement before the commit locks the row
// of totals, so the order of the change log is the commit order; it also records the trimmed position. A View reads
// one snapshot. Deadlocks and lock timeouts are retried.
//
// An update that reads the rollups of the catalogue, or the generations of a cell, excludes other updates that read
// or write them until it ends: both take an advisory lock first. No other transaction waits.
//
// Tallies of one minute take one statement for the hours and one for the days, which inserts missing buckets and
// updates the others in key order. Tallies of several minutes take one that inserts and locks the buckets in the same
// order; then they are read, added to and written. Any number of processes can do that concurrently without a
// deadlock. An update that reads batches with keys, or producers, takes advisory locks first, whether the rows
// exist or not: at most 256 of each kind, shared by all keys. Raising the dedup horizon locks its table, as an
// Exclusive locks that of the cell row.
//
// puids come from a sequence with the bounds of the cell's range. A puid drawn by a transaction that rolls back is
// a gap; none is drawn twice.
//
// An error wraps cell.ErrUnavailable if nothing was done and a retry may succeed. It wraps cell.ErrCommitUnknown
// instead if the connection ended during a commit.
//
// # Connections
//
// The databases of one server share this process's connections to it. A connection to another database displaces
// the one that has been idle longest; if all are in use, transactions wait in turn. Connections end after an hour,
// or after half a minute of idleness. A server that reports too many connections, including those of other
// processes, is not asked for more for a second. A cell that does not respond is refused by its breaker (package
// breaker) until a probe succeeds.
//
// Every new connection is checked. A server that may lose acknowledged writes is refused (ErrPreflight). A standby
// is treated as lost, because the primary is elsewhere. A database other than the one that the cell was written in
// is strange (ErrStrange): a copy, a restored backup, or a promoted replica. It may have lost the fact that it was
// sealed, and may give out puids and log positions twice. The Driver adopts it by the map of the authority; see
// Cell.Adopt.
//
// With pooler=1 in the URL the server may be behind a pooler in transaction mode: no prepared statement, setting or
// lock outlives a transaction, and every transaction checks its timeline.
//
// The planner is constrained (enable_seqscan=off and so on): every statement uses an index, and a plan made while a
// table was empty must still be right when it has grown. Plans are pinned in testdata/plans.txt. jit is off: it
// took 10 ms to compile a query on a table of one row.
//
// # Figures
//
// On two busy cores with PostgreSQL 15; only ratios are meaningful. The write path of a new record (BenchmarkWrite,
// as in package sqlite: three transactions, about 17 rows, batches of 250), processor time:
//
//	client                                        58 us a record
//	server                                       127 us             on disk 3.7 KB, in the log 6.0 KB
//	server, documents as jsonb                   168 us             on disk 5.0 KB, in the log 6.7 KB
//	server, search without a list of pending     188 us             on disk 3.7 KB, in the log 7.4 KB
//
// Documents are json, which keeps the text unchanged: they are written whole and read whole.
//
// Tallies, an hour and a day each (BenchmarkTallies), while other programs used the two cores: 13 us of the
// server's processor time per tally of a thousand of one minute, 16 us of a thousand of ten. Updating rows that are
// known to exist takes 0.8 of the time and of the log; but if one is missing, the transaction must be repeated,
// because inserting it would lock rows out of order. Locking and reading rows and writing them back whole takes
// twice the time. A tally logs 520 bytes in the first hour of the day and 1,260 in the last, because a row is
// logged from its first changed value to its last one; the time is the same.
//
// Updates of buckets stay in their pages if old versions can be removed when the next one comes. Every write
// transaction, in any database of the server, retains old versions while it runs. With three cells of one server
// that count as fast as they can, 99 % of updates stay in their pages; beside tests that keep transactions open, 65
// %. The others move to a page with more room.
//
// What the gate adds to a new key in a transaction of its own (BenchmarkAllocate): nothing measurable with 1
// writer, 1 % of the time (6 % of the server's processor) with 8, 12 % (14 %) with 32. A seal among 32 writers that
// never pause: 30 ms, at most 0.2 s, while 20 other programs used the two cores. Creating 64 cells takes 3.7 s, 8
// databases at a time.
package postgres
