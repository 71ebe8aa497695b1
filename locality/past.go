// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"errors"
	"fmt"
	"time"
)

// ErrDate means that a generator cannot date an ID as requested; the text gives the reason.
var ErrDate = errors.New("locality: unusable time for an id")

var (
	errDateRange      = fmt.Errorf("%w: the time must be from 1970 to the year 10889", ErrDate)
	errDateSequential = fmt.Errorf("%w: a Sequential generator counts by its own clock: set Options.Now", ErrDate)
)

// NewAt mints an ID that carries the time t, truncated to milliseconds: for records that are older than their IDs. Any
// number of IDs may carry the same time. They come from a separate lane, whose node is random whatever Options.Node is,
// in the order of the generator. The error is ErrDate for a Sequential generator, and for times that 48 bits of
// milliseconds since 1970 cannot represent.
func (g *Generator) NewAt(t time.Time) (id ID, err error) {
	ms := t.UnixMilli()
	if ms < 0 || ms > maxMillis {
		return ID{}, errDateRange
	}
	if g.opts.Order == Sequential {
		return ID{}, errDateSequential
	}
	g.lockSide()
	defer g.side.Unlock()
	// The time does not order the mints, so the counter alone must keep IDs unique.
	if l := g.side.dated; l == nil || l.span == cycle {
		g.side.dated = g.lane(0, true)
	}
	l := g.side.dated
	l.span++
	l.c += g.opts.Order.stride()
	l.put(&id, g.opts.Order.position(l.c, g.key), ms)
	return id, nil
}

// period is a period of time, [from, until) in milliseconds.
type period struct{ from, until int64 }

// NewInPast mints an ID inside a segment whose time is over, for things that must be stored close to things of that
// time: positions as NewIn chooses them, and a time in [From, Until) that selects the generation of cells and does not
// say when the ID was minted. The error is ErrSegment, also for a segment without an end.
//
// Each period has a separate lane, whose node is random whatever Options.Node is. It begins at a random millisecond,
// advances like the lane of NewIn, and takes a new identity at the end of the period: a time chosen by the caller could
// be chosen again when the counter has come round.
func (g *Generator) NewInPast(s Segment) (ID, error) {
	if err := s.check(); err != nil {
		return ID{}, err
	}
	if s.Until == 0 {
		return ID{}, fmt.Errorf("%w of the past: it has no end: use NewIn", ErrSegment)
	}
	g.lockSide()
	defer g.side.Unlock()
	b, p := s.blocks(), period{s.From, s.Until}
	if l := g.side.past[p]; l != nil {
		if id, err := l.in(s, b, s.From); err == nil {
			return id, nil
		}
	}
	if g.side.past == nil {
		g.side.past = map[period]*lane{}
	}
	l := g.lane(0, true)
	g.side.past[p] = l
	offset := uint64(draw(g.opts.Rand))<<32 | uint64(draw(g.opts.Rand))
	return l.in(s, b, s.From+int64(offset%uint64(s.Until-s.From)))
}
