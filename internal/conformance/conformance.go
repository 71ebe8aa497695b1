// SPDX-License-Identifier: Apache-2.0

// Package conformance is what the conformance suites of the Stores have in common: a list of cases
// that a backend's test runs, and that the suite's own test watches failing on planted bugs.
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
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TB is what a case needs of testing.T, so that a suite's own test can watch a case fail.
type TB = rapid.TB

// Case checks one thing of a fresh, empty cell.
type Case[C any] struct {
	Name string
	Run  func(t TB, cell C)
}

// Suite is the cases that a backend has to pass.
type Suite[C any] []Case[C]

// Run runs the cases in parallel. open is called once for each, and cleans up by t.Cleanup.
func (s Suite[C]) Run(t *testing.T, open func(t *testing.T) C) {
	t.Helper()
	for _, c := range s {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Run(t, open(t))
		})
	}
}

// But is the suite without some cases: for a backend that cannot, or does not promise, what they ask for. Each is
// named, with the reason, which skips it. A name that no case has is a failure.
func (s Suite[C]) But(reasons map[string]string) Suite[C] {
	less, left := slices.Clone(s), maps.Clone(reasons)
	for i, c := range s {
		if reason, out := reasons[c.Name]; out {
			less[i].Run = func(t TB, _ C) { t.Skip(reason) }
			delete(left, c.Name)
		}
	}
	for name := range left {
		less = append(less, Case[C]{Name: name, Run: func(t TB, _ C) { t.Fatalf("it is to be left out, and there is no such case") }})
	}
	return less
}

// Share readies generators that stand in variables for cases that run in parallel. rapid makes the name of a
// generator when another one is first made of it, and reads it without a lock.
func Share(generators ...fmt.Stringer) {
	for _, g := range generators {
		_ = g.String()
	}
}

// Check is rapid.Check for a case whose backend may be slow: it makes no more than so many runs, unless that is 0
// or LOCUS_LONG=1 asks for all that rapid makes.
func Check(t TB, runs int, run func(*rapid.T)) {
	done, failed := 0, false
	rapid.Check(t, func(t *rapid.T) {
		if done++; runs > 0 && done > runs && !failed && os.Getenv("LOCUS_LONG") == "" {
			return
		}
		good := false
		defer func() { failed = failed || !good }() // then rapid looks for the shortest run that fails
		run(t)
		good = !t.Failed()
	})
}

// ErrRollback ends a transaction that is to leave nothing behind.
var ErrRollback = errors.New("roll back")

// Update runs fn in a transaction that must commit.
func Update[S any](t TB, update func(context.Context, func(S) error) error, fn func(context.Context, S) error) {
	t.Helper()
	ctx := context.Background()
	if err := update(ctx, func(s S) error { return fn(ctx, s) }); err != nil {
		t.Fatalf("update: %v", err)
	}
}

// Ask answers with what fn reads in a transaction that must commit.
func Ask[S, T any](t TB, update func(context.Context, func(S) error) error, fn func(context.Context, S) (T, error)) (got T) {
	t.Helper()
	Update(t, update, func(ctx context.Context, s S) (err error) {
		got, err = fn(ctx, s)
		return err
	})
	return got
}

// Ends runs fn in a transaction that ends as it should, by rollback or by commit. A backend may run
// fn again. An error of fn fails the test.
func Ends[S any](t TB, update func(context.Context, func(S) error) error, rollback bool, fn func(context.Context, S) error) {
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

// Cancelled runs a transaction whose context is cancelled between two calls, which must fail for that. The
// caller holds that nothing is left of what the first one wrote.
func Cancelled[S any](t TB, update func(context.Context, func(S) error) error, before, after func(context.Context, S) error) {
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

// Reopen begins the cell anew by its function. The case ends here, skipped, if the backend has none.
func Reopen(t TB, reopen func() error) {
	t.Helper()
	if reopen == nil {
		t.Skip("this backend cannot be reopened (Cell.Reopen)")
	}
	if err := reopen(); err != nil {
		t.Fatalf("reopen: %v", err)
	}
}

// Writers is how many write at one time in Together.
const Writers = 8

// Together has Writers, each by its number, run so many updates one after the other, and fails if one of
// these does.
func Together[S any](t TB, update func(context.Context, func(S) error) error, each int, do func(ctx context.Context, s S, who, i int) error) {
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
