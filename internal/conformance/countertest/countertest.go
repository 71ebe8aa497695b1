// SPDX-License-Identifier: Apache-2.0

// Package countertest is the conformance suite of counter.Store. An implementation calls Run from its own test
// with a function that opens a fresh cell:
//
//	open ──► Cell{Update, View, Reopen} ──► backend ─┐
//	                                                 ├─ same calls, same answers
//	               rapid draws batches ───► model ───┘
//
// The model is maps: of metrics, buckets, compacted days, batches and producers.
package countertest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
)

// Transaction runs fn in one transaction of the cell.
type Transaction func(ctx context.Context, fn func(counter.Store) error) error

// Cell is a fresh, empty cell under test.
type Cell struct {
	// Update commits if fn returns nil; otherwise it rolls back and returns an error that wraps fn's.
	Update Transaction
	// View reads one snapshot.
	View Transaction
	// Reopen closes the cell's database and opens it again, as a restart does. A backend that cannot do this
	// leaves it nil, and the cases that need it are skipped with that reason.
	Reopen func() error
	// Many is more metrics than the backend reads or writes at once. Defaults to 1,100.
	Many int
	// Runs is the number of random runs of AgreesWithModel, see conformance.Check.
	Runs int
}

func (c Cell) many() int { return cmp.Or(c.Many, 1100) }

// Run checks an implementation of counter.Store. open is called once per case and registers its cleanup with
// t.Cleanup; cases run in parallel.
func Run(t *testing.T, open func(t *testing.T) Cell) {
	t.Helper()
	RunBut(t, nil, open)
}

// RunBut is Run for an implementation that cannot pass some cases: it omits those and prints the reason of each.
func RunBut(t *testing.T, reasons map[string]string, open func(t *testing.T) Cell) {
	t.Helper()
	cases.But(reasons).Run(t, open)
}

// tester is the part of testing.T that a case needs, so that the suite's own test can observe a failing case.
type tester = conformance.TB

var cases = conformance.Suite[Cell]{
	{Name: "EmptyCell", Run: emptyCell},
	{Name: "MetricsComeBackWhole", Run: metricsComeBackWhole},
	{Name: "MetricsInTheOrderAsked", Run: metricsInTheOrderAsked},
	{Name: "NameAndKindStay", Run: nameAndKindStay},
	{Name: "MetricsInOrder", Run: metricsInOrder},
	{Name: "TalliesAdd", Run: talliesAdd},
	{Name: "TalliesOfManyMetrics", Run: talliesOfManyMetrics},
	{Name: "TalliesOverflow", Run: talliesOverflow},
	{Name: "TheHighest", Run: theHighest},
	{Name: "TheHighestAmongMany", Run: theHighestAmongMany},
	{Name: "SpansComeBackWhole", Run: bucketsComeBackWhole},
	{Name: "SpansInTheOrderAsked", Run: bucketsInTheOrderAsked},
	{Name: "PreparingChangesNothing", Run: preparingChangesNothing},
	{Name: "DeletedSpans", Run: deletedBuckets},
	{Name: "FirstBuckets", Run: firstBuckets},
	{Name: "ClosedDaysComeBackWhole", Run: closedDaysComeBackWhole},
	{Name: "DetailedDays", Run: detailedDays},
	{Name: "FloorRises", Run: floorRises},
	{Name: "BatchesComeBackWhole", Run: batchesComeBackWhole},
	{Name: "ProducersComeBackWhole", Run: producersComeBackWhole},
	{Name: "DropBatches", Run: dropBatches},
	{Name: "DropProducers", Run: dropProducers},
	{Name: "SeesItsOwnWrites", Run: seesItsOwnWrites},
	{Name: "RollbackLeavesNothing", Run: rollbackLeavesNothing},
	{Name: "SurvivesReopening", Run: survivesReopening},
	{Name: "CancelledContext", Run: cancelledContext},
	{Name: "TalliesTogether", Run: talliesTogether},
	{Name: "NobodyElseChangesSpans", Run: nobodyElseChangesBuckets},
	{Name: "NobodyElseChangesFirstSpans", Run: nobodyElseChangesFirstBuckets},
	{Name: "RaisingWaits", Run: raisingWaits},
	{Name: "NobodyElseIsAnsweredAboutBatches", Run: nobodyElseIsAnsweredAboutBatches},
	{Name: "NobodyElseIsAnsweredAboutProducers", Run: nobodyElseIsAnsweredAboutProducers},
	{Name: "AgreesWithModel", Run: agreesWithModel},
}

func update(t tester, c Cell, fn func(context.Context, counter.Store) error) {
	t.Helper()
	conformance.Update(t, c.Update, fn)
}

// ask returns the result of fn in a View.
func ask[T any](t tester, c Cell, fn func(context.Context, counter.Store) (T, error)) T {
	t.Helper()
	return conformance.Ask(t, c.View, fn)
}

func change[T any](t tester, c Cell, fn func(context.Context, counter.Store) (T, error)) T {
	t.Helper()
	return conformance.Ask(t, c.Update, fn)
}

func putMetrics(t tester, c Cell, metrics ...counter.Meta) {
	t.Helper()
	update(t, c, func(ctx context.Context, s counter.Store) error { return s.PutMetrics(ctx, metrics) })
}

func metrics(t tester, c Cell, ids ...counter.ID) []counter.Meta {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s counter.Store) ([]counter.Meta, error) { return s.Metrics(ctx, ids) })
}

// tally adds tallies and returns the days created, sorted.
func tally(t tester, c Cell, tallies ...counter.Tally) []counter.BucketKey {
	t.Helper()
	return change(t, c, func(ctx context.Context, s counter.Store) ([]counter.BucketKey, error) {
		made, err := s.AddTallies(ctx, tallies)
		return slices.Sorted(slices.Values(made)), err
	})
}

func putBuckets(t tester, c Cell, table counter.Table, buckets ...counter.Bucket) {
	t.Helper()
	update(t, c, func(ctx context.Context, s counter.Store) error { return s.PutBuckets(ctx, table, buckets) })
}

func buckets(t tester, c Cell, table counter.Table, keys ...counter.BucketKey) [][]int64 {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s counter.Store) ([][]int64, error) { return s.Buckets(ctx, table, keys) })
}

func first(t tester, c Cell, table counter.Table, below counter.BucketKey, limit int) []counter.Bucket {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s counter.Store) ([]counter.Bucket, error) {
		return s.FirstBuckets(ctx, table, below, limit)
	})
}

func putCompacted(t tester, c Cell, days ...counter.CompactedDay) {
	t.Helper()
	update(t, c, func(ctx context.Context, s counter.Store) error { return s.PutCompactedDays(ctx, days) })
}

func compacted(t tester, c Cell, keys ...counter.BucketKey) []counter.CompactedDay {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s counter.Store) ([]counter.CompactedDay, error) {
		return s.CompactedDays(ctx, keys)
	})
}

// everything is more than any case writes.
const everything = 1 << 20

// differ returns the difference. A nil list equals an empty one.
func differ(got, want any) string {
	return conformance.Diff(want, got, cmpopts.EquateEmpty(), whole(bytes.Equal), whole(slices.Equal[[]int64]))
}

// whole compares long lists as one value, unless both are empty.
func whole[T any](equal func(a, b []T) bool) gocmp.Option {
	return gocmp.FilterValues(func(a, b []T) bool { return len(a)+len(b) > 0 }, gocmp.Comparer(equal))
}

func same[T any](t tester, what string, got, want T) {
	t.Helper()
	if diff := differ(got, want); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}
