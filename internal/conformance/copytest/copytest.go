// SPDX-License-Identifier: Apache-2.0

// Package copytest is the conformance suite of cell.Copier: it checks that the rows of a cell, and concurrent changes
// to them, arrive in another database. A test of an implementation calls Run with a function that opens two fresh
// databases of one cell:
//
//	Stores ─► From ── ReadRows, Journaled ─► WriteRows, DeleteRows ─► To ─► Stores: the same answers
package copytest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/storage"
)

// Pair are two empty databases that were identified as the same cell. Their transactions also implement cell.Copier.
type Pair struct{ From, To storage.Cell }

// Run checks an implementation of cell.Copier. open is called once for each case, and cleans up by t.Cleanup; cases run
// in parallel.
func Run(t *testing.T, open func(t *testing.T) Pair) {
	t.Helper()
	cases.Run(t, open)
}

// tester is the part of testing.T that cases use, so that the suite's own test can watch a case fail.
type tester = conformance.TB

var cases = conformance.Suite[Pair]{
	{Name: "TablesAreWellFormed", Run: tablesAreWellFormed},
	{Name: "ReadsInOrder", Run: readsInOrder},
	{Name: "RowsAtTheirKeys", Run: rowsAtTheirKeys},
	{Name: "WritingReplaces", Run: writingReplaces},
	{Name: "DeletingTwiceIsOnce", Run: deletingTwiceIsOnce},
	{Name: "Totals", Run: totals},
	{Name: "OneRow", Run: oneRow},
	{Name: "RefusesOtherTables", Run: refusesOtherTables},
	{Name: "ViewsDoNotWrite", Run: viewsDoNotWrite},
	{Name: "RollbackLeavesNothing", Run: rollbackLeavesNothing},
	{Name: "CopyIsTheCell", Run: copyIsTheCell},
	{Name: "JournalFollows", Run: journalFollows},
	{Name: "JournalOfRows", Run: journalOfRows},
	{Name: "JournalBeginsAndEnds", Run: journalBeginsAndEnds},
	{Name: "JournalOnlyInExclusive", Run: journalOnlyInExclusive},
	{Name: "JournalInTheOrderOfCommits", Run: journalInTheOrderOfCommits},
}

// update runs fn in an Update that must commit.
func update(t tester, c storage.Cell, fn func(context.Context, cell.Copier) error) {
	t.Helper()
	conformance.Update(t, c.Update, func(ctx context.Context, tx storage.Tx) error { return fn(ctx, copier(tx)) })
}

func exclusive(t tester, c storage.Cell, fn func(context.Context, cell.Copier) error) {
	t.Helper()
	conformance.Update(t, c.Exclusive, func(ctx context.Context, tx storage.Tx) error { return fn(ctx, copier(tx)) })
}

// view returns the result of fn in a separate transaction.
func view[T any](t tester, c storage.Cell, fn func(context.Context, cell.Copier) (T, error)) (got T) {
	t.Helper()
	ctx := context.Background()
	if err := c.View(ctx, func(tx storage.Tx) (err error) {
		got, err = fn(ctx, copier(tx))
		return err
	}); err != nil {
		t.Fatalf("view: %v", err)
	}
	return got
}

func copier(tx storage.Tx) cell.Copier {
	c, ok := tx.(cell.Copier)
	if !ok {
		panic(fmt.Sprintf("copytest: a %T is no cell.Copier", tx))
	}
	return c
}

func tables(t tester, c storage.Cell) []cell.Table {
	t.Helper()
	return view(t, c, func(_ context.Context, c cell.Copier) ([]cell.Table, error) { return c.Tables(), nil })
}

// rowTables returns the tables that can have any number of rows.
func rowTables(t tester, c storage.Cell) (all []cell.Table) {
	t.Helper()
	for _, table := range tables(t, c) {
		if !hasOne(table) {
			all = append(all, table)
		}
	}
	return all
}

// hasOne reports whether a table always has exactly one row, like the totals.
func hasOne(table cell.Table) bool { return table.Columns[0] == "one" }

// many exceeds the rows of any table of a case.
const many = 1 << 20

func read(t tester, c storage.Cell, table cell.Table, page int) (all [][]any) {
	t.Helper()
	for after := []any(nil); ; {
		rows := view(t, c, func(ctx context.Context, c cell.Copier) ([][]any, error) {
			return c.ReadRows(ctx, table.Name, after, page)
		})
		if len(rows) > page {
			t.Fatalf("%s: %d rows in a page of %d", table.Name, len(rows), page)
		}
		if len(rows) == 0 {
			return all
		}
		last := key(table, rows[len(rows)-1])
		if after != nil && compareKeys(after, last) >= 0 {
			t.Fatalf("%s: the page after %v ends at %v", table.Name, after, last)
		}
		all, after = append(all, rows...), last
	}
}

func contents(t tester, c storage.Cell) map[string][][]any {
	t.Helper()
	all := map[string][][]any{}
	for _, table := range tables(t, c) {
		all[table.Name] = read(t, c, table, many)
	}
	return all
}

func key(table cell.Table, row []any) []any { return row[:table.Key:table.Key] }

func compareKeys(a, b []any) int {
	for i := range a {
		c := 0
		switch x := a[i].(type) {
		case int64:
			c = cmp.Compare(x, b[i].(int64))
		case string:
			c = cmp.Compare(x, b[i].(string))
		case []byte:
			c = bytes.Compare(x, b[i].([]byte))
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// same fails unless both are equal. A nil list equals an empty one; values of different types differ.
func same[T any](t tester, what string, got, want T) {
	t.Helper()
	if diff := conformance.Diff(want, got, cmpopts.EquateEmpty(), whole(bytes.Equal), whole(slices.Equal[[]int64])); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// whole compares lists, unless both are empty, as one value, because cmp is slow on long ones.
func whole[T any](equal func(a, b []T) bool) gocmp.Option {
	return gocmp.FilterValues(func(a, b []T) bool { return len(a)+len(b) > 0 }, gocmp.Comparer(equal))
}
