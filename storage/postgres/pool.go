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

// pool shares the connections of a process to one server among the databases there. A connection belongs
// to one database, so who needs one for another takes the place of the one that was idle longest.
// When all are in use, who waits gets the next one that is given back, in turn; one of the same
// database is handed over as it is, past at most overtakes others that wait.
type pool struct {
	budget int

	mu    sync.Mutex
	open  int     // places taken: connections that are used, idle or being opened
	idle  []*conn // the one that was idle longest first
	queue []*waiter
	stats Pool

	ceiling int       // the server took no more than so many
	until   time.Time // for that long it is not asked for more

	silent      error     // of the last database that could not be opened because the server did not answer
	silentUntil time.Time // for that long no other database there is opened

	sweep *time.Timer // closes what was idle for long; nil while nothing is idle
}

const (
	overtakes = 16
	// idleFor is how long a connection stays open that nobody uses: other processes want some too.
	idleFor = 30 * time.Second
	// fullFor is how long a server that took no more connections is not asked for more.
	fullFor = time.Second
)

// Pool tells how a process uses its connections to one server.
type Pool struct {
	Server string
	// Budget is how many there may be, Open how many there are, Idle how many of these nobody uses.
	Budget, Open, Idle int
	// Waiting is how many transactions wait for one now; Waited counts all that ever did.
	Waiting int
	Waited  int64
	// Opened counts the connections; Displaced those that made place for another database's.
	Opened, Displaced int64
}

// waiter waits for a connection to a cell, or for a place for one.
type waiter struct {
	cell      *Cell
	got       chan *conn // nil is a place
	overtaken int
}

// take answers with an idle connection to the cell, or with nil and a place for one, which the caller
// opens or gives back.
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
	if i < 0 { // it was given one at the same moment
		p.put(<-w.got)
	}
	return nil, ctx.Err()
}

// given makes a place of a connection that is another database's.
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

// lastOf is the place of the connection to the cell that was used last, -1 if there is none.
func lastOf(idle []*conn, c *Cell) int {
	for i, on := range slices.Backward(idle) {
		if on.cell == c {
			return i
		}
	}
	return -1
}

// put gives a connection back, or a place that has none: nil.
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

// clean closes connections that were idle for long, and comes again while any is idle.
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

// close closes connections that were taken out of the pool.
func (p *pool) close(all []*conn) {
	for _, c := range all {
		c.close()
		p.put(nil)
	}
}

// full gives a place back because the server takes no more connections, those of other processes
// included. It tells whether one of this process can be waited for instead.
func (p *pool) full() bool {
	p.mu.Lock()
	p.ceiling, p.until = p.open-1, time.Now().Add(fullFor)
	others := p.ceiling > 0
	p.mu.Unlock()
	p.put(nil)
	return others
}

// next takes who gets the connection, or the place, out of the queue; nil if nobody waits.
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

// opened counts.
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

// hanging returns an error if the server let a connection run into its deadline just now. Databases of one server are opened one
// after the other when a process starts, and each would wait for as long.
func (p *pool) hanging() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().After(p.silentUntil) {
		return nil
	}
	return fmt.Errorf("not asked again for a moment: %w", p.silent)
}

// hung notes that a database could not be opened, if that is because the server did not answer.
func (p *pool) hung(err error, pause time.Duration) {
	if _, slow := errors.AsType[*slowError](err); !slow {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent, p.silentUntil = err, time.Now().Add(pause)
}
