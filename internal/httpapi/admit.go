// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/netip"
)

// class is the kind of work that a request is; each has a lane of its own, so that writes cannot
// starve reads.
type class uint8

const (
	health class = iota // has no lane: it must answer when nothing else does
	reads
	writes
	hits  // they wait together for one commit, so many of them cost little
	admin // what changes the cells, or goes through all that is in them, for as long as an hour
	feeds // who follows the changes, for as long as they like
	classes
)

// adminRunning is how many requests of class admin are worked on at once: growing is one, and what looks at
// it while it waits.
const adminRunning = 8

// hitsPerWrite is how many batches of hits are worked on at once for each write.
const hitsPerWrite = 4

func (c class) String() string {
	return [...]string{"health", "reads", "writes", "hits", "admin", "feeds"}[c]
}

// The price of a read is in places of its lane, of which there are 16 for each processor: it is about how much of
// a processor the read takes. A page of 1000 that is searched for takes nearly a whole one.
const (
	pricePage   = 100 // items of a page for one place more
	priceSearch = 4   // places more for what looks into every cell
)

// price is how many places a call takes.
func (c *call) price() int {
	price := 1 + c.route.price
	if c.class != reads {
		return price
	}
	if n, err := c.query.limit(); err == nil && c.query["limit"] != "" {
		price += n / pricePage
	}
	return price
}

// clientOf is who sent a request, as far as the network tells: its address, or the network of 64 bits that an
// address of IPv6 is in, of which one machine may have all.
func clientOf(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	addr := at.Addr().Unmap()
	if addr.Is6() {
		if network, err := addr.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return addr.String()
}

// enter takes what a call costs in the lane of its class.
func (s *Server) enter(c *call) (leave func(), err error) {
	if c.class == health {
		return func() {}, nil
	}
	return s.lanes[c.class].enter(c, clientOf(c.r.RemoteAddr), c.price())
}

// run lets a call be handled in the lane of its route's class, for as long as a request may take; a stream
// has its own end.
func (s *Server) run(c *call, handle func() error) error {
	leave, err := s.enter(c)
	if err != nil {
		return err
	}
	defer leave()
	if c.route.stream != nil || c.class == feeds {
		return c.keyed(handle())
	}
	ctx, cancel := context.WithTimeout(c.Context, s.opts.RequestTimeout)
	defer cancel()
	c.Context = ctx
	return c.keyed(handle())
}
