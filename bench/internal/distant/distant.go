// SPDX-License-Identifier: Apache-2.0

// Package distant simulates a network between a client and a server on the same machine: a proxy that forwards data
// after a delay.
package distant

import (
	"net"
	"sync"
	"time"
)

// Proxy forwards connections to a server.
type Proxy struct {
	listener net.Listener
	network  string
	address  string
	delay    time.Duration

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
	all    sync.WaitGroup
}

// New starts a proxy in front of the server at an address of a network, "tcp" or "unix". Data of either side
// arrives after the delay.
func New(network, address string, delay time.Duration) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, network: network, address: address, delay: delay, open: map[net.Conn]bool{}}
	p.all.Go(p.accept)
	return p, nil
}

// Port returns the port of 127.0.0.1 on which the proxy listens.
func (p *Proxy) Port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// Close closes all connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.all.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.address)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		if p.closed {
			_, _ = client.Close(), server.Close()
		} else {
			p.open[client], p.open[server] = true, true
			p.all.Go(func() { p.pass(server, client) })
			p.all.Go(func() { p.pass(client, server) })
		}
		p.mu.Unlock()
	}
}

// part is data that was sent at once, with its arrival time.
type part struct {
	at   time.Time
	data []byte
}

// pass forwards the data of one side until either ends.
func (p *Proxy) pass(to, from net.Conn) {
	defer func() {
		p.mu.Lock()
		delete(p.open, to)
		delete(p.open, from)
		p.mu.Unlock()
		_, _ = to.Close(), from.Close()
	}()
	parts := make(chan part, 1024)
	p.all.Go(func() {
		defer close(parts)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			if n > 0 {
				parts <- part{time.Now().Add(p.delay), data[:n]}
			}
			if err != nil {
				return
			}
		}
	})
	var err error
	for part := range parts {
		if err != nil {
			continue // the reader ends when its connection is closed
		}
		time.Sleep(time.Until(part.at))
		if _, err = to.Write(part.data); err != nil {
			_ = from.Close()
		}
	}
}
