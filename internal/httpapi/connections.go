// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// spare is how many connections are taken beyond the limit. They are for health checks: requests of any other class
// are refused, and each connection ends with its first answer.
const spare = 64

// connections bounds how many connections are open. None waits to be accepted: when there are too many, one that
// waits for its client is closed, so neither idle clients nor slow ones keep others out.
//
//	new, idle ── header read ──► busy ── answered ──► idle
//	                              │ ▲
//	              body is awaited ▼ │ body read
//	                            receiving
type connections struct {
	most    int
	refused func()

	mu      sync.Mutex
	open    map[net.Conn]*connection
	spares  int
	clients map[string]int // connections of each client
}

// connection is one that is open.
type connection struct {
	net.Conn
	client string
	spare  bool
	state  connState
	since  time.Time // when it came into its state
}

// connState is what a connection does; the first are closed first.
type connState uint8

const (
	idle      connState = iota // waits for a request, or for the rest of its header
	receiving                  // waits for the rest of a body
	busy                       // is worked for
)

type connectionKey struct{}

// connectionOf is the connection of a request, nil without a network.
func connectionOf(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}

// add is http.Server.ConnContext.
func (o *connections) add(ctx context.Context, conn net.Conn) context.Context {
	c := &connection{Conn: conn, client: clientOf(conn.RemoteAddr().String()), since: time.Now()}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.open)-o.spares >= o.most {
		o.refused()
		if victim := o.victim(); victim != nil {
			o.drop(victim)
		} else {
			if o.spares == spare {
				o.drop(o.oldestSpare())
			}
			c.spare = true
			o.spares++
		}
	}
	o.open[conn] = c
	o.clients[c.client]++
	return context.WithValue(ctx, connectionKey{}, c)
}

// changed is http.Server.ConnState.
func (o *connections) changed(conn net.Conn, state http.ConnState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.open[conn]
	if c == nil {
		return
	}
	switch state {
	case http.StateActive:
		c.set(busy)
	case http.StateIdle:
		c.set(idle)
	case http.StateHijacked, http.StateClosed:
		o.forget(c)
	}
}

// receive has a connection wait for a body, until the function that it returns is called.
func (o *connections) receive(c *connection) (received func()) {
	if c == nil {
		return func() {}
	}
	set := func(state connState) {
		o.mu.Lock()
		defer o.mu.Unlock()
		c.set(state)
	}
	set(receiving)
	return func() { set(busy) }
}

func (c *connection) set(state connState) { c.state, c.since = state, time.Now() }

// victim is the connection to close for another one: of those that wait for their clients the idle ones before those
// that send, then one of the client with the most connections, the one that has waited longest. It is nil if all
// are busy.
func (o *connections) victim() (found *connection) {
	for _, c := range o.open {
		if c.state == busy || c.spare {
			continue
		}
		if found == nil || o.before(c, found) {
			found = c
		}
	}
	return found
}

func (o *connections) before(a, b *connection) bool {
	if a.state != b.state {
		return a.state < b.state
	}
	if x, y := o.clients[a.client], o.clients[b.client]; x != y {
		return x > y
	}
	return a.since.Before(b.since)
}

// oldestSpare is a health check that does not end.
func (o *connections) oldestSpare() (found *connection) {
	for _, c := range o.open {
		if c.spare && (found == nil || c.since.Before(found.since)) {
			found = c
		}
	}
	return found
}

func (o *connections) drop(c *connection) {
	o.forget(c)
	_ = c.Close()
}

func (o *connections) forget(c *connection) {
	delete(o.open, c.Conn)
	if c.spare {
		o.spares--
	}
	if o.clients[c.client]--; o.clients[c.client] == 0 {
		delete(o.clients, c.client)
	}
}
