// SPDX-License-Identifier: Apache-2.0

package cell

import "context"

// Copier is what a transaction of a cell can do besides, so that a cell can move to
// another database, of the same kind or of another, while it is written to:
//
//	source  Journal(on)        from now on every changed row is noted
//	        ReadRows ───────►  WriteRows of the target, table by table
//	        Journaled ──────►  RowsAt of the source ─► WriteRows, DeleteRows
//	        ...                until little is left
//	        home = moving      writers wait: the rest of the journal, then Total
//	target  home = serving     with the next incarnation
//
// Rows are copied as values that every backend has. What is made of rows is not
// copied but made again: the search of entities, so entities are journaled under
// [JournaledEntity] and not among the tables; whoever moves the cell reads and writes
// them by the Store that indexes them. Head, cell maps, filter and leases are not rows
// either: their Stores have methods for them. Rows may be written in any order, and
// twice: the last one counts. Package copytest has the suite that every implementation passes.
type Copier interface {
	// Tables lists the tables, always the same, Total last. Between two backends they differ
	// in nothing.
	Tables() []Table
	// Summed lists every table whose rows carry a checksum, see SumColumn, also those that are not copied. ReadRows reads them.
	Summed() []Table

	// ReadRows answers with rows in the order of their keys, those after the key only, at
	// most limit. nil begins at the beginning. Of JournaledEntity, as RowsAt too, it reads the anchors.
	ReadRows(ctx context.Context, table string, after []any, limit int) ([][]any, error)
	// RowsAt answers with the row of each key, in their order, nil where there is none.
	RowsAt(ctx context.Context, table string, keys [][]any) ([][]any, error)
	// WriteRows writes whole rows by their keys, new ones and others alike.
	WriteRows(ctx context.Context, table string, rows [][]any) error
	// DeleteRows deletes rows; one that is not there is passed over.
	DeleteRows(ctx context.Context, table string, keys [][]any) error

	// Journal begins or ends noting the key of every row that is written or deleted, by
	// whatever method, in all tables but Total. What was noted goes when it ends. Beginning
	// when it has begun, and ending when it has not, changes nothing. It may be called in an
	// Exclusive only.
	Journal(ctx context.Context, on bool) error
	// Journaled answers with entries after seq, in order, at most limit. Whoever has read an
	// entry has read all that are below it: the order is that in which transactions commit.
	Journaled(ctx context.Context, after int64, limit int) ([]JournalEntry, error)
}

// Table is a table whose rows are copied. Each value of a row is an int64, a string, a
// []byte or nil, which is the database's NULL; no bytes are an empty []byte that is not nil.
type Table struct {
	Name string
	// Columns name the values of a row. The first Key of them are its key, which is unique and
	// holds no nil. Keys are ordered column by column, strings and bytes by their bytes.
	Columns []string
	Key     int
	// Apart are columns that the checksum of a row leaves out, see SumColumn: statements change them by themselves.
	Apart []string
}

// JournalEntry says that a row was written or deleted.
type JournalEntry struct {
	// Seq rises with every entry.
	Seq   int64
	Table string
	Key   []any
}

const (
	// Total is the table of a cell's running totals: one row whose key is 1. It is read and
	// written like the others, but not journaled: it changes with every transaction, and is
	// copied last, while nobody writes. DeleteRows refuses it.
	Total = "total"
	// JournaledEntity is the table under which the journal notes entities, by their anchor.
	JournaledEntity = "entity"
)
