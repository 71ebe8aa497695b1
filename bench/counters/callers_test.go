// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/bench/internal/rounds"
)

// callerWays are the methods that callers hit at full speed.
var callerWays = []way{
	{"locus", openLocus("postgres")},
	{"redis", openRedis("always", 0)},
	{"locus-sqlite", openLocus("sqlite")},
	{"rows", openRows},
	{"locus-http", openServer("postgres")},
	{"locus-client", openClient("postgres")},
	{"redis-list", openRedis("always", 512)},
	{"redis-everysec", openRedis("everysec", 0)},
	{"locus-sqlite-http", openServer("sqlite")},
	{"locus-sqlite-client", openClient("sqlite")},
}

// loadsOf returns the loads of a method. A method that does not combine gets single hits only. Over HTTP, locus
// serve rejects requests beyond its capacity, and 512 concurrent ones are too many.
func (b *bench) loadsOf(key string) (all []Load) {
	all = slices.DeleteFunc(loadsOf(key, b.Many), func(l Load) bool { return l.Callers > b.Callers })
	if b.little() {
		return all[:min(2, len(all))]
	}
	return all
}

func loadsOf(key string, many int) (all []Load) {
	switch {
	case key == "rows":
		return []Load{load(1, 1), load(8, 1), load(64, 1)}
	case key == "redis-list":
		return []Load{load(8, 1), load(64, 1), load(8, 1000)}
	case strings.HasSuffix(key, "-client"):
		return []Load{load(8, 1), load(64, 1), load(512, 1)}
	}
	all = []Load{load(1, 1), load(8, 1), load(64, 1), load(512, 1), load(8, 100), load(8, 1000)}
	switch {
	case strings.HasSuffix(key, "-http"):
		return slices.Delete(all, 3, 4)
	case key != "locus" && key != "locus-sqlite" && key != "locus-mongodb":
		return all
	}
	for _, l := range []Load{load(1, 1), load(64, 1), load(8, 1000)} {
		l.Keyed = true
		all = append(all, l)
	}
	if key == "locus" {
		for _, l := range []Load{load(64, 1), load(8, 1000)} {
			l.Servers = 2
			all = append(all, l)
		}
	}
	if many > 0 {
		all = append(all, Load{Callers: 8, Batch: 1000, Metrics: many})
	}
	return all
}

// callers measures the loads of a method. Loads with the same setting share a target.
func (b *bench) callers(ctx context.Context, w way) error {
	loads := b.loadsOf(w.key)
	for len(loads) > 0 {
		first, same := loads[0], 1
		for same < len(loads) && loads[same].Metrics == first.Metrics && loads[same].Servers == first.Servers {
			same++
		}
		if err := b.hit(ctx, w, setting{metrics: first.Metrics, callers: b.Callers, servers: first.Servers}, loads[:same]); err != nil {
			return err
		}
		loads = loads[same:]
	}
	return nil
}

// hit opens a target and measures loads on it, each after a short unmeasured one.
func (b *bench) hit(ctx context.Context, w way, s setting, loads []Load) (err error) {
	t, err := w.open(ctx, b, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	want := make([]atomic.Int64, s.metrics)
	if s.metrics > few {
		if err := fill(ctx, t, want); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	for _, l := range loads {
		if _, err := drive(ctx, t, l, b.seconds(b.Seconds/5), want); err != nil {
			return fmt.Errorf("%s: %w", l, err)
		}
		run, err := b.once(ctx, t, l, want)
		for n := 0; err == nil && b.Foreign > 0 && !onMongoDB(w.key) && run.Others > b.Foreign && n < 2; n++ {
			var again Run
			if again, err = b.once(ctx, t, l, want); again.Others < run.Others {
				run = again
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l, err)
		}
		run.Method = w.key
		b.Runs = append(b.Runs, run)
	}
	return compare(ctx, t, func(m int) int64 { return want[m].Load() })
}

// once measures a load.
func (b *bench) once(ctx context.Context, t target, l Load, want []atomic.Int64) (r Run, err error) {
	if g, ok := t.(grouping); ok {
		g.groups()
	}
	before, began := b.used(), time.Now()
	waits, err := drive(ctx, t, l, b.seconds(b.Seconds), want)
	spent, after := time.Since(began), b.used()
	if err == nil && len(waits) == 0 {
		err = errors.New("nothing was written")
	}
	hits := len(waits) * l.Batch
	r = Run{Load: l, PerSecond: float64(hits) / spent.Seconds(), P50: rounds.Quantile(waits, 0.5),
		P99: rounds.Quantile(waits, 0.99)}
	if g, ok := t.(grouping); ok {
		if commits, hits := g.groups(); commits > 0 {
			r.Group = float64(hits) / float64(commits)
		}
	}
	r.Server, r.Program, r.Others = after.Since(before, hits)
	return r, err
}

// fill hits every metric once, so that a load finds them all.
func fill(ctx context.Context, t target, want []atomic.Int64) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			for errs[i] == nil {
				c := call{at: time.Now().UTC()}
				end := int(next.Add(1000))
				for m := end - 1000; m < min(end, len(want)); m++ {
					c.metrics = append(c.metrics, int32(m))
				}
				if len(c.metrics) == 0 {
					return
				}
				errs[i] = t.add(ctx, i, c)
				for _, m := range c.metrics {
					want[m].Add(1)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// drive makes callers hit random metrics for a duration, and returns how long each call took. It adds the acknowledged
// hits to want.
func drive(ctx context.Context, t target, l Load, d time.Duration, want []atomic.Int64) ([]time.Duration, error) {
	waits := make([][]time.Duration, l.Callers)
	errs := make([]error, l.Callers)
	began := time.Now()
	var wg sync.WaitGroup
	for i := range l.Callers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(5, uint64(i)))
			c := call{metrics: make([]int32, l.Batch)}
			for n := 0; ; n++ {
				for j := range c.metrics {
					c.metrics[j] = int32(r.IntN(len(want)))
				}
				sent := time.Now()
				if sent.Sub(began) >= d && n > 0 {
					return
				}
				c.at = sent.UTC()
				if l.Keyed {
					c.key = fmt.Sprintf("%d-%d-%d", sent.UnixNano(), i, n)
				}
				if errs[i] = t.add(ctx, i, c); errs[i] != nil {
					return
				}
				waits[i] = append(waits[i], time.Since(sent))
				for _, m := range c.metrics {
					want[m].Add(1)
				}
			}
		})
	}
	wg.Wait()
	return slices.Concat(waits...), cmp.Or(errors.Join(errs...), ctx.Err())
}
