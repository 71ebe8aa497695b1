// SPDX-License-Identifier: Apache-2.0

// Package model has a cell of counters made of maps, which the suites of counters compare stores with.
package model

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/counter"
)

// Cell is the state of a cell. Its lists are replaced and never modified.
type Cell struct {
	Metas    map[counter.ID]counter.Meta
	Tables   [4]map[counter.BucketKey][]int64
	Packed   map[counter.BucketKey]counter.CompactedDay
	Horizon  int64
	Keyed    map[counter.Key]counter.DedupRecord
	Produced map[counter.Producer]counter.DedupRecord
}

var _ counter.Store = (*Cell)(nil)

// New returns an empty cell.
func New() *Cell {
	m := &Cell{
		Metas: map[counter.ID]counter.Meta{}, Packed: map[counter.BucketKey]counter.CompactedDay{},
		Keyed: map[counter.Key]counter.DedupRecord{}, Produced: map[counter.Producer]counter.DedupRecord{},
	}
	for table := range m.Tables {
		m.Tables[table] = map[counter.BucketKey][]int64{}
	}
	return m
}

// Clone returns a copy that shares the lists.
func (m *Cell) Clone() *Cell {
	c := *m
	c.Metas, c.Packed, c.Keyed, c.Produced = maps.Clone(m.Metas), maps.Clone(m.Packed), maps.Clone(m.Keyed), maps.Clone(m.Produced)
	for table := range m.Tables {
		c.Tables[table] = maps.Clone(m.Tables[table])
	}
	return &c
}

// Under returns the value of each key, the zero value if there is none.
func Under[K comparable, V any](ctx context.Context, all map[K]V, keys []K) ([]V, error) {
	found := make([]V, len(keys))
	for i, key := range keys {
		found[i] = all[key]
	}
	return found, ctx.Err()
}

func (m *Cell) Metrics(ctx context.Context, ids []counter.ID) ([]counter.Meta, error) {
	return Under(ctx, m.Metas, ids)
}

func (m *Cell) PutMetrics(ctx context.Context, metrics []counter.Meta) error {
	for _, meta := range metrics {
		if there, ok := m.Metas[meta.ID]; ok {
			there.First = min(there.First, meta.First)
			meta = there
		}
		m.Metas[meta.ID] = meta
	}
	return ctx.Err()
}

func (m *Cell) ListMetrics(ctx context.Context, prefix, after counter.Metric,
	limit int) (list []counter.Meta, _ error) {
	for _, meta := range m.Metas {
		if strings.HasPrefix(string(meta.Name), string(prefix)) && meta.Name > after {
			list = append(list, meta)
		}
	}
	slices.SortFunc(list, func(a, b counter.Meta) int { return cmp.Compare(a.Name, b.Name) })
	return list[:min(limit, len(list))], ctx.Err()
}

func (m *Cell) CountMetrics(ctx context.Context) (int, error) { return len(m.Metas), ctx.Err() }

func (m *Cell) AddTallies(ctx context.Context, tallies []counter.Tally) (made []counter.BucketKey, _ error) {
	add := func(table counter.Table, key counter.BucketKey, n int64, places ...int) (fresh bool, err error) {
		values, there := m.Tables[table][key]
		if values = slices.Clone(values); !there {
			values = make([]int64, table.Width())
		}
		for _, i := range places {
			if values[i] > math.MaxInt64-n {
				return false, counter.ErrOverflow
			}
			values[i] += n
		}
		m.Tables[table][key] = values
		return !there, nil
	}
	for _, a := range tallies {
		at := a.Minute
		if _, err := add(counter.Hours, counter.NewBucketKey(at.Hour(), a.ID), a.N, at.InHour()); err != nil {
			return nil, err
		}
		day := counter.NewBucketKey(at.Day(), a.ID)
		fresh, err := add(counter.Days, day, a.N, counter.DayTotal, counter.DayHour(at.HourOfDay()),
			counter.DayQuarter(at.Quarter()))
		if err != nil {
			return nil, err
		}
		if fresh {
			made = append(made, day)
		}
	}
	return made, ctx.Err()
}

func (m *Cell) Buckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) ([][]int64, error) {
	buckets, err := Under(ctx, m.Tables[table], keys)
	for i := range buckets {
		buckets[i] = slices.Clone(buckets[i]) // the caller may change it
	}
	return buckets, err
}

func (m *Cell) PutBuckets(ctx context.Context, table counter.Table, buckets []counter.Bucket) error {
	for _, bucket := range buckets {
		m.Tables[table][bucket.Key] = slices.Clone(bucket.Values)
	}
	return ctx.Err()
}

func (m *Cell) PrepareBuckets(ctx context.Context, table counter.Table,
	keys []counter.BucketKey) (made []counter.BucketKey, _ error) {
	for _, key := range keys {
		if m.Tables[table][key] == nil {
			m.Tables[table][key] = make([]int64, table.Width())
			made = append(made, key)
		}
	}
	return made, ctx.Err()
}

func (m *Cell) DeleteBuckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) error {
	for _, key := range keys {
		delete(m.Tables[table], key)
	}
	return ctx.Err()
}

func (m *Cell) FirstBuckets(ctx context.Context, table counter.Table, below counter.BucketKey,
	limit int) (list []counter.Bucket, _ error) {
	for _, key := range slices.Sorted(maps.Keys(m.Tables[table])) {
		if key < below && len(list) < limit {
			list = append(list, counter.Bucket{Key: key, Values: slices.Clone(m.Tables[table][key])})
		}
	}
	return list, ctx.Err()
}

func (m *Cell) CompactedDays(ctx context.Context, keys []counter.BucketKey) ([]counter.CompactedDay, error) {
	return Under(ctx, m.Packed, keys)
}

func (m *Cell) PutCompactedDays(ctx context.Context, days []counter.CompactedDay) error {
	for _, day := range days {
		m.Packed[day.Key] = day
	}
	return ctx.Err()
}

func (m *Cell) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.BucketKey,
	limit int) (list []counter.CompactedDay, _ error) {
	for _, key := range slices.Sorted(maps.Keys(m.Packed)) {
		if day := m.Packed[key]; day.Detail == detail && key >= from && key < below && len(list) < limit {
			list = append(list, day)
		}
	}
	return list, ctx.Err()
}

func (m *Cell) TopMetrics(ctx context.Context, day int64, prefix counter.Metric,
	k int) (list []counter.Ranked, _ error) {
	for id, meta := range m.Metas {
		key := counter.NewBucketKey(day, id)
		n := m.Packed[key].N
		if open := m.Tables[counter.Days][key]; open != nil {
			n += open[counter.DayTotal]
		}
		if n > 0 && strings.HasPrefix(string(meta.Name), string(prefix)) {
			list = append(list, counter.Ranked{Metric: meta.Name, N: n})
		}
	}
	slices.SortFunc(list, func(a, b counter.Ranked) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Metric, b.Metric))
	})
	return list[:min(k, len(list))], ctx.Err()
}

func (m *Cell) DedupHorizon(ctx context.Context) (int64, error) { return m.Horizon, ctx.Err() }

func (m *Cell) RaiseDedupHorizon(ctx context.Context, horizon int64) error {
	m.Horizon = max(m.Horizon, horizon)
	return ctx.Err()
}

func (m *Cell) Batches(ctx context.Context, keys []counter.Key) ([]counter.DedupRecord, error) {
	return Under(ctx, m.Keyed, keys)
}

func (m *Cell) PutBatches(ctx context.Context, batches []counter.KeyedBatch) error {
	for _, b := range batches {
		m.Keyed[b.Key] = b.DedupRecord
	}
	return ctx.Err()
}

func (m *Cell) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	return forget(ctx, m.Keyed, below, limit)
}

func (m *Cell) Producers(ctx context.Context, producers []counter.Producer) ([]counter.DedupRecord, error) {
	return Under(ctx, m.Produced, producers)
}

func (m *Cell) PutProducers(ctx context.Context, batches []counter.ProducedBatch) error {
	for _, b := range batches {
		m.Produced[b.Producer] = b.DedupRecord
	}
	return ctx.Err()
}

func (m *Cell) DropProducers(ctx context.Context, below int64, limit int) (int, error) {
	return forget(ctx, m.Produced, below, limit)
}

// forget drops records at random, as a store may.
func forget[K comparable](ctx context.Context, all map[K]counter.DedupRecord, below int64,
	limit int) (dropped int, _ error) {
	for key, of := range all {
		if of.Newest < below && dropped < limit {
			delete(all, key)
			dropped++
		}
	}
	return dropped, ctx.Err()
}
