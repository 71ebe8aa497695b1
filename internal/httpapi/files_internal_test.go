// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// crowded is a listener on a machine without free file descriptors: accepting fails until the reserve is closed.
type crowded struct {
	net.Listener
	full func() bool
}

func (c *crowded) Accept() (net.Conn, error) {
	if c.full() {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return c.Listener.Accept()
}

// A connection without a free file descriptor gets an answer that says so, accepting continues, and the next connection
// is served once there is a free one.
func TestP12_NoFileLeft(t *testing.T) {
	t.Parallel()
	inner, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	l := newSparing(inner, slog.New(slog.NewTextHandler(&log, nil)))
	// Two files are left: the reserve, and one for a connection that is served. The first open after a connection
	// fails, because the connection has the last file; the second succeeds after it was closed.
	opened := 0
	l.wait = time.Minute
	l.Listener = &crowded{inner, func() bool { return l.spare != nil && opened < 4 }}
	l.open = func() (*os.File, error) {
		if opened++; opened%2 == 1 && opened < 4 {
			return nil, &os.PathError{Op: "open", Path: os.DevNull, Err: syscall.EMFILE}
		}
		return os.Open(os.DevNull)
	}
	type accepted struct {
		conn net.Conn
		err  error
	}
	done := make(chan accepted, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			inner.Close() // waiting connections are reset
		}
		done <- accepted{conn, err}
	}()
	ask := func() net.Conn {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", inner.Addr().String())
		if err == nil {
			_, err = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	for range 2 {
		conn := ask()
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		var p Problem
		if err := errors.Join(json.NewDecoder(answer.Body).Decode(&p), answer.Body.Close(), conn.Close()); err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" ||
			p.Code != CodeUnavailable || !strings.Contains(p.Detail, "ulimit -n") {
			t.Errorf("%s %v: %+v", answer.Status, answer.Header, p)
		}
	}
	conn := ask()
	got := <-done
	if got.err != nil || got.conn.RemoteAddr().String() != conn.LocalAddr().String() {
		t.Fatalf("the third connection: %v, %v", got.conn, got.err)
	}
	if err := errors.Join(conn.Close(), got.conn.Close(), l.Close(), l.spare.Close()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "connections refused"); n != 1 {
		t.Errorf("%d lines in the log, want one for both:\n%s", n, log.String())
	}
}
