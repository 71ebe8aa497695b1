// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/countertest/model"
)

type step struct {
	call    string
	n       int64
	limit   int
	table   counter.Table
	tallies []counter.Tally
	keys    []counter.BucketKey
	days    []counter.BucketKey
	prefix  counter.Metric
	after   counter.Metric
}

var (
	drawID    = rapid.SampledFrom(someIDs)
	drawTally = rapid.Custom(func(t *rapid.T) counter.Tally {
		minute := rapid.SampledFrom([]counter.Minute{noon - 720, noon - 1, noon, noon + 14, noon + 15, noon + 719,
			noon + 720}).Draw(t, "minute")
		return counter.Tally{ID: drawID.Draw(t, "id"), Minute: minute,
			N: rapid.SampledFrom([]int64{1, 2, 3, 5, 7, 11, 1 << 61}).Draw(t, "n")}
	})
	drawDay = rapid.Custom(func(t *rapid.T) counter.BucketKey {
		return counter.NewBucketKey(rapid.Int64Range(day, day+1).Draw(t, "day"), drawID.Draw(t, "id"))
	})
	drawKey = rapid.Custom(func(t *rapid.T) counter.BucketKey {
		return counter.NewBucketKey(rapid.SampledFrom([]int64{day, day + 1, noon.Hour() - 1, noon.Hour(), noon.Hour() + 12}).Draw(t, "unit"), drawID.Draw(t, "id"))
	})
	drawName = rapid.SampledFrom([]counter.Metric{"", "a", "a.", "a.b", "b", "z"})

	calls = []string{
		"tallies", "tallies", "put buckets", "buckets", "prepare", "delete", "first", "put closed", "closed", "detailed",
		"top", "top", "metrics",
		"put metrics", "list", "floor", "put batches", "batches", "drop batches", "put producers", "producers",
		"drop producers",
	}
	drawStep = rapid.Custom(func(t *rapid.T) step {
		return step{
			call: rapid.SampledFrom(calls).Draw(t, "call"), n: rapid.Int64Range(1, 9).Draw(t, "n"),
			limit:   rapid.IntRange(1, 6).Draw(t, "limit"),
			table:   rapid.SampledFrom(counter.Tables).Draw(t, "table"),
			tallies: rapid.SliceOfNDistinct(drawTally, 0, 6, func(a counter.Tally) [2]int64 { return [2]int64{int64(a.ID), int64(a.Minute)} }).Draw(t, "tallies"),
			keys:    rapid.SliceOfNDistinct(drawKey, 0, 4, rapid.ID[counter.BucketKey]).Draw(t, "keys"),
			days:    rapid.SliceOfNDistinct(drawDay, 1, 4, rapid.ID[counter.BucketKey]).Draw(t, "days"),
			prefix:  drawName.Draw(t, "prefix"), after: drawName.Draw(t, "after"),
		}
	})
)

func init() { conformance.Share(drawID, drawTally, drawDay, drawKey, drawName, drawStep) }

func (do step) answer(ctx context.Context, s counter.Store) (any, error) {
	keys, ids := someKeys[:1+do.limit%4], someProducers[:1+do.limit%4]
	switch do.call {
	case "tallies":
		made, err := s.AddTallies(ctx, do.tallies)
		return slices.Sorted(slices.Values(made)), err
	case "put buckets":
		var put []counter.Bucket
		for _, key := range do.keys {
			put = append(put, bucket(counter.GaugeQuarters+do.table%2, key, do.n)) // gauges may have any values
		}
		return nil, s.PutBuckets(ctx, counter.GaugeQuarters+do.table%2, put)
	case "buckets":
		return s.Buckets(ctx, do.table, append(do.days, do.keys...))
	case "prepare":
		made, err := s.PrepareBuckets(ctx, do.table, do.keys)
		return slices.Sorted(slices.Values(made)), err
	case "delete":
		if do.table == counter.Days {
			return nil, deleteDays(ctx, s, do.days)
		}
		return nil, s.DeleteBuckets(ctx, do.table, do.keys)
	case "first":
		return s.FirstBuckets(ctx, do.table, do.days[0], do.limit)
	case "put closed":
		var put []counter.CompactedDay
		for _, key := range do.days {
			put = append(put, counter.CompactedDay{Key: key, N: do.n, Detail: counter.Detail(do.n % 3),
				Body: []byte{byte(do.n)}})
		}
		return nil, s.PutCompactedDays(ctx, put)
	case "closed":
		return s.CompactedDays(ctx, do.days)
	case "detailed":
		below := slices.Max(do.days)
		if do.limit%2 == 0 {
			below = math.MaxInt64
		}
		return s.DetailedDays(ctx, counter.Detail(do.n%3), slices.Min(do.days), below, do.limit)
	case "top":
		return s.TopMetrics(ctx, do.days[0].Unit(), do.prefix, do.limit)
	case "metrics":
		return s.Metrics(ctx, []counter.ID{do.days[0].ID(), counter.ID(do.n), 1})
	case "put metrics":
		return nil, s.PutMetrics(ctx, []counter.Meta{{ID: do.days[0].ID(), Name: do.prefix + "x", First: 30 - do.n}})
	case "list":
		list, err := s.ListMetrics(ctx, do.prefix, do.after, do.limit)
		n, err2 := s.CountMetrics(ctx)
		return append(list, counter.Meta{First: int64(n)}), errors.Join(err, err2)
	case "floor":
		err := s.RaiseDedupHorizon(ctx, do.n)
		horizon, err2 := s.DedupHorizon(ctx)
		return horizon, errors.Join(err, err2)
	case "put batches":
		return nil, s.PutBatches(ctx, []counter.KeyedBatch{{Key: keys[len(keys)-1], DedupRecord: dedup(do.n)}})
	case "batches":
		return s.Batches(ctx, keys)
	case "drop batches": // all or nothing, since the store chooses which ones go
		return s.DropBatches(ctx, do.n, everything)
	case "put producers":
		return nil, s.PutProducers(ctx, []counter.ProducedBatch{{Producer: ids[len(ids)-1], DedupRecord: dedup(do.n)}})
	case "producers":
		return s.Producers(ctx, ids)
	case "drop producers":
		return s.DropProducers(ctx, do.n, everything)
	}
	return nil, fmt.Errorf("no call %q", do.call)
}

// deleteDays deletes buckets of Days together with their hours.
func deleteDays(ctx context.Context, s counter.Store, days []counter.BucketKey) error {
	var hours []counter.BucketKey
	for _, key := range days {
		for hour := range int64(24) {
			hours = append(hours, counter.NewBucketKey(key.Unit()*24+hour, key.ID()))
		}
	}
	return errors.Join(s.DeleteBuckets(ctx, counter.Hours, hours), s.DeleteBuckets(ctx, counter.Days, days))
}

// compare makes a call on both and compares the results. It reports whether the transaction must roll back.
func (do step) compare(ctx context.Context, m *model.Cell, s counter.Store) (overflow bool, _ error) {
	want, wantErr := do.answer(ctx, m)
	got, err := do.answer(ctx, s)
	if errors.Is(wantErr, counter.ErrOverflow) && errors.Is(err, counter.ErrOverflow) {
		return true, nil
	}
	if err != nil || wantErr != nil {
		return false, fmt.Errorf("%s: %w, want %w", do.call, err, wantErr)
	}
	if diff := differ(got, want); diff != "" {
		return false, fmt.Errorf("%s (-want +got):\n%s", do.call, diff)
	}
	return false, nil
}

// agreesWithModel draws transactions, some of which roll back.
func agreesWithModel(t tester, c Cell) {
	committed := model.New()
	seed := func(ctx context.Context, s counter.Store) error {
		return s.PutMetrics(ctx, []counter.Meta{{ID: 1, Name: "b"}, {ID: 2, Name: "a.b", First: 100},
			{ID: 3, Name: "a", First: 25}, {ID: 4, Name: "a.", First: 26}})
	}
	_ = seed(context.Background(), committed)
	update(t, c, seed)
	conformance.Check(t, c.Runs, func(t *rapid.T) {
		for range rapid.IntRange(1, 3).Draw(t, "transactions") {
			steps := rapid.SliceOfN(drawStep, 1, 6).Draw(t, "steps")
			rollback, m := rapid.Bool().Draw(t, "rollback"), committed
			dry := committed.Clone()
			for _, do := range steps {
				_, err := do.answer(context.Background(), dry)
				rollback = rollback || err != nil
			}
			conformance.Ends(t, c.Update, rollback, func(ctx context.Context, s counter.Store) error {
				m = committed.Clone()
				for i, do := range steps {
					overflow, err := do.compare(ctx, m, s)
					if err != nil {
						return fmt.Errorf("call %d: %w", i, err)
					}
					if overflow {
						break
					}
				}
				return nil
			})
			if !rollback {
				committed = m
			}
		}
		want, _ := stateOf(context.Background(), committed)
		same(t, "what there is in the end", ask(t, c, stateOf), want)
	})
}
