// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"sync/atomic"
	"time"
)

// class is the kind of work that a request is; each has a lane of its own, so that writes cannot
// starve reads.
type class uint8

const (
	health class = iota // has no lane: it must answer when nothing else does
	bodies              // what is being sent, or was and waits for its turn
	reads
	writes
	hits  // and their bodies: they wait together for one commit, so many of them cost little
	admin // what changes the cells, or goes through all that is in them, for as long as an hour
	feeds // who follows the changes, for as long as they like
	classes
)

// adminRunning is how many requests of class admin are worked on at once: growing is one, and what looks at
// it while it waits.
const adminRunning = 8

// bodiesPerWrite is how many bodies may be in memory for each write that is worked on. With two
// processors and the default of Options.Running these are 128 bodies, of 1 MiB at most.
const bodiesPerWrite = 4

func (c class) String() string {
	return [...]string{"health", "bodies", "reads", "writes", "hits", "admin", "feeds"}[c]
}

// lane bounds the work in progress of a class, and how many wait for how long. Overload is decided
// here, before any work is done, and never later.
type lane struct {
	slots   chan struct{}
	waiting atomic.Int64
	queue   int64
	wait    time.Duration
	// refused is called for each refusal; waits around each wait with +1 and -1.
	refused func()
	waits   func(delta int)
}

// enter takes a slot and answers with what gives it back. It fails with overloaded at once when the
// queue is full, and after the wait when nobody leaves.
func (l *lane) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err // nobody waits for it any more
	}
	leave = func() { <-l.slots }
	select {
	case l.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if l.waiting.Add(1) > l.queue {
		l.waiting.Add(-1)
		return nil, l.refuse()
	}
	l.waits(1)
	defer func() {
		l.waits(-1)
		l.waiting.Add(-1)
	}()
	timer := time.NewTimer(l.wait)
	defer timer.Stop()
	select {
	case l.slots <- struct{}{}:
		return leave, nil
	case <-timer.C:
		return nil, l.refuse()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *lane) refuse() error {
	l.refused()
	return standard(CodeOverloaded)
}

// enter takes a slot in the lane of a class.
func (s *Server) enter(ctx context.Context, c class) (leave func(), err error) {
	if c == health {
		return func() {}, nil
	}
	return s.lanes[c].enter(ctx)
}

// run lets a call be handled in the lane of its route's class, for as long as a request may take; a stream
// has its own end.
func (s *Server) run(c *call, handle func() error) error {
	if c.class != hits { // which is in its lane since its body was read
		leave, err := s.enter(c, c.class)
		if err != nil {
			return err
		}
		defer leave()
	}
	if c.route.stream != nil || c.class == feeds {
		return c.keyed(handle())
	}
	ctx, cancel := context.WithTimeout(c.Context, s.opts.RequestTimeout)
	defer cancel()
	c.Context = ctx
	return c.keyed(handle())
}
