// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// delivery is a batch of a lane on its way.
type delivery struct {
	lane   int
	items  []item
	events []Event
	ready  bool // the states were read
}

// item is an ID of a delivery.
type item struct {
	entry *entry
	state *mirror.State
	pages []*page
	again bool // it is settling, and is read again later
}

// laneOf returns the lane of an ID.
func (f *feed) laneOf(id locality.ID) int { return int(xxhash.Sum64(id[:]) % uint64(len(f.lanes))) }

// enqueue adds an ID to its lane, for a page if that is not nil. state is its state if nothing newer was read.
func (f *feed) enqueue(id locality.ID, state *mirror.State, p *page) {
	e := f.entries[id]
	if e == nil {
		e = &entry{id: id, state: state}
		f.entries[id] = e
	} else {
		e.state = nil
		e.touched++
	}
	if p != nil {
		p.left++
		e.pages = append(e.pages, p)
	}
	if !e.queued {
		e.queued = true
		if !e.taken { // otherwise the lane adds it when it is done with it
			f.push(e)
		}
	}
}

func (f *feed) push(e *entry) {
	n := f.laneOf(e.id)
	f.lanes[n] = append(f.lanes[n], e)
}

// take takes the next IDs of a lane, nil if none is waiting. The lane must be done with the previous ones.
func (f *feed) take(lane int) *delivery {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(len(f.lanes[lane]), f.batch)
	if n == 0 {
		return nil
	}
	d := &delivery{lane: lane, items: make([]item, n)}
	for i, e := range f.lanes[lane][:n] {
		d.items[i] = item{entry: e, state: e.state, pages: e.pages}
		e.state, e.pages, e.queued, e.taken = nil, nil, false, true
	}
	f.lanes[lane] = f.lanes[lane][n:]
	return d
}

// deliver delivers a batch and acknowledges it. After an error it is called again with the same delivery, unless fresh
// reports that one of its IDs was touched: then the states are read again.
func (f *feed) deliver(ctx context.Context, d *delivery) error {
	if d.ready && !f.fresh(d) {
		d.ready = false
		for i := range d.items {
			d.items[i].state = nil
		}
	}
	if !d.ready {
		if err := f.prepare(ctx, d); err != nil {
			return f.failed(ctx, err)
		}
	}
	if len(d.events) == 0 {
		return f.acknowledge(d, nil)
	}
	err := f.send(ctx, d, Batch{Token: f.token, Events: d.events})
	var rejected *RejectedError
	if errors.As(err, &rejected) {
		return f.acknowledge(d, rejected.Events)
	}
	if err != nil {
		return f.failed(ctx, err)
	}
	return f.acknowledge(d, nil)
}

// send calls the target, with the position after a delivery if it stores positions.
func (f *feed) send(ctx context.Context, d *delivery, b Batch) error {
	if f.keeps {
		f.serial.Lock()
		defer f.serial.Unlock()
		b.Position = f.position(d)
		if b.Sweep != b.Position.Base { // another fill has begun
			b.Sweep = 0
		}
		b.Position.Swept = b.Position.Swept || b.Sweep != 0
	}
	return f.target.Deliver(ctx, b)
}

// fresh reports whether no ID of a delivery was touched since it was taken.
func (f *feed) fresh(d *delivery) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range d.items {
		if d.items[i].entry.queued {
			return false
		}
	}
	return true
}

// prepare reads the states that are missing, and makes the events. In the same read it gets the states of IDs that wait
// for the lane, which otherwise takes a read for each if its deliveries have one event.
func (f *feed) prepare(ctx context.Context, d *delivery) error {
	byID := map[locality.ID]*item{}
	var missing []locality.ID
	var ahead map[locality.ID]waiting
	f.mu.Lock()
	for i := range d.items {
		it := &d.items[i]
		if it.entry.queued { // touched before the state is read, so this delivery covers it
			it.pages = append(it.pages, it.entry.pages...)
			it.entry.queued, it.entry.pages, it.state = false, nil, nil
		}
		if it.state == nil {
			missing = append(missing, it.entry.id)
			byID[it.entry.id] = it
		}
	}
	if n := len(missing); n > 0 && n < mirror.MostStates {
		ahead = f.ahead(d.lane, mirror.MostStates-n)
		missing = slices.AppendSeq(missing, maps.Keys(ahead))
	}
	f.mu.Unlock()
	for len(missing) > 0 {
		part := missing[:min(len(missing), mirror.MostStates)]
		states, err := f.source.States(ctx, part, nil)
		if err != nil {
			return fmt.Errorf("read the state of %d ids: %w", len(part), err)
		}
		for i := range states {
			s := &states[i]
			if it := byID[s.ID]; it != nil {
				it.state = s
			} else if w, is := ahead[s.ID]; is {
				w.state = s
				ahead[s.ID] = w
			}
		}
		missing = missing[len(part):]
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range ahead {
		if w.entry.touched == w.touched { // otherwise the state may be older
			w.entry.state = w.state
		}
	}
	d.events = d.events[:0]
	for i := range d.items {
		it := &d.items[i]
		it.again = it.state == nil || it.state.Settling
		if it.again || f.kind != "" && it.state.Kind == mirror.Entity && it.state.Thing.Kind != f.kind {
			continue
		}
		f.counter++
		d.events = append(d.events, eventOf(it.state, f.token<<revBits+f.counter))
	}
	d.ready = true
	return nil
}

// waiting is an ID whose state is read before its lane takes it.
type waiting struct {
	entry   *entry
	touched int // as the read began
	state   *mirror.State
}

// ahead returns the next IDs of a lane without a state, at most so many. The caller holds f.mu and has the lane.
func (f *feed) ahead(lane, most int) map[locality.ID]waiting {
	found := map[locality.ID]waiting{}
	for _, e := range f.lanes[lane] {
		if len(found) == most {
			break
		}
		if e.state == nil {
			found[e.id] = waiting{entry: e, touched: e.touched}
		}
	}
	return found
}

// failed notes a failed attempt, unless it failed because the work ends.
func (f *feed) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.progress.Failed++
	f.progress.Trouble, f.dirty = err.Error(), true
	return err
}

// acknowledge notes that the target has the events of a delivery, except the rejected ones, which become dead letters.
// The error wraps ErrStop if there are too many dead letters.
func (f *feed) acknowledge(d *delivery, rejected []Rejected) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	reasons := make(map[locality.ID]string, len(rejected))
	for _, r := range rejected {
		reasons[r.ID] = r.Reason
	}
	for i := range d.events {
		e := &d.events[i]
		if reason, no := reasons[e.ID]; no {
			f.progress.Failed++
			f.dead[e.ID] = Letter{ID: e.ID, Rev: e.Rev, Op: e.Op, Reason: reason, Time: f.now().UTC()}
		} else {
			delete(f.dead, e.ID)
			f.progress.Delivered++
		}
	}
	if len(d.events) > 0 {
		f.progress.Trouble = "" // the target answers
	}
	f.dirty = true
	for i := range d.items {
		it := &d.items[i]
		if delete(f.again, it.entry.id); it.again {
			f.again[it.entry.id] = true
		}
		for _, p := range it.pages {
			p.left--
		}
		if f.listings > 0 {
			f.reread[it.entry.id] = struct{}{}
		}
		if it.entry.taken = false; it.entry.queued {
			f.push(it.entry)
		} else {
			delete(f.entries, it.entry.id)
		}
	}
	for i := range d.items {
		for _, p := range d.items[i].pages {
			f.advance(p.log)
		}
	}
	if len(f.dead) >= maxDead {
		return fmt.Errorf("%w: %d dead letters: retry or drop them first", ErrStop, len(f.dead))
	}
	return nil
}
