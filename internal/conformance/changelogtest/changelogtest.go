// SPDX-License-Identifier: Apache-2.0

// Package changelogtest is the conformance suite of changelog.Store. An implementation calls Run from its own
// test with a function that opens a fresh cell:
//
//	open ──► Cell{Update, Reopen} ──► backend ─┐
//	                                           ├─ same calls, same answers
//	         rapid draws batches ───► model ───┘
//
// A log may choose its numbers, as long as they increase; everything else is compared with the model, which is a
// slice.
package changelogtest

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/conformance"
)

// Cell is a fresh, empty cell under test.
type Cell = conformance.Cell[changelog.Store]

// Run checks an implementation of changelog.Store. open is called once per case and registers its cleanup with
// t.Cleanup; cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Cell) {
	t.Helper()
	cases.Run(t, open)
}

// tester is the part of testing.T that a case needs, so that the suite's own test can observe a failing case.
type tester = conformance.TB

var cases = conformance.Suite[Cell]{
	{Name: "EmptyLog", Run: emptyLog},
	{Name: "ComeBackWhole", Run: comeBackWhole},
	{Name: "ImagesComeBackWhole", Run: imagesComeBackWhole},
	{Name: "NumbersRise", Run: numbersRise},
	{Name: "InPages", Run: inPages},
	{Name: "ThousandChanges", Run: thousandChanges},
	{Name: "SeesItsOwnWrites", Run: seesItsOwnWrites},
	{Name: "RollbackLeavesNothing", Run: rollbackLeavesNothing},
	{Name: "SurvivesReopening", Run: survivesReopening},
	{Name: "CancelledContext", Run: cancelledContext},
	{Name: "ConcurrentAppends", Run: concurrentAppends},
	{Name: "BoundsOfTheLog", Run: boundsOfTheLog},
	{Name: "TrimsTheOldest", Run: trimsTheOldest},
	{Name: "TrimmedIsAnError", Run: trimmedIsAnError},
	{Name: "NeverTrimsAhead", Run: neverTrimsAhead},
	{Name: "TrimmingRollsBack", Run: trimmingRollsBack},
	{Name: "AgreesWithModel", Run: agreesWithModel},
}

func appendChanges(t tester, c Cell, changes ...changelog.Change) {
	t.Helper()
	conformance.Update(t, c.Update, func(ctx context.Context, s changelog.Store) error { return s.Append(ctx, changes) })
}

func changesAfter(t tester, c Cell, after changelog.Seq, limit int) []changelog.Change {
	t.Helper()
	return conformance.Ask(t, c.Update, func(ctx context.Context, s changelog.Store) ([]changelog.Change, error) {
		return s.Changes(ctx, after, limit)
	})
}

func boundsOf(t tester, c Cell) changelog.Bounds {
	t.Helper()
	return conformance.Ask(t, c.Update, func(ctx context.Context, s changelog.Store) (changelog.Bounds, error) { return s.Bounds(ctx) })
}

func trim(t tester, c Cell, upTo changelog.Seq, limit int) int {
	t.Helper()
	return conformance.Ask(t, c.Update, func(ctx context.Context, s changelog.Store) (int, error) {
		return s.Trim(ctx, upTo, limit)
	})
}

// differ returns the difference between two lists of changes, ignoring their numbers.
func differ(got, want []changelog.Change) string {
	return conformance.Diff(unnumbered(want), unnumbered(got), cmpopts.EquateEmpty())
}

func unnumbered(changes []changelog.Change) []changelog.Change {
	changes = slices.Clone(changes)
	for i := range changes {
		changes[i].Seq = 0
	}
	return changes
}

// wantChanges fails unless got equals want, ignoring the numbers, and the numbers increase.
func wantChanges(t tester, got, want []changelog.Change) {
	t.Helper()
	if diff := differ(got, want); diff != "" {
		t.Fatalf("changes (-want +got):\n%s", diff)
	}
	for i := range got {
		if got[i].Seq <= 0 || i > 0 && got[i].Seq <= got[i-1].Seq {
			t.Fatalf("change %d of %d has number %d, the one before %d", i, len(got), got[i].Seq, got[max(i, 1)-1].Seq)
		}
	}
}
