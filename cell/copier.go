// SPDX-License-Identifier: Apache-2.0

package cell

import "context"

// Copier is implemented by the transactions of a cell so that the cell can be moved to another database, of the same or
// another kind, while it is written to:
//
//	source  Journal(on)        from now on every changed row is noted
//	        ReadRows ───────►  WriteRows of the target, table by table
//	        Journaled ──────►  RowsAt of the source ─► WriteRows, DeleteRows
//	        ...                until little is left
//	        home = moving      writers wait: the rest of the journal, then Total
//	target  home = serving     with the next incarnation
//
// Rows are copied as values of types that every backend supports. The search index of entities is derived from rows, so
// it is rebuilt instead of copied: entities are journaled under [JournaledEntity] but are not among the tables, and the
// mover reads and writes them through the Store that indexes them. Head, cell maps, filter and leases are not rows
// either: their Stores have methods for them. Postings are packed; the name posting, which is not among the tables
// either, stands for single postings: a blocking key and a puid. Rows may be written in any order and more than once;
// the last write wins. Package copytest has the conformance suite.
type Copier interface {
	// Tables returns the tables, always in the same order, Total last. The list is the same for all backends.
	Tables() []Table
	// Summed returns every table whose rows carry a checksum, see SumColumn, including those that are not copied.
	// ReadRows reads all of them.
	Summed() []Table

	// ReadRows returns up to limit rows in key order, those after the given key only; nil starts at the first row. For
	// JournaledEntity it returns the anchors, as RowsAt does.
	ReadRows(ctx context.Context, table string, after []any, limit int) ([][]any, error)
	// RowsAt returns the row of each key, in the order of keys, nil where there is none.
	RowsAt(ctx context.Context, table string, keys [][]any) ([][]any, error)
	// WriteRows inserts or replaces whole rows by key.
	WriteRows(ctx context.Context, table string, rows [][]any) error
	// DeleteRows deletes rows; missing ones are ignored.
	DeleteRows(ctx context.Context, table string, keys [][]any) error

	// Journal turns journaling on or off. While it is on, the key of every row that any method writes or deletes is
	// noted, in all tables but Total. Turning it off deletes the entries. Repeating the current setting has no effect.
	// It may be called in an Exclusive only.
	Journal(ctx context.Context, on bool) error
	// Journaled returns up to limit entries after the given sequence number, in commit order: a reader that has seen an
	// entry has seen all entries below it.
	Journaled(ctx context.Context, after int64, limit int) ([]JournalEntry, error)
}

// Table is a table whose rows are copied. Each value of a row is an int64, a string, a []byte or nil, which is the
// database's NULL; an empty byte string is a non-nil empty []byte.
type Table struct {
	Name string
	// Columns names the values of a row. The first Key of them form the key, which is unique and contains no nil. Keys
	// are ordered column by column, strings and bytes bytewise.
	Columns []string
	Key     int
	// Apart lists columns that the checksum of a row excludes, see SumColumn, because statements change them without
	// rewriting the row.
	Apart []string
}

// JournalEntry records that a row was written or deleted.
type JournalEntry struct {
	// Seq rises with every entry.
	Seq   int64
	Table string
	Key   []any
}

const (
	// Total is the table of a cell's running totals: one row with key 1. It is read and written like the others but not
	// journaled, because every transaction changes it; it is copied last, while writers wait. DeleteRows rejects it.
	Total = "total"
	// JournaledEntity is the table name that the journal uses for entities; the key is the anchor.
	JournaledEntity = "entity"
)
