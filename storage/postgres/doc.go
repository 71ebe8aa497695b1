// SPDX-License-Identifier: Apache-2.0

// Package postgres keeps cells in databases of PostgreSQL servers: the backend of several machines. Any
// number of processes share them.
//
//	OpenMap ── Driver ── one pool for each server        Template: postgres://db1/locus names
//	            ├─ Cell g0-0   postgres://db1/locus_g0_0     the authority, locus_g0_0,
//	            ├─ Cell g0-1   postgres://db1/locus_g0_1     and all others, locus_g{g}_{i}
//	            └─ ...
//	Update ──► BEGIN, gate ──► what fn asks ──► what fn writes, totals, COMMIT
//	View   ──► BEGIN, what fn asks first ──► ...
//
// A Cell is a resolve.Cell: its transactions join the Stores of packages cell, entity, changelog, lease,
// rollup, counter and resolve, and pass their suites. Every Store method takes a batch and is a statement or two, with
// arrays as arguments, rows in the order of their keys. What writes is queued until something must be
// read, and sent with it, the rest with the commit: a transaction takes a round trip for each decision.
//
// # Transactions
//
// An Update runs READ COMMITTED behind a gate: its first statement reads the cell's row FOR SHARE. An
// Exclusive locks the whole table of that one row first, so it waits for the updates in flight and is
// overtaken by none; a lock of the row alone would starve among busy writers. The statements after the
// lock have snapshots of their own: one that is older than the lock would miss what the last writer
// did. The row of totals is locked last, by the statement before the commit, so the order of the change
// log is the order of commits. What a transaction has trimmed of the log is written by that statement too.
// A View is one snapshot. Deadlocks, and waits for locks that take too long, are run again.
//
// An update that reads the rollups of the catalogue, or the generations of a cell, has them to itself until
// it ends: it takes an advisory lock before it reads, and so does who writes them. Nobody else waits.
//
// Tallies of one minute are added by a statement for the hours and one for the days, which makes the spans that
// are not there and changes the others in the order of their keys; those of several minutes by one that makes
// and holds them in the same order, after which they are read, added to and written. Any number of servers do
// that at the same time, and none waits for one that waits for it. An update that asks about batches with
// keys, or producers, takes advisory locks first, whether there are rows or not: at most 256 of each kind,
// shared by all keys. Who raises the floor of keys locks its table, as an Exclusive does with the cell's.
//
// puids come out of a sequence with the cell's range for its ends. What a rolled back transaction drew is
// a gap; nothing is ever drawn twice.
//
// An error wraps cell.ErrUnavailable if nothing was done and another time may do, and
// cell.ErrUnknownOutcome, and then not the former, if the connection ended under a commit.
//
// # Connections
//
// The databases of one server share the connections that a process may have to it. Those of another
// database make place, the longest idle first; who waits does so in turn. Connections end after an
// hour, or when nobody used them for half a minute. A server that has too many of them, other processes'
// included, is not asked for more for a second. A cell that did not answer three times in a row is
// not asked for a while (breaker).
//
// Every new connection is looked at: a server that may lose what it has acknowledged is refused by name
// (ErrPreflight), a standby is not the primary, and a database that is not the one that the cell was
// written in is strange (ErrStrange): a copy, a restored backup, a promoted replica. It may have
// forgotten that it was sealed, and which puids and numbers of its log it gave away. The Driver adopts it
// by the map of the authority; see Cell.Adopt.
//
// With pooler=1 in the URL a pooler in transaction mode may stand before the server: no prepared
// statement, no setting, no lock outlives a transaction, and each looks at where it is.
//
// Planning is steered (enable_seqscan=off and so on): every statement finds its rows by an index, and a
// plan that was made while a table was empty must serve when it has grown. Plans are pinned in
// testdata/plans.txt. jit is off: it took 10 ms to compile a look at a table of one row.
//
// # Figures
//
// On two busy cores with PostgreSQL 15; ratios count. The write path of a new record (BenchmarkWrite, as
// in package sqlite: three transactions, about 17 rows, batches of 250), processor time:
//
//	client                                        58 us a record
//	server                                       127 us             on disk 3.7 KB, in the log 6.0 KB
//	server, documents as jsonb                   168 us             on disk 5.0 KB, in the log 6.7 KB
//	server, search without a list of pending     188 us             on disk 3.7 KB, in the log 7.4 KB
//
// Documents are json, the text as it is: they are replaced whole and read whole.
//
// Tallies, an hour and a day each (BenchmarkTallies), while other programs wanted the two cores: 13 us of the
// server's processor in a thousand of one minute, 16 us in a thousand of ten. An update of rows that are
// known to be there takes 0.8 of the time and of the log, but must be repeated where one is not, and then
// waits in another order than others. A lookup of rows that are held, and a whole row written back, takes twice
// the time. In the log a tally takes 520 bytes in the first hour and 1,260 in the last, as a row is logged
// from its first value that changes to its last one; the time it takes is the same.
//
// Spans are updated in their pages as long as old versions can go when the next one comes. Every transaction
// that writes, in any database of the server, keeps them while it runs: with three cells of one server that
// count as fast as they can 99 % of updates stay in their pages, beside tests that keep transactions open
// 65 %, and the others go to a page with more room.
//
// A new key in a transaction of its own (BenchmarkAllocate), what the gate adds: nothing that could be
// measured with 1 writer, 1 % of the time (6 % of the server's processor) with 8, 12 % (14 %) with 32.
// A seal among 32 writers that never pause: 30 ms, at most 0.2 s, while 20 other programs wanted the two
// cores. 64 cells are made in 3.7 s, their databases 8 at a time.
package postgres
