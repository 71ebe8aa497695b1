// SPDX-License-Identifier: Apache-2.0

package perdocumenttest

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/countertest/model"
	"github.com/locus-db/locus/internal/perdocument"
)

// disturbed runs do twice in each of 8 writers, and once more in the middle of each run, so that each run
// conflicts with another writer: 32 runs in all.
func disturbed(t tester, c Cell, do func(ctx context.Context, s perdocument.Store) error) {
	t.Helper()
	var mu sync.Mutex
	met := map[[2]int]bool{}
	together(t, c, func(ctx context.Context, s perdocument.Store, who, i int) error {
		if i >= 2 {
			return nil
		}
		if err := do(ctx, s); err != nil {
			return err
		}
		mu.Lock()
		first := !met[[2]int{who, i}]
		met[[2]int{who, i}] = true
		mu.Unlock()
		if !first {
			return nil
		}
		return c.Update(ctx, func(s perdocument.Store) error { return do(ctx, s) })
	})
}

// talliesOfADayTogether creates the same days concurrently. Each is created once.
func talliesOfADayTogether(t tester, c Cell) {
	var mu sync.Mutex
	made, met := map[[2]int][]counter.BucketKey{}, map[[2]int]bool{}
	add := func(ctx context.Context, s counter.Store, i int) ([]counter.BucketKey, error) {
		at := noon + counter.Minute(i*1440)
		return s.AddTallies(ctx, []counter.Tally{{ID: 1, Minute: at, N: 1}, {ID: 1, Minute: at + 1, N: 1},
			{ID: 1, Minute: at + 60, N: 1}})
	}
	together(t, c, func(ctx context.Context, s perdocument.Store, who, i int) error {
		keys, err := add(ctx, s, i)
		mu.Lock()
		first := !met[[2]int{who, i}]
		met[[2]int{who, i}], made[[2]int{who, i}] = true, keys
		mu.Unlock()
		if err != nil || !first {
			return err
		}
		var inner []counter.BucketKey
		err = c.Update(ctx, func(s perdocument.Store) (err error) {
			inner, err = add(ctx, s, i)
			return err
		})
		mu.Lock()
		made[[2]int{-1 - who, i}] = inner
		mu.Unlock()
		return err
	})
	var got, want []counter.BucketKey
	for _, keys := range made {
		got = append(got, keys...)
	}
	m := model.New()
	for i := range 5 {
		want = append(want, counter.NewBucketKey(int64(day+i), 1))
		for range 2 * conformance.Writers {
			_, _ = add(context.Background(), m, i)
		}
	}
	slices.Sort(got)
	same(t, "days made by all", got, want)
	for _, table := range counter.Tables {
		const everything = 1 << 20
		want, _ := m.FirstBuckets(context.Background(), table, math.MaxInt64, everything)
		is := ask(t, c, func(ctx context.Context, s perdocument.Store) ([]counter.Bucket, error) {
			return s.FirstBuckets(ctx, table, math.MaxInt64, everything)
		})
		same(t, "the buckets of a table", is, want)
	}
}

// talliesDoNotConflict counts in an existing day in the middle of an update that does the same.
func talliesDoNotConflict(t tester, c Cell) {
	update(t, c, count)
	add := func(ctx context.Context, s perdocument.Store) error { return addTallies(ctx, s, 1) }
	if runs, err := between(c, add, add); err != nil || runs != 1 {
		t.Fatalf("an update that adds to a day ran %d times, because somebody else did: %v", runs, err)
	}
	same(t, "the day", total(t, c, 1), 3)
}

// whatWasReadIsCompared writes back values that it has read while another update counts in between.
func whatWasReadIsCompared(t tester, c Cell) {
	update(t, c, count)
	begunAnew(t, c, func(ctx context.Context, s perdocument.Store) error {
		for table, key := range map[counter.Table]counter.BucketKey{counter.Days: theDay(1), counter.Hours: counter.NewBucketKey(noon.Hour(), 1)} {
			values, err := s.Buckets(ctx, table, []counter.BucketKey{key})
			if err != nil {
				return err
			}
			values[0][table.Width()-1] += 10
			if err := s.PutBuckets(ctx, table, []counter.Bucket{{Key: key, Values: values[0]}}); err != nil {
				return err
			}
		}
		return nil
	}, func(ctx context.Context, s perdocument.Store) error { return addTallies(ctx, s, 1) })
	days, hours := buckets(t, c, counter.Days, theDay(1))[0], buckets(t, c, counter.Hours,
		counter.NewBucketKey(noon.Hour(), 1))[0]
	same(t, "what was counted, and what was put", []int64{days[counter.DayTotal], hours[0], days[len(days)-1], hours[59]},
		[]int64{2, 2, 10, 10})
}

// nobodyElseChangesADay increments values that it has read, in all tables concurrently.
func nobodyElseChangesADay(t tester, c Cell) {
	keys := map[counter.Table]counter.BucketKey{
		counter.Days: theDay(1), counter.Hours: counter.NewBucketKey(noon.Hour(), 1),
		counter.GaugeDays: theDay(1), counter.GaugeQuarters: counter.NewBucketKey(noon.QuarterOf(), 1),
	}
	disturbed(t, c, func(ctx context.Context, s perdocument.Store) error {
		for _, table := range counter.Tables {
			values, err := s.Buckets(ctx, table, []counter.BucketKey{keys[table]})
			if err != nil {
				return err
			}
			if values[0] == nil {
				values[0] = make([]int64, table.Width())
			}
			values[0][table.Width()-1]++
			if err := s.PutBuckets(ctx, table, []counter.Bucket{{Key: keys[table], Values: values[0]}}); err != nil {
				return err
			}
		}
		return nil
	})
	for _, table := range counter.Tables {
		if n := buckets(t, c, table, keys[table])[0][table.Width()-1]; n != 32 {
			t.Fatalf("32 updates that each add one to what they read made %d in table %d", n, table)
		}
	}
}

// nobodyElsePacksADay compacts a day while others count in it. The sum stays the same.
func nobodyElsePacksADay(t tester, c Cell) {
	add := func(ctx context.Context, s perdocument.Store) error { return addTallies(ctx, s, 1) }
	update(t, c, add)
	begunAnew(t, c, compact, add)
	same(t, "2 hits, one of them counted while the day was packed", total(t, c, 1), 2)
	update(t, c, add)
	if _, err := between(c, add, compact); err != nil {
		t.Fatalf("an update that adds to a day, which is packed meanwhile: %v", err)
	}
	same(t, "2 hits more, one of them counted while the day was packed", total(t, c, 1), 4)
	together(t, c, func(ctx context.Context, s perdocument.Store, who, _ int) error {
		if who%2 == 0 {
			return add(ctx, s)
		}
		return compact(ctx, s)
	})
	update(t, c, compact)
	same(t, "24 hits, after the day was packed", compacted(t, c, theDay(1)).N, 24)
}

// othersAreWritten writes batch records in one of the days of an update concurrently.
func othersAreWritten(t tester, c Cell) {
	fn := func(ctx context.Context, s perdocument.Store) error {
		of := []perdocument.DayBatch{{Day: theDay(2), Key: "k"}, {Day: theDay(1), Key: "k"}, {Day: theDay(3), Key: "k"}}
		if _, err := s.DayBatches(ctx, of); err != nil {
			return err
		}
		var put []perdocument.DayMemory
		for _, b := range of {
			put = append(put, perdocument.DayMemory{DayBatch: b, DedupRecord: dedup(1)})
		}
		return errors.Join(addTallies(ctx, s, 3, 1, 2, 4), s.PutDayBatches(ctx, put))
	}
	runs, err := between(c, fn, func(ctx context.Context, s perdocument.Store) error {
		return errors.Join(addTallies(ctx, s, 2), s.PutDayBatches(ctx, []perdocument.DayMemory{{
			DayBatch: perdocument.DayBatch{Day: theDay(2), Key: "other"}, DedupRecord: dedup(2),
		}}))
	})
	part, some := errors.AsType[*perdocument.PartialWriteError](err)
	if !some || len(part.Days) != 1 || !errors.Is(part.Days[theDay(2)], counter.ErrConflict) || runs != 1 {
		t.Fatalf("an update of four days, one of which another writer wrote, ran %d times: %v, want a PartialWriteError for the second", runs, err)
	}
	same(t, "the days", []int64{total(t, c, 1), total(t, c, 2), total(t, c, 3), total(t, c, 4)}, []int64{1, 1, 1, 1})
	var of []perdocument.DayBatch
	for id := range counter.ID(4) {
		of = append(of, perdocument.DayBatch{Day: theDay(1 + id), Key: "k"})
	}
	same(t, "what the days remember", dayBatches(t, c, of...), []counter.DedupRecord{dedup(1), {}, dedup(1), {}})
}

// aFloorThatRose counts hits that are not below the dedup horizon that it has read.
func aFloorThatRose(t tester, c Cell) {
	var seen []int64
	begunAnew(t, c, func(ctx context.Context, s perdocument.Store) error {
		horizon, err := s.DedupHorizon(ctx)
		seen = append(seen, horizon)
		return errors.Join(err, addTallies(ctx, s, 1))
	}, func(ctx context.Context, s perdocument.Store) error { return s.RaiseDedupHorizon(ctx, 7) })
	same(t, "the floors that it has seen", seen, []int64{0, 7})
	same(t, "the day", total(t, c, 1), 1)
}

// nobodyElseChangesASummary increments the number of a producer's last batch, and of a key's, concurrently.
func nobodyElseChangesASummary(t tester, c Cell) {
	disturbed(t, c, func(ctx context.Context, s perdocument.Store) error {
		last, err := s.Producers(ctx, []counter.Producer{{1}})
		if err != nil {
			return err
		}
		last[0].Print[0], last[0].Seq = 1, last[0].Seq+1
		return s.PutProducers(ctx, []counter.ProducedBatch{{Producer: counter.Producer{1}, DedupRecord: last[0]}})
	})
	disturbed(t, c, func(ctx context.Context, s perdocument.Store) error {
		last, err := s.Batches(ctx, []counter.Key{"k"})
		if err != nil {
			return err
		}
		last[0].Print[0], last[0].Newest = 1, last[0].Newest+1
		return s.PutBatches(ctx, []counter.KeyedBatch{{Key: "k", DedupRecord: last[0]}})
	})
	last := ask(t, c, func(ctx context.Context, s perdocument.Store) ([]counter.DedupRecord, error) {
		return s.Producers(ctx, []counter.Producer{{1}})
	})[0]
	same(t, "the number of the last of 32 batches", last.Seq, 32)
	same(t, "the time of the last of 32 batches", batches(t, c, "k")[0].Newest, 32)
}
