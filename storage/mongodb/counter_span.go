// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/locus-db/locus/counter"
)

// AddTallies collects the tallies until the commit, and returns the days that they open.
func (t *counterTx) AddTallies(ctx context.Context, tallies []counter.Tally) (made []counter.SpanKey, err error) {
	if err := t.writes(); err != nil {
		return nil, err
	}
	keys := make([]counter.SpanKey, len(tallies))
	for i, tally := range tallies {
		keys[i] = counter.NewSpanKey(tally.Minute.Day(), tally.ID)
	}
	if err := t.load(ctx, keys, false); err != nil {
		return nil, err
	}
	begun := map[*day]bool{}
	for i, tally := range tallies {
		d := t.days[keys[i]]
		if !begun[d] {
			begun[d] = true
			if !t.isOpen(d) {
				made = append(made, d.key)
				d.compared = true // concurrent transactions that find it not open conflict, so only one opens it
			}
		}
		if d.total() > math.MaxInt64-tally.N {
			return nil, counter.ErrOverflow
		}
		if d.whole && d.overflows(tally) {
			return nil, counter.ErrOverflow
		}
		d.tallies, d.tallied = append(d.tallies, tally), d.tallied+tally.N
		if d.whole {
			d.add(tally)
		}
	}
	return made, nil
}

// isOpen reports whether the day has a span of Days, as the transaction leaves it.
func (t *counterTx) isOpen(d *day) bool {
	if d.whole {
		return d.spans[counter.Days][0] != nil
	}
	return d.open || len(d.tallies) > 0 || len(d.prepared[counter.Days]) > 0
}

// Spans reads whole days.
func (t *counterTx) Spans(ctx context.Context, table counter.Table, keys []counter.SpanKey) ([][]int64, error) {
	if err := t.loadOf(ctx, table, keys); err != nil {
		return nil, err
	}
	all := make([][]int64, len(keys))
	for i, key := range keys {
		doc, place := dayOf(table, key)
		d := t.days[doc]
		d.compared = true
		if values := d.spans[table][place]; values != nil {
			all[i] = slices.Clone(values)
		}
	}
	return all, nil
}

// loadOf reads the days that contain the spans.
func (t *counterTx) loadOf(ctx context.Context, table counter.Table, keys []counter.SpanKey) error {
	docs := make([]counter.SpanKey, len(keys))
	for i, key := range keys {
		docs[i], _ = dayOf(table, key)
	}
	return t.load(ctx, docs, true)
}

// PutSpans marks the days for replacement.
func (t *counterTx) PutSpans(ctx context.Context, table counter.Table, spans []counter.Span) error {
	keys := make([]counter.SpanKey, len(spans))
	for i := range spans {
		keys[i] = spans[i].Key
	}
	return t.change(ctx, table, keys, func(i int, d *day, place int) {
		copy(d.span(table, place), spans[i].Values)
	})
}

// DeleteSpans marks the days for replacement.
func (t *counterTx) DeleteSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) error {
	return t.change(ctx, table, keys, func(_ int, d *day, place int) { delete(d.spans[table], place) })
}

// change calls do for the spans under keys.
func (t *counterTx) change(ctx context.Context, table counter.Table, keys []counter.SpanKey, do func(i int, d *day, place int)) error {
	if err := t.writes(); err != nil {
		return err
	}
	if err := t.loadOf(ctx, table, keys); err != nil {
		return err
	}
	for i, key := range keys {
		doc, place := dayOf(table, key)
		d := t.days[doc]
		d.rewritten = true
		do(i, d, place)
	}
	return nil
}

// PrepareSpans adds zeros, which leaves existing values unchanged.
func (t *counterTx) PrepareSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) (made []counter.SpanKey, err error) {
	if err := t.writes(); err != nil {
		return nil, err
	}
	if err := t.loadOf(ctx, table, keys); err != nil {
		return nil, err
	}
	for _, key := range keys {
		doc, place := dayOf(table, key)
		d := t.days[doc]
		if d.spans[table][place] != nil {
			continue
		}
		d.span(table, place)
		made = append(made, key)
		if table > counter.Days {
			d.rewritten = true
			continue
		}
		if d.prepared[table] == nil {
			d.prepared[table] = map[int]bool{}
		}
		d.prepared[table][place] = true
		d.compared = true // concurrent transactions that find it missing conflict, so only one creates it
	}
	return made, nil
}

// ClosedDays reads whole days.
func (t *counterTx) ClosedDays(ctx context.Context, keys []counter.SpanKey) ([]counter.ClosedDay, error) {
	if err := t.load(ctx, keys, true); err != nil {
		return nil, err
	}
	days := make([]counter.ClosedDay, len(keys))
	for i, key := range keys {
		if d := t.days[key]; d.closed != nil {
			days[i] = *d.closed
		}
	}
	return days, nil
}

// PutClosedDays marks the days for replacement.
func (t *counterTx) PutClosedDays(ctx context.Context, days []counter.ClosedDay) error {
	keys := make([]counter.SpanKey, len(days))
	for i := range days {
		keys[i] = days[i].Key
	}
	if err := errors.Join(t.writes(), t.load(ctx, keys, true)); err != nil {
		return err
	}
	for i := range days {
		d, closed := t.days[keys[i]], days[i]
		d.closed, d.rewritten = &closed, true
	}
	return nil
}
