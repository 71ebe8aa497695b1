// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/storage"
)

// changeAt returns a change identified by its time.
func changeAt(n int64) changelog.Change {
	return changelog.Change{Time: time.UnixMilli(n).UTC(), Kind: changelog.Changed}
}

// appends returns an update that appends a change.
func appends(n int64) func(storage.Tx) error {
	return func(tx storage.Tx) error { return tx.Append(context.Background(), []changelog.Change{changeAt(n)}) }
}

// reader repeatedly reads a log to its end, like a follower.
type reader struct {
	d    *database
	at   changelog.Seq
	seen []int64
}

func (r *reader) read(t *testing.T) {
	t.Helper()
	must(t, r.d.View(t.Context(), func(tx storage.Tx) error {
		changes, err := tx.Changes(t.Context(), r.at, 100)
		for _, c := range changes {
			r.seen, r.at = append(r.seen, c.Time.UnixMilli()), c.Seq
		}
		return err
	}))
}

func (r *reader) want(t *testing.T, want ...int64) {
	t.Helper()
	r.read(t)
	if diff := cmp.Diff(want, r.seen); diff != "" {
		t.Errorf("who follows the log has seen (-want +got):\n%s", diff)
	}
}

// A reader that has read a change never misses one that was appended earlier and committed later.
func TestP04_TheLogIsInTheOrderOfCommits(t *testing.T) {
	t.Parallel()
	at := direct(t)
	d := at.open(t)
	follows := reader{d: d}

	slow := stay(t, d, func(_ *paused, tx storage.Tx) error { return appends(1)(tx) })
	must(t, d.Update(t.Context(), appends(2)))
	follows.want(t, 2)
	slow.end(t)
	follows.want(t, 2, 1)

	// A transaction that has positions makes the others wait for theirs.
	slow = stay(t, d, func(_ *paused, tx storage.Tx) error {
		_, err := tx.Changes(context.Background(), math.MaxInt64, 1)
		return errors.Join(appends(3)(tx), err)
	})
	knows := stay(t, d, func(_ *paused, tx storage.Tx) error {
		if err := appends(4)(tx); err != nil {
			return err
		}
		_, err := tx.Bounds(context.Background())
		return err
	})
	waits := begins(t, at, d, 1, func() error { return d.Update(context.Background(), appends(5)) })
	follows.want(t, 2, 1)
	knows.end(t)
	must(t, waits())
	follows.want(t, 2, 1, 4, 5)
	slow.end(t)
	follows.want(t, 2, 1, 4, 5, 3)

	// A transaction that does not commit leaves no gap that readers would have to wait for.
	err := d.Update(t.Context(), func(tx storage.Tx) error { return errors.Join(appends(6)(tx), context.Canceled) })
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	must(t, d.Update(t.Context(), appends(7)))
	follows.want(t, 2, 1, 4, 5, 3, 7)
}

// bounds returns the bounds of a log.
func bounds(t *testing.T, d cell.Database[storage.Tx]) (b changelog.Bounds) {
	t.Helper()
	must(t, d.View(t.Context(), func(tx storage.Tx) (err error) { b, err = tx.Bounds(t.Context()); return err }))
	return b
}

// Trimming does not block writers, and stops at the last change before it began.
func TestTrimmingStopsNobody(t *testing.T) {
	t.Parallel()
	d := direct(t).open(t)
	for n := range int64(5) {
		must(t, d.Update(t.Context(), appends(n)))
	}
	trims := stay(t, d, func(_ *paused, tx storage.Tx) error {
		_, err := tx.Trim(context.Background(), math.MaxInt64, 100)
		return err
	})
	must(t, d.Update(t.Context(), appends(5)))
	if got := bounds(t, d); got != (changelog.Bounds{Last: 6}) {
		t.Errorf("while a transaction trims the bounds are %+v", got)
	}
	trims.end(t)
	if got := bounds(t, d); got != (changelog.Bounds{Trimmed: 5, Last: 6}) {
		t.Errorf("after it the bounds are %+v", got)
	}
	follows := reader{d: d, at: 5}
	follows.want(t, 5)
}

// Two concurrent trims together trim exactly the rows that each alone would have.
func TestTwoTrimAtOnce(t *testing.T) {
	t.Parallel()
	at := direct(t)
	d := at.open(t)
	for n := range int64(9) {
		must(t, d.Update(t.Context(), appends(n)))
	}
	trim := func(deleted *int) func(storage.Tx) error {
		return func(tx storage.Tx) (err error) {
			*deleted, err = tx.Trim(context.Background(), 8, 4)
			return err
		}
	}
	var first, second int
	trims := stay(t, d, func(_ *paused, tx storage.Tx) error { return trim(&first)(tx) })
	waits := begins(t, at, d, 1, func() error { return d.Update(context.Background(), trim(&second)) })
	trims.end(t)
	must(t, waits())
	if got := bounds(t, d); first != 4 || second != 4 || got != (changelog.Bounds{Trimmed: 8, Last: 9}) {
		t.Errorf("%d and %d changes were trimmed, the bounds are %+v", first, second, got)
	}
}

// A cell that cannot know which log positions it has used skips some, after what it appends in the same
// transaction; the positions never overflow.
func TestSkippedNumbersOfTheLog(t *testing.T) {
	t.Parallel()
	d := direct(t).open(t)
	ctx := t.Context()
	must(t, d.Exclusive(ctx, func(tx storage.Tx) error { return tx.Journal(ctx, true) }))
	must(t, d.Update(ctx, func(tx storage.Tx) error {
		return errors.Join(appends(1)(tx), tx.Skip(ctx, 1000), appends(2)(tx))
	}))
	var seqs, noted []int64
	must(t, d.View(ctx, func(tx storage.Tx) error {
		changes, err := tx.Changes(ctx, 0, 10)
		for _, c := range changes {
			seqs = append(seqs, int64(c.Seq))
		}
		entries, errJournal := tx.Journaled(ctx, 0, 10)
		for _, e := range entries {
			noted = append(noted, e.Key[0].(int64))
		}
		return errors.Join(err, errJournal)
	}))
	if want := []int64{1, 1002}; !slices.Equal(seqs, want) || !slices.Equal(noted, want) {
		t.Errorf("the changes have the numbers %v, the journal names %v, want %v", seqs, noted, want)
	}
	for range 2 {
		must(t, d.Update(ctx, func(tx storage.Tx) error { return tx.Skip(ctx, math.MaxUint64) }))
	}
	if got := bounds(t, d).Last; got != math.MaxInt64 {
		t.Errorf("the last number is %d", got)
	}
}
