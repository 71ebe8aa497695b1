// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/countertest/model"
)

// talliesAdd compares every bucket with the model after each batch.
func talliesAdd(t tester, c Cell) {
	const midnight = noon - 720
	m := model.New()
	for i, tallies := range [][]counter.Tally{
		{{ID: 1, Minute: noon, N: 3}},
		{{ID: 1, Minute: noon, N: 4}},
		// Minutes of one hour and of one quarter, out of order.
		{{ID: 1, Minute: noon + 59, N: 1}, {ID: 1, Minute: noon + 14, N: 1 << 40}, {ID: 1, Minute: noon, N: counter.MaxN},
			{ID: 1, Minute: noon + 15, N: 1}},
		// Both sides of midnight, and the edges of an hour, with very different IDs.
		{
			{ID: counter.MaxID, Minute: midnight, N: 2},
			{ID: 7, Minute: midnight - 1, N: 3},
			{ID: 1, Minute: midnight + 1439, N: 5},
			{ID: 7, Minute: midnight, N: 7},
			{ID: 7, Minute: midnight + 1440, N: 11},
			{ID: 1, Minute: midnight + 59, N: 13},
			{ID: 1, Minute: midnight + 60, N: 17},
			{ID: counter.MaxID, Minute: midnight - 1, N: 19},
		},
		{{ID: 2, Minute: 0, N: 1}, {ID: 2, Minute: 1439, N: 1}},
	} {
		want, _ := m.AddTallies(context.Background(), tallies)
		slices.Sort(want)
		same(t, fmt.Sprintf("days that batch %d made", i), tally(t, c, tallies...), want)
		sameBuckets(t, c, m)
	}
	// A prepared day is not reported as created, and an existing day may lack its hour.
	hour, today := counter.NewBucketKey(noon.Hour(), 9), counter.NewBucketKey(day, 9)
	prepare := func(ctx context.Context, s counter.Store) error {
		_, err := s.PrepareBuckets(ctx, counter.Days, []counter.BucketKey{today, counter.NewBucketKey(day, 10)})
		_, err2 := s.PrepareBuckets(ctx, counter.Hours, []counter.BucketKey{hour})
		return errors.Join(err, err2)
	}
	update(t, c, prepare)
	_ = prepare(context.Background(), m)
	tallies := []counter.Tally{{ID: 9, Minute: noon, N: 1}, {ID: 10, Minute: noon, N: 1}, {ID: 11, Minute: noon, N: 1}}
	_, _ = m.AddTallies(context.Background(), tallies)
	same(t, "days made beside those that were prepared", tally(t, c, tallies...),
		[]counter.BucketKey{counter.NewBucketKey(day, 11)})
	sameBuckets(t, c, m)
}

func sameBuckets(t tester, c Cell, m *model.Cell) {
	t.Helper()
	for _, table := range counter.Tables {
		want, _ := m.FirstBuckets(context.Background(), table, math.MaxInt64, everything)
		same(t, fmt.Sprintf("buckets of table %d", table), first(t, c, table, math.MaxInt64, everything), want)
	}
}

func talliesOfManyMetrics(t tester, c Cell) {
	m, many := model.New(), c.many()
	for round := range 2 {
		var tallies []counter.Tally
		for i := range many - many*9/11*round {
			tallies = append(tallies, counter.Tally{ID: counter.ID(1 + i*7%many), Minute: noon + counter.Minute(round),
				N: int64(i + 1)})
		}
		want, _ := m.AddTallies(context.Background(), tallies)
		slices.Sort(want)
		same(t, "days made", tally(t, c, tallies...), want)
	}
	sameBuckets(t, c, m)
}

// talliesOverflow adds the maximum, and then one too many in a minute, or only in a day.
func talliesOverflow(t tester, c Cell) {
	const half = math.MaxInt64/2 + 1
	tally(t, c, counter.Tally{ID: 1, Minute: noon, N: math.MaxInt64 - 5}, counter.Tally{ID: 2, Minute: noon, N: half})
	tally(t, c, counter.Tally{ID: 1, Minute: noon, N: 5}, counter.Tally{ID: 2, Minute: noon + 60, N: half - 1},
		counter.Tally{ID: 3, Minute: noon, N: 1})
	before := ask(t, c, stateOf)
	for what, over := range map[string]counter.Tally{
		"a minute": {ID: 1, Minute: noon, N: 1}, "a day": {ID: 2, Minute: noon - 60, N: 1},
		"a day by much": {ID: 3, Minute: noon - 60, N: math.MaxInt64},
	} {
		err := c.Update(context.Background(), func(s counter.Store) error {
			_, err := s.AddTallies(context.Background(),
				[]counter.Tally{{ID: 1, Minute: noon - 1440, N: 1}, over, {ID: 9, Minute: noon, N: 1}})
			return err
		})
		if !errors.Is(err, counter.ErrOverflow) {
			t.Fatalf("a tally that exceeds %s: %v, want ErrOverflow", what, err)
		}
		same(t, "what there is after an overflow was rolled back", ask(t, c, stateOf), before)
	}
	total := buckets(t, c, counter.Days, counter.NewBucketKey(day, 1), counter.NewBucketKey(day, 2))
	same(t, "totals", []int64{total[0][counter.DayTotal], total[1][counter.DayTotal]},
		[]int64{math.MaxInt64, math.MaxInt64})
}

// bucket returns values that differ in every index, table and key, and in sign.
func bucket(table counter.Table, key counter.BucketKey, n int64) counter.Bucket {
	values := make([]int64, table.Width())
	for i := range values {
		values[i] = n*int64(i+1)*(1<<33+int64(table)) - int64(i%2)*math.MaxInt64
	}
	values[0], values[len(values)-1] = math.MinInt64+n, math.MaxInt64-n
	return counter.Bucket{Key: key, Values: values}
}

func bucketsComeBackWhole(t tester, c Cell) {
	keys := []counter.BucketKey{math.MinInt64, -1, 0, 1, 2, 1<<40 - 1, 1 << 40, 1<<53 + 1,
		counter.NewBucketKey(noon.Hour(), counter.MaxID), math.MaxInt64}
	want := map[counter.Table][][]int64{}
	for n, table := range counter.Tables {
		for again := range int64(2) { // the second time it replaces the first value
			var put []counter.Bucket
			want[table] = nil
			for i, key := range keys {
				of := bucket(table, key, int64(n+i*10)+again)
				put, want[table] = append(put, of), append(want[table], of.Values)
			}
			slices.Reverse(put)
			putBuckets(t, c, table, put...)
		}
	}
	for _, table := range counter.Tables {
		same(t, fmt.Sprintf("buckets of table %d", table), buckets(t, c, table, keys...), want[table])
	}
}

func bucketsInTheOrderAsked(t tester, c Cell) {
	for _, table := range counter.Tables {
		a, b := bucket(table, 2, 1), bucket(table, 10, 2)
		putBuckets(t, c, table, a, b)
		same(t, "buckets, some twice and some not there", buckets(t, c, table, 10, 7, 2, 10, 1<<40|2, 2),
			[][]int64{b.Values, nil, a.Values, b.Values, nil, a.Values})
	}
	many := make([]counter.BucketKey, 1500)
	for i := range many {
		many[i] = counter.BucketKey(1500 - i)
	}
	got := buckets(t, c, counter.Days, many...)
	same(t, "buckets among many that are not there", [][]int64{got[1498], got[1490], got[1489]},
		[][]int64{bucket(counter.Days, 2, 1).Values, bucket(counter.Days, 10, 2).Values, nil})
}

func preparingChangesNothing(t tester, c Cell) {
	for _, table := range counter.Tables {
		there := bucket(table, 5, 1)
		putBuckets(t, c, table, there)
		for _, want := range [][]counter.BucketKey{{3, 1 << 50}, nil} {
			made := change(t, c, func(ctx context.Context, s counter.Store) ([]counter.BucketKey, error) {
				made, err := s.PrepareBuckets(ctx, table, []counter.BucketKey{1 << 50, 5, 3})
				return slices.Sorted(slices.Values(made)), err
			})
			same(t, "buckets made", made, want)
		}
		zeros := make([]int64, table.Width())
		same(t, "buckets prepared", buckets(t, c, table, 3, 5, 1<<50), [][]int64{zeros, there.Values, zeros})
		same(t, "all buckets", first(t, c, table, math.MaxInt64, everything),
			[]counter.Bucket{{Key: 3, Values: zeros}, there, {Key: 1 << 50, Values: zeros}})
	}
}

func deletedBuckets(t tester, c Cell) {
	for _, table := range counter.Tables {
		putBuckets(t, c, table, bucket(table, 1, 1), bucket(table, 2, 2), bucket(table, 3, 3), bucket(table, 1<<40|1, 4))
	}
	for i, table := range counter.Tables {
		for range 2 {
			update(t, c, func(ctx context.Context, s counter.Store) error {
				return s.DeleteBuckets(ctx, table, []counter.BucketKey{3, 7, 1})
			})
		}
		for j, other := range counter.Tables {
			want := []counter.Bucket{bucket(other, 1, 1), bucket(other, 2, 2), bucket(other, 3, 3), bucket(other, 1<<40|1, 4)}
			if j <= i {
				want = []counter.Bucket{want[1], want[3]}
			}
			same(t, fmt.Sprintf("buckets of table %d after those of %d were deleted", other, table),
				first(t, c, other, math.MaxInt64, everything), want)
		}
	}
}

// firstBuckets has keys whose text is in another order.
func firstBuckets(t tester, c Cell) {
	keys := []counter.BucketKey{math.MinInt64, -10, -9, -1, 0, 9, 10, 99, 100, 1 << 40, counter.NewBucketKey(2, 1),
		counter.NewBucketKey(10, 1), math.MaxInt64}
	for _, table := range counter.Tables {
		m := model.New()
		var put []counter.Bucket
		for i := range keys {
			put = append(put, bucket(table, keys[i*5%len(keys)], int64(i)))
		}
		putBuckets(t, c, table, put...)
		_ = m.PutBuckets(context.Background(), table, put)
		conformance.Update(t, c.View, func(ctx context.Context, s counter.Store) error {
			for i, below := range append(slices.Clone(keys), 50) {
				limit := []int{1, 3, everything}[(i+int(table))%3] // each with each in at least one table
				want, _ := m.FirstBuckets(ctx, table, below, limit)
				got, err := s.FirstBuckets(ctx, table, below, limit)
				if diff := differ(got, want); err != nil || diff != "" {
					return fmt.Errorf("the first %d buckets of table %d below %d: %w (-want +got):\n%s", limit, table, below,
						err, diff)
				}
			}
			return nil
		})
	}
}

func closedDaysComeBackWhole(t tester, c Cell) {
	want := []counter.CompactedDay{
		{Key: counter.NewBucketKey(day, 1), N: math.MaxInt64, Detail: counter.Minutes, Body: []byte("\x00\xff'\"\\\xfe\x80")},
		{Key: counter.NewBucketKey(day, 10), N: 1<<53 + 1, Detail: counter.Quarters,
			Body: []byte(strings.Repeat("\x00\x01", 1<<12))},
		{Key: math.MaxInt64, N: 1, Detail: counter.NoDetail},
		{Key: -1, N: 0, Detail: counter.Minutes, Body: []byte{0}},
	}
	keys := []counter.BucketKey{want[0].Key, want[1].Key, want[2].Key, want[3].Key}
	putCompacted(t, c, want...)
	same(t, "compacted days", compacted(t, c, keys...), want)
	same(t, "compacted days, some twice and some not there", compacted(t, c, -1, 5, keys[0], -1),
		[]counter.CompactedDay{want[3], {}, want[0], want[3]})
	want[0] = counter.CompactedDay{Key: keys[0], N: 3, Detail: counter.NoDetail}
	want[2] = counter.CompactedDay{Key: keys[2], N: 4, Detail: counter.Minutes, Body: []byte("b")}
	putCompacted(t, c, want[2], want[0])
	same(t, "compacted days put again", compacted(t, c, keys...), want)
}

func detailedDays(t tester, c Cell) {
	m := model.New()
	var put []counter.CompactedDay
	for i := range 30 {
		put = append(put, counter.CompactedDay{
			Key: counter.NewBucketKey(int64(9+i/3%5), counter.ID(1+i*7%30)), N: int64(i), Detail: counter.Detail(i % 3),
			Body: []byte(fmt.Sprint(i)),
		})
	}
	putCompacted(t, c, put...)
	_ = m.PutCompactedDays(context.Background(), put)
	ends := []counter.BucketKey{math.MinInt64, put[4].Key, counter.NewBucketKey(10, 8), counter.NewBucketKey(12, 0),
		math.MaxInt64}
	conformance.Update(t, c.View, func(ctx context.Context, s counter.Store) error {
		for _, detail := range []counter.Detail{counter.NoDetail, counter.Quarters, counter.Minutes} {
			for _, from := range ends {
				for _, below := range ends {
					for _, limit := range []int{2, everything} {
						want, _ := m.DetailedDays(ctx, detail, from, below, limit)
						got, err := s.DetailedDays(ctx, detail, from, below, limit)
						if diff := differ(got, want); err != nil || diff != "" {
							return fmt.Errorf("%d days of detail %d from %d below %d: %w (-want +got):\n%s", limit, detail, from, below,
								err, diff)
						}
					}
				}
			}
		}
		return nil
	})
}
