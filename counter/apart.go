// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Apart is a Store in which each day of a metric is written by itself, as a database does that holds no two
// documents in one transaction. An update of several days may write some of them and not others; its error is a
// *PartError then, and what it says is written is durable. A day itself is whole: its minutes, hours, quarters
// and its total, what is packed of it, and what it remembers of batches are written at once or not at all.
//
// So what is remembered of a batch stands in each day that the batch was counted in, since nothing else is
// written with the day. Batches and Producers answer with what is remembered of a batch as a whole, which is
// written after its days. That is only a summary: it lets days forget what it says, and carries a batch's
// memory until the floor has passed it.
//
// Three answers have to be asked for in this order, so that one of them knows of a batch that was counted: days
// first, since a day forgets only what the summary said before; then the summaries, since they are only dropped
// after the floor has risen; then the floor.
//
// A reading of an update that finds some documents and cannot reach others fails with an *UnreadError.
type Apart interface {
	Store
	// DayBatches answers with what days remember of batches, the zero Remembered where nothing is. A day that
	// was asked is written by the transaction only if nobody wrote about batches in it since; else its error
	// is ErrConflict.
	DayBatches(ctx context.Context, of []DayBatch) ([]Remembered, error)
	// PutDayBatches remembers batches, each together with what the transaction counts in the day.
	PutDayBatches(ctx context.Context, of []DayMemory) error
}

// DayBatch is a batch in one day of a metric: that of a key, or else that of a producer.
type DayBatch struct {
	Day      SpanKey
	Key      Key
	Producer Producer
}

// DayMemory is what a day remembers of a batch. Its Results tell which hits were counted in the day.
type DayMemory struct {
	DayBatch
	Remembered
}

// Covers tells whether what is remembered of a batch as a whole says all that a day remembers of it, so that the
// day may forget it. It must be kept for as long, too: what a producer sent before ends with the latest time of it.
func (r *Remembered) Covers(day Remembered) bool {
	switch {
	case r.Print == [16]byte{} || r.Newest < day.Newest:
		return false
	case r.Seq != day.Seq:
		return r.Seq > day.Seq
	case r.Print != day.Print:
		return false
	case len(r.Results) == 0:
		return true
	case len(r.Results) != len(day.Results):
		return false
	}
	for i, counted := range day.Results {
		if counted&^r.Results[i] != 0 {
			return false
		}
	}
	return true
}

// ErrConflict means that somebody else wrote a day of a metric at the same time. Nothing of it was written.
var ErrConflict = errors.New("counter: somebody else wrote the day at the same time")

// PartError is what an update of a Store that is Apart did not write, or nobody knows whether it did: then the
// day's error wraps ErrUnconfirmed. It has written all other days.
type PartError struct{ Days map[SpanKey]error }

// Error tells of one day, and how many there are.
func (e *PartError) Error() string {
	for day, err := range e.Days {
		return fmt.Sprintf("counter: %d days were not written, or not for certain: %s of metric %d: %v", len(e.Days), dayBegin(day.Unit()).Format(time.DateOnly), day.ID(), err)
	}
	return "counter: some days were not written"
}

// Unwrap answers with the errors of the days.
func (e *PartError) Unwrap() []error {
	errs := make([]error, 0, len(e.Days))
	for _, err := range e.Days {
		errs = append(errs, err)
	}
	return errs
}

// Conflicts tells whether all that went wrong is that others wrote at the same time.
func (e *PartError) Conflicts() bool {
	for _, err := range e.Days {
		if !errors.Is(err, ErrConflict) {
			return false
		}
	}
	return true
}

// settle notes what became of the hits whose days were written, and of those whose days cannot be. It answers
// whether there is none that can be tried again.
func (g *group) settle(e *PartError) bool {
	g.settled = true
	for _, p := range g.parts {
		p.earlier = p.earlier || p.some
	}
	return g.each(func(it *item) bool {
		err := e.Days[g.day(it)]
		if it.result == nil && errors.Is(err, ErrConflict) {
			return false
		}
		if it.result == nil {
			it.result = err
		}
		return true
	})
}

// giveUp answers the hits that are not settled. Nothing of them was counted, unless the error of their days says
// that nobody knows.
func (g *group) giveUp(err error) {
	part, some := errors.AsType[*PartError](err)
	g.each(func(it *item) bool {
		if it.result = err; some {
			it.result = part.Days[g.day(it)]
		}
		return true
	})
	g.wanted = wanted{} // of metrics that may not be there
}

// each settles the hits of which done says so, and answers whether those were all.
func (g *group) each(done func(*item) bool) bool {
	all := true
	for _, p := range g.parts {
		for i := range p.items {
			if it := &p.items[i]; !it.settled {
				it.settled = done(it)
				all = all && it.settled
			}
		}
	}
	return all
}

// day is the day of a hit's metric.
func (g *group) day(it *item) SpanKey { return NewSpanKey(g.minute(it).Day(), it.place.id) }

// dayName is a batch in one day of a metric.
type dayName struct {
	name
	day SpanKey
}

// recallDays reads what days remember of the batches of a group.
func (g *group) recallDays(ctx context.Context, tx Tx) error {
	var of []DayBatch
	for _, p := range g.parts {
		if p.call.once == nil {
			continue
		}
		n := p.call.once.name()
		for i := range p.items {
			if p.items[i].settled {
				continue
			}
			d := dayName{n, g.day(&p.items[i])}
			if _, asked := g.days[d]; !asked {
				g.days[d] = nil
				of = append(of, DayBatch{Day: d.day, Key: n.key, Producer: n.producer})
			}
		}
	}
	there, err := tx.(Apart).DayBatches(ctx, of)
	for i := range there {
		g.days[dayName{name{of[i].Key, of[i].Producer}, of[i].Day}] = newMemory(there[i])
	}
	return err
}

// rememberDays has days that remember nothing of a batch, or a former one of its producer, remember what its
// summary says.
func (g *group) rememberDays() {
	for d, m := range g.days {
		if whole := g.memories[d.name]; whole.known && (!m.known || m.Seq < whole.Seq) {
			is := newMemory(whole.Remembered)
			if m.known {
				is.Newest = max(is.Newest, m.Newest) // the day may know of hits that the summary does not
			}
			g.days[d] = is
		}
	}
}

// putDays writes what was counted of batches, beside it in its days (R4).
func (g *group) putDays(ctx context.Context, tx Apart) error {
	var put []DayMemory
	for d, m := range g.days {
		if m.changed {
			put = append(put, DayMemory{DayBatch{d.day, d.key, d.producer}, m.Remembered})
		}
	}
	if len(put) == 0 {
		return nil
	}
	slices.SortFunc(put, func(a, b DayMemory) int { return cmp.Compare(a.Day, b.Day) })
	return tx.PutDayBatches(ctx, put)
}

// summarise remembers the batches of a group as a whole, of which its days are written. Should it fail, the days
// remember them still.
func (g *group) summarise(ctx context.Context, db Database) {
	if len(g.days) == 0 {
		return
	}
	_ = db.Update(ctx, func(tx Tx) error {
		clear(g.memories)
		if err := g.recallWhole(ctx, tx); err != nil {
			return err
		}
		for _, p := range g.parts {
			if p.call.once != nil && !p.unread {
				g.summary(p)
			}
		}
		return g.remember(ctx, tx)
	})
}

// summary adds to what is remembered of a batch as a whole what was counted of a part.
func (g *group) summary(p *share) {
	o := p.call.once
	m := g.memories[o.name()]
	c, _, err := m.match(o)
	if err != nil {
		return
	}
	newest, more := m.Newest, false
	for i := range p.items {
		if it := &p.items[i]; it.result == nil && !c.has(it.index) {
			c.set(it.index)
			newest, more = max(newest, it.at.UnixMilli()), true
		}
	}
	if more {
		m.keep(o, c, newest)
	}
}
