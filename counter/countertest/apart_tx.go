// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/counter"
)

var _ counter.Apart = (*apartTx)(nil)

func (t *apartTx) Metrics(ctx context.Context, ids []counter.ID) ([]counter.Meta, error) {
	err := t.step(Step{Of: MetricDocument}, func() error {
		for _, id := range ids {
			if _, known := t.known[id]; !known {
				t.known[id] = t.metrics[id]
			}
		}
		return nil
	})
	if err != nil {
		return nil, t.unread(err, counter.UnreadError{Metrics: ids})
	}
	return under(ctx, t.known, ids)
}

func (t *apartTx) PutMetrics(ctx context.Context, metrics []counter.Meta) error {
	ids := make([]counter.ID, len(metrics))
	for i := range metrics {
		ids[i] = metrics[i].ID
	}
	if _, err := t.Metrics(ctx, ids); err != nil || t.reading {
		return cmp.Or(err, errReading)
	}
	m := &model{metrics: t.known}
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

func (t *apartTx) all() (*model, error) {
	m := &model{}
	err := t.step(Step{Of: Listing}, func() error {
		m.metrics = maps.Clone(t.metrics)
		return nil
	})
	if err == nil {
		maps.Copy(m.metrics, t.put)
	}
	return m, err
}

func (t *apartTx) ListMetrics(ctx context.Context, prefix, after counter.Metric, limit int) ([]counter.Meta, error) {
	m, err := t.all()
	if err != nil {
		return nil, err
	}
	return m.ListMetrics(ctx, prefix, after, limit)
}

func (t *apartTx) CountMetrics(ctx context.Context) (int, error) {
	m, err := t.all()
	if err != nil {
		return 0, err
	}
	return m.CountMetrics(ctx)
}

func (t *apartTx) AddTallies(ctx context.Context, tallies []counter.Tally) (made []counter.SpanKey, _ error) {
	if t.reading {
		return nil, errReading
	}
	for _, tally := range tallies {
		key := counter.NewSpanKey(tally.Minute.Day(), tally.ID)
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

func (t *apartTx) Spans(ctx context.Context, table counter.Table, keys []counter.SpanKey) ([][]int64, error) {
	spans := make([][]int64, len(keys))
	for i, key := range keys {
		d, err := t.day(dayOf(table, key))
		if err != nil {
			return nil, err
		}
		d.compared = true
		spans[i] = slices.Clone(d.spans[table][key])
	}
	return spans, ctx.Err()
}

// change applies changes to the days that they belong to.
func (t *apartTx) change(ctx context.Context, table counter.Table, n int, key func(int) counter.SpanKey, do func(i int, d *ownDay) error) error {
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

func (t *apartTx) PutSpans(ctx context.Context, table counter.Table, spans []counter.Span) error {
	return t.change(ctx, table, len(spans), func(i int) counter.SpanKey { return spans[i].Key }, func(i int, d *ownDay) error {
		d.rewritten = true
		return d.PutSpans(ctx, table, spans[i:i+1])
	})
}

func (t *apartTx) PrepareSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) (made []counter.SpanKey, _ error) {
	err := t.change(ctx, table, len(keys), func(i int) counter.SpanKey { return keys[i] }, func(i int, d *ownDay) error {
		is, err := d.PrepareSpans(ctx, table, keys[i:i+1])
		made = append(made, is...)
		d.rewritten = d.rewritten || len(is) > 0
		return err
	})
	return made, err
}

func (t *apartTx) DeleteSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) error {
	return t.change(ctx, table, len(keys), func(i int) counter.SpanKey { return keys[i] }, func(i int, d *ownDay) error {
		d.rewritten = true
		return d.DeleteSpans(ctx, table, keys[i:i+1])
	})
}

// list returns days in which pick finds something: stored days in their current state, days already read as the
// transaction sees them.
func (t *apartTx) list(pick func(*model) []counter.SpanKey) (picked []counter.SpanKey, _ error) {
	err := t.step(Step{Of: Listing}, func() error {
		for key, d := range t.apart.days {
			if t.days[key] == nil {
				picked = append(picked, pick(d.model)...)
			}
		}
		return nil
	})
	for _, d := range t.days {
		picked = append(picked, pick(d.model)...)
	}
	slices.Sort(picked)
	return picked, err
}

func (t *apartTx) FirstSpans(ctx context.Context, table counter.Table, below counter.SpanKey, limit int) (list []counter.Span, _ error) {
	keys, err := t.list(func(m *model) (keys []counter.SpanKey) {
		first, _ := m.FirstSpans(ctx, table, below, limit)
		for _, of := range first {
			keys = append(keys, of.Key)
		}
		return keys
	})
	if err != nil {
		return nil, err
	}
	keys = keys[:min(limit, len(keys))]
	values, err := t.Spans(ctx, table, keys)
	for i, v := range values {
		if v != nil {
			list = append(list, counter.Span{Key: keys[i], Values: v})
		}
	}
	return list, err
}

func (t *apartTx) ClosedDays(ctx context.Context, keys []counter.SpanKey) ([]counter.ClosedDay, error) {
	list := make([]counter.ClosedDay, len(keys))
	for i, key := range keys {
		d, err := t.day(key)
		if err != nil {
			return nil, err
		}
		d.compared = true
		list[i] = d.closed[key]
	}
	return list, ctx.Err()
}

func (t *apartTx) PutClosedDays(ctx context.Context, days []counter.ClosedDay) error {
	return t.change(ctx, counter.Days, len(days), func(i int) counter.SpanKey { return days[i].Key }, func(i int, d *ownDay) error {
		d.rewritten = true
		return d.PutClosedDays(ctx, days[i:i+1])
	})
}

func (t *apartTx) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.SpanKey, limit int) (list []counter.ClosedDay, _ error) {
	keys, err := t.list(func(m *model) (keys []counter.SpanKey) {
		days, _ := m.DetailedDays(ctx, detail, from, below, limit)
		for _, of := range days {
			keys = append(keys, of.Key)
		}
		return keys
	})
	if err != nil {
		return nil, err
	}
	days, err := t.ClosedDays(ctx, keys[:min(limit, len(keys))])
	return slices.DeleteFunc(days, func(of counter.ClosedDay) bool {
		return of.Detail != detail || of.Key == 0 && of.Body == nil && of.N == 0
	}), err
}

func (t *apartTx) TopMetrics(ctx context.Context, unit int64, prefix counter.Metric, k int) ([]counter.Ranked, error) {
	m, err := t.all()
	if err != nil {
		return nil, err
	}
	m.closed = map[counter.SpanKey]counter.ClosedDay{}
	m.spans[counter.Days] = map[counter.SpanKey][]int64{}
	take := func(of *model) []counter.SpanKey {
		maps.Copy(m.closed, of.closed)
		maps.Copy(m.spans[counter.Days], of.spans[counter.Days])
		return nil
	}
	if _, err := t.list(take); err != nil {
		return nil, err
	}
	return m.TopMetrics(ctx, unit, prefix, k)
}

func (t *apartTx) Floor(ctx context.Context) (int64, error) {
	if !t.floorRead {
		if err := t.step(Step{Of: FloorDocument}, func() error { t.was, t.is = t.floor, t.floor; return nil }); err != nil {
			return 0, t.unread(err, counter.UnreadError{Floor: true})
		}
		t.floorRead = !t.reading
	}
	return t.is, ctx.Err()
}

func (t *apartTx) RaiseFloor(ctx context.Context, floor int64) error {
	if t.reading {
		return errReading
	}
	_, err := t.Floor(ctx)
	t.is = max(t.is, floor)
	return err
}
