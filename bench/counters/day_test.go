// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"
)

// dayWays are the methods that the simulated day is played with.
var dayWays = []way{
	{"locus", openLocus("postgres")},
	{"growing", openDocuments(growing)},
	{"locus-sqlite", openLocus("sqlite")},
	{"flat", openDocuments(flat)},
	{"redis", openRedis("always", 0)},
	{"tree", openDocuments(tree)},
	{"growing-sqlite", openFile},
	{"redis-list", openRedis("always", 512)},
}

// midnight is when the measured day begins, after a day of warm-up.
var midnight = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// preparing is a target whose day must be prepared in advance.
type preparing interface {
	prepare(ctx context.Context, day time.Time) error
}

// fixed are the methods whose rows or documents do not grow: the hours of their day may come in any order.
var fixed = []string{"locus", "locus-sqlite", "locus-mongodb", "flat", "flat-mongodb", "tree", "tree-mongodb", "redis"}

// day plays the simulated day.
func (b *bench) day(ctx context.Context, w way) (err error) {
	var clock atomic.Pointer[time.Time]
	set := func(t time.Time) { clock.Store(&t) }
	yesterday := midnight.AddDate(0, 0, -1)
	set(yesterday)
	t, err := w.open(ctx, b, setting{metrics: b.Metrics, callers: 1, now: func() time.Time { return *clock.Load() }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	p := &player{bench: b, target: t, want: make([]int64, b.Metrics), set: set,
		r: rand.New(rand.NewPCG(3, uint64(b.Round)))}
	err = p.prepare(ctx, yesterday)
	for i, all := 0, minutes(8*b.Every); i < len(all) && err == nil; i++ {
		_, err = p.minute(ctx, yesterday.Add(all[i]), 0)
	}
	if err == nil {
		err = p.prepare(ctx, midnight)
	}
	if err != nil {
		return err
	}
	d := Day{Method: w.key}
	all := minutes(b.Every)
	if b.Shuffle && b.Round%2 == 1 && slices.Contains(fixed, w.key) {
		d.Shuffled = true
		all = shuffled(all, p.r)
	}
	before, logged := b.used(), int64(0)
	if l, ok := t.(logging); ok {
		if logged, err = l.logged(ctx); err != nil {
			return err
		}
	}
	hits := 0
	for _, at := range all {
		dot, err := p.minute(ctx, midnight.Add(at), time.Duration(b.Least*float64(time.Millisecond)))
		if err != nil {
			return fmt.Errorf("%v: %w", at, err)
		}
		dot.Minute, hits = int(at/time.Minute), hits+dot.Hits
		d.Dots = append(d.Dots, dot)
	}
	slices.SortFunc(d.Dots, func(a, b Dot) int { return a.Minute - b.Minute })
	_, _, d.Others = b.used().Since(before, hits)
	if l, ok := t.(logging); ok {
		now, err := l.logged(ctx)
		if err != nil {
			return err
		}
		d.WAL = float64(now-logged) / float64(hits)
	}
	if s, ok := t.(sized); ok {
		if d.Size, err = s.size(ctx); err != nil {
			return err
		}
	}
	b.Days = append(b.Days, d)
	return p.check(ctx)
}

// minutes returns every n-th minute of a day.
func minutes(every int) (all []time.Duration) {
	for m := 0; m < 24*60; m += every {
		all = append(all, time.Duration(m)*time.Minute)
	}
	return all
}

// shuffled returns the same minutes with the hours in random order.
func shuffled(all []time.Duration, r *rand.Rand) (mixed []time.Duration) {
	for _, hour := range r.Perm(24) {
		for _, at := range all {
			if int(at/time.Hour) == hour {
				mixed = append(mixed, at)
			}
		}
	}
	return mixed
}

// player hits a target at simulated times.
type player struct {
	*bench
	target
	want []int64
	set  func(time.Time)
	r    *rand.Rand
}

// minute plays one minute for at least a duration.
func (p *player) minute(ctx context.Context, at time.Time, least time.Duration) (Dot, error) {
	p.set(at)
	c := call{metrics: make([]int32, p.Batch), at: at}
	var d Dot
	took := time.Duration(0)
	for n := 0; n < p.Tx || took < least; n++ {
		// Different metrics, in order, so that no method has to merge or sort hits.
		first := p.r.IntN(p.Metrics)
		for i := range c.metrics {
			c.metrics[i] = int32((first + i) % p.Metrics)
		}
		slices.Sort(c.metrics)
		began := time.Now()
		if err := p.add(ctx, 0, c); err != nil {
			return d, err
		}
		took += time.Since(began)
		d.Hits += len(c.metrics)
		for _, m := range c.metrics {
			p.want[m]++
		}
	}
	d.Took = float64(took) / float64(time.Millisecond)
	return d, nil
}

// prepare prepares a day if the target requires it.
func (p *player) prepare(ctx context.Context, day time.Time) error {
	if ready, ok := p.target.(preparing); ok {
		return ready.prepare(ctx, day)
	}
	return nil
}

// check compares the sums with the acknowledged hits.
func (p *player) check(ctx context.Context) error {
	return compare(ctx, p.target, func(m int) int64 { return p.want[m] })
}

func compare(ctx context.Context, t target, want func(metric int) int64) error {
	got, err := t.sums(ctx)
	if err != nil {
		return err
	}
	for m, n := range got {
		if n != want(m) {
			return fmt.Errorf("metric %d has %d hits, %d were acknowledged", m, n, want(m))
		}
	}
	return nil
}
