// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/locus-db/locus/internal/listen"
)

// noPeers is the value of --peer-addr for a server that takes no writes from others.
const noPeers = "none"

// peerAddr returns the address at which other servers of the installation send writes to this one, "" for none. By
// default it is a free port at the address from which this machine reaches the first database server, because the
// others reach that server, too. A server that listens for its own machine only is not opened to others.
func (s *serving) peerAddr(w where) string {
	switch {
	case !w.shared || s.peers == noPeers:
		return ""
	case s.peers != "":
		return s.peers
	}
	from := towards(w.place)
	if from == nil || !from.IsLoopback() && s.local() {
		return ""
	}
	return net.JoinHostPort(from.String(), "0")
}

// towards returns the address from which this machine reaches the server of the first URL, nil if it is not known.
// Nothing is sent.
func towards(urls string) net.IP {
	first, err := url.Parse(urls)
	if err != nil {
		return nil
	}
	host, _, _ := strings.Cut(first.Host, ",")
	if host == "" {
		host = first.Query().Get("host")
	}
	if host == "" {
		host = os.Getenv("PGHOST")
	}
	if host == "" || strings.HasPrefix(host, "/") { // a socket
		return net.IPv4(127, 0, 0, 1)
	}
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(strings.Trim(host, "[]"), "5432")
	}
	conn, err := net.Dial("udp", host)
	if err != nil {
		return nil
	}
	defer conn.Close()
	at, _ := conn.LocalAddr().(*net.UDPAddr)
	return at.IP
}

// local reports whether only this machine can connect to the server.
func (s *serving) local() bool {
	host, _, err := net.SplitHostPort(s.addr)
	return err == nil && listen.Loopback(host)
}

// checkPeers rejects an address that other servers cannot use.
func (s *serving) checkPeers(w where) error {
	if s.peers == "" || s.peers == noPeers {
		return nil
	}
	if !w.shared {
		return usage("leave it out", "--peer-addr is for servers that share the databases of --map")
	}
	host, _, err := net.SplitHostPort(s.peers)
	if ip := net.ParseIP(host); err != nil || host == "" || ip != nil && ip.IsUnspecified() {
		return usage("--peer-addr 10.0.0.5:7071, or --peer-addr none",
			"--peer-addr %.80s: want HOST:PORT with an address of this machine that the other servers reach", s.peers)
	}
	return nil
}
