// SPDX-License-Identifier: Apache-2.0

// Package celltest is the conformance suite of cell.Store. Whoever implements it
// calls Run from a test of its own, with a function that opens a fresh cell:
//
//	open ──► Cell{Update, Lo, Hi} ──► backend ─┐
//	                                           ├─ same calls, compared
//	         rapid draws batches ───► model ───┘
//
// The model is a few maps that can be read in one sitting; what the backend
// answers is compared with what it expects.
package celltest

import (
	"context"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/conformance"
)

// Update runs fn in one transaction of the cell, which commits if fn returns nil
// and leaves nothing behind if fn returns an error, which Update then returns, as
// errors.Is sees it.
type Update func(ctx context.Context, fn func(cell.Store) error) error

// Cell is a fresh, empty cell under test.
type Cell struct {
	Update Update
	// Lo and Hi are the range of puids that the cell was opened with, as
	// cell.Map.PuidRange returns it.
	Lo, Hi int64
	// LeaveRoom makes the cell go on as if all but n of its puids had been given
	// away. A backend that cannot leaves it nil, and the cases that need it are
	// skipped with that reason.
	LeaveRoom func(n int64) error
}

// Run checks an implementation of cell.Store. open is called once for each case,
// and cleans up by t.Cleanup; cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Cell) {
	t.Helper()
	cases.Run(t, open)
}

// tester is what a case needs of testing.T, so that the suite's own test can watch a case fail.
type tester = conformance.TB

var cases = conformance.Suite[Cell]{
	{Name: "EmptyBatch", Run: emptyBatch},
	{Name: "EmptyCellHasNoKey", Run: emptyCellHasNoKey},
	{Name: "AnswersInOrder", Run: answersInOrder},
	{Name: "AllocatesOnce", Run: allocatesOnce},
	{Name: "DuplicatesInBatch", Run: duplicatesInBatch},
	{Name: "SameRingOtherDigest", Run: sameRingOtherDigest},
	{Name: "EdgesOfTheRing", Run: edgesOfTheRing},
	{Name: "ThousandKeys", Run: thousandKeys},
	{Name: "SeesItsOwnWrites", Run: seesItsOwnWrites},
	{Name: "RollbackLeavesNothing", Run: rollbackLeavesNothing},
	{Name: "PuidsRiseInsideTheRange", Run: puidsRiseInsideTheRange},
	{Name: "NoRoom", Run: noRoom},
	{Name: "ConcurrentAllocation", Run: concurrentAllocation},
	{Name: "AgreesWithModel", Run: agreesWithModel},
}
