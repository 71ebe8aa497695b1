// SPDX-License-Identifier: Apache-2.0

package copytest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/locus-db/locus/counter"
)

// hits are what the n-th thing writes to the counters: a metric of its own with spans and a closed day, and a
// remembered batch and producer.
type hits struct {
	metric   counter.Meta
	tallies  []counter.Tally
	gauges   map[counter.Table]counter.Span
	prepared counter.SpanKey
	closed   counter.ClosedDay
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
	of := counter.Remembered{Newest: int64(n), Print: [16]byte{0, byte(n), 15: 0xff}, Results: bytes}
	h := hits{
		metric:   counter.Meta{ID: id, Name: counter.Metric(fmt.Sprintf("m %d.$'\"\\寿", n)), Kind: counter.Kind(n % 2), First: int64(-n)},
		tallies:  []counter.Tally{{ID: id, Minute: at, N: 1 << 40}, {ID: id, Minute: at + 1, N: version}},
		gauges:   map[counter.Table]counter.Span{},
		prepared: counter.NewSpanKey(at.Day()+1, id),
		closed:   counter.ClosedDay{Key: counter.NewSpanKey(at.Day(), id), N: 1<<62 - version, Detail: counter.Detail(n % 3), Body: bytes},
		batch:    counter.KeyedBatch{Key: counter.Key(fmt.Sprintf("k-%d '\"\\", n)), Remembered: of},
	}
	of.Seq = math.MaxUint64 - uint64(n)
	h.producer = counter.ProducedBatch{Producer: counter.Producer{byte(n), 15: 0xff}, Remembered: of}
	for _, table := range []counter.Table{counter.GaugeQuarters, counter.GaugeDays} {
		values := make([]int64, table.Width())
		values[0], values[1], values[len(values)-1] = math.MinInt64, version, math.MaxInt64-int64(n)
		h.gauges[table] = counter.Span{Key: counter.NewSpanKey(at.Day(), id), Values: values}
	}
	return h
}

func (h hits) put(ctx context.Context, tx counter.Store) error {
	err := errors.Join(tx.PutBatches(ctx, []counter.KeyedBatch{h.batch}), tx.PutProducers(ctx, []counter.ProducedBatch{h.producer}),
		tx.PutMetrics(ctx, []counter.Meta{h.metric}))
	_, err2 := tx.AddTallies(ctx, h.tallies)
	_, err3 := tx.PrepareSpans(ctx, counter.Days, []counter.SpanKey{h.prepared})
	return errors.Join(err, err2, err3, tx.PutSpans(ctx, counter.GaugeQuarters, []counter.Span{h.gauges[counter.GaugeQuarters]}),
		tx.PutSpans(ctx, counter.GaugeDays, []counter.Span{h.gauges[counter.GaugeDays]}), tx.PutClosedDays(ctx, []counter.ClosedDay{h.closed}))
}

// remove deletes an hour and a day, and a remembered batch and producer of that age.
func (h hits) remove(ctx context.Context, tx counter.Store) error {
	batches, err := tx.DropBatches(ctx, h.batch.Newest+1, 1)
	producers, err2 := tx.DropProducers(ctx, h.producer.Newest+1, 1)
	if batches != 1 || producers != 1 {
		err = errors.Join(err, fmt.Errorf("%d batches and %d producers were forgotten, want 1 and 1", batches, producers))
	}
	a := h.tallies[0]
	return errors.Join(err, err2, tx.DeleteSpans(ctx, counter.Hours, []counter.SpanKey{counter.NewSpanKey(a.Minute.Hour(), a.ID)}),
		tx.DeleteSpans(ctx, counter.Days, []counter.SpanKey{counter.NewSpanKey(a.Minute.Day(), a.ID)}),
		tx.DeleteSpans(ctx, counter.GaugeDays, []counter.SpanKey{h.gauges[counter.GaugeDays].Key}))
}

// counted is what the counters contain for the first n things.
type counted struct {
	Metrics            []counter.Meta
	Spans              [4][]counter.Span
	Closed             []counter.ClosedDay
	Top                [][]counter.Ranked
	Batches, Producers []counter.Remembered
	Floor              int64
}

func askCounters(ctx context.Context, tx counter.Store, n int) (a counted, _ error) {
	var closed []counter.SpanKey
	var keys []counter.Key
	var producers []counter.Producer
	var errs []error
	for i := range n {
		h := hitsOf(i, 1)
		closed, keys, producers = append(closed, h.closed.Key), append(keys, h.batch.Key), append(producers, h.producer.Producer)
		top, err := tx.TopMetrics(ctx, h.closed.Key.Unit(), "m", 2)
		a.Top, errs = append(a.Top, top), append(errs, err)
	}
	var err [5]error
	a.Metrics, err[0] = tx.ListMetrics(ctx, "m ", "", many)
	for i, table := range counter.Tables {
		var err error
		a.Spans[i], err = tx.FirstSpans(ctx, table, math.MaxInt64, many)
		errs = append(errs, err)
	}
	a.Closed, err[1] = tx.ClosedDays(ctx, closed)
	a.Batches, err[2] = tx.Batches(ctx, keys)
	a.Producers, err[3] = tx.Producers(ctx, producers)
	a.Floor, err[4] = tx.Floor(ctx)
	return a, errors.Join(append(errs, err[:]...)...)
}
