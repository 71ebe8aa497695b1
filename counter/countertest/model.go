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
	spans     [4]map[counter.SpanKey][]int64
	closed    map[counter.SpanKey]counter.ClosedDay
	floor     int64
	batches   map[counter.Key]counter.Remembered
	producers map[counter.Producer]counter.Remembered
}

var _ counter.Store = (*model)(nil)

func newModel() *model {
	m := &model{
		metrics: map[counter.ID]counter.Meta{}, closed: map[counter.SpanKey]counter.ClosedDay{},
		batches: map[counter.Key]counter.Remembered{}, producers: map[counter.Producer]counter.Remembered{},
	}
	for table := range m.spans {
		m.spans[table] = map[counter.SpanKey][]int64{}
	}
	return m
}

func (m *model) clone() *model {
	c := *m
	c.metrics, c.closed, c.batches, c.producers = maps.Clone(m.metrics), maps.Clone(m.closed), maps.Clone(m.batches), maps.Clone(m.producers)
	for table := range m.spans {
		c.spans[table] = maps.Clone(m.spans[table])
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

func (m *model) AddTallies(ctx context.Context, tallies []counter.Tally) (made []counter.SpanKey, _ error) {
	add := func(table counter.Table, key counter.SpanKey, n int64, places ...int) (fresh bool, err error) {
		values, there := m.spans[table][key]
		if values = slices.Clone(values); !there {
			values = make([]int64, table.Width())
		}
		for _, i := range places {
			if values[i] > math.MaxInt64-n {
				return false, counter.ErrOverflow
			}
			values[i] += n
		}
		m.spans[table][key] = values
		return !there, nil
	}
	for _, a := range tallies {
		at := a.Minute
		if _, err := add(counter.Hours, counter.NewSpanKey(at.Hour(), a.ID), a.N, at.InHour()); err != nil {
			return nil, err
		}
		day := counter.NewSpanKey(at.Day(), a.ID)
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

func (m *model) Spans(ctx context.Context, table counter.Table, keys []counter.SpanKey) ([][]int64, error) {
	spans, err := under(ctx, m.spans[table], keys)
	for i := range spans {
		spans[i] = slices.Clone(spans[i]) // the caller may change it
	}
	return spans, err
}

func (m *model) PutSpans(ctx context.Context, table counter.Table, spans []counter.Span) error {
	for _, span := range spans {
		m.spans[table][span.Key] = slices.Clone(span.Values)
	}
	return ctx.Err()
}

func (m *model) PrepareSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) (made []counter.SpanKey, _ error) {
	for _, key := range keys {
		if m.spans[table][key] == nil {
			m.spans[table][key] = make([]int64, table.Width())
			made = append(made, key)
		}
	}
	return made, ctx.Err()
}

func (m *model) DeleteSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) error {
	for _, key := range keys {
		delete(m.spans[table], key)
	}
	return ctx.Err()
}

func (m *model) FirstSpans(ctx context.Context, table counter.Table, below counter.SpanKey, limit int) (list []counter.Span, _ error) {
	for _, key := range slices.Sorted(maps.Keys(m.spans[table])) {
		if key < below && len(list) < limit {
			list = append(list, counter.Span{Key: key, Values: slices.Clone(m.spans[table][key])})
		}
	}
	return list, ctx.Err()
}

func (m *model) ClosedDays(ctx context.Context, keys []counter.SpanKey) ([]counter.ClosedDay, error) {
	return under(ctx, m.closed, keys)
}

func (m *model) PutClosedDays(ctx context.Context, days []counter.ClosedDay) error {
	for _, day := range days {
		m.closed[day.Key] = day
	}
	return ctx.Err()
}

func (m *model) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.SpanKey, limit int) (list []counter.ClosedDay, _ error) {
	for _, key := range slices.Sorted(maps.Keys(m.closed)) {
		if day := m.closed[key]; day.Detail == detail && key >= from && key < below && len(list) < limit {
			list = append(list, day)
		}
	}
	return list, ctx.Err()
}

func (m *model) TopMetrics(ctx context.Context, day int64, prefix counter.Metric, k int) (list []counter.Ranked, _ error) {
	for id, meta := range m.metrics {
		key := counter.NewSpanKey(day, id)
		n := m.closed[key].N
		if open := m.spans[counter.Days][key]; open != nil {
			n += open[counter.DayTotal]
		}
		if n > 0 && strings.HasPrefix(string(meta.Name), string(prefix)) {
			list = append(list, counter.Ranked{Metric: meta.Name, N: n})
		}
	}
	slices.SortFunc(list, func(a, b counter.Ranked) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Metric, b.Metric)) })
	return list[:min(k, len(list))], ctx.Err()
}

func (m *model) Floor(ctx context.Context) (int64, error) { return m.floor, ctx.Err() }

func (m *model) RaiseFloor(ctx context.Context, floor int64) error {
	m.floor = max(m.floor, floor)
	return ctx.Err()
}

func (m *model) Batches(ctx context.Context, keys []counter.Key) ([]counter.Remembered, error) {
	return under(ctx, m.batches, keys)
}

func (m *model) PutBatches(ctx context.Context, batches []counter.KeyedBatch) error {
	for _, b := range batches {
		m.batches[b.Key] = b.Remembered
	}
	return ctx.Err()
}

func (m *model) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	return forget(ctx, m.batches, below, limit)
}

func (m *model) Producers(ctx context.Context, producers []counter.Producer) ([]counter.Remembered, error) {
	return under(ctx, m.producers, producers)
}

func (m *model) PutProducers(ctx context.Context, batches []counter.ProducedBatch) error {
	for _, b := range batches {
		m.producers[b.Producer] = b.Remembered
	}
	return ctx.Err()
}

func (m *model) DropProducers(ctx context.Context, below int64, limit int) (int, error) {
	return forget(ctx, m.producers, below, limit)
}

// forget drops any of them; a store may, too.
func forget[K comparable](ctx context.Context, all map[K]counter.Remembered, below int64, limit int) (dropped int, _ error) {
	for key, of := range all {
		if of.Newest < below && dropped < limit {
			delete(all, key)
			dropped++
		}
	}
	return dropped, ctx.Err()
}
