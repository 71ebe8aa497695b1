// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/countertest"
)

// Readers find the sent hits, including repeated batches and late hits, before and after days are compacted, with and
// without prepared buckets.
func TestRecorder_WhatIsSentIsRead(t *testing.T) {
	t.Parallel()
	for _, always := range []bool{true, false} {
		t.Run(fmt.Sprint("prepared=", always), func(t *testing.T) {
			t.Parallel()
			begin := time.Date(2026, 2, 27, 23, 30, 0, 0, time.UTC)
			w := newReadWorld(t, begin, countertest.NewMemory(), countertest.NewMemory())
			w.names = []counter.Metric{"a", "b", "g", "c"}
			for _, m := range w.names {
				w.came[m] = map[counter.Minute][]int64{}
			}
			rng := rand.New(rand.NewPCG(1, 7))
			w.opts.Rand = func() float64 { return 0 }
			w.opts.Unprepared = !always
			for day := range 5 {
				r := w.recorder()
				b := counter.Batch{Key: counter.Key(fmt.Sprint("day", day))}
				for range 50 {
					m := w.names[rng.IntN(len(w.names))]
					late := time.Duration(rng.Int64N(int64([]time.Duration{counter.Window, time.Hour, time.Minute}[rng.IntN(3)])))
					h := counter.Hit{Metric: m, At: w.now.Add(-late), N: 1 + rng.Int64N(9)}
					if isGauge(m) {
						h.Kind = counter.Gauge
					}
					b.Hits = append(b.Hits, h)
					at := counter.MinuteOf(h.At)
					w.came[m][at] = append(w.came[m][at], h.N)
				}
				for again := range 2 {
					answer, err := r.AddBatch(t.Context(), b)
					if err != nil || answer.Replayed != (again == 1) || slices.ContainsFunc(answer.Results, func(err error) bool { return err != nil }) {
						t.Fatalf("day %d, attempt %d: %+v, %v", day, again, answer, err)
					}
				}
				w.must(r.Close())
				w.now = w.now.Add(21 * time.Hour)
				if day > 1 {
					w.must(w.maintain())
				}
			}
			for _, step := range []counter.Step{counter.ByDay, counter.ByHour, counter.ByMinute} {
				q := counter.Query{Metrics: w.names, Step: step, From: begin.Add(-2 * 24 * time.Hour), To: w.now}
				if step == counter.ByDay {
					q.From = begin.Add(-10 * 24 * time.Hour)
				}
				w.check(q, w.series(q))
			}
		})
	}
}
