// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/locus-db/locus/internal/access"
)

// class is the class of a request. Each class has its own lane, so that writes cannot starve reads.
type class uint8

const (
	health class = iota // no lane: it must answer even if nothing else does
	reads
	writes
	matches   // cost processor time, and must not delay reads
	hits      // batches share a commit, so many at once cost little
	admin     // changes the cells or scans all of them; up to an hour
	feeds     // followers of changes, without a time limit
	toolCalls // of agents; the requests that they send wait in the lanes of their own classes
	classes
)

// adminRunning limits concurrent requests of class admin: one growth, for example, and the requests that inspect it.
const adminRunning = 8

// hitsPerWrite is how many batches of hits may run concurrently for each write.
const hitsPerWrite = 4

func (c class) String() string {
	return [...]string{"health", "reads", "writes", "matches", "hits", "admin", "feeds", "tools"}[c]
}

// The price of a read is a number of places in its lane, which has 16 per processor. It is roughly the share of a
// processor that the read uses: a search for a page of 1000 uses nearly a whole one.
const (
	pricePage   = 100 // items of a page per extra place
	priceSearch = 4   // extra places for a search in every cell
)

// price returns how many places a call takes.
func (c *call) price() int {
	price := 1 + c.route.price
	if c.class == matches {
		return price + len(c.body)/pricePerBody
	}
	if c.class != reads {
		return price
	}
	if n, err := c.query.limit(); err == nil && c.query["limit"] != "" {
		price += n / pricePage
	}
	return price
}

// clientOf returns the client of a connection as far as the network shows it.
func clientOf(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	return networkOf(at.Addr())
}

// networkOf returns an address as text, or for IPv6 its /64 network, because one machine may own all of that.
func networkOf(addr netip.Addr) string {
	if addr = addr.Unmap(); addr.Is6() {
		if network, err := addr.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return addr.String()
}

// peerOf returns the address that a request comes from, invalid without a network.
func (s *Server) peerOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return s.opts.Proxies.Client(at.Addr(), r.Header["X-Forwarded-For"])
}

// addressOf returns the address that a request comes from, or for IPv6 its network.
func (s *Server) addressOf(r *http.Request) string {
	if addr := s.peerOf(r); addr.IsValid() {
		return networkOf(addr)
	}
	return r.RemoteAddr
}

// clientOf returns the client of a request, among which lanes and the memory of bodies are shared: the principal, or
// the address without one.
func (s *Server) clientOf(r *http.Request) string {
	if who := access.From(r.Context()); who.Named() {
		return "principal " + who.Name
	}
	return s.addressOf(r)
}

// enter takes the places for a call in the lane of its class.
func (s *Server) enter(c *call) (leave func(), err error) {
	if c.class == health {
		return func() {}, nil
	}
	return s.lanes[c.class].enter(c, s.clientOf(c.r), c.price())
}

// run runs a handler in the lane of its route's class, limited by the request timeout. A stream has its own limits.
func (s *Server) run(c *call, handle func() error) error {
	leave, err := s.enter(c)
	if err != nil {
		return err
	}
	defer leave()
	if c.route.stream != nil || c.route.download != nil || c.class == feeds {
		live, end := s.whileLive(c.Context)
		defer end()
		c.Context = live
		return c.keyed(s.recorded(c, handle))
	}
	ctx, cancel := context.WithTimeout(c.Context, s.opts.RequestTimeout)
	defer cancel()
	c.Context = ctx
	return c.keyed(s.recorded(c, handle))
}
