// SPDX-License-Identifier: Apache-2.0

// Package changelogtest is the conformance suite of changelog.Store. Whoever implements it calls
// Run from a test of its own, with a function that opens a fresh cell:
//
//	open ──► Cell{Update, Reopen} ──► backend ─┐
//	                                           ├─ same calls, same answers
//	         rapid draws batches ───► model ───┘
//
// Which numbers a log gives is its own affair, as long as they rise; all else is compared with
// the model, which is a slice.
package changelogtest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/changelog"
)

// Update runs fn in one transaction of the cell, which commits if fn returns nil and leaves
// nothing behind if fn returns an error, which Update then returns, as errors.Is sees it.
type Update func(ctx context.Context, fn func(changelog.Store) error) error

// Cell is a fresh, empty cell under test.
type Cell struct {
	Update Update
	// Reopen ends all use of the cell's database and begins it anew, as a restart does. A backend
	// that cannot leaves it nil, and the cases that need it are skipped with that reason.
	Reopen func() error
}

// Run checks an implementation of changelog.Store. open is called once for each case, and cleans
// up by t.Cleanup; cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Cell) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// tester is what a case needs of testing.T, so that the suite's own test can watch a case fail.
type tester = rapid.TB

var cases = []struct {
	name string
	run  func(t tester, c Cell)
}{
	{"EmptyLog", emptyLog},
	{"ComeBackWhole", comeBackWhole},
	{"NumbersRise", numbersRise},
	{"InPages", inPages},
	{"ThousandChanges", thousandChanges},
	{"SeesItsOwnWrites", seesItsOwnWrites},
	{"RollbackLeavesNothing", rollbackLeavesNothing},
	{"SurvivesReopening", survivesReopening},
	{"CancelledContext", cancelledContext},
	{"ConcurrentAppends", concurrentAppends},
	{"AgreesWithModel", agreesWithModel},
}

// errRollback ends a transaction of the suite.
var errRollback = errors.New("roll back")

// update runs fn in a transaction that must commit.
func update(t tester, c Cell, fn func(ctx context.Context, s changelog.Store) error) {
	t.Helper()
	ctx := context.Background()
	if err := c.Update(ctx, func(s changelog.Store) error { return fn(ctx, s) }); err != nil {
		t.Fatalf("update: %v", err)
	}
}

func appendChanges(t tester, c Cell, changes ...changelog.Change) {
	t.Helper()
	update(t, c, func(ctx context.Context, s changelog.Store) error { return s.Append(ctx, changes) })
}

func changesAfter(t tester, c Cell, after changelog.Seq, limit int) (got []changelog.Change) {
	t.Helper()
	update(t, c, func(ctx context.Context, s changelog.Store) (err error) {
		got, err = s.Changes(ctx, after, limit)
		return err
	})
	return got
}

// differ says what differs between two lists of changes, their numbers left out.
func differ(got, want []changelog.Change) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(changelog.Change{}, "Seq"))
}

// wantChanges fails unless got is want, but for the numbers, and the numbers rise.
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
