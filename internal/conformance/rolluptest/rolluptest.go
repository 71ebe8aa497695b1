// SPDX-License-Identifier: Apache-2.0

// Package rolluptest has the conformance suite of rollup.Store. An implementation calls Run from its own test
// with a function that opens a fresh cell:
//
//	open ──► Cell{Update, Reopen} ──► backend ─┐
//	                                           ├─ same calls, same answers
//	         rapid draws batches ───► model ───┘
//
// The model is three maps.
package rolluptest

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/rollup"
)

// Cell is a fresh, empty cell under test.
type Cell = conformance.Cell[rollup.Store]

// Run checks an implementation of rollup.Store. open is called once per case and registers its cleanup with
// t.Cleanup; cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Cell) {
	t.Helper()
	cases.Run(t, open)
}

// tester is the part of testing.T that a case needs, so that the suite's own test can observe a failing case.
type tester = conformance.TB

var cases = conformance.Suite[Cell]{
	{Name: "EmptyCell", Run: emptyCell},
	{Name: "RollupsComeBackWhole", Run: rollupsComeBackWhole},
	{Name: "RollupsInOrder", Run: rollupsInOrder},
	{Name: "GenerationsComeBackWhole", Run: generationsComeBackWhole},
	{Name: "GenerationsInOrder", Run: generationsInOrder},
	{Name: "DeletedGenerationKeepsRows", Run: deletedGenerationKeepsRows},
	{Name: "RowsAreBytes", Run: rowsAreBytes},
	{Name: "RowsInTheOrderAsked", Run: rowsInTheOrderAsked},
	{Name: "PuttingReplacesAndDeletes", Run: puttingReplacesAndDeletes},
	{Name: "ThousandRows", Run: thousandRows},
	{Name: "RangesInOrder", Run: rangesInOrder},
	{Name: "RangesInTheOrderAsked", Run: rangesInTheOrderAsked},
	{Name: "GenerationsAreApart", Run: generationsAreApart},
	{Name: "DropInPortions", Run: dropInPortions},
	{Name: "SeesItsOwnWrites", Run: seesItsOwnWrites},
	{Name: "RollbackLeavesNothing", Run: rollbackLeavesNothing},
	{Name: "SurvivesReopening", Run: survivesReopening},
	{Name: "CancelledContext", Run: cancelledContext},
	{Name: "NobodyElseChangesGenerations", Run: nobodyElseChangesGenerations},
	{Name: "NobodyElseChangesRollups", Run: nobodyElseChangesRollups},
	{Name: "AgreesWithModel", Run: agreesWithModel},
}

func update(t tester, c Cell, fn func(context.Context, rollup.Store) error) {
	t.Helper()
	conformance.Update(t, c.Update, fn)
}

// ask returns the result of fn in a separate transaction.
func ask[T any](t tester, c Cell, fn func(context.Context, rollup.Store) (T, error)) T {
	t.Helper()
	return conformance.Ask(t, c.Update, fn)
}

func rollups(t tester, c Cell) []rollup.Rollup {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s rollup.Store) ([]rollup.Rollup, error) { return s.Rollups(ctx) })
}

func generations(t tester, c Cell) []rollup.Generation {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s rollup.Store) ([]rollup.Generation, error) { return s.Generations(ctx) })
}

func put(t tester, c Cell, generation int64, rows ...rollup.Row) {
	t.Helper()
	update(t, c, func(ctx context.Context, s rollup.Store) error { return s.PutRows(ctx, generation, rows) })
}

func bodies(t tester, c Cell, generation int64, keys ...[]byte) [][]byte {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s rollup.Store) ([][]byte, error) { return s.Rows(ctx, generation, keys) })
}

func scan(t tester, c Cell, generation int64, ranges ...rollup.Range) [][]rollup.Row {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s rollup.Store) ([][]rollup.Row, error) {
		return s.ScanRows(ctx, generation, ranges)
	})
}

func drop(t tester, c Cell, generation int64, limit int) int {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s rollup.Store) (int, error) { return s.DropRows(ctx, generation, limit) })
}

// everything is more than any case writes.
const everything = 1 << 20

func all(t tester, c Cell, generation int64) []rollup.Row {
	t.Helper()
	return scan(t, c, generation, rollup.Range{Limit: everything})[0]
}

// differ returns the difference. A nil list equals an empty one, but a nil body differs from an empty one.
func differ(got, want any) string {
	lists := func(p cmp.Path) bool { return p.Last().Type() != reflect.TypeFor[[]byte]() }
	return conformance.Diff(want, got, cmp.FilterPath(lists, cmpopts.EquateEmpty()))
}

func same[T any](t tester, what string, got, want T) {
	t.Helper()
	if diff := differ(got, want); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}
