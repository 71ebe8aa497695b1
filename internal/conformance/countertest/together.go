// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/countertest/model"
)

// talliesTogether counts concurrently in existing and in new buckets. Each is created once.
func talliesTogether(t tester, c Cell) {
	m := model.New()
	all := func(who, i int) (tallies []counter.Tally) {
		for id := range counter.ID(4) {
			tallies = append(tallies,
				counter.Tally{ID: 1 + (id+counter.ID(who))%4, Minute: noon + counter.Minute(i*60), N: 1},
				counter.Tally{ID: 1 + (id+counter.ID(who))%4, Minute: noon + counter.Minute(i*1440+who+1), N: int64(who)})
		}
		return tallies
	}
	for who := range 8 {
		for i := range 5 {
			_, _ = m.AddTallies(context.Background(), all(who, i))
		}
	}
	var mu sync.Mutex
	made := map[[2]int][]counter.BucketKey{} // by update, since a backend may retry one
	together(t, c, func(ctx context.Context, s counter.Store, who, i int) error {
		keys, err := s.AddTallies(ctx, all(who, i))
		mu.Lock()
		defer mu.Unlock()
		made[[2]int{who, i}] = keys
		return errors.Join(err, s.PutMetrics(ctx, []counter.Meta{{ID: 1, Name: "a", First: int64(day + (who*5+i)*7%40)}}))
	})
	sameBuckets(t, c, m)
	var got, want []counter.BucketKey
	for _, keys := range made {
		got = append(got, keys...)
	}
	for key := range m.Tables[counter.Days] {
		want = append(want, key)
	}
	slices.Sort(got)
	slices.Sort(want)
	same(t, "days made by all", got, want)
	same(t, "the first day", metrics(t, c, 1), []counter.Meta{{ID: 1, Name: "a", First: day}})
}

// nobodyElseChangesBuckets increments values that it has read. The buckets exist.
func nobodyElseChangesBuckets(t tester, c Cell) {
	keys := []counter.BucketKey{3, 1, 2}
	update(t, c, func(ctx context.Context, s counter.Store) error {
		for _, table := range counter.Tables {
			if _, err := s.PrepareBuckets(ctx, table, keys); err != nil {
				return err
			}
		}
		return nil
	})
	together(t, c, func(ctx context.Context, s counter.Store, who, _ int) error {
		for _, table := range counter.Tables {
			keys := append(slices.Clone(keys[who%3:]), keys[:who%3]...)
			values, err := s.Buckets(ctx, table, keys)
			if err != nil {
				return err
			}
			var put []counter.Bucket
			for i, key := range keys {
				values[i][table.Width()-1]++
				put = append(put, counter.Bucket{Key: key, Values: values[i]})
			}
			if err := s.PutBuckets(ctx, table, put); err != nil {
				return err
			}
		}
		return nil
	})
	for _, table := range counter.Tables {
		for _, values := range buckets(t, c, table, keys...) {
			if n := values[table.Width()-1]; n != 40 {
				t.Fatalf("40 updates that each add one to what they read made %d in table %d", n, table)
			}
		}
	}
}

// nobodyElseChangesFirstBuckets compacts days, which moves counts from one table to the other, while others count.
// The sum stays the same.
func nobodyElseChangesFirstBuckets(t tester, c Cell) {
	keys := make([]counter.BucketKey, 3)
	for i := range keys {
		keys[i] = counter.NewBucketKey(day, counter.ID(i+1))
	}
	together(t, c, func(ctx context.Context, s counter.Store, who, _ int) error {
		if who%2 == 0 {
			_, err := s.AddTallies(ctx, []counter.Tally{{ID: 3, Minute: noon, N: 1}, {ID: 1, Minute: noon + 60, N: 1},
				{ID: 2, Minute: noon, N: 1}})
			return err
		}
		return CompactFirst(ctx, s)
	})
	for range 3 {
		update(t, c, CompactFirst)
	}
	open, packed := buckets(t, c, counter.Days, keys...), compacted(t, c, keys...)
	for i := range keys {
		n := packed[i].N
		if open[i] != nil {
			n += open[i][counter.DayTotal]
		}
		if n != 20 {
			t.Fatalf("20 updates that each count one made %d, %d of them packed", n, packed[i].N)
		}
	}
}

// CompactFirst adds the first days to the compacted ones, and deletes them.
func CompactFirst(ctx context.Context, s counter.Store) error {
	list, err := s.FirstBuckets(ctx, counter.Days, math.MaxInt64, 2)
	if err != nil || len(list) == 0 {
		return err
	}
	var keys []counter.BucketKey
	for _, of := range list {
		keys = append(keys, of.Key)
	}
	days, err := s.CompactedDays(ctx, keys)
	if err != nil {
		return err
	}
	for i, of := range list {
		days[i] = counter.CompactedDay{Key: of.Key, N: days[i].N + of.Values[counter.DayTotal]}
	}
	return errors.Join(s.PutCompactedDays(ctx, days), s.DeleteBuckets(ctx, counter.Days, keys))
}

// raisingWaits stores batches at the dedup horizon while it is raised and records below it are dropped. If raising did
// not wait for transactions that have read the dedup horizon, some would remain below it.
func raisingWaits(t tester, c Cell) {
	together(t, c, func(ctx context.Context, s counter.Store, who, i int) error {
		if who == 0 {
			if err := s.RaiseDedupHorizon(ctx, int64(i+1)); err != nil {
				return err
			}
			_, err := s.DropBatches(ctx, int64(i+1), everything)
			return err
		}
		dedupHorizon, err := s.DedupHorizon(ctx)
		if err != nil {
			return err
		}
		key := counter.Key([]byte{'a' + byte(who), 'a' + byte(i)})
		if _, err := s.Batches(ctx, []counter.Key{key}); err != nil {
			return err
		}
		if again, err := s.DedupHorizon(ctx); err != nil || again != dedupHorizon {
			return errors.Join(err, errors.New("another transaction raised the dedup horizon while it was held"))
		}
		return s.PutBatches(ctx, []counter.KeyedBatch{{Key: key, DedupRecord: dedup(dedupHorizon)}})
	})
	left := change(t, c, func(ctx context.Context, s counter.Store) (int, error) {
		horizon, err := s.DedupHorizon(ctx)
		if err != nil {
			return 0, err
		}
		return s.DropBatches(ctx, horizon, everything)
	})
	same(t, "batches below the dedup horizon", left, 0)
}

// nobodyElseIsAnsweredAboutBatches sends two batches 40 times, in both orders: each counts once.
func nobodyElseIsAnsweredAboutBatches(t tester, c Cell) {
	together(t, c, func(ctx context.Context, s counter.Store, who, i int) error {
		keys := []counter.Key{someKeys[i/2%2], someKeys[2+i/2%2]}
		if who%2 == 0 {
			slices.Reverse(keys)
		}
		there, err := s.Batches(ctx, keys)
		if err != nil {
			return err
		}
		for k, key := range keys {
			if there[k].Newest != 0 {
				continue
			}
			if err := s.PutBatches(ctx, []counter.KeyedBatch{{Key: key, DedupRecord: dedup(1)}}); err != nil {
				return err
			}
			if _, err := s.AddTallies(ctx, []counter.Tally{{ID: 1, Minute: noon, N: 1}}); err != nil {
				return err
			}
		}
		return nil
	})
	total := buckets(t, c, counter.Days, counter.NewBucketKey(day, 1))
	if total[0] == nil || total[0][counter.DayTotal] != 4 {
		t.Fatalf("4 batches that were sent 80 times counted %v", total[0])
	}
}

// nobodyElseIsAnsweredAboutProducers gives each batch the number after the last one.
func nobodyElseIsAnsweredAboutProducers(t tester, c Cell) {
	together(t, c, func(ctx context.Context, s counter.Store, who, _ int) error {
		ids := slices.Clone(someProducers)
		if who%2 == 0 {
			slices.Reverse(ids)
		}
		last, err := s.Producers(ctx, ids)
		if err != nil {
			return err
		}
		var put []counter.ProducedBatch
		for i, id := range ids {
			of := dedup(1)
			of.Seq = last[i].Seq + 1
			put = append(put, counter.ProducedBatch{Producer: id, DedupRecord: of})
		}
		return s.PutProducers(ctx, put)
	})
	for _, of := range producers(t, c, someProducers...) {
		if of.Seq != 40 {
			t.Fatalf("40 batches that each have the number after the last one's ended at %d", of.Seq)
		}
	}
}
