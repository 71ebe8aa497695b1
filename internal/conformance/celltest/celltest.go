// SPDX-License-Identifier: Apache-2.0

// Package celltest is the conformance suite of cell.Store, and of the cell.Driver that opens its databases. Tests of an
// implementation call Run and RunDriver with functions that open a fresh cell or return a driver:
//
//	open ──► Cell{Database, Lo, Hi} ──► backend ─┐
//	                                             ├─ same calls, compared
//	         rapid draws batches ─────► model ───┘
//
// The model is a few maps, short enough to review; the backend's results are compared with its results. [Memory] is an
// in-memory implementation that passes, for tests of code that uses cells.
package celltest

import (
	"context"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
)

// Database runs the transactions of a cell: a cell.Database, or Of one.
type Database interface {
	// Update runs fn in a transaction that commits if fn returns nil. Otherwise it is rolled back, and Update returns
	// the error of fn, as seen by errors.Is.
	Update(ctx context.Context, fn func(cell.Store) error) error
	// Exclusive is an Update that runs alone.
	Exclusive(ctx context.Context, fn func(cell.Store) error) error
	// View reads one snapshot.
	View(ctx context.Context, fn func(cell.Store) error) error
}

// Of returns a Database of transactions that are more than a cell.Store.
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
	// Lo and Hi are the range of puids that the cell was opened with, as cell.Map.PuidRange returns it.
	Lo, Hi int64
	// LeaveRoom makes the cell continue as if all but n of its puids had been allocated. If a backend leaves it nil,
	// the cases that need it are skipped with that reason.
	LeaveRoom func(n int64) error
}

// Run checks an implementation of cell.Store. open is called once for each case, and cleans up by t.Cleanup; cases run
// in parallel.
func Run(t *testing.T, open func(t *testing.T) Cell) {
	t.Helper()
	cases.Run(t, open)
}

// tester is the part of testing.T that cases use, so that the suite's own test can watch a case fail.
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
