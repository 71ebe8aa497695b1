// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/locus-db/locus/internal/listen"
)

const (
	// refusing is how many connections are refused with a response at a time, each for refuseFor at most; further ones
	// are closed without a response.
	refusing  = 64
	refuseFor = 5 * time.Second
)

// proxied is a listener that only proxies may connect to. Others get 403, and their data is not read.
type proxied struct {
	net.Listener
	proxies listen.Proxies
	turn    chan struct{}
}

// onlyProxies returns a listener that only some proxies may connect to. A socket in the file system has its own rights.
func onlyProxies(l net.Listener, proxies listen.Proxies) net.Listener {
	if _, network := l.Addr().(*net.TCPAddr); !network || len(proxies) == 0 {
		return l
	}
	return &proxied{l, proxies, make(chan struct{}, refusing)}
}

// Accept returns the next connection of a proxy.
func (p *proxied) Accept() (net.Conn, error) {
	for {
		conn, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if from, ok := conn.RemoteAddr().(*net.TCPAddr); ok && p.proxies.Has(from.AddrPort().Addr()) {
			return conn, nil
		}
		select {
		case p.turn <- struct{}{}:
			go func() {
				defer func() { <-p.turn }()
				forbid(conn)
			}()
		default:
			conn.Close()
		}
	}
}

// forbid sends 403 once a request arrives: clients drop a connection that responds before they have asked. Closing it
// with unread data would reset it and lose the response, so the rest is thrown away.
func forbid(conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(refuseFor))
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		return
	}
	body, _ := json.Marshal(problem(fault(CodeForbidden, "", "this server accepts connections from its proxies only: see locus serve --trusted-proxies"), ""))
	fmt.Fprintf(conn, "HTTP/1.1 403 %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		http.StatusText(http.StatusForbidden), len(body), body)
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	_, _ = io.CopyN(io.Discard, conn, maxHeaders)
}
