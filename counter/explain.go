// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"time"
)

// Explain returns the values that a hit of a metric at a time changes. The error is ErrNotFound if the metric
// does not exist.
func (r *Recorder) Explain(ctx context.Context, metric Metric, at time.Time) (*Explanation, error) {
	if at.IsZero() || at.Unix() < 0 || at.UTC().Year() >= 2200 {
		return nil, invalid("at", "want a time in the years 1970 to 2199")
	}
	for fresh := false; ; fresh = true {
		places, err := r.find(ctx, []Metric{metric}, fresh)
		if err != nil {
			return nil, err
		}
		place := places[metric]
		var e *Explanation
		err = r.cells.Cell(place.Cell).View(ctx, func(tx Tx) error {
			e = nil
			metas, err := tx.Metrics(ctx, []ID{place.ID})
			if err != nil || metas[0].Name != metric {
				return err
			}
			e = &Explanation{Metric: metric, Kind: metas[0].Kind.String(), Cell: place.Cell, ID: place.ID, At: at.UTC()}
			return e.look(ctx, tx, metas[0].Kind, MinuteOf(at))
		})
		switch {
		case err != nil:
			return nil, err
		case e != nil:
			return e, nil
		case fresh:
			return nil, notFound(metric)
		}
	}
}

// touched is a table that a hit changes, with the key of the bucket and the changed values.
type touched struct {
	table  Table
	name   string
	unit   int64
	values []touchedValue
}

type touchedValue struct {
	index int
	what  string
}

// touches returns the tables that a hit changes, in this order.
func touches(kind Kind, m Minute) []touched {
	t := m.Time()
	minute, hour := t.Format("minute 15:04"), t.Format("hour 15")
	if kind == Gauge {
		five := func(at int, what string) (all []touchedValue) {
			for i, name := range [Reading]string{"min", "max", "sum", "count", "last"} {
				all = append(all, touchedValue{at*Reading + i, what + ", " + name})
			}
			return all
		}
		return []touched{
			{GaugeQuarters, "gauge_quarter", m.QuarterOf(), five(m.InHour()%15, minute)},
			{GaugeDays, "gauge_day", m.Day(), five(m.HourOfDay(), hour)},
		}
	}
	return []touched{
		{Hours, "counter_hour", m.Hour(), []touchedValue{{m.InHour(), minute}}},
		{Days, "counter_day", m.Day(), []touchedValue{
			{DayTotal, t.Format("day 2006-01-02")},
			{DayHour(m.HourOfDay()), hour},
			{DayQuarter(m.Quarter()), Minute(m.QuarterOf() * 15).Time().Format("quarter 15:04")},
		}},
	}
}

// look fills in the stored values.
func (e *Explanation) look(ctx context.Context, tx Tx, kind Kind, m Minute) error {
	for _, t := range touches(kind, m) {
		key := NewBucketKey(t.unit, e.ID)
		buckets, err := tx.Buckets(ctx, t.table, []BucketKey{key})
		if err != nil {
			return err
		}
		for _, v := range t.values {
			touch := Touch{Table: t.name, Key: key, Index: v.index, What: v.what}
			if buckets[0] != nil {
				touch.Now = buckets[0][v.index]
			}
			e.Touches = append(e.Touches, touch)
		}
	}
	compacted, err := tx.CompactedDays(ctx, []BucketKey{NewBucketKey(m.Day(), e.ID)})
	if err != nil {
		return err
	}
	e.Compacted = compacted[0].Key != 0
	return nil
}
