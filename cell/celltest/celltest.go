// SPDX-License-Identifier: Apache-2.0

// Package celltest is the conformance suite of cell.Store, and of the cell.Driver that
// opens its databases. Whoever implements them calls Run and RunDriver from tests of its
// own, with functions that open a fresh cell, or say how databases are opened:
//
//	open ──► Cell{Database, Lo, Hi} ──► backend ─┐
//	                                             ├─ same calls, compared
//	         rapid draws batches ─────► model ───┘
//
// The model is a few maps that can be read in one sitting; what the backend answers is
// compared with what it expects. [Memory] is an implementation that passes, for tests of
// what works on cells.
package celltest

import (
	"context"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
)

// Database is how the transactions of a cell are run: a cell.Database, or Of one.
type Database interface {
	// Update runs fn in a transaction, which commits if fn returns nil and leaves nothing
	// behind if fn returns an error, which it then returns, as errors.Is sees it.
	Update(ctx context.Context, fn func(cell.Store) error) error
	// Exclusive is an Update that runs alone.
	Exclusive(ctx context.Context, fn func(cell.Store) error) error
	// View reads one snapshot.
	View(ctx context.Context, fn func(cell.Store) error) error
}

// Of is a Database of transactions that are more than a cell.Store.
func Of[T cell.Store](db cell.Database[T]) Database { return of[T]{db} }

type of[T cell.Store] struct{ db cell.Database[T] }

func (o of[T]) Update(ctx context.Context, fn func(cell.Store) error) error {
	return o.db.Update(ctx, func(t T) error { return fn(t) })
}

func (o of[T]) Exclusive(ctx context.Context, fn func(cell.Store) error) error {
	return o.db.Exclusive(ctx, func(t T) error { return fn(t) })
}

func (o of[T]) View(ctx context.Context, fn func(cell.Store) error) error {
	return o.db.View(ctx, func(t T) error { return fn(t) })
}

// Cell is a fresh, empty cell under test, whose head is Head{Incarnation: 1}.
type Cell struct {
	Database
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

	{Name: "CopyKeepsWhatIsThere", Run: copyKeepsWhatIsThere},
	{Name: "ScanInOrder", Run: scanInOrder},
	{Name: "Drop", Run: drop},
	{Name: "Skip", Run: skip},
	{Name: "SkipToTheEnd", Run: skipToTheEnd},
	{Name: "PuidsAreNeverGivenAgain", Run: puidsAreNeverGivenAgain},
	{Name: "ViewIsASnapshot", Run: viewIsASnapshot},
	{Name: "ViewDoesNotWrite", Run: viewDoesNotWrite},

	{Name: "Head", Run: headIsKept},
	{Name: "HeadOnlyInExclusive", Run: headOnlyInExclusive},
	{Name: "ExclusiveRollsBack", Run: exclusiveRollsBack},
	{Name: "UpdateOnlyWhereServing", Run: updateOnlyWhereServing},
	{Name: "SealWaitsForUpdates", Run: sealWaitsForUpdates},
	{Name: "SealAmongWriters", Run: sealAmongWriters},
	{Name: "ExclusivesRunAlone", Run: exclusivesRunAlone},

	{Name: "CellMap", Run: cellMap},
	{Name: "CellMapSuperseded", Run: cellMapSuperseded},
	{Name: "CellMapConflict", Run: cellMapConflict},
	{Name: "CellMapConflictAtOnce", Run: cellMapConflictAtOnce},
	{Name: "Filter", Run: filter},
	{Name: "Witnesses", Run: witnesses},

	{Name: "AgreesWithModel", Run: agreesWithModel},
}
