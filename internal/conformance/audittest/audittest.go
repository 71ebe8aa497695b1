// SPDX-License-Identifier: Apache-2.0

// Package audittest is the conformance suite of audit.Store. A test of an implementation calls Run with a function that
// opens a fresh cell.
package audittest

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/conformance"
)

// Update runs fn in one transaction of a fresh, empty cell. The transaction commits if fn returns nil; otherwise it is
// rolled back, and Update returns the error of fn, as seen by errors.Is.
type Update func(ctx context.Context, fn func(audit.Store) error) error

// Run checks an implementation of audit.Store. open is called once for each case, and cleans up by t.Cleanup; cases run
// in parallel.
func Run(t *testing.T, open func(t *testing.T) Update) {
	t.Helper()
	cases.Run(t, open)
}

// tester is the part of testing.T that cases use, so that the suite's own test can watch a case fail.
type tester = conformance.TB

var cases = conformance.Suite[Update]{
	{Name: "KeepsRows", Run: keepsRows},
	{Name: "ReadsPages", Run: readsPages},
	{Name: "RefusesChanges", Run: refusesChanges},
	{Name: "DropsOldRows", Run: dropsOldRows},
	{Name: "RollbackLeavesNothing", Run: rollbackLeavesNothing},
}

func row(at, chain, seq int64, body string) audit.Row {
	return audit.Row{Position: audit.Position{At: at, Chain: chain, Seq: seq}, Body: body}
}

func put(t tester, update Update, rows ...audit.Row) {
	t.Helper()
	conformance.Update(t, update, func(ctx context.Context, s audit.Store) error { return s.PutAudit(ctx, rows) })
}

// want fails unless the log holds these rows, in this order.
func want(t tester, update Update, rows ...audit.Row) {
	t.Helper()
	got := conformance.Ask(t, update, func(ctx context.Context, s audit.Store) ([]audit.Row, error) {
		return s.AuditAfter(ctx, audit.Position{}, 100)
	})
	if !slices.Equal(got, rows) {
		t.Fatalf("the log holds %v, want %v", got, rows)
	}
}

func keepsRows(t tester, update Update) {
	want(t, update)
	now := time.Now().UnixMilli()
	first, second := row(now, 7, 1, `{"a":"寿司 '\"\\ \u0000"}`), row(now, math.MaxInt64, math.MaxInt64,
		strings.Repeat("x", 100_000))
	put(t, update, second, first)
	put(t, update, first)
	put(t, update)
	want(t, update, first, second)
}

func readsPages(t tester, update Update) {
	now := time.Now().UnixMilli()
	all := []audit.Row{row(now, 1, 1, "a"), row(now, 1, 2, "b"), row(now, 2, 1, "c"), row(now+1, 1, 3, "d"),
		row(now+2, 0, 9, "e")}
	put(t, update, all...)
	page := func(read func(audit.Store, context.Context) ([]audit.Row, error), want ...audit.Row) {
		got := conformance.Ask(t, update, func(ctx context.Context, s audit.Store) ([]audit.Row, error) { return read(s, ctx) })
		if !slices.Equal(got, want) {
			t.Fatalf("read %v, want %v", got, want)
		}
	}
	for i := range all {
		page(func(s audit.Store, ctx context.Context) ([]audit.Row, error) {
			return s.AuditAfter(ctx, all[i].Position, 2)
		}, all[i+1:min(i+3, len(all))]...)
		before := slices.Clone(all[max(i-2, 0):i])
		slices.Reverse(before)
		page(func(s audit.Store, ctx context.Context) ([]audit.Row, error) {
			return s.AuditBefore(ctx, all[i].Position, 2)
		}, before...)
	}
	page(func(s audit.Store, ctx context.Context) ([]audit.Row, error) { return s.AuditBefore(ctx, audit.End, 1) }, all[4])
}

func refusesChanges(t tester, update Update) {
	now := time.Now().UnixMilli()
	first := row(now, 7, 1, "a")
	put(t, update, first)
	for what, do := range map[string]func(context.Context, audit.Store) error{
		"another body": func(ctx context.Context, s audit.Store) error {
			return s.PutAudit(ctx, []audit.Row{row(now, 7, 1, "b")})
		},
		"another time": func(ctx context.Context, s audit.Store) error {
			return s.PutAudit(ctx, []audit.Row{row(now+1, 7, 1, "a")})
		},
		"a removal": func(ctx context.Context, s audit.Store) error {
			return s.DropAudit(ctx, []audit.Position{first.Position})
		},
	} {
		if err := update(context.Background(), func(s audit.Store) error { return do(context.Background(), s) }); err == nil {
			t.Fatalf("%s of a row is accepted", what)
		}
		want(t, update, first)
	}
}

func dropsOldRows(t tester, update Update) {
	old := time.Now().Add(-audit.Keep - time.Hour).UnixMilli()
	a, b, kept := row(old, 7, 1, "a"), row(old+1, 7, 2, "b"), row(old+1, 8, 1, "c")
	put(t, update, a, b, kept)
	conformance.Update(t, update, func(ctx context.Context, s audit.Store) error {
		return s.DropAudit(ctx, []audit.Position{a.Position, b.Position})
	})
	want(t, update, kept)
}

func rollbackLeavesNothing(t tester, update Update) {
	now := time.Now().UnixMilli()
	put(t, update, row(now, 1, 1, "a"))
	conformance.Ends(t, update, true, func(ctx context.Context, s audit.Store) error {
		return s.PutAudit(ctx, []audit.Row{row(now, 1, 2, "b")})
	})
	want(t, update, row(now, 1, 1, "a"))
}
