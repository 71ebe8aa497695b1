// SPDX-License-Identifier: Apache-2.0

// Package leasetest is the conformance suite of lease.Store. A test of an implementation calls Run with a function that
// opens a fresh cell.
package leasetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/lease"
)

// Update runs fn in one transaction of a fresh, empty cell. The transaction commits if fn returns nil; otherwise it is
// rolled back, and Update returns the error of fn, as seen by errors.Is.
type Update func(ctx context.Context, fn func(lease.Store) error) error

// Run checks an implementation of lease.Store. open is called once for each case, and cleans up by t.Cleanup; cases run
// in parallel.
func Run(t *testing.T, open func(t *testing.T) Update) {
	t.Helper()
	cases.Run(t, open)
}

// tester is the part of testing.T that cases use, so that the suite's own test can watch a case fail.
type tester = conformance.TB

var cases = conformance.Suite[Update]{
	{Name: "NobodyHadIt", Run: nobodyHadIt},
	{Name: "KeepsEverything", Run: keepsEverything},
	{Name: "NamesAreApart", Run: namesAreApart},
	{Name: "SeesItsOwnWrites", Run: seesItsOwnWrites},
	{Name: "RollbackLeavesNothing", Run: rollbackLeavesNothing},
	{Name: "NobodyElseChangesIt", Run: nobodyElseChangesIt},
}

func put(t tester, update Update, name string, l lease.Lease) {
	t.Helper()
	conformance.Update(t, update, func(ctx context.Context, s lease.Store) error { return s.PutLease(ctx, name, l) })
}

// want fails unless the stored lease is l.
func want(t tester, update Update, name string, l lease.Lease) {
	t.Helper()
	got := conformance.Ask(t, update, func(ctx context.Context, s lease.Store) (lease.Lease, error) {
		return s.Lease(ctx, name)
	})
	if got != l {
		t.Fatalf("lease %q is %+v, want %+v", name, got, l)
	}
}

func nobodyHadIt(t tester, update Update) {
	want(t, update, "resolve", lease.Lease{})
	put(t, update, "resolve", lease.Lease{})
	want(t, update, "resolve", lease.Lease{})
}

func keepsEverything(t tester, update Update) {
	for _, l := range []lease.Lease{
		{Owner: "host-1/77", Address: "http://:s%20cret@[::1]:7070", Token: 1, Beat: 2, TTL: 3 * time.Second, Fence: 4,
			Wanted: true, Epoch: 5},
		{Owner: "寿司 '\"\\", Token: math.MaxInt64, Beat: math.MaxInt64, TTL: math.MaxInt64, Fence: math.MaxInt64,
			Epoch: math.MaxInt64},
		{Token: 7, TTL: time.Nanosecond},
		{Wanted: true},
		{Asked: 9, Done: 7, Asks: "8 g0-0 g0-3\n9 寿司 '\"\\\n", Partly: true},
		{Asked: math.MaxInt64, Done: math.MaxInt64},
	} {
		put(t, update, "resolve", l)
		want(t, update, "resolve", l)
	}
}

func namesAreApart(t tester, update Update) {
	names := []string{"", "resolve", "Resolve", "resolve ", "växjö"}
	for i, name := range names {
		put(t, update, name, lease.Lease{Token: int64(i + 1)})
	}
	for i, name := range names {
		want(t, update, name, lease.Lease{Token: int64(i + 1)})
	}
}

func seesItsOwnWrites(t tester, update Update) {
	conformance.Update(t, update, func(ctx context.Context, s lease.Store) error {
		for token := range int64(3) {
			if err := s.PutLease(ctx, "resolve", lease.Lease{Token: token}); err != nil {
				return err
			}
			if l, err := s.Lease(ctx, "resolve"); err != nil || l.Token != token {
				return fmt.Errorf("the transaction reads %+v, %w, and wrote token %d", l, err, token)
			}
		}
		return nil
	})
}

func rollbackLeavesNothing(t tester, update Update) {
	put(t, update, "old", lease.Lease{Token: 1})
	conformance.Ends(t, update, true, func(ctx context.Context, s lease.Store) error {
		return errors.Join(s.PutLease(ctx, "old", lease.Lease{Token: 2}), s.PutLease(ctx, "new", lease.Lease{Token: 2}))
	})
	want(t, update, "old", lease.Lease{Token: 1})
	want(t, update, "new", lease.Lease{})
}

// nobodyElseChangesIt lets concurrent writers take an unused lease; each must get a different token.
func nobodyElseChangesIt(t tester, update Update) {
	var tokens [conformance.Writers][5]int64
	conformance.Together(t, update, len(tokens[0]), func(ctx context.Context, s lease.Store, who, i int) error {
		l, err := s.Lease(ctx, "resolve")
		if err != nil {
			return err
		}
		tokens[who][i] = l.Token + 1
		return s.PutLease(ctx, "resolve", lease.Lease{Owner: fmt.Sprint(who), Token: tokens[who][i]})
	})
	seen := map[int64]int{}
	for i, all := range tokens {
		for _, token := range all {
			if other, twice := seen[token]; twice {
				t.Fatalf("takers %d and %d both have token %d", other, i, token)
			}
			seen[token] = i
		}
	}
}
