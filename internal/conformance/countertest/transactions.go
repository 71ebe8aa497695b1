// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/countertest/model"
)

// The keys, producers and metrics used by everyWrite and the model's calls.
var (
	someKeys      = []counter.Key{"k0", "k1", "k2", "k3"}
	someProducers = []counter.Producer{{}, {1}, {2}, {3}}
	someIDs       = []counter.ID{1, 2, 3, 4}
)

// state is the whole content of a cell, for the keys above and everything else.
type state struct {
	Metrics            []counter.Meta
	Count              int
	Buckets            [4][]counter.Bucket
	Compacted          [3][]counter.CompactedDay
	Top                []counter.Ranked
	DedupHorizon       int64
	Batches, Producers []counter.DedupRecord
}

func stateOf(ctx context.Context, s counter.Store) (st state, err error) {
	var errs [13]error
	st.Metrics, errs[0] = s.ListMetrics(ctx, "", "", everything)
	st.Count, errs[1] = s.CountMetrics(ctx)
	for i, table := range counter.Tables {
		st.Buckets[i], errs[2+i] = s.FirstBuckets(ctx, table, math.MaxInt64, everything)
	}
	for detail := range st.Compacted {
		st.Compacted[detail], errs[6+detail] = s.DetailedDays(ctx, counter.Detail(detail), math.MinInt64,
			math.MaxInt64, everything)
	}
	st.Top, errs[9] = s.TopMetrics(ctx, day, "", counter.MaxTop)
	st.DedupHorizon, errs[10] = s.DedupHorizon(ctx)
	st.Batches, errs[11] = s.Batches(ctx, someKeys)
	st.Producers, errs[12] = s.Producers(ctx, someProducers)
	return st, errors.Join(errs[:]...)
}

// everyWrite calls every write method, with n from 1.
func everyWrite(ctx context.Context, s counter.Store, n int64) error {
	_, err := s.AddTallies(ctx, []counter.Tally{{ID: 1, Minute: noon, N: n}, {ID: counter.ID(n), Minute: noon + 1, N: n}})
	err = errors.Join(err, s.PutMetrics(ctx, []counter.Meta{{ID: counter.ID(n), Name: counter.Metric(fmt.Sprint("m", n)), First: n}, {ID: 100, Name: "first", First: -n}}))
	for _, table := range counter.Tables {
		_, err2 := s.PrepareBuckets(ctx, table, []counter.BucketKey{counter.BucketKey(1000 + n)})
		err = errors.Join(err, err2, s.PutBuckets(ctx, table, []counter.Bucket{bucket(table, 1, n)}),
			s.DeleteBuckets(ctx, table, []counter.BucketKey{counter.BucketKey(999 + n)}))
	}
	of := dedup(n)
	of.Seq = uint64(n)
	_, err3 := s.DropBatches(ctx, n, everything)
	_, err4 := s.DropProducers(ctx, n, everything)
	return errors.Join(err, err3, err4, s.RaiseDedupHorizon(ctx, n),
		s.PutCompactedDays(ctx, []counter.CompactedDay{{
			Key: counter.NewBucketKey(day, 1), N: n, Detail: counter.Minutes, Body: []byte{byte(n)},
		}}),
		s.PutBatches(ctx, []counter.KeyedBatch{{Key: someKeys[n%4], DedupRecord: dedup(n)}}),
		s.PutProducers(ctx, []counter.ProducedBatch{{Producer: someProducers[n%4], DedupRecord: of}}))
}

// prepare stores data for everyWrite to change.
func prepare(t tester, c Cell) state {
	t.Helper()
	update(t, c, func(ctx context.Context, s counter.Store) error {
		return errors.Join(everyWrite(ctx, s, 1), everyWrite(ctx, s, 2))
	})
	return ask(t, c, stateOf)
}

func seesItsOwnWrites(t tester, c Cell) {
	update(t, c, func(ctx context.Context, s counter.Store) error {
		m := model.New()
		for n := int64(1); n < 6; n++ {
			if err := errors.Join(everyWrite(ctx, s, n), everyWrite(ctx, m, n)); err != nil {
				return err
			}
			got, err := stateOf(ctx, s)
			want, _ := stateOf(ctx, m)
			if diff := differ(got, want); err != nil || diff != "" {
				return fmt.Errorf("write %d, read in its transaction: %w (-want +got):\n%s", n, err, diff)
			}
			key := counter.NewBucketKey(day, counter.ID(n))
			days, err := s.Buckets(ctx, counter.Days, []counter.BucketKey{key})
			if err != nil || len(days) != 1 || len(days[0]) != counter.Days.Width() ||
				differ(days[0], m.Tables[counter.Days][key]) != "" {
				return fmt.Errorf("write %d, buckets read in its transaction: %d, %w", n, days, err)
			}
			list, err := s.Metrics(ctx, []counter.ID{counter.ID(n), 100})
			if err != nil || list[0].First != n || list[1].First != -n {
				return fmt.Errorf("write %d, metrics read in its transaction: %+v, %w", n, list, err)
			}
			compacted, err := s.CompactedDays(ctx, []counter.BucketKey{counter.NewBucketKey(day, 1)})
			if err != nil || compacted[0].N != n {
				return fmt.Errorf("write %d, compacted days read in its transaction: %+v, %w", n, compacted, err)
			}
		}
		return nil
	})
}

func rollbackLeavesNothing(t tester, c Cell) {
	before := prepare(t, c)
	conformance.Ends(t, c.Update, true, func(ctx context.Context, s counter.Store) error { return everyWrite(ctx, s, 3) })
	same(t, "what there is after a rollback", ask(t, c, stateOf), before)
}

func survivesReopening(t tester, c Cell) {
	before := prepare(t, c)
	conformance.Reopen(t, c.Reopen)
	same(t, "what there is after reopening", ask(t, c, stateOf), before)
}

func cancelledContext(t tester, c Cell) {
	before := prepare(t, c)
	conformance.Cancelled(t, c.Update, func(ctx context.Context, s counter.Store) error {
		return everyWrite(ctx, s, 3)
	}, func(ctx context.Context, s counter.Store) error {
		_, err := s.AddTallies(ctx, []counter.Tally{{ID: 1, Minute: noon, N: 1}})
		return err
	})
	same(t, "what there is after a cancelled update", ask(t, c, stateOf), before)
}

// together runs 8 times 5 updates concurrently, and fails if one of them fails.
func together(t tester, c Cell, do func(ctx context.Context, s counter.Store, who, i int) error) {
	t.Helper()
	conformance.Together(t, c.Update, 5, do)
}
