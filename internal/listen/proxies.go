// SPDX-License-Identifier: Apache-2.0

package listen

import (
	"fmt"
	"net/netip"
	"strings"
)

// Proxies are the networks of the proxies in front of a server. Only they may connect, and only they are believed about
// who sent a request.
type Proxies []netip.Prefix

// ParseProxies reads networks, such as 10.0.0.0/8, and single addresses.
func ParseProxies(list []string) (p Proxies, err error) {
	for _, text := range list {
		text = strings.TrimSpace(text)
		network, err := netip.ParsePrefix(text)
		if addr, single := netip.ParseAddr(text); single == nil && addr.Zone() == "" {
			network, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		switch {
		case err != nil || network.Addr().Is4In6():
			return nil, fmt.Errorf("%.60q is no network: want an address, or a network such as 10.0.0.0/8", text)
		case network.Bits() == 0:
			return nil, fmt.Errorf("%.60q is every address: name the networks of the proxies", text)
		}
		p = append(p, network.Masked())
	}
	return p, nil
}

// Has reports whether an address belongs to a proxy.
func (p Proxies) Has(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	for _, network := range p {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// Client returns the address that sent a request: the one that connected or, if that is a proxy, the nearest address in
// the X-Forwarded-For headers that is not a proxy. Each proxy appends the address that connected to it, so the headers
// are read from the right; text to the left of the first address that is not a proxy's may be invented. A text that is
// not an address ends the search at the proxy that wrote it.
func (p Proxies) Client(connected netip.Addr, forwarded []string) netip.Addr {
	addr := connected.Unmap().WithZone("")
	for i := len(forwarded) - 1; i >= 0; i-- {
		for rest, more := forwarded[i], true; more; {
			if !p.Has(addr) {
				return addr
			}
			hop := rest
			if at := strings.LastIndexByte(rest, ','); at >= 0 {
				rest, hop = rest[:at], rest[at+1:]
			} else {
				more = false
			}
			next, ok := parseHop(strings.TrimSpace(hop))
			if !ok {
				return addr
			}
			addr = next
		}
	}
	return addr
}

// parseHop reads an address as proxies write it: some add the port, some the brackets of IPv6.
func parseHop(text string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		if inner, found := strings.CutPrefix(text, "["); found && strings.HasSuffix(inner, "]") {
			addr, err = netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		} else {
			var at netip.AddrPort
			at, err = netip.ParseAddrPort(text)
			addr = at.Addr()
		}
	}
	return addr.Unmap().WithZone(""), err == nil
}
