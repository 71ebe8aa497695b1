// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// request is a batch in progress: the part for each cell, and the results.
type request struct {
	hits    []Hit
	once    *once // nil if it counts as often as it is sent
	results []error
	// partial reports that a hit could not be sent to a cell because its place is unknown.
	partial bool
	parts   []*GroupBatch
	waiting atomic.Int32 // parts without an answer
	done    chan struct{}
}

// GroupBatch is the part of a batch for one cell.
type GroupBatch struct {
	request  *request
	cell     string
	items    []item
	replayed bool
	some     bool // some of its hits were counted
	earlier  bool // counted in an earlier transaction of the group, or refused in part: no repeat
}

type item struct {
	place *place
	at    time.Time
	n     int64
	index int // in the batch
	kind  Kind
	// fresh reports that the place came from the directory itself and not from a cache: the metric's row may be
	// missing and is then written.
	fresh bool
	// next and tomorrow report whether to prepare the next hour (or quarter), and the next day.
	next, tomorrow bool
	// refused is the error of its time, unless it was counted before.
	refused error
	result  error
	// settled reports that the result is final, and that the hit takes part in no further transaction.
	settled bool
}

func (p *GroupBatch) fail(err error) {
	p.replayed = false
	for i := range p.items {
		p.items[i].result = err
	}
}

// answered reports the part as done to the caller. The part must not be used afterwards.
func (p *GroupBatch) answered() {
	if c := p.request; c.waiting.Add(-1) == 0 {
		c.done <- struct{}{}
	}
}

func (r *Recorder) call(b *Batch) (*request, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	c, _ := r.calls.Get().(*request)
	if c == nil {
		c = &request{done: make(chan struct{}, 1)}
	}
	c.hits, c.results = b.Hits, make([]error, len(b.Hits))
	if b.once() {
		c.once = &once{key: b.Key, producer: b.Producer, seq: b.Seq, print: digestOf(b.Hits), hits: len(b.Hits)}
	}
	return c, nil
}

func (r *Recorder) release(c *request) {
	c.renew()
	c.hits, c.once, c.results, c.partial = nil, nil, nil, false
	r.calls.Put(c)
}

// renew removes the parts, to make room for others.
func (c *request) renew() {
	for _, p := range c.parts {
		clear(p.items)
		p.items, p.cell, p.replayed, p.some, p.earlier = p.items[:0], "", false, false, false
	}
	c.parts = c.parts[:0]
}

// part returns the part for a cell, and creates it if needed.
func (c *request) part(cell string) *GroupBatch {
	for _, p := range c.parts {
		if p.cell == cell {
			return p
		}
	}
	n := len(c.parts)
	if n < cap(c.parts) {
		c.parts = c.parts[:n+1]
	} else {
		c.parts = append(c.parts, nil)
	}
	if c.parts[n] == nil {
		c.parts[n] = &GroupBatch{request: c}
	}
	p := c.parts[n]
	p.cell = cell
	return p
}

func (c *request) send(i int, at *place, fresh bool, refused error) {
	p, h := c.part(at.cell), &c.hits[i]
	p.items = append(p.items, item{place: at, at: h.At, n: h.N, index: i, kind: h.Kind, fresh: fresh, refused: refused})
}

// split validates each hit, looks up its metric, and makes the parts.
func (r *Recorder) split(ctx context.Context, c *request, now time.Time) {
	var unplaced []int
	times := windowAt(now)
	for i := range c.hits {
		h := &c.hits[i]
		at := r.places.get(h.Metric)
		if c.results[i] = h.check(at != nil); c.results[i] != nil {
			continue
		}
		late := times.check(h.At)
		switch {
		case late != nil && c.once == nil:
			c.results[i] = late
		case at != nil:
			c.send(i, at, false, late)
		default:
			c.results[i] = late
			unplaced = append(unplaced, i)
		}
	}
	if len(unplaced) > 0 {
		r.locate(ctx, c, unplaced, false)
	}
}

// locate asks the directory for the places of metrics. Metrics without one get one, within the quota, unless all
// their hits are refused anyway.
func (r *Recorder) locate(ctx context.Context, c *request, hits []int, fresh bool) {
	of := map[Metric][]int{}
	var metrics, absent []Metric
	for _, i := range hits {
		m := c.hits[i].Metric
		if of[m] == nil {
			metrics = append(metrics, m)
		}
		of[m] = append(of[m], i)
	}
	for n, at := range r.cells.Places(ctx, metrics, false, fresh) {
		m := metrics[n]
		wanted := slices.ContainsFunc(of[m], func(i int) bool { return c.results[i] == nil })
		switch {
		case at.Err == nil && at.ID == 0 && wanted:
			absent = append(absent, m)
		case at.Err != nil || at.ID != 0:
			r.found(c, of[m], at, fresh)
		}
	}
	if len(absent) == 0 {
		return
	}
	room := r.quota.take(ctx, len(absent))
	for _, m := range absent[room:] {
		r.found(c, of[m], Place{Err: ErrQuota}, false)
	}
	if room == 0 {
		return
	}
	unused := 0
	for n, at := range r.cells.Places(ctx, absent[:room], true, fresh) {
		if at.Err != nil {
			unused++
		}
		r.found(c, of[absent[n]], at, true)
	}
	r.quota.give(unused)
}

// found adds the hits of a metric to the part of its cell. Hits with an invalid time keep that error.
func (r *Recorder) found(c *request, hits []int, at Place, fresh bool) {
	if at.Err != nil {
		for _, i := range hits {
			if c.results[i] == nil {
				c.results[i], c.partial = at.Err, true
			}
		}
		return
	}
	p := r.places.put(c.hits[hits[0]].Metric, at)
	for _, i := range hits {
		late := c.results[i]
		c.results[i] = nil
		c.send(i, p, fresh, late)
	}
}

// collect takes over the results of the parts, and returns the hits whose metrics a cell has lost.
func (c *request) collect() (lost []int) {
	for _, p := range c.parts {
		for i := range p.items {
			it := &p.items[i]
			c.results[it.index] = it.result
			if errors.Is(it.result, ErrForgotten) {
				c.results[it.index] = nil
				lost = append(lost, it.index)
			}
		}
	}
	return lost
}

func (c *request) replayed() bool {
	for _, p := range c.parts {
		if !p.replayed {
			return false
		}
	}
	return len(c.parts) > 0 && !c.partial
}
