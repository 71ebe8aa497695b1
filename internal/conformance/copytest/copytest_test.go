// SPDX-License-Identifier: Apache-2.0

package copytest_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/copytest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// faulty is a cell with at most one planted bug.
type faulty struct {
	storage.Cell
	bug string
}

func (f *faulty) tx(tx storage.Tx) storage.Tx { return store{tx, tx.(cell.Copier), f} }

func (f *faulty) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return f.Cell.Update(ctx, func(tx storage.Tx) error {
		err := fn(f.tx(tx))
		if f.bug == "rollback keeps rows" && errors.Is(err, conformance.ErrRollback) {
			return nil
		}
		return err
	})
}

func (f *faulty) Exclusive(ctx context.Context, fn func(storage.Tx) error) error {
	err := f.Cell.Exclusive(ctx, func(tx storage.Tx) error {
		err := fn(f.tx(tx))
		if f.bug == "rollback keeps rows" && errors.Is(err, conformance.ErrRollback) {
			return nil
		}
		return err
	})
	if f.bug == "rollback keeps rows" && err == nil {
		return conformance.ErrRollback
	}
	return err
}

func (f *faulty) View(ctx context.Context, fn func(storage.Tx) error) error {
	run := f.Cell.View
	if f.bug == "views may write" {
		run = f.Cell.Exclusive
	}
	return run(ctx, func(tx storage.Tx) error { return fn(f.tx(tx)) })
}

// store is a transaction of the loose cell.
type store struct {
	storage.Tx
	cell.Copier
	of *faulty
}

func (s store) Summed() []cell.Table { return s.Copier.Summed() }

func (s store) Tables() []cell.Table {
	tables := s.Copier.Tables()
	switch s.of.bug {
	case "totals come first":
		slices.Reverse(tables)
	case "a table is forgotten":
		tables = slices.DeleteFunc(tables, func(t cell.Table) bool { return t.Name == "edge" })
	}
	return tables
}

func (s store) ReadRows(ctx context.Context, table string, after []any, limit int) ([][]any, error) {
	rows, err := s.Copier.ReadRows(ctx, table, after, limit)
	switch s.of.bug {
	case "any order":
		slices.Reverse(rows)
	case "pages begin at the key":
		if at, e := s.Copier.RowsAt(ctx, table, [][]any{after}); e == nil && after != nil && len(rows) > 0 {
			rows = slices.Concat(at, rows[:len(rows)-1])
		}
	case "nil is empty":
		for _, row := range rows {
			for i, v := range row {
				if v == nil {
					row[i] = []byte{}
				}
			}
		}
	case "empty is nil":
		for _, row := range rows {
			for i, v := range row {
				if b, ok := v.([]byte); ok && len(b) == 0 {
					row[i] = []byte(nil)
				}
			}
		}
	case "another type":
		for _, row := range rows {
			for i, v := range row {
				if n, ok := v.(int64); ok {
					row[i] = int(n)
				}
			}
		}
	case "the first column is the key":
		if len(after) == 2 {
			rows = slices.DeleteFunc(rows, func(row []any) bool { return row[0] == after[0] })
		}
	}
	return rows, err
}

func (s store) RowsAt(ctx context.Context, table string, keys [][]any) ([][]any, error) {
	rows, err := s.Copier.RowsAt(ctx, table, keys)
	if s.of.bug == "missing rows are left out" {
		rows = slices.DeleteFunc(rows, func(row []any) bool { return row == nil })
	}
	return rows, err
}

func (s store) WriteRows(ctx context.Context, table string, rows [][]any) error {
	switch s.of.bug {
	case "the first one counts":
		at, err := s.Copier.RowsAt(ctx, table, keysOf(s, table, rows))
		if err != nil {
			return err
		}
		for i := range rows {
			if table != cell.Total && at[i] == nil {
				if err := s.Copier.WriteRows(ctx, table, rows[i:i+1]); err != nil {
					return err
				}
			}
		}
		return nil
	case "the dedup horizon is kept":
		if table == "counter_horizon" {
			return nil
		}
	case "totals are kept":
		if table == cell.Total {
			return nil
		}
	case "places in the log are given again":
		if table == cell.Total {
			rows = [][]any{slices.Clone(rows[0])}
			rows[0][2] = int64(0)
		}
	case "what was trimmed is forgotten":
		if table == cell.Total {
			rows = [][]any{slices.Clone(rows[0])}
			rows[0][3] = int64(0)
		}
	case "images stay behind":
		if table == "change" {
			rows = slices.Clone(rows)
			for i := range rows {
				rows[i] = slices.Concat(rows[i][:7], []any{nil, nil}, rows[i][9:])
			}
		}
	}
	return s.Copier.WriteRows(ctx, table, rows)
}

func keysOf(s store, table string, rows [][]any) [][]any {
	n := 1
	for _, t := range s.Copier.Tables() {
		if t.Name == table {
			n = t.Key
		}
	}
	keys := make([][]any, len(rows))
	for i, row := range rows {
		keys[i] = row[:n]
	}
	return keys
}

func (s store) DeleteRows(ctx context.Context, table string, keys [][]any) error {
	switch s.of.bug {
	case "deleting ends at what is not there":
		at, err := s.Copier.RowsAt(ctx, table, keys)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(at, func(row []any) bool { return row == nil }); i >= 0 {
			return errors.New("no row")
		}
	case "totals may go":
		if table == cell.Total {
			return nil
		}
	case "any table will do":
		if !slices.ContainsFunc(s.Copier.Tables(), func(t cell.Table) bool { return t.Name == table }) {
			return nil
		}
	}
	return s.Copier.DeleteRows(ctx, table, keys)
}

func (s store) Journal(ctx context.Context, on bool) error {
	switch s.of.bug {
	case "a journal begins empty each time":
		if on {
			if err := s.Copier.Journal(ctx, false); err != nil {
				return err
			}
		}
	case "a journal never ends":
		if !on {
			return nil
		}
	case "a journal in any transaction":
		return nil
	}
	return s.Copier.Journal(ctx, on)
}

// notNoted maps the bugs of missing journal entries to their tables.
var notNoted = map[string]string{
	"entities are not noted":         cell.JournaledEntity,
	"the log is not noted":           "change",
	"rollups are not noted":          "rollup_row",
	"generations are not noted":      "rollup_generation",
	"definitions are not noted":      "definition",
	"hits are not noted":             "counter_hour",
	"keys of batches are not noted":  "counter_key",
	"the dedup horizon is not noted": "counter_horizon",
	"decisions are not noted":        "decision",
	"postings are not noted":         "posting_chunk",
	"runs are not noted":             "posting_state",
}

func (s store) Journaled(ctx context.Context, after int64, limit int) ([]cell.JournalEntry, error) {
	entries, err := s.Copier.Journaled(ctx, after, limit)
	forget := func(gone func(e cell.JournalEntry) bool) { entries = slices.DeleteFunc(entries, gone) }
	if table, ok := notNoted[s.of.bug]; ok {
		forget(func(e cell.JournalEntry) bool { return e.Table == table })
	}
	switch s.of.bug {
	case "deletions are not noted":
		rows := map[string]bool{}
		for _, t := range s.Copier.Tables() {
			rows[t.Name] = t.Name != cell.Total
		}
		forget(func(e cell.JournalEntry) bool {
			if !rows[e.Table] {
				return false
			}
			at, err := s.Copier.RowsAt(ctx, e.Table, [][]any{e.Key})
			return err == nil && at[0] == nil
		})
	case "trimming is not noted":
		forget(func(e cell.JournalEntry) bool {
			at, err := s.Copier.RowsAt(ctx, "change", [][]any{e.Key[:1]})
			return e.Table == "change" && err == nil && at[0] == nil
		})
	case "entries come late":
		// The last entry behaves as if a transaction that is still running had numbered it: it is visible only to a
		// read from further down.
		if len(entries) > 1 && after > 0 {
			entries = entries[1:]
		}
	}
	return entries, err
}

func open(t *testing.T, bug string) copytest.Pair {
	t.Helper()
	cells := make([]storage.Cell, 2)
	for i := range cells {
		id := cell.Identity{Map: "m", Cell: cell.ID{}, Lo: -1 << 63, Hi: -1<<63 + 1<<32 - 1, Rules: "r"}
		c, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "cell.db"), id, &sqlite.Options{Scratch: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		cells[i] = &faulty{Cell: c, bug: bug}
	}
	return copytest.Pair{From: cells[0], To: cells[1]}
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	copytest.Run(t, func(t *testing.T) copytest.Pair { t.Helper(); return open(t, "") })
}

// TestRun_FindsEveryBug plants one bug at a time; the case intended for it must find it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	copytest.Cases.FindsEveryBug(t, open, conformance.Bugs{ByCase: map[string]string{
		"totals come first":                  "TablesAreWellFormed",
		"a table is forgotten":               "CopyIsTheCell",
		"any order":                          "ReadsInOrder",
		"pages begin at the key":             "ReadsInOrder",
		"another type":                       "ReadsInOrder",
		"the first column is the key":        "ReadsInOrder",
		"nil is empty":                       "CopyIsTheCell",
		"empty is nil":                       "CopyIsTheCell",
		"missing rows are left out":          "RowsAtTheirKeys",
		"the first one counts":               "WritingReplaces",
		"deleting ends at what is not there": "DeletingTwiceIsOnce",
		"the dedup horizon is kept":          "OneRow",
		"totals are kept":                    "Totals",
		"totals may go":                      "Totals",
		"what was trimmed is forgotten":      "Totals",
		"images stay behind":                 "CopyIsTheCell",
		"places in the log are given again":  "CopyIsTheCell",
		"any table will do":                  "RefusesOtherTables",
		"views may write":                    "ViewsDoNotWrite",
		"rollback keeps rows":                "RollbackLeavesNothing",
		"deletions are not noted":            "JournalFollows",
		"entities are not noted":             "JournalFollows",
		"the log is not noted":               "JournalFollows",
		"rollups are not noted":              "JournalFollows",
		"generations are not noted":          "JournalFollows",
		"definitions are not noted":          "JournalFollows",
		"trimming is not noted":              "JournalFollows",
		"hits are not noted":                 "JournalFollows",
		"keys of batches are not noted":      "JournalFollows",
		"the dedup horizon is not noted":     "JournalFollows",
		"entries come late":                  "JournalInTheOrderOfCommits",
		"a journal begins empty each time":   "JournalBeginsAndEnds",
		"a journal never ends":               "JournalBeginsAndEnds",
		"a journal in any transaction":       "JournalOnlyInExclusive",
	}})
}
