// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/locus-db/locus/cell"
)

// sparing is a listener that keeps a file descriptor in reserve. If the process has no more descriptors, the reserve is
// used to accept a connection, answer with the reason, and close it. So clients do not wait in vain, and open
// connections continue.
type sparing struct {
	net.Listener
	logger *slog.Logger
	open   func() (*os.File, error)
	spare  *os.File
	logged time.Time
	wait   time.Duration // for the request of a refused connection
}

func newSparing(l net.Listener, logger *slog.Logger) *sparing {
	s := &sparing{Listener: l, logger: logger, wait: 100 * time.Millisecond, open: func() (*os.File, error) {
		return os.Open(os.DevNull)
	}}
	s.spare, _ = s.open() // without it the server retries Accept
	return s
}

// Accept returns the next connection that can be served.
func (s *sparing) Accept() (net.Conn, error) {
	for {
		conn, err := s.Listener.Accept()
		if s.spare != nil && (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) {
			s.spare.Close()
			s.spare = nil
			continue
		}
		if err != nil || s.spare != nil {
			return conn, err
		}
		if s.spare, err = s.open(); err == nil {
			return conn, nil
		}
		s.refuse(conn, err)
		s.spare, _ = s.open()
	}
}

// refuse answers on a connection that cannot be served. It first waits a moment for the request, because closing a
// connection with unread data resets it and loses the answer.
func (s *sparing) refuse(conn net.Conn, why error) {
	defer conn.Close()
	if now := time.Now(); now.Sub(s.logged) > 10*time.Second {
		s.logged = now
		s.logger.Warn("connections refused", "err", cell.OutOfFiles(why))
	}
	f := toFault(cell.OutOfFiles(why), "")
	body, _ := json.Marshal(problem(f, ""))
	conn.SetReadDeadline(time.Now().Add(s.wait))
	conn.Read(make([]byte, 64<<10))
	conn.SetWriteDeadline(time.Now().Add(s.wait)) // separate: a late request is answered too
	fmt.Fprintf(conn, "HTTP/1.1 503 %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nRetry-After: %s\r\nConnection: close\r\n\r\n%s",
		http.StatusText(http.StatusServiceUnavailable), len(body), retryAfter(why), body)
}
