// SPDX-License-Identifier: Apache-2.0

package perdocumenttest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/countertest/model"
	"github.com/locus-db/locus/internal/perdocument"
)

var _ perdocument.Store = (*memoryTx)(nil)

func (t *memoryTx) Metrics(ctx context.Context, ids []counter.ID) ([]counter.Meta, error) {
	err := t.step(Step{Of: MetricDocument}, func() error {
		for _, id := range ids {
			if _, known := t.known[id]; !known {
				t.known[id] = t.metrics[id]
			}
		}
		return nil
	})
	if err != nil {
		return nil, t.unread(err, perdocument.UnreadError{Metrics: ids})
	}
	return model.Under(ctx, t.known, ids)
}

func (t *memoryTx) PutMetrics(ctx context.Context, metrics []counter.Meta) error {
	ids := make([]counter.ID, len(metrics))
	for i := range metrics {
		ids[i] = metrics[i].ID
	}
	if _, err := t.Metrics(ctx, ids); err != nil || t.reading {
		return cmp.Or(err, errReading)
	}
	m := &model.Cell{Metas: t.known}
	for _, is := range metrics {
		if t.known[is.ID].ID == 0 {
			delete(t.known, is.ID)
		}
		if err := m.PutMetrics(ctx, []counter.Meta{is}); err != nil {
			return err
		}
		t.put[is.ID] = t.known[is.ID]
	}
	return nil
}

func (t *memoryTx) all() (*model.Cell, error) {
	m := &model.Cell{}
	err := t.step(Step{Of: Listing}, func() error {
		m.Metas = maps.Clone(t.metrics)
		return nil
	})
	if err == nil {
		maps.Copy(m.Metas, t.put)
	}
	return m, err
}

func (t *memoryTx) ListMetrics(ctx context.Context, prefix, after counter.Metric, limit int) ([]counter.Meta, error) {
	m, err := t.all()
	if err != nil {
		return nil, err
	}
	return m.ListMetrics(ctx, prefix, after, limit)
}

func (t *memoryTx) CountMetrics(ctx context.Context) (int, error) {
	m, err := t.all()
	if err != nil {
		return 0, err
	}
	return m.CountMetrics(ctx)
}

func (t *memoryTx) AddTallies(ctx context.Context, tallies []counter.Tally) (made []counter.BucketKey, _ error) {
	if t.reading {
		return nil, errReading
	}
	for _, tally := range tallies {
		key := counter.NewBucketKey(tally.Minute.Day(), tally.ID)
		d, err := t.day(key)
		if err != nil {
			return nil, err
		}
		fresh, err := d.AddTallies(ctx, []counter.Tally{tally})
		if err != nil {
			return nil, err
		}
		if len(fresh) > 0 {
			made = append(made, key)
			d.compared = true // only one of several concurrent creators succeeds
		}
		d.tallies = append(d.tallies, tally)
	}
	return made, ctx.Err()
}

func (t *memoryTx) Buckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) ([][]int64, error) {
	buckets := make([][]int64, len(keys))
	for i, key := range keys {
		d, err := t.day(dayOf(table, key))
		if err != nil {
			return nil, err
		}
		d.compared = true
		buckets[i] = slices.Clone(d.Tables[table][key])
	}
	return buckets, ctx.Err()
}

// change applies changes to the days that they belong to.
func (t *memoryTx) change(ctx context.Context, table counter.Table, n int, key func(int) counter.BucketKey,
	do func(i int, d *ownDay) error) error {
	if t.reading {
		return errReading
	}
	for i := range n {
		d, err := t.day(dayOf(table, key(i)))
		if err != nil {
			return err
		}
		if err := do(i, d); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (t *memoryTx) PutBuckets(ctx context.Context, table counter.Table, buckets []counter.Bucket) error {
	return t.change(ctx, table, len(buckets), func(i int) counter.BucketKey { return buckets[i].Key }, func(i int, d *ownDay) error {
		d.rewritten = true
		return d.PutBuckets(ctx, table, buckets[i:i+1])
	})
}

func (t *memoryTx) PrepareBuckets(ctx context.Context, table counter.Table,
	keys []counter.BucketKey) (made []counter.BucketKey, _ error) {
	err := t.change(ctx, table, len(keys), func(i int) counter.BucketKey { return keys[i] }, func(i int, d *ownDay) error {
		is, err := d.PrepareBuckets(ctx, table, keys[i:i+1])
		made = append(made, is...)
		d.rewritten = d.rewritten || len(is) > 0
		return err
	})
	return made, err
}

func (t *memoryTx) DeleteBuckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) error {
	return t.change(ctx, table, len(keys), func(i int) counter.BucketKey { return keys[i] }, func(i int, d *ownDay) error {
		d.rewritten = true
		return d.DeleteBuckets(ctx, table, keys[i:i+1])
	})
}

// list returns days where pick finds something: stored days in their current state, days already read as the
// transaction sees them.
func (t *memoryTx) list(pick func(*model.Cell) []counter.BucketKey) (picked []counter.BucketKey, _ error) {
	err := t.step(Step{Of: Listing}, func() error {
		for key, d := range t.memory.days {
			if t.days[key] == nil {
				picked = append(picked, pick(d.Cell)...)
			}
		}
		return nil
	})
	for _, d := range t.days {
		picked = append(picked, pick(d.Cell)...)
	}
	slices.Sort(picked)
	return picked, err
}

func (t *memoryTx) FirstBuckets(ctx context.Context, table counter.Table, below counter.BucketKey,
	limit int) (list []counter.Bucket, _ error) {
	keys, err := t.list(func(m *model.Cell) (keys []counter.BucketKey) {
		first, _ := m.FirstBuckets(ctx, table, below, limit)
		for _, of := range first {
			keys = append(keys, of.Key)
		}
		return keys
	})
	if err != nil {
		return nil, err
	}
	keys = keys[:min(limit, len(keys))]
	values, err := t.Buckets(ctx, table, keys)
	for i, v := range values {
		if v != nil {
			list = append(list, counter.Bucket{Key: keys[i], Values: v})
		}
	}
	return list, err
}

func (t *memoryTx) CompactedDays(ctx context.Context, keys []counter.BucketKey) ([]counter.CompactedDay, error) {
	list := make([]counter.CompactedDay, len(keys))
	for i, key := range keys {
		d, err := t.day(key)
		if err != nil {
			return nil, err
		}
		d.compared = true
		list[i] = d.Packed[key]
	}
	return list, ctx.Err()
}

func (t *memoryTx) PutCompactedDays(ctx context.Context, days []counter.CompactedDay) error {
	return t.change(ctx, counter.Days, len(days), func(i int) counter.BucketKey { return days[i].Key }, func(i int, d *ownDay) error {
		d.rewritten = true
		return d.PutCompactedDays(ctx, days[i:i+1])
	})
}

func (t *memoryTx) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.BucketKey,
	limit int) (list []counter.CompactedDay, _ error) {
	keys, err := t.list(func(m *model.Cell) (keys []counter.BucketKey) {
		days, _ := m.DetailedDays(ctx, detail, from, below, limit)
		for _, of := range days {
			keys = append(keys, of.Key)
		}
		return keys
	})
	if err != nil {
		return nil, err
	}
	days, err := t.CompactedDays(ctx, keys[:min(limit, len(keys))])
	return slices.DeleteFunc(days, func(of counter.CompactedDay) bool {
		return of.Detail != detail || of.Key == 0 && of.Body == nil && of.N == 0
	}), err
}

func (t *memoryTx) TopMetrics(ctx context.Context, unit int64, prefix counter.Metric, k int) ([]counter.Ranked, error) {
	m, err := t.all()
	if err != nil {
		return nil, err
	}
	m.Packed = map[counter.BucketKey]counter.CompactedDay{}
	m.Tables[counter.Days] = map[counter.BucketKey][]int64{}
	take := func(of *model.Cell) []counter.BucketKey {
		maps.Copy(m.Packed, of.Packed)
		maps.Copy(m.Tables[counter.Days], of.Tables[counter.Days])
		return nil
	}
	if _, err := t.list(take); err != nil {
		return nil, err
	}
	return m.TopMetrics(ctx, unit, prefix, k)
}

func (t *memoryTx) DedupHorizon(ctx context.Context) (int64, error) {
	if !t.horizonRead {
		if err := t.step(Step{Of: FloorDocument}, func() error {
			t.was, t.is = t.horizon, t.horizon
			return nil
		}); err != nil {
			return 0, t.unread(err, perdocument.UnreadError{DedupHorizon: true})
		}
		t.horizonRead = !t.reading
	}
	return t.is, ctx.Err()
}

func (t *memoryTx) RaiseDedupHorizon(ctx context.Context, horizon int64) error {
	if t.reading {
		return errReading
	}
	_, err := t.DedupHorizon(ctx)
	t.is = max(t.is, horizon)
	return err
}
