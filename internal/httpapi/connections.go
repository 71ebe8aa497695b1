// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// spare is how many connections are accepted beyond the limit. They are for health checks: other requests are refused,
// and each connection is closed after its first answer.
const spare = 64

// connections limits the number of open connections. None waits to be accepted: if there are too many, one that waits
// for its client is closed, so that idle or slow clients do not keep others out.
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
	clients map[string]int // connections per client
}

// connection is an open connection.
type connection struct {
	net.Conn
	client string
	spare  bool
	state  connState
	since  time.Time // start of its state
}

// connState is the state of a connection. Connections in a lower state are closed first.
type connState uint8

const (
	idle      connState = iota // waits for a request, or for the rest of its header
	receiving                  // waits for the rest of a body
	busy                       // a request is being handled
)

type connectionKey struct{}

// connectionOf returns the connection of a request, nil without a network.
func connectionOf(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}

// add implements http.Server.ConnContext.
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

// changed implements http.Server.ConnState.
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

// receive marks a connection as receiving until the returned function is called.
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

// victim returns the connection to close for another one: idle ones before receiving ones, then one of the client with
// the most connections, then the one that has waited longest. It returns nil if all are busy.
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

// oldestSpare returns the oldest connection for health checks.
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
