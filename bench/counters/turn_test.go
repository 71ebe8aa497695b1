// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/bench/internal/rounds"
)

// turnWays are the methods with a row per hour and day.
var turnWays = []way{{"locus", openLocus("postgres")}, {"locus-sqlite", openLocus("sqlite")}}

// The simulated time around midnight: an hour and a half before it, half an hour after. Each metric is hit once a
// minute, by this many callers with this many hits per call.
const (
	turnBefore  = 90
	turnAfter   = 30
	turnCallers = 16
	turnBatch   = 25
)

// turn plays the hours around midnight, once with buckets prepared and once without.
func (b *bench) turn(ctx context.Context, w way) error {
	if b.Around == 0 {
		return nil
	}
	both := []bool{true, false}
	if b.Round%2 == 1 {
		slices.Reverse(both)
	}
	if b.little() {
		both = both[:1]
	}
	for _, prepared := range both {
		if err := b.around(ctx, w, prepared); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) around(ctx context.Context, w way, prepared bool) (err error) {
	var clock atomic.Pointer[time.Time]
	at := midnight.Add(-turnBefore * time.Minute)
	clock.Store(&at)
	t, err := w.open(ctx, b, setting{
		metrics: b.Around, callers: turnCallers, unprepared: !prepared, now: func() time.Time { return *clock.Load() },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	var hour, day, others waiting
	before := b.used()
	every, played := 1, int64(0)
	if b.little() {
		every = 15
	}
	for m := 0; m < turnBefore+turnAfter; m += every {
		played++
		now := at.Add(time.Duration(m) * time.Minute)
		clock.Store(&now)
		of := &others
		switch {
		case m == 0:
			of = &waiting{} // all rows are new
		case now.Equal(midnight):
			of = &day
		case now.Minute() == 0:
			of = &hour
		}
		if err := of.minute(ctx, t, b.Around, now); err != nil {
			return err
		}
	}
	_, _, foreign := b.used().Since(before, 1)
	b.Turns = append(b.Turns, Turn{
		Method: w.key, Prepared: prepared, Metrics: b.Around, Others: foreign,
		Hour: rounds.Quantile(hour.waits, 0.99), Day: rounds.Quantile(day.waits, 0.99),
		Else:     rounds.Quantile(others.waits, 0.99),
		HourRate: hour.rate(), DayRate: day.rate(), ElseRate: others.rate(),
	})
	return compare(ctx, t, func(int) int64 { return played })
}

// waiting holds the durations of calls.
type waiting struct {
	waits []time.Duration
	hits  int
	spent time.Duration
}

func (w *waiting) rate() float64 { return float64(w.hits) / w.spent.Seconds() }

// minute hits each metric once.
func (w *waiting) minute(ctx context.Context, t target, metrics int, at time.Time) error {
	order := rand.New(rand.NewPCG(6, uint64(at.Unix()))).Perm(metrics)
	calls := slices.Collect(slices.Chunk(order, turnBatch))
	waits, errs := make([]time.Duration, len(calls)), make([]error, len(calls))
	var next atomic.Int64
	began := time.Now()
	var wg sync.WaitGroup
	for caller := range turnCallers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(calls) {
					return
				}
				c := call{at: at}
				for _, m := range calls[i] {
					c.metrics = append(c.metrics, int32(m))
				}
				sent := time.Now()
				errs[i] = t.add(ctx, caller, c)
				waits[i] = time.Since(sent)
			}
		})
	}
	wg.Wait()
	w.spent += time.Since(began)
	w.waits, w.hits = append(w.waits, waits...), w.hits+metrics
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%v: %w", at, err)
	}
	return nil
}
