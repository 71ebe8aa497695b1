// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/locus-db/locus/counter"
)

func floorRises(t tester, c Cell) {
	for _, raise := range []struct{ to, want int64 }{{-5, 0}, {0, 0}, {7, 7}, {6, 7}, {1 << 53, 1 << 53}, {1<<53 + 1, 1<<53 + 1}, {7, 1<<53 + 1}, {math.MaxInt64, math.MaxInt64}} {
		update(t, c, func(ctx context.Context, s counter.Store) error { return s.RaiseDedupHorizon(ctx, raise.to) })
		same(t, fmt.Sprintf("floor after it was raised to %d", raise.to), horizon(t, c), raise.want)
	}
}

func horizon(t tester, c Cell) int64 {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s counter.Store) (int64, error) { return s.DedupHorizon(ctx) })
}

func batches(t tester, c Cell, keys ...counter.Key) []counter.DedupRecord {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s counter.Store) ([]counter.DedupRecord, error) {
		return s.Batches(ctx, keys)
	})
}

func producers(t tester, c Cell, of ...counter.Producer) []counter.DedupRecord {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s counter.Store) ([]counter.DedupRecord, error) {
		return s.Producers(ctx, of)
	})
}

// dedup returns a record that differs in every field with n.
func dedup(n int64) counter.DedupRecord {
	of := counter.DedupRecord{Newest: n, Results: []byte{byte(n), 0, 0xff, '\\', '"'}}
	for i := range of.Print {
		of.Print[i] = byte(n + int64(i)*16)
	}
	return of
}

func batchesComeBackWhole(t tester, c Cell) {
	long := strings.Repeat("k", counter.MaxKey-1)
	keys := []counter.Key{"a", "A", "a.b", "'", "\"", "\\", "\\u0000", "%", "_", "$1", "{}", "<&>", "~!", "0", "00",
		counter.Key(long + "1"), counter.Key(long + "2")}
	var want []counter.DedupRecord
	for again := range int64(2) {
		var put []counter.KeyedBatch
		want = nil
		for i, key := range keys {
			of := dedup(1_700_000_000_000*again + int64(i))
			put, want = append(put, counter.KeyedBatch{Key: key, DedupRecord: of}), append(want, of)
		}
		put[2].Results, want[2].Results = nil, nil
		put[3].Results, want[3].Results = []byte(strings.Repeat("\x00\xff", 1000)), []byte(strings.Repeat("\x00\xff", 1000))
		put[4].Newest, want[4].Newest = math.MaxInt64, math.MaxInt64
		put[5].Newest, want[5].Newest = -1, -1
		update(t, c, func(ctx context.Context, s counter.Store) error { return s.PutBatches(ctx, put) })
		same(t, "batches", batches(t, c, keys...), want)
	}
	same(t, "batches, some twice and some not there", batches(t, c, "0", "nothing", "a", "0", "a "),
		[]counter.DedupRecord{want[13], {}, want[0], want[13], {}})
}

func producersComeBackWhole(t tester, c Cell) {
	ids := []counter.Producer{{}, {1}, {15: 1}, {0, 1}, {0xff, 0xff, 15: 0xff}, {'a'}, {'A'}, {0xc3}}
	var want []counter.DedupRecord
	for again := range int64(2) {
		var put []counter.ProducedBatch
		want = nil
		for i, id := range ids {
			of := dedup(1_700_000_000_000*again + int64(i))
			of.Seq = uint64(again*100 + int64(i))
			if i == 1 {
				of.Seq = math.MaxUint64
			}
			put, want = append(put, counter.ProducedBatch{Producer: id, DedupRecord: of}), append(want, of)
		}
		put[2].Results, want[2].Results = nil, nil
		update(t, c, func(ctx context.Context, s counter.Store) error { return s.PutProducers(ctx, put) })
		same(t, "producers", producers(t, c, ids...), want)
	}
	same(t, "producers, some twice and some not there", producers(t, c, ids[3], counter.Producer{9}, ids[0], ids[3]),
		[]counter.DedupRecord{want[3], {}, want[0], want[3]})
}

func dropBatches(t tester, c Cell) {
	var put []counter.KeyedBatch
	var keys []counter.Key
	for i := range int64(12) {
		keys = append(keys, counter.Key(fmt.Sprint("k", i*5%12)))
		put = append(put, counter.KeyedBatch{Key: keys[i], DedupRecord: dedup(i*5%12 + 1)})
	}
	update(t, c, func(ctx context.Context, s counter.Store) error { return s.PutBatches(ctx, put) })
	forgets(t, c, func(ctx context.Context, s counter.Store, below int64, limit int) (int, error) {
		return s.DropBatches(ctx, below, limit)
	},
		func(ctx context.Context, s counter.Store) ([]counter.DedupRecord, error) { return s.Batches(ctx, keys) })
}

func dropProducers(t tester, c Cell) {
	var put []counter.ProducedBatch
	var ids []counter.Producer
	for i := range int64(12) {
		ids = append(ids, counter.Producer{byte(i * 5 % 12)})
		put = append(put, counter.ProducedBatch{Producer: ids[i], DedupRecord: dedup(i*5%12 + 1)})
	}
	update(t, c, func(ctx context.Context, s counter.Store) error { return s.PutProducers(ctx, put) })
	forgets(t, c, func(ctx context.Context, s counter.Store, below int64, limit int) (int, error) {
		return s.DropProducers(ctx, below, limit)
	},
		func(ctx context.Context, s counter.Store) ([]counter.DedupRecord, error) {
			return s.Producers(ctx, ids)
		})
}

// forgets drops records in portions, from twelve with the times 1 to 12.
func forgets(t tester, c Cell, drop func(context.Context, counter.Store, int64, int) (int, error),
	read func(context.Context, counter.Store) ([]counter.DedupRecord, error)) {
	t.Helper()
	for i, call := range []struct {
		below                  int64
		limit, n, below7, left int
	}{
		{1, everything, 0, 6, 12}, {7, 4, 4, 2, 8}, {7, 4, 2, 0, 6}, {7, 4, 0, 0, 6}, {12, everything, 5, 0, 1},
		{13, everything, 1, 0, 0}, {math.MaxInt64, 9, 0, 0, 0},
	} {
		n := change(t, c, func(ctx context.Context, s counter.Store) (int, error) {
			return drop(ctx, s, call.below, call.limit)
		})
		same(t, fmt.Sprintf("how many call %d dropped", i), n, call.n)
		below7, left := 0, 0
		for _, of := range ask(t, c, read) {
			switch {
			case of.Newest == 0:
				continue
			case of.Newest < 7:
				below7++
			}
			left++
			want := dedup(of.Newest)
			same(t, "one that is left", of, want)
		}
		same(t, fmt.Sprintf("how many below 7, and in all, are left after call %d", i), []int{below7, left},
			[]int{call.below7, call.left})
	}
}

func emptyCell(t tester, c Cell) {
	nothing := state{Batches: make([]counter.DedupRecord, len(someKeys)),
		Producers: make([]counter.DedupRecord, len(someProducers))}
	same(t, "what an empty cell has", ask(t, c, stateOf), nothing)
	same(t, "metrics of an empty cell", metrics(t, c, 1, 2), make([]counter.Meta, 2))
	same(t, "compacted days of an empty cell", compacted(t, c, 1, 2), make([]counter.CompactedDay, 2))
	same(t, "batches of an empty cell", batches(t, c, "a", "b"), make([]counter.DedupRecord, 2))
	same(t, "producers of an empty cell", producers(t, c, counter.Producer{}, counter.Producer{1}),
		make([]counter.DedupRecord, 2))
	for _, table := range counter.Tables {
		same(t, "buckets of an empty cell", buckets(t, c, table, 1, 2), [][]int64{nil, nil})
		same(t, "no buckets", buckets(t, c, table), nil)
	}
	same(t, "no metrics", metrics(t, c), nil)
	same(t, "no compacted days", compacted(t, c), nil)
	same(t, "no batches", batches(t, c), nil)
	same(t, "no producers", producers(t, c), nil)
	same(t, "no tallies", tally(t, c), nil)
	update(t, c, func(ctx context.Context, s counter.Store) error {
		err := errors.Join(s.PutMetrics(ctx, nil), s.PutCompactedDays(ctx, nil), s.PutBatches(ctx, nil),
			s.PutProducers(ctx, nil))
		for _, table := range counter.Tables {
			made, err2 := s.PrepareBuckets(ctx, table, nil)
			if len(made) > 0 {
				return fmt.Errorf("preparing nothing made %d", made)
			}
			err = errors.Join(err, err2, s.PutBuckets(ctx, table, nil), s.DeleteBuckets(ctx, table, nil),
				s.DeleteBuckets(ctx, table, []counter.BucketKey{1}))
		}
		n, err2 := s.DropBatches(ctx, math.MaxInt64, 9)
		k, err3 := s.DropProducers(ctx, math.MaxInt64, 9)
		if n+k > 0 {
			return fmt.Errorf("%d batches and %d producers dropped of none", n, k)
		}
		return errors.Join(err, err2, err3)
	})
	same(t, "what a cell has that nothing was written to", ask(t, c, stateOf), nothing)
}
