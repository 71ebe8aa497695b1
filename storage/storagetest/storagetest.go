// SPDX-License-Identifier: Apache-2.0

// Package storagetest is the conformance suite of a backend. Run checks it with the suites of the Stores that a
// transaction combines, with those of its driver and of copying, and with this package's own cases, of
// derived.Store and of the transaction as a whole:
//
//	Run ──► celltest, entitytest, rolluptest, ... ─┐
//	   └──► cases of this package                  ├─ same calls, same answers
//	              rapid draws batches ───► model ──┘
package storagetest

import (
	"context"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// tester is the part of testing.T that a case needs, so that the suite's own test can observe a failing
// case.
type tester = conformance.TB

var cases = conformance.Suite[Cell]{
	{Name: "EmptyArguments", Run: emptyArguments},
	{Name: "EmptyCell", Run: emptyCell},
	{Name: "CarriersInOrderUpToLimits", Run: carriersInOrderUpToLimits},
	{Name: "CarriersInTheOrderAsked", Run: carriersInTheOrderAsked},
	{Name: "PostingTwiceIsOnce", Run: postingTwiceIsOnce},
	{Name: "PostingsOfManyTransactions", Run: postingsOfManyTransactions},
	{Name: "WholeRangeOfNumbers", Run: wholeRangeOfNumbers},
	{Name: "EdgesInOrder", Run: edgesInOrder},
	{Name: "EdgesStandUnderA", Run: edgesStandUnderA},
	{Name: "EdgesReplaceAndDelete", Run: edgesReplaceAndDelete},
	{Name: "UnsureBestFirst", Run: unsureBestFirst},
	{Name: "RedoIsASet", Run: redoIsASet},
	{Name: "RedoOfNewRecords", Run: redoOfNewRecords},
	{Name: "RedoKeepsWhatIsThere", Run: redoKeepsWhatIsThere},
	{Name: "DefinitionsByName", Run: definitionsByName},
	{Name: "ThousandItems", Run: thousandItems},
	{Name: "SeesItsOwnWrites", Run: seesItsOwnWrites},
	{Name: "RollbackLeavesNothing", Run: rollbackLeavesNothing},
	{Name: "PanicRollsBack", Run: panicRollsBack},
	{Name: "StoresCommitTogether", Run: storesCommitTogether},
	{Name: "SurvivesReopening", Run: survivesReopening},
	{Name: "ViewCannotWrite", Run: viewCannotWrite},
	{Name: "ViewIsOneSnapshot", Run: viewIsOneSnapshot},
	{Name: "ViewSeesNothingUncommitted", Run: viewSeesNothingUncommitted},
	{Name: "ErrorsComeBack", Run: errorsComeBack},
	{Name: "CancelledContext", Run: cancelledContext},
	{Name: "OverIsOver", Run: overIsOver},
	{Name: "SkipsTheLogToo", Run: skipsTheLogToo},
	{Name: "ConcurrentUpdatesAreSerial", Run: concurrentUpdatesAreSerial},
	{Name: "AgreesWithModel", Run: agreesWithModel},
}

// view returns the result of fn, run in its own transaction.
func view[T any](t tester, c Cell, fn func(ctx context.Context, tx storage.Tx) (T, error)) (got T) {
	t.Helper()
	ctx := context.Background()
	if err := c.View(ctx, func(tx storage.Tx) (err error) {
		got, err = fn(ctx, tx)
		return err
	}); err != nil {
		t.Fatalf("view: %v", err)
	}
	return got
}

// equal describes the difference between two results, "" if there is none. A nil and an empty list are equal, and lost
// blocking keys may have any order.
func equal(got, want any) string {
	return conformance.Diff(want, got, cmpopts.EquateEmpty(), cmp.Transformer("set", func(r derived.Redo) sortedRedo {
		return sortedRedo{r.PUID, r.Version, r.Decided, slices.Compact(slices.Sorted(slices.Values(r.LostKeys)))}
	}))
}

// sortedRedo is a redo entry with sorted lost blocking keys.
type sortedRedo struct {
	PUID    entity.PUID
	Version int64
	Decided int64
	Lost    []uint64
}

func same[T any](t tester, what string, got, want T) {
	t.Helper()
	if diff := equal(got, want); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}
