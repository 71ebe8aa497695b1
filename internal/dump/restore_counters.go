// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// counters writes the metrics of a dump. A metric lives in the cell of its name.
type counters struct {
	*filling
	places  map[counter.Metric]metricPlace
	metrics []metricLine
	buckets map[cell.ID]*rows
	batches []batchLine
	n       int // rows of buckets
}

type metricPlace struct {
	cell cell.ID
	id   counter.ID
}

// rows are the buckets of a cell.
type rows struct {
	of   map[counter.Table][]counter.Bucket
	days []counter.CompactedDay
}

// line handles a line about counters.
func (c *counters) line(ctx context.Context) error {
	if c.kind != typeMetric && len(c.metrics) > 0 {
		if err := c.putMetrics(ctx); err != nil {
			return err
		}
	}
	switch c.kind {
	case typeMetric:
		var l metricLine
		if err := c.decode(&l); err != nil {
			return err
		}
		if l.Name == "" || l.Kind != counter.Counter.String() && l.Kind != counter.Gauge.String() {
			return c.errorf("a metric has a name, and is a counter or a gauge")
		}
		c.Metrics++
		if c.metrics = append(c.metrics, l); len(c.metrics) == page {
			return c.putMetrics(ctx)
		}
	case typeBucket:
		var l bucketLine
		if err := c.decode(&l); err != nil {
			return err
		}
		i := slices.IndexFunc(tables, func(t bucketTable) bool { return t.name == l.Table })
		if i < 0 || len(l.Values) != tables[i].table.Width() {
			return c.errorf("no bucket of %.20q has %d values", l.Table, len(l.Values))
		}
		return c.add(ctx, l.Metric, l.Unit, func(to *rows, key counter.BucketKey) {
			table := tables[i].table
			to.of[table] = append(to.of[table], counter.Bucket{Key: key, Values: l.Values})
		})
	case typeDay:
		var l dayLine
		if err := c.decode(&l); err != nil {
			return err
		}
		day := counter.CompactedDay{Key: counter.NewBucketKey(l.Unit, 0), N: l.N, Detail: l.Detail, Body: l.Body}
		var damaged error
		if err := c.add(ctx, l.Metric, l.Unit, func(to *rows, key counter.BucketKey) {
			day, damaged = day.At(key)
			to.days = append(to.days, day)
		}); err != nil || damaged == nil {
			return err
		}
		return c.errorf("%v", damaged)
	case typeBatch:
		var l batchLine
		if err := c.decode(&l); err != nil {
			return err
		}
		if len(l.Digest) != 16 || (l.Key == "") != (len(l.Producer) == 16) {
			return c.errorf("a batch has a key or a producer of 16 bytes, and a digest of 16 bytes")
		}
		c.Batches++
		if c.batches = append(c.batches, l); len(c.batches) == page {
			return c.putBatches(ctx)
		}
	case typeHorizon:
		var l horizonLine
		if err := c.decode(&l); err != nil {
			return err
		}
		return c.engine.Parallel(c.engine.Map().Cells(), func(_ int, id cell.ID) error {
			return c.engine.Update(ctx, id, func(tx storage.Tx) error { return tx.RaiseDedupHorizon(ctx, l.Horizon) })
		})
	default:
		return c.errorf("unknown type %.20q", c.kind)
	}
	return nil
}

// putMetrics allocates the numbers of the collected metrics and writes their rows.
func (c *counters) putMetrics(ctx context.Context) error {
	m := c.engine.Map()
	keys := make([]cell.Key, len(c.metrics))
	for i, l := range c.metrics {
		keys[i] = m.KeyOf("", string(l.Name))
	}
	got, err := c.engine.Keys.Put(ctx, keys)
	if err != nil {
		return err
	}
	if c.places == nil {
		c.places, c.buckets = map[counter.Metric]metricPlace{}, map[cell.ID]*rows{}
	}
	metas := map[cell.ID][]counter.Meta{}
	for i, l := range c.metrics {
		home, err := c.engine.LocateRecord(ctx, entity.PUID(got[i].PUID))
		if err != nil {
			return err
		}
		lo, _ := m.PuidRange(home)
		id := counter.ID(got[i].PUID - lo)
		c.places[l.Name] = metricPlace{home, id}
		meta := counter.Meta{ID: id, Name: l.Name, Kind: counter.Counter, First: l.First}
		if l.Kind == counter.Gauge.String() {
			meta.Kind = counter.Gauge
		}
		metas[home] = append(metas[home], meta)
	}
	for id, group := range metas {
		if err := c.engine.Update(ctx, id, func(tx storage.Tx) error { return tx.PutMetrics(ctx, group) }); err != nil {
			return fmt.Errorf("put metrics in cell %v: %w", id, err)
		}
	}
	c.metrics = c.metrics[:0]
	return nil
}

// add collects a row of a metric.
func (c *counters) add(ctx context.Context, metric counter.Metric, unit int64,
	fn func(*rows, counter.BucketKey)) error {
	p, known := c.places[metric]
	if !known {
		return c.errorf("metric %.100q has no line before it", metric)
	}
	if c.buckets[p.cell] == nil {
		c.buckets[p.cell] = &rows{of: map[counter.Table][]counter.Bucket{}}
	}
	fn(c.buckets[p.cell], counter.NewBucketKey(unit, p.id))
	c.Buckets++
	if c.n++; c.n == page {
		return c.putBuckets(ctx)
	}
	return nil
}

func (c *counters) putBuckets(ctx context.Context) error {
	for id, rows := range c.buckets {
		if err := c.engine.Update(ctx, id, func(tx storage.Tx) error {
			for _, of := range tables {
				if buckets := rows.of[of.table]; len(buckets) > 0 {
					if err := tx.PutBuckets(ctx, of.table, buckets); err != nil {
						return err
					}
				}
			}
			if len(rows.days) == 0 {
				return nil
			}
			return tx.PutCompactedDays(ctx, rows.days)
		}); err != nil {
			return fmt.Errorf("put buckets in cell %v: %w", id, err)
		}
	}
	clear(c.buckets)
	c.n = 0
	return nil
}

// putBatches writes the collected dedup records to every cell, because any may have the metrics of a batch. Where a
// cell of the dump had counted one part of a batch and a cell after it another, the record is their union.
func (c *counters) putBatches(ctx context.Context) error {
	err := c.engine.Parallel(c.engine.Map().Cells(), func(_ int, id cell.ID) error {
		return c.engine.Update(ctx, id, func(tx storage.Tx) error { return mergeBatches(ctx, tx, c.batches) })
	})
	c.batches = c.batches[:0]
	return err
}

func mergeBatches(ctx context.Context, tx storage.Tx, all []batchLine) error {
	keyed, produced := map[counter.Key]counter.DedupRecord{}, map[counter.Producer]counter.DedupRecord{}
	var keys []counter.Key
	var producers []counter.Producer
	for _, l := range all {
		if l.Key != "" {
			keys = append(keys, l.Key)
		} else {
			producers = append(producers, counter.Producer(l.Producer))
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	slices.SortFunc(producers, func(a, b counter.Producer) int { return bytes.Compare(a[:], b[:]) })
	producers = slices.Compact(producers)
	there, err := tx.Batches(ctx, keys)
	if err != nil {
		return err
	}
	for i, key := range keys {
		keyed[key] = there[i]
	}
	if there, err = tx.Producers(ctx, producers); err != nil {
		return err
	}
	for i, producer := range producers {
		produced[producer] = there[i]
	}
	for _, l := range all {
		r := counter.DedupRecord{Seq: l.Seq, Newest: l.Newest, Print: [16]byte(l.Digest), Results: l.Results}
		if l.Key != "" {
			keyed[l.Key] = merged(keyed[l.Key], r)
		} else {
			produced[counter.Producer(l.Producer)] = merged(produced[counter.Producer(l.Producer)], r)
		}
	}
	batches, last := make([]counter.KeyedBatch, len(keys)), make([]counter.ProducedBatch, len(producers))
	for i, key := range keys {
		batches[i] = counter.KeyedBatch{Key: key, DedupRecord: keyed[key]}
	}
	for i, producer := range producers {
		last[i] = counter.ProducedBatch{Producer: producer, DedupRecord: produced[producer]}
	}
	if err := tx.PutBatches(ctx, batches); err != nil {
		return err
	}
	return tx.PutProducers(ctx, last)
}

// merged combines the records that two cells have of a batch. The record of a later batch of a producer wins; no
// results mean that all hits were counted.
func merged(a, b counter.DedupRecord) counter.DedupRecord {
	newest := max(a.Newest, b.Newest)
	switch {
	case a.Print == [16]byte{} || a.Seq < b.Seq:
		a = b
	case a.Seq > b.Seq || a.Print != b.Print || len(a.Results) == 0:
	case len(b.Results) != len(a.Results):
		a.Results = b.Results
	default:
		a.Results = slices.Clone(a.Results)
		for i := range a.Results {
			a.Results[i] |= b.Results[i]
		}
	}
	a.Newest = newest
	if a.Results == nil {
		a.Results = []byte{}
	}
	return a
}

// flush writes the collected counters.
func (c *counters) flush(ctx context.Context) error {
	if len(c.metrics) > 0 {
		if err := c.putMetrics(ctx); err != nil {
			return err
		}
	}
	if c.n > 0 {
		if err := c.putBuckets(ctx); err != nil {
			return err
		}
	}
	if len(c.batches) > 0 {
		return c.putBatches(ctx)
	}
	return nil
}
