// SPDX-License-Identifier: Apache-2.0

// Package sqlite stores cells in SQLite files, without cgo. It is the backend for a single machine.
//
//	OpenDir ── lock                       one process at a time
//	 └─ cell.Cells ── Driver              memory for pages, shared by all files that are open
//	     ├─ Cell g0-0                     the authority: keeps the versions of the cell map
//	     ├─ Cell g0-1                     ┌──────────── Cell ────────────┐
//	     └─ ...  Update, Exclusive, Read ►│ one writer   BEGIN IMMEDIATE │──► log ──► file
//	             View ───────────────────►│ some readers, one snapshot   │     │ fsync at every commit
//	                                      └──────────────────────────────┘     └ copied when it is long
//
// A Cell is a storage.Cell: its transactions implement the Stores of storage.Tx and pass their suites. The head and the totals of a cell are one row: an Update reads it first and
// writes it once, before the commit. Updates run one at a time in order of arrival, so the head cannot change during an
// Update, and sealing a cell is an ordinary Update. Every Store method takes a batch. A batch is read by a single
// statement that gets its arguments as a JSON array, and written by a prepared statement per row (eight rows where that
// pays), in key order. Statements are passed to the library directly, without its driver for database/sql. Data that is
// not searched is one document per row; data that is searched has an integer key, a table WITHOUT ROWID, or a word in a
// full-text index.
//
// # Durability
//
// A connection reads its settings back when it is opened, and fails if they did not take effect: write-ahead log,
// synchronous=FULL, no memory map. A commit whose sync fails has an unknown outcome. The cell reports that, closes
// itself and never syncs again: the system may have dropped the very pages that could not be written, and the next
// sync would succeed without them. For the same reason the cell runs its own checkpoints, because SQLite's
// automatic ones ignore such an error. A full disk refuses writes but the cell stays readable.
//
// A file records its cell, its cell map, and the rules that its derived rows were made with. A file that differs,
// or that a newer Locus wrote, is refused with an error that names it.
//
// # Figures
//
// The write path of a new record (BenchmarkWrite: three transactions, about 17 rows, batches of 250) on two busy cores,
// into a cell that holds 160,000 records and a million postings, which at that time were rows of a table:
//
//	page size   CPU a record   written a record   file a record
//	    1 KiB         242 us              29 KB          2.1 KB
//	    2 KiB         212 us              41 KB          1.9 KB   taken
//	    4 KiB         219 us              64 KB          1.9 KB
//	    8 KiB         240 us             102 KB          1.9 KB
//
// SQLite writes whole pages, once to the log and once to the file: keys are at random positions, so nearly every key
// touches a different page. This is no longer true of birth IDs, which are adjacent if minted within the same seconds,
// and of postings, which are packed (package posting). In a smaller cell (20,000 records) a record costs 117 us and 14
// KB.
//
//	secure_delete=FAST                    see docs/performance.md   taken
//	a batch read with json_each           3 us a row                taken
//	a batch read by a statement a row     14 us a row
//	opening a directory of 16 cells       25 ms; of 240, 0.5 s and 1,700 files
//
// The figures were taken while other work ran on the machine; only their ratios are meaningful.
//
// Listing the records of one source reads all records of a cell, page by page: an index would add a row to every
// write.
package sqlite
