// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/counter"
)

// model is a cell's counter state. Its lists are replaced and never modified.
type model struct {
	metrics   map[counter.ID]counter.Meta
	buckets   [4]map[counter.BucketKey][]int64
	compacted map[counter.BucketKey]counter.CompactedDay
	horizon   int64
	batches   map[counter.Key]counter.DedupRecord
	producers map[counter.Producer]counter.DedupRecord
}

var _ counter.Store = (*model)(nil)

func newModel() *model {
	m := &model{
		metrics: map[counter.ID]counter.Meta{}, compacted: map[counter.BucketKey]counter.CompactedDay{},
		batches: map[counter.Key]counter.DedupRecord{}, producers: map[counter.Producer]counter.DedupRecord{},
	}
	for table := range m.buckets {
		m.buckets[table] = map[counter.BucketKey][]int64{}
	}
	return m
}

func (m *model) clone() *model {
	c := *m
	c.metrics, c.compacted, c.batches, c.producers = maps.Clone(m.metrics), maps.Clone(m.compacted), maps.Clone(m.batches), maps.Clone(m.producers)
	for table := range m.buckets {
		c.buckets[table] = maps.Clone(m.buckets[table])
	}
	return &c
}

func under[K comparable, V any](ctx context.Context, all map[K]V, keys []K) ([]V, error) {
	found := make([]V, len(keys))
	for i, key := range keys {
		found[i] = all[key]
	}
	return found, ctx.Err()
}

func (m *model) Metrics(ctx context.Context, ids []counter.ID) ([]counter.Meta, error) {
	return under(ctx, m.metrics, ids)
}

func (m *model) PutMetrics(ctx context.Context, metrics []counter.Meta) error {
	for _, meta := range metrics {
		if there, ok := m.metrics[meta.ID]; ok {
			there.First = min(there.First, meta.First)
			meta = there
		}
		m.metrics[meta.ID] = meta
	}
	return ctx.Err()
}

func (m *model) ListMetrics(ctx context.Context, prefix, after counter.Metric, limit int) (list []counter.Meta, _ error) {
	for _, meta := range m.metrics {
		if strings.HasPrefix(string(meta.Name), string(prefix)) && meta.Name > after {
			list = append(list, meta)
		}
	}
	slices.SortFunc(list, func(a, b counter.Meta) int { return cmp.Compare(a.Name, b.Name) })
	return list[:min(limit, len(list))], ctx.Err()
}

func (m *model) CountMetrics(ctx context.Context) (int, error) { return len(m.metrics), ctx.Err() }

func (m *model) AddTallies(ctx context.Context, tallies []counter.Tally) (made []counter.BucketKey, _ error) {
	add := func(table counter.Table, key counter.BucketKey, n int64, places ...int) (fresh bool, err error) {
		values, there := m.buckets[table][key]
		if values = slices.Clone(values); !there {
			values = make([]int64, table.Width())
		}
		for _, i := range places {
			if values[i] > math.MaxInt64-n {
				return false, counter.ErrOverflow
			}
			values[i] += n
		}
		m.buckets[table][key] = values
		return !there, nil
	}
	for _, a := range tallies {
		at := a.Minute
		if _, err := add(counter.Hours, counter.NewBucketKey(at.Hour(), a.ID), a.N, at.InHour()); err != nil {
			return nil, err
		}
		day := counter.NewBucketKey(at.Day(), a.ID)
		fresh, err := add(counter.Days, day, a.N, counter.DayTotal, counter.DayHour(at.HourOfDay()), counter.DayQuarter(at.Quarter()))
		if err != nil {
			return nil, err
		}
		if fresh {
			made = append(made, day)
		}
	}
	return made, ctx.Err()
}

func (m *model) Buckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) ([][]int64, error) {
	buckets, err := under(ctx, m.buckets[table], keys)
	for i := range buckets {
		buckets[i] = slices.Clone(buckets[i]) // the caller may change it
	}
	return buckets, err
}

func (m *model) PutBuckets(ctx context.Context, table counter.Table, buckets []counter.Bucket) error {
	for _, bucket := range buckets {
		m.buckets[table][bucket.Key] = slices.Clone(bucket.Values)
	}
	return ctx.Err()
}

func (m *model) PrepareBuckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) (made []counter.BucketKey, _ error) {
	for _, key := range keys {
		if m.buckets[table][key] == nil {
			m.buckets[table][key] = make([]int64, table.Width())
			made = append(made, key)
		}
	}
	return made, ctx.Err()
}

func (m *model) DeleteBuckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) error {
	for _, key := range keys {
		delete(m.buckets[table], key)
	}
	return ctx.Err()
}

func (m *model) FirstBuckets(ctx context.Context, table counter.Table, below counter.BucketKey, limit int) (list []counter.Bucket, _ error) {
	for _, key := range slices.Sorted(maps.Keys(m.buckets[table])) {
		if key < below && len(list) < limit {
			list = append(list, counter.Bucket{Key: key, Values: slices.Clone(m.buckets[table][key])})
		}
	}
	return list, ctx.Err()
}

func (m *model) CompactedDays(ctx context.Context, keys []counter.BucketKey) ([]counter.CompactedDay, error) {
	return under(ctx, m.compacted, keys)
}

func (m *model) PutCompactedDays(ctx context.Context, days []counter.CompactedDay) error {
	for _, day := range days {
		m.compacted[day.Key] = day
	}
	return ctx.Err()
}

func (m *model) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.BucketKey, limit int) (list []counter.CompactedDay, _ error) {
	for _, key := range slices.Sorted(maps.Keys(m.compacted)) {
		if day := m.compacted[key]; day.Detail == detail && key >= from && key < below && len(list) < limit {
			list = append(list, day)
		}
	}
	return list, ctx.Err()
}

func (m *model) TopMetrics(ctx context.Context, day int64, prefix counter.Metric, k int) (list []counter.Ranked, _ error) {
	for id, meta := range m.metrics {
		key := counter.NewBucketKey(day, id)
		n := m.compacted[key].N
		if open := m.buckets[counter.Days][key]; open != nil {
			n += open[counter.DayTotal]
		}
		if n > 0 && strings.HasPrefix(string(meta.Name), string(prefix)) {
			list = append(list, counter.Ranked{Metric: meta.Name, N: n})
		}
	}
	slices.SortFunc(list, func(a, b counter.Ranked) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Metric, b.Metric)) })
	return list[:min(k, len(list))], ctx.Err()
}

func (m *model) DedupHorizon(ctx context.Context) (int64, error) { return m.horizon, ctx.Err() }

func (m *model) RaiseDedupHorizon(ctx context.Context, horizon int64) error {
	m.horizon = max(m.horizon, horizon)
	return ctx.Err()
}

func (m *model) Batches(ctx context.Context, keys []counter.Key) ([]counter.DedupRecord, error) {
	return under(ctx, m.batches, keys)
}

func (m *model) PutBatches(ctx context.Context, batches []counter.KeyedBatch) error {
	for _, b := range batches {
		m.batches[b.Key] = b.DedupRecord
	}
	return ctx.Err()
}

func (m *model) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	return forget(ctx, m.batches, below, limit)
}

func (m *model) Producers(ctx context.Context, producers []counter.Producer) ([]counter.DedupRecord, error) {
	return under(ctx, m.producers, producers)
}

func (m *model) PutProducers(ctx context.Context, batches []counter.ProducedBatch) error {
	for _, b := range batches {
		m.producers[b.Producer] = b.DedupRecord
	}
	return ctx.Err()
}

func (m *model) DropProducers(ctx context.Context, below int64, limit int) (int, error) {
	return forget(ctx, m.producers, below, limit)
}

// forget drops any of them; a store may, too.
func forget[K comparable](ctx context.Context, all map[K]counter.DedupRecord, below int64, limit int) (dropped int, _ error) {
	for key, of := range all {
		if of.Newest < below && dropped < limit {
			delete(all, key)
			dropped++
		}
	}
	return dropped, ctx.Err()
}
