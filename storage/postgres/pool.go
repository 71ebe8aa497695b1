// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// pool shares a process's connections to one server among the databases there. A connection belongs to one database, so
// a connection to another database replaces the one that has been idle longest. When all are in use, transactions wait
// in turn. A returned connection goes to a waiter for the same database, which may overtake others; each waiter is
// overtaken at most overtakes times.
type pool struct {
	budget int

	mu    sync.Mutex
	open  int     // slots taken: connections in use, idle or being opened
	idle  []*conn // longest idle first
	queue []*waiter
	stats Pool

	ceiling int       // the server accepted at most this many
	until   time.Time // until then it is not asked for more

	silent      error     // error of the last database that could not be opened because the server did not answer
	silentUntil time.Time // until then no other database of the server is opened

	sweep *time.Timer // closes idle connections; nil while none is idle
}

const (
	overtakes = 16
	// idleFor is how long an unused connection stays open: other processes need connections too.
	idleFor = 30 * time.Second
	// fullFor is how long no new connection is requested from a server that refused one.
	fullFor = time.Second
)

// Pool is a process's use of connections to one server.
type Pool struct {
	Server string
	// Budget is the maximum number of connections, Open the current number, Idle how many of those are unused.
	Budget, Open, Idle int
	// Waiting is the number of transactions waiting for a connection; Waited counts all that ever did.
	Waiting int
	Waited  int64
	// Opened counts the connections opened, Displaced the connections closed to make room for another database.
	Opened, Displaced int64
}

// waiter waits for a connection to a cell, or for a free slot.
type waiter struct {
	cell      *Cell
	got       chan *conn // nil is a slot
	overtaken int
}

// take returns an idle connection to the cell, or nil and a slot. The caller opens a connection in the slot or
// returns it with put.
func (p *pool) take(ctx context.Context, c *Cell) (*conn, error) {
	p.mu.Lock()
	if i := lastOf(p.idle, c); i >= 0 {
		got := p.idle[i]
		p.idle = slices.Delete(p.idle, i, i+1)
		p.mu.Unlock()
		return got, nil
	}
	if p.open < p.budget && (p.open == 0 || p.open < p.ceiling || !time.Now().Before(p.until)) {
		p.open++
		p.mu.Unlock()
		return nil, nil
	}
	if len(p.idle) > 0 {
		displaced := p.idle[0]
		p.idle = slices.Delete(p.idle, 0, 1)
		p.stats.Displaced++
		p.mu.Unlock()
		displaced.close()
		return nil, nil
	}
	w := &waiter{cell: c, got: make(chan *conn, 1)}
	p.queue = append(p.queue, w)
	p.stats.Waited++
	p.mu.Unlock()
	select {
	case got := <-w.got:
		return p.given(c, got), nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	i := slices.Index(p.queue, w)
	if i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	}
	p.mu.Unlock()
	if i < 0 { // it was served at the same moment
		p.put(<-w.got)
	}
	return nil, ctx.Err()
}

// remove takes an idle connection out of the pool, and reports whether it was there.
func (p *pool) remove(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.idle, c)
	if i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
	}
	return i >= 0
}

// given closes a connection to another database and returns nil, its slot.
func (p *pool) given(c *Cell, got *conn) *conn {
	if got == nil || got.cell == c {
		return got
	}
	p.mu.Lock()
	p.stats.Displaced++
	p.mu.Unlock()
	got.close()
	return nil
}

// lastOf returns the index of the most recently used connection to the cell, or -1.
func lastOf(idle []*conn, c *Cell) int {
	for i, on := range slices.Backward(idle) {
		if on.cell == c {
			return i
		}
	}
	return -1
}

// put returns a connection, or with nil its slot.
func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch w := p.next(c); {
	case w != nil:
		w.got <- c
	case c != nil:
		c.idle = time.Now()
		p.idle = append(p.idle, c)
		if p.sweep == nil {
			p.sweep = time.AfterFunc(idleFor, p.clean)
		}
	default:
		p.open--
	}
}

// clean closes connections that have been idle for idleFor, and reschedules itself while any is idle.
func (p *pool) clean() {
	p.mu.Lock()
	var old []*conn
	for len(p.idle) > 0 && time.Since(p.idle[0].idle) >= idleFor {
		old = append(old, p.idle[0])
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	p.sweep = nil
	if len(p.idle) > 0 {
		p.sweep = time.AfterFunc(idleFor-time.Since(p.idle[0].idle), p.clean)
	}
	p.mu.Unlock()
	p.close(old)
}

// close closes connections that were removed from the pool.
func (p *pool) close(all []*conn) {
	for _, c := range all {
		c.close()
		p.put(nil)
	}
}

// full returns a slot because the server accepts no more connections of this and other processes. It reports whether
// waiting for another connection of this process is possible.
func (p *pool) full() bool {
	p.mu.Lock()
	p.ceiling, p.until = p.open-1, time.Now().Add(fullFor)
	others := p.ceiling > 0
	p.mu.Unlock()
	p.put(nil)
	return others
}

// next removes the waiter that gets the connection or slot from the queue, or returns nil if none waits.
func (p *pool) next(c *conn) *waiter {
	if len(p.queue) == 0 {
		return nil
	}
	i := 0
	if c != nil && p.queue[0].overtaken < overtakes {
		i = max(0, slices.IndexFunc(p.queue, func(w *waiter) bool { return w.cell == c.cell }))
	}
	for _, w := range p.queue[:i] {
		w.overtaken++
	}
	w := p.queue[i]
	p.queue = slices.Delete(p.queue, i, i+1)
	return w
}

// drop closes the idle connections to a cell.
func (p *pool) drop(c *Cell) {
	p.mu.Lock()
	var dropped []*conn
	p.idle = slices.DeleteFunc(p.idle, func(i *conn) bool {
		if i.cell == c {
			dropped = append(dropped, i)
		}
		return i.cell == c
	})
	if len(p.idle) == 0 && p.sweep != nil {
		p.sweep.Stop()
		p.sweep = nil
	}
	p.mu.Unlock()
	p.close(dropped)
}

// opened increments Opened.
func (p *pool) opened() {
	p.mu.Lock()
	p.stats.Opened++
	p.mu.Unlock()
}

func (p *pool) read() Pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Budget, s.Open, s.Idle, s.Waiting = p.budget, p.open, len(p.idle), len(p.queue)
	return s
}

// hanging returns an error if the server has just let a connection run into its deadline. A starting process opens
// the databases of a server one after the other, and each would wait that long.
func (p *pool) hanging() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().After(p.silentUntil) {
		return nil
	}
	return fmt.Errorf("not asked again for a moment: %w", p.silent)
}

// hung records that a database could not be opened because the server did not answer; it ignores other errors.
func (p *pool) hung(err error, pause time.Duration) {
	if _, slow := errors.AsType[*slowError](err); !slow {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent, p.silentUntil = err, time.Now().Add(pause)
}
