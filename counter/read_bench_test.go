// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/locus-db/locus/counter"
)

// A year of 100 metrics: days are compacted, then read by day, by hour and by minute.
func BenchmarkYear(b *testing.B) {
	const metrics, days = 100, 365
	begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	w := newReadWorld(b, begin.AddDate(0, 0, days), onSQLite(b))
	for i := range metrics {
		w.names = append(w.names, counter.Metric(fmt.Sprintf("c%02d", i)))
	}
	ctx := context.Background()
	for day := range days {
		w.must(w.cells["c0"].Update(ctx, func(tx counter.Tx) error {
			var tallies []counter.Tally
			var metas []counter.Meta
			for i, name := range w.names {
				metas = append(metas, counter.Meta{ID: counter.ID(i + 1), Name: name, First: counter.MinuteOf(begin).Day()})
				for hour := range 3 {
					at := counter.MinuteOf(begin) + counter.Minute(day*24*60+hour*300+i)
					tallies = append(tallies, counter.Tally{ID: counter.ID(i + 1), Minute: at, N: 7})
				}
			}
			if _, err := tx.AddTallies(ctx, tallies); err != nil {
				return err
			}
			return tx.PutMetrics(ctx, metas)
		}))
	}
	start := time.Now()
	w.must(w.maintain())
	b.Logf("packed %d days in %v", (days-2)*metrics, time.Since(start))
	for _, q := range []struct {
		name string
		counter.Query
	}{
		{"days", counter.Query{Metrics: w.names, Step: counter.ByDay, From: begin, To: w.now}},
		{"days in Kathmandu", counter.Query{Metrics: w.names, Step: counter.ByDay, From: begin, To: w.now,
			Zone: zone(b, "Asia/Kathmandu")}},
		{"hours of 5 metrics", counter.Query{Metrics: w.names[:5], Step: counter.ByHour, From: begin, To: w.now}},
		{"minutes of a month of one", counter.Query{Metrics: w.names[:1], Step: counter.ByMinute,
			From: w.now.AddDate(0, 0, -30), To: w.now}},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.series(q.Query)
			}
		})
	}
}
