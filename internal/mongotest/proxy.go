// SPDX-License-Identifier: Apache-2.0

package mongotest

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Proxy stands between a driver and a server, and does what a network and a cluster do rarely. It speaks
// for one server: drivers are told not to look for others.
type Proxy struct {
	uri      string
	target   target
	listener net.Listener
	turns    *turns // of the stand-in; nil for a server that needs none
	faults   faults
	shards   shards
	poses    atomic.Bool // see posed

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
	all    sync.WaitGroup
}

// target is a server's address.
type target struct {
	address string
	tls     *tls.Config
}

// NewProxy puts a proxy before the server of a URI, for a test that tells it what is to go wrong; else it
// hands on everything. It ends with the test, which fails if something that was to go wrong did not.
func NewProxy(t testing.TB, uri string) *Proxy {
	t.Helper()
	server, err := targetOf(t.Context(), uri)
	var p *Proxy
	if err == nil {
		p, err = startProxy(server, uri, nil)
	}
	if err != nil {
		t.Fatalf("start a proxy before MongoDB: %v", err)
	}
	t.Cleanup(func() {
		p.faults.release()
		p.shards.up()
		p.close()
		for _, text := range p.faults.left() {
			t.Error(text)
		}
	})
	return p
}

func startProxy(server target, uri string, turns *turns) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it takes no time
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: server, listener: listener, turns: turns, open: map[net.Conn]bool{}}
	if p.uri, err = through(uri, listener.Addr().String()); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	p.all.Go(p.accept)
	return p, nil
}

// URI is the one that the proxy was started with, by way of the proxy.
func (p *Proxy) URI() string { return p.uri }

// targetOf is the server of a URI that takes writes.
func targetOf(ctx context.Context, uri string) (target, error) {
	o := options.Client().ApplyURI(uri)
	if err := o.Validate(); err != nil {
		return target{}, err
	}
	to := target{tls: o.TLSConfig}
	if len(o.Hosts) == 1 {
		to.address = o.Hosts[0]
		return to, nil
	}
	var err error
	to.address, err = primary(ctx, uri)
	return to, err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.all.Go(func() { p.serve(client) })
	}
}

// serve speaks with one client until either side has enough.
func (p *Proxy) serve(client net.Conn) {
	if !p.keep(client) {
		return
	}
	defer p.drop(client)
	server, err := p.target.dial()
	if err != nil || !p.keep(server) {
		return
	}
	defer p.drop(server)
	for {
		m, err := readMessage(client)
		if err != nil {
			return
		}
		reply, err := p.do(server, m)
		if err != nil {
			return
		}
		if m.flags&moreToCome != 0 {
			continue // the client wants no answer
		}
		if _, err := client.Write(reply.bytes()); err != nil {
			return
		}
	}
}

// dial connects to the server.
func (t target) dial() (net.Conn, error) {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	if t.tls == nil {
		return dialer.Dial("tcp", t.address)
	}
	return tls.DialWithDialer(&dialer, "tcp", t.address, t.tls) //nolint:noctx // it has a timeout
}

// do has a command done, or something go wrong. The error ends the connection.
func (p *Proxy) do(server net.Conn, m message) (message, error) {
	c, err := commandOf(m)
	if err == nil {
		err = c.honest()
	}
	if err != nil {
		return message{}, err
	}
	// What is made to go wrong does so outside of the turn: a command that is held does not hold others.
	fault, err := p.faults.meet(c)
	if err != nil {
		return message{}, err
	}
	if reply, err := fault.instead(c); reply != nil || err != nil {
		return *reply, err
	}
	if reply, err := p.shards.meet(c); reply != nil || err != nil {
		return *reply, err
	}
	reply, err := p.inTurn(server, c)
	if err != nil {
		return message{}, err
	}
	if reply, err = p.shards.greet(c, reply); err != nil {
		return message{}, err
	}
	reply.to = m.id
	if p.poses.Load() {
		if reply, err = posed(c, reply); err != nil {
			return message{}, err
		}
	}
	return fault.after(c, reply)
}

// inTurn has a command done: by the stand-in when it can be, and in pieces; by others as it is.
func (p *Proxy) inTurn(server net.Conn, c command) (message, error) {
	ask := func(m message) (message, error) { return exchange(server, m) }
	if p.turns == nil {
		return ask(c.message)
	}
	defer p.turns.take(c)()
	if listOf(c.name) == "" {
		return ask(c.message)
	}
	return inPieces(c, ask)
}

// exchange sends a message and reads the answer, also for a client who wants none.
func exchange(server net.Conn, m message) (message, error) {
	m.flags &^= moreToCome
	if _, err := server.Write(m.bytes()); err != nil {
		return message{}, err
	}
	reply, err := readMessage(server)
	if err != nil {
		return message{}, err
	}
	reply.flags = 0
	return reply, nil
}

// keep notes a connection, to end it with the proxy; it is ended at once if the proxy has.
func (p *Proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = conn.Close()
		return false
	}
	p.open[conn] = true
	return true
}

func (p *Proxy) drop(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
	_ = conn.Close()
}

// close ends all connections and waits until nobody works any more.
func (p *Proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for conn := range p.open {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.all.Wait()
}
