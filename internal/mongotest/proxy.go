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

// Proxy is between a driver and a server and causes rare events of a network and a cluster. It represents a single
// server: drivers are told not to look for others.
type Proxy struct {
	uri      string
	target   target
	listener net.Listener
	turns    *turns // turns of the stand-in; nil for a server that needs none
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

// NewProxy starts a proxy in front of the server of a URI. It forwards everything except for the faults that the
// test adds. It ends with the test, which fails if an added fault did not occur.
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

// URI returns the URI given to NewProxy, routed through the proxy.
func (p *Proxy) URI() string { return p.uri }

// targetOf returns the server of a URI that takes writes.
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

// serve serves one client until either side closes.
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
			continue // the client wants no reply
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

// do executes a command or a fault. An error ends the connection.
func (p *Proxy) do(server net.Conn, m message) (message, error) {
	c, err := commandOf(m)
	if err == nil {
		err = c.honest()
	}
	if err != nil {
		return message{}, err
	}
	// Faults occur outside the turn: a held command does not block others.
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

// inTurn executes a command: on the stand-in in its turn and in pieces, on other servers unchanged.
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

// exchange sends a message and reads the reply, even if the client wants none.
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

// keep registers a connection, so that it ends with the proxy. If the proxy is closed, it reports false.
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

// close closes all connections and waits for all goroutines.
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
