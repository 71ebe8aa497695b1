// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// call is a batch on its way: what of it goes to which cell, and what came back.
type call struct {
	hits    []Hit
	once    *once // nil if it counts as often as it is sent
	results []error
	// partial tells that a hit went to no cell though it might have.
	partial bool
	parts   []*share
	waiting atomic.Int32 // parts that were not answered
	done    chan struct{}
}

// share is what of a batch goes to one cell.
type share struct {
	call     *call
	cell     string
	items    []item
	replayed bool
	some     bool // something of it was counted
	earlier  bool // and in an earlier transaction of the group
	unread   bool // what is remembered of its batch cannot be read
}

// item is a hit of a part.
type item struct {
	place *place
	at    time.Time
	n     int64
	index int // in the batch
	kind  Kind
	// fresh tells that the directory was asked for the place itself, and not somebody's memory: the
	// metric's row may be missing, and is written.
	fresh bool
	// next and tomorrow tell that chance wants the next hour, or quarter, and the next day prepared.
	next, tomorrow bool
	// refused is what is wrong with its time, unless it was counted before.
	refused error
	result  error
	// settled tells that the result stands: see Apart.
	settled bool
}

// fail answers all hits of a part alike.
func (p *share) fail(err error) {
	p.replayed = false
	for i := range p.items {
		p.items[i].result = err
	}
}

// answered tells the one who waits. The part must not be touched afterwards.
func (p *share) answered() {
	if c := p.call; c.waiting.Add(-1) == 0 {
		c.done <- struct{}{}
	}
}

// call checks a batch.
func (r *Recorder) call(b *Batch) (*call, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	c, _ := r.calls.Get().(*call)
	if c == nil {
		c = &call{done: make(chan struct{}, 1)}
	}
	c.hits, c.results = b.Hits, make([]error, len(b.Hits))
	if b.once() {
		c.once = &once{key: b.Key, producer: b.Producer, seq: b.Seq, print: printOf(b.Hits), hits: len(b.Hits)}
	}
	return c, nil
}

// release gives back what nobody holds any more.
func (r *Recorder) release(c *call) {
	c.renew()
	c.hits, c.once, c.results, c.partial = nil, nil, nil, false
	r.calls.Put(c)
}

// renew makes room for other parts.
func (c *call) renew() {
	for _, p := range c.parts {
		clear(p.items)
		p.items, p.cell, p.replayed, p.some, p.earlier, p.unread = p.items[:0], "", false, false, false, false
	}
	c.parts = c.parts[:0]
}

// part is that of a cell.
func (c *call) part(cell string) *share {
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
		c.parts[n] = &share{call: c}
	}
	p := c.parts[n]
	p.cell = cell
	return p
}

func (c *call) send(i int, at *place, fresh bool, refused error) {
	p, h := c.part(at.cell), &c.hits[i]
	p.items = append(p.items, item{place: at, at: h.At, n: h.N, index: i, kind: h.Kind, fresh: fresh, refused: refused})
}

// split checks each hit, finds out where its metric is, and makes the parts.
func (r *Recorder) split(ctx context.Context, c *call, now time.Time) {
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

// locate asks the directory where the metrics of some hits are. Those that have no place get one, if there is
// room, unless all their hits are refused anyway.
func (r *Recorder) locate(ctx context.Context, c *call, hits []int, fresh bool) {
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

// found sends hits where their metric is. Those whose time is refused have that for a result.
func (r *Recorder) found(c *call, hits []int, at Place, fresh bool) {
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

// collect takes over what the parts were answered, and answers with the hits whose metrics a cell has lost.
func (c *call) collect() (lost []int) {
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

// replayed tells whether all parts were counted before.
func (c *call) replayed() bool {
	for _, p := range c.parts {
		if !p.replayed {
			return false
		}
	}
	return len(c.parts) > 0 && !c.partial
}
