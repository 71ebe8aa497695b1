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

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
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
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// tester is what a case needs of testing.T, so that the suite's own test can watch
// a case fail.
type tester = rapid.TB

var cases = []struct {
	name string
	run  func(t tester, c Cell)
}{
	{"EmptyBatch", emptyBatch},
	{"EmptyCellHasNoKey", emptyCellHasNoKey},
	{"AnswersInOrder", answersInOrder},
	{"AllocatesOnce", allocatesOnce},
	{"DuplicatesInBatch", duplicatesInBatch},
	{"SameRingOtherDigest", sameRingOtherDigest},
	{"EdgesOfTheRing", edgesOfTheRing},
	{"ThousandKeys", thousandKeys},
	{"SeesItsOwnWrites", seesItsOwnWrites},
	{"RollbackLeavesNothing", rollbackLeavesNothing},
	{"PuidsRiseInsideTheRange", puidsRiseInsideTheRange},
	{"NoRoom", noRoom},
	{"ConcurrentAllocation", concurrentAllocation},
	{"AgreesWithModel", agreesWithModel},
}
