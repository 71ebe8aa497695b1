// SPDX-License-Identifier: Apache-2.0

// Package sqlite keeps cells in SQLite files, without cgo: the backend of one machine.
//
//	OpenDir ── lock                       one process at a time
//	 └─ cell.Cells ── Driver              memory for pages, shared by all files that are open
//	     ├─ Cell g0-0                     the authority: keeps the versions of the cell map
//	     ├─ Cell g0-1                     ┌──────────── Cell ────────────┐
//	     └─ ...  Update, Exclusive, Read ►│ one writer   BEGIN IMMEDIATE │──► log ──► file
//	             View ───────────────────►│ some readers, one snapshot   │     │ fsync at every commit
//	                                      └──────────────────────────────┘     └ copied when it is long
//
// A Cell is a resolve.Cell: its transactions join the Stores of packages cell, entity, changelog, lease,
// rollup and resolve, and pass their suites. What a cell says about itself, its head and its totals, is one row:
// an Update reads it before anything else, and writes it once, before the commit. Updates wait for each
// other in the order in which they came, so whatever the head says holds until one ends, and sealing a
// cell is an Update like any other. Every Store method takes a batch. Reading one is a single
// statement that is given its arguments as a JSON array; writing one is a prepared statement for
// each row, in the order in which the rows lie. Statements go to the driver directly. What is
// not looked for stands in one document a row; what is has an integer key, a table WITHOUT
// ROWID, or a word in a full-text index.
//
// # Durability
//
// Every connection has its settings read back when it is opened, or is refused: a write-ahead log,
// synchronous=FULL, no memory map. A commit whose sync fails has an unknown outcome; the
// cell says so, closes itself and never syncs again, because the system may have dropped the very
// pages that could not be written, and the next sync would succeed without them. For the same
// reason the log is copied into the file by the cell, not by SQLite, which would pass over such an
// error. A full disk refuses writes and leaves a cell that can be read.
//
// A file says which cell it is, of which cell map, and under which rules its derived rows were
// made; another one is refused by name. So is the file of a newer Locus.
//
// # Figures
//
// The write path of a new record (BenchmarkWrite: three transactions, about 17 rows, batches of 250)
// on two busy cores, into a cell that holds 160,000 records and a million postings:
//
//	page size   CPU a record   written a record   file a record
//	    1 KiB         242 us              29 KB          2.1 KB
//	    2 KiB         212 us              41 KB          1.9 KB   taken
//	    4 KiB         219 us              64 KB          1.9 KB
//	    8 KiB         240 us             102 KB          1.9 KB
//
// What is written is pages, once to the log and once to the file: a posting, a key or a birth id
// lies at a random place, and nearly each of them touches a page of its own. In a younger cell
// (20,000 records) it is 117 us and 14 KB.
//
//	postings, 8 by one statement          -12 % CPU a record        taken
//	secure_delete=ON                      +3 % written, CPU alike   taken
//	a batch read with json_each           3 us a row                taken
//	a batch read by a statement a row     14 us a row
//	opening a directory of 16 cells       25 ms; of 240, 0.5 s and 1,700 files
//
// The figures were taken while other work ran on the machine; their ratios count.
//
// Lists of the records of one source read all records of a cell, page by page: an index would be one
// more row to write with every record.
package sqlite
