// SPDX-License-Identifier: Apache-2.0

package copytest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/locus-db/locus/counter"
)

// hits are the counter rows of the n-th thing: a metric of its own with buckets and a compacted day, and a dedup record
// of a batch and of a producer.
type hits struct {
	metric   counter.Meta
	tallies  []counter.Tally
	gauges   map[counter.Table]counter.Bucket
	prepared counter.BucketKey
	closed   counter.CompactedDay
	batch    counter.KeyedBatch
	producer counter.ProducedBatch
}

// countedAt is a time of hits; the next is days later.
const countedAt = counter.Minute(29_655_719)

func hitsOf(n int, version int64) hits {
	id, at := counter.ID(n+1), countedAt+counter.Minute(n*1440)
	bytes := []byte{0, byte(version), 0xff}
	if n%4 == 1 {
		bytes = []byte{} // not NULL
	}
	of := counter.DedupRecord{Newest: int64(n), Print: [16]byte{0, byte(n), 15: 0xff}, Results: bytes}
	h := hits{
		metric: counter.Meta{ID: id, Name: counter.Metric(fmt.Sprintf("m %d.$'\"\\寿", n)), Kind: counter.Kind(n % 2),
			First: int64(-n)},
		tallies:  []counter.Tally{{ID: id, Minute: at, N: 1 << 40}, {ID: id, Minute: at + 1, N: version}},
		gauges:   map[counter.Table]counter.Bucket{},
		prepared: counter.NewBucketKey(at.Day()+1, id),
		closed: counter.CompactedDay{Key: counter.NewBucketKey(at.Day(), id), N: 1<<62 - version,
			Detail: counter.Detail(n % 3), Body: bytes},
		batch: counter.KeyedBatch{Key: counter.Key(fmt.Sprintf("k-%d '\"\\", n)), DedupRecord: of},
	}
	of.Seq = math.MaxUint64 - uint64(n)
	h.producer = counter.ProducedBatch{Producer: counter.Producer{byte(n), 15: 0xff}, DedupRecord: of}
	for _, table := range []counter.Table{counter.GaugeQuarters, counter.GaugeDays} {
		values := make([]int64, table.Width())
		values[0], values[1], values[len(values)-1] = math.MinInt64, version, math.MaxInt64-int64(n)
		h.gauges[table] = counter.Bucket{Key: counter.NewBucketKey(at.Day(), id), Values: values}
	}
	return h
}

func (h hits) put(ctx context.Context, tx counter.Store) error {
	err := errors.Join(tx.PutBatches(ctx, []counter.KeyedBatch{h.batch}),
		tx.PutProducers(ctx, []counter.ProducedBatch{h.producer}),
		tx.PutMetrics(ctx, []counter.Meta{h.metric}))
	_, err2 := tx.AddTallies(ctx, h.tallies)
	_, err3 := tx.PrepareBuckets(ctx, counter.Days, []counter.BucketKey{h.prepared})
	return errors.Join(err, err2, err3,
		tx.PutBuckets(ctx, counter.GaugeQuarters, []counter.Bucket{h.gauges[counter.GaugeQuarters]}),
		tx.PutBuckets(ctx, counter.GaugeDays, []counter.Bucket{h.gauges[counter.GaugeDays]}),
		tx.PutCompactedDays(ctx, []counter.CompactedDay{h.closed}))
}

// remove deletes an hour and a day, and a remembered batch and producer of that age.
func (h hits) remove(ctx context.Context, tx counter.Store) error {
	batches, err := tx.DropBatches(ctx, h.batch.Newest+1, 1)
	producers, err2 := tx.DropProducers(ctx, h.producer.Newest+1, 1)
	if batches != 1 || producers != 1 {
		err = errors.Join(err, fmt.Errorf("%d batches and %d producers were forgotten, want 1 and 1", batches, producers))
	}
	a := h.tallies[0]
	return errors.Join(err, err2,
		tx.DeleteBuckets(ctx, counter.Hours, []counter.BucketKey{counter.NewBucketKey(a.Minute.Hour(), a.ID)}),
		tx.DeleteBuckets(ctx, counter.Days, []counter.BucketKey{counter.NewBucketKey(a.Minute.Day(), a.ID)}),
		tx.DeleteBuckets(ctx, counter.GaugeDays, []counter.BucketKey{h.gauges[counter.GaugeDays].Key}))
}

// counted is the content of the counters for the first n things.
type counted struct {
	Metrics            []counter.Meta
	Buckets            [4][]counter.Bucket
	Closed             []counter.CompactedDay
	Top                [][]counter.Ranked
	Batches, Producers []counter.DedupRecord
	Floor              int64
}

func askCounters(ctx context.Context, tx counter.Store, n int) (a counted, _ error) {
	var closed []counter.BucketKey
	var keys []counter.Key
	var producers []counter.Producer
	var errs []error
	for i := range n {
		h := hitsOf(i, 1)
		closed, keys, producers = append(closed, h.closed.Key), append(keys, h.batch.Key), append(producers,
			h.producer.Producer)
		top, err := tx.TopMetrics(ctx, h.closed.Key.Unit(), "m", 2)
		a.Top, errs = append(a.Top, top), append(errs, err)
	}
	var err [5]error
	a.Metrics, err[0] = tx.ListMetrics(ctx, "m ", "", many)
	for i, table := range counter.Tables {
		var err error
		a.Buckets[i], err = tx.FirstBuckets(ctx, table, math.MaxInt64, many)
		errs = append(errs, err)
	}
	a.Closed, err[1] = tx.CompactedDays(ctx, closed)
	a.Batches, err[2] = tx.Batches(ctx, keys)
	a.Producers, err[3] = tx.Producers(ctx, producers)
	a.Floor, err[4] = tx.DedupHorizon(ctx)
	return a, errors.Join(append(errs, err[:]...)...)
}
