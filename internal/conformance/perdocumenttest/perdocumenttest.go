// SPDX-License-Identifier: Apache-2.0

// Package perdocumenttest is the conformance suite of perdocument.Store. An implementation calls Run from its own test
// with a function that opens a fresh cell:
//
//	                         ┌─ the cases of countertest, but for those about several days at once
//	open ──► Cell ──► backend┤
//	                         └─ cases about one day: what is compared, and what it remembers of batches
//
// NewMemory is a database in memory that passes it. It counts its steps, so that a test can let any of them fail.
package perdocumenttest

import (
	"context"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/countertest"
	"github.com/locus-db/locus/internal/perdocument"
)

// Cell is a fresh, empty cell under test.
type Cell struct {
	perdocument.Database
	// Reopen, Many and Runs are as in countertest.Cell.
	Reopen     func() error
	Many, Runs int
}

// Run checks an implementation of perdocument.Store. open is called once per case and registers its cleanup with
// t.Cleanup; cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Cell) {
	t.Helper()
	countertest.RunBut(t, several, func(t *testing.T) countertest.Cell {
		t.Helper()
		return open(t).cell()
	})
	cases.Run(t, open)
}

// cell returns the cell as a counter.Store sees it.
func (c Cell) cell() countertest.Cell {
	as := func(run func(context.Context, func(perdocument.Store) error) error) countertest.Transaction {
		return func(ctx context.Context, fn func(counter.Store) error) error {
			return run(ctx, func(s perdocument.Store) error { return fn(s) })
		}
	}
	return countertest.Cell{Update: as(c.Update), View: as(c.View), Reopen: c.Reopen, Many: c.Many, Runs: c.Runs}
}

const (
	manyDays    = "several days are not written all or nothing, nor kept from others together: perdocument.Store"
	manyBatches = "a batch that was asked about is not locked: a summary is compared when it is written, as days are: perdocument.Store"
)

// several are the cases of countertest that the store need not pass, each with the reason.
var several = map[string]string{
	"TalliesTogether":                    manyDays,
	"NobodyElseChangesSpans":             manyDays,
	"NobodyElseChangesFirstSpans":        manyDays,
	"RaisingWaits":                       "the dedup horizon does not wait for its readers: a transaction refuses what lies below it, because it asks for it after days and summaries: perdocument.Store",
	"NobodyElseIsAnsweredAboutBatches":   manyBatches,
	"NobodyElseIsAnsweredAboutProducers": manyBatches,
}

// tester is the part of testing.T that a case needs, so that the suite's own test can observe a failing case.
type tester = conformance.TB

var cases = conformance.Suite[Cell]{
	{Name: "TalliesOfADayTogether", Run: talliesOfADayTogether},
	{Name: "TalliesDoNotConflict", Run: talliesDoNotConflict},
	{Name: "WhatWasReadIsCompared", Run: whatWasReadIsCompared},
	{Name: "NobodyElseChangesADay", Run: nobodyElseChangesADay},
	{Name: "NobodyElsePacksADay", Run: nobodyElsePacksADay},
	{Name: "OthersAreWritten", Run: othersAreWritten},
	{Name: "AFloorThatRose", Run: aFloorThatRose},
	{Name: "DaysRememberBatches", Run: daysRememberBatches},
	{Name: "DaysCountOnce", Run: daysCountOnce},
	{Name: "ADayForgetsWhatIsSummarised", Run: aDayForgetsWhatIsSummarised},
	{Name: "NobodyElseChangesASummary", Run: nobodyElseChangesASummary},
}

func update(t tester, c Cell, fn func(context.Context, perdocument.Store) error) {
	t.Helper()
	conformance.Update(t, c.Update, fn)
}

// ask returns the result of fn in a View.
func ask[T any](t tester, c Cell, fn func(context.Context, perdocument.Store) (T, error)) T {
	t.Helper()
	return conformance.Ask(t, c.View, fn)
}

// together runs 8 times 5 updates concurrently, and fails if one of them fails.
func together(t tester, c Cell, do func(ctx context.Context, s perdocument.Store, who, i int) error) {
	t.Helper()
	conformance.Together(t, c.Update, 5, do)
}

func buckets(t tester, c Cell, table counter.Table, keys ...counter.BucketKey) [][]int64 {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s perdocument.Store) ([][]int64, error) {
		return s.Buckets(ctx, table, keys)
	})
}

func compacted(t tester, c Cell, key counter.BucketKey) counter.CompactedDay {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s perdocument.Store) ([]counter.CompactedDay, error) {
		return s.CompactedDays(ctx, []counter.BucketKey{key})
	})[0]
}

func batches(t tester, c Cell, keys ...counter.Key) []counter.DedupRecord {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s perdocument.Store) ([]counter.DedupRecord, error) {
		return s.Batches(ctx, keys)
	})
}

// differ returns the difference. A nil list equals an empty one.
func differ(got, want any) string { return gocmp.Diff(want, got, cmpopts.EquateEmpty()) }

func same[T any](t tester, what string, got, want T) {
	t.Helper()
	if diff := differ(got, want); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}
