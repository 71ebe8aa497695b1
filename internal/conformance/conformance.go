// SPDX-License-Identifier: Apache-2.0

// Package conformance is the common part of the conformance suites of the Stores: a list of cases that a backend's
// test runs, and that the suite's own test runs against planted bugs.
//
//	backend's test ── Suite.Run ──► case ──► testing.T
//	suite's test ── FindsEveryBug ─► case ──► watcher, which remembers instead of failing
//	                                  └────► Memory: a model with a bug planted in it
package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TB is the part of testing.T that a case uses, so that a suite's own test can observe a case fail.
type TB = rapid.TB

// Cell is a fresh, empty cell under test, with transactions of a Store.
type Cell[S any] struct {
	// Update runs fn in one transaction of the cell. It commits if fn returns nil; otherwise it rolls back and returns
	// an error that wraps fn's.
	Update func(ctx context.Context, fn func(S) error) error
	// Reopen closes the cell's database and opens it again, as a restart does. A backend that cannot do this leaves it
	// nil, and the cases that need it are skipped with that reason.
	Reopen func() error
}

// Case checks one property of a fresh, empty cell.
type Case[C any] struct {
	Name string
	Run  func(t TB, cell C)
}

// Suite is the list of cases that a backend must pass.
type Suite[C any] []Case[C]

// Run runs the cases in parallel. It calls open once for each; open cleans up with t.Cleanup.
func (s Suite[C]) Run(t *testing.T, open func(t *testing.T) C) {
	t.Helper()
	for _, c := range s {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Run(t, open(t))
		})
	}
}

// But returns the suite with some cases skipped, for a backend that cannot satisfy or does not promise them.
// reasons maps the name of each case to the reason. A name without a case fails.
func (s Suite[C]) But(reasons map[string]string) Suite[C] {
	less, left := slices.Clone(s), maps.Clone(reasons)
	for i, c := range s {
		if reason, out := reasons[c.Name]; out {
			less[i].Run = func(t TB, _ C) { t.Skip(reason) }
			delete(left, c.Name)
		}
	}
	for name := range left {
		less = append(less, Case[C]{Name: name, Run: func(t TB, _ C) {
			t.Fatalf("it is to be left out, and there is no such case")
		}})
	}
	return less
}

// Share prepares package-level generators for cases that run in parallel. rapid computes the name of a generator
// lazily, when another one is derived from it, and without a lock.
func Share(generators ...fmt.Stringer) {
	for _, g := range generators {
		_ = g.String()
	}
}

// Check is rapid.Check for a slow backend: it limits the number of runs, unless runs is 0 or LOCUS_LONG=1 is set.
func Check(t TB, runs int, run func(*rapid.T)) {
	done, failed := 0, false
	rapid.Check(t, func(t *rapid.T) {
		if done++; runs > 0 && done > runs && !failed && os.Getenv("LOCUS_LONG") == "" {
			return
		}
		good := false
		defer func() { failed = failed || !good }() // after a failure rapid looks for the shortest failing run
		run(t)
		good = !t.Failed()
	})
}

// Diff is cmp.Diff for values that mostly are equal: cmp, which is slow, is asked only if they are not deeply equal.
func Diff(want, got any, opts ...cmp.Option) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, opts...)
}

// ErrRollback ends a transaction that must leave nothing behind.
var ErrRollback = errors.New("roll back")

// Update runs fn in a transaction that must commit.
func Update[S any](t TB, update func(context.Context, func(S) error) error, fn func(context.Context, S) error) {
	t.Helper()
	ctx := context.Background()
	if err := update(ctx, func(s S) error { return fn(ctx, s) }); err != nil {
		t.Fatalf("update: %v", err)
	}
}

// Ask returns the result of fn in a transaction that must commit.
func Ask[S, T any](t TB, update func(context.Context, func(S) error) error,
	fn func(context.Context, S) (T, error)) (got T) {
	t.Helper()
	Update(t, update, func(ctx context.Context, s S) (err error) {
		got, err = fn(ctx, s)
		return err
	})
	return got
}

// Ends runs fn in a transaction that must end by rollback or by commit. A backend may run fn again. An error of fn
// fails the test.
func Ends[S any](t TB, update func(context.Context, func(S) error) error, rollback bool,
	fn func(context.Context, S) error) {
	t.Helper()
	ctx := context.Background()
	err := update(ctx, func(s S) error {
		if err := fn(ctx, s); err != nil || !rollback {
			return err
		}
		return ErrRollback
	})
	switch {
	case rollback && errors.Is(err, ErrRollback):
	case err != nil:
		t.Fatalf("update: %v", err)
	case rollback:
		t.Fatalf("Update hid the error of its function")
	}
}

// Cancelled runs a transaction whose context is cancelled between two calls, and which must fail because of that.
// The caller checks that nothing of the first call remains.
func Cancelled[S any](t TB, update func(context.Context, func(S) error) error,
	before, after func(context.Context, S) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := update(ctx, func(s S) error {
		if err := before(ctx, s); err != nil {
			return err
		}
		cancel()
		return after(ctx, s)
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("Update under a context that is cancelled in the middle: %v", err)
	}
}

// Reopen reopens the cell. If the backend has no reopen function, the case ends here, skipped.
func Reopen(t TB, reopen func() error) {
	t.Helper()
	if reopen == nil {
		t.Skip("this backend cannot be reopened (Cell.Reopen)")
	}
	if err := reopen(); err != nil {
		t.Fatalf("reopen: %v", err)
	}
}

// Writers is the number of concurrent writers in Together.
const Writers = 8

// Together runs Writers goroutines with each updates one after the other, and fails if any update does. do gets the
// number of its writer.
func Together[S any](t TB, update func(context.Context, func(S) error) error, each int,
	do func(ctx context.Context, s S, who, i int) error) {
	t.Helper()
	ctx, errs := context.Background(), make([]error, Writers)
	var wg sync.WaitGroup
	for who := range Writers {
		wg.Go(func() {
			for i := range each {
				errs[who] = errors.Join(errs[who], update(ctx, func(s S) error { return do(ctx, s, who, i) }))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("updates at one time: %v", err)
	}
}
