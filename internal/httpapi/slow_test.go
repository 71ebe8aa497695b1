// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
)

// patience is the longest wait of a test on a busy machine.
const patience = 3 * time.Minute

// line is a connection that a test reads and writes directly.
type line struct {
	*testing.T
	net.Conn
	*bufio.Reader
}

func (r *running) dial() *line {
	r.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		r.Fatal(err)
	}
	return &line{r.T, conn, bufio.NewReader(conn)}
}

// send writes to the connection; errors show when it is read.
func (l *line) send(format string, args ...any) *line {
	fmt.Fprintf(l.Conn, format, args...)
	return l
}

// get sends a request without a body.
func (l *line) get(path string) *line {
	return l.send("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
}

// post starts a request that announces a body of the given size but sends none of it. When it returns, the server is
// reading the body.
func (l *line) post(path string, bytes int) *line {
	l.Helper()
	l.send("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", path, bytes)
	status, err := l.ReadString('\n')
	if err != nil || !strings.Contains(status, "100 Continue") {
		l.Fatalf("%q, %v", status, err)
	}
	if _, err := l.ReadString('\n'); err != nil {
		l.Fatal(err)
	}
	return l
}

func (l *line) answer() (status int, body string, closes bool) {
	l.Helper()
	res, err := http.ReadResponse(l.Reader, nil)
	if err != nil {
		l.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		l.Fatal(err)
	}
	return res.StatusCode, string(text), res.Close
}

// ok reads an answer that must have status 200.
func (l *line) ok() *line {
	l.Helper()
	if status, body, _ := l.answer(); status != http.StatusOK {
		l.Fatalf("%d %s", status, body)
	}
	return l
}

// closed fails unless the server has closed the connection without an answer.
func (l *line) closed() {
	l.Helper()
	var timeout net.Error
	if b, err := l.ReadByte(); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		l.Errorf("read %q, %v, want a connection that is closed", b, err)
	}
}

const quick = `{"records":[{"source":"quick","key":"1","attributes":{"name":"Quick Place"}}]}`

// TestP12_SlowBodiesTakeNoPlace holds back more bodies than there are places: complete requests are still handled at
// once.
func TestP12_SlowBodiesTakeNoPlace(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1, ShutdownTimeout: time.Millisecond, Running: 1, Waiting: -1,
		Wait: time.Millisecond, Bodies: 4 << 20})
	for _, path := range []string{"/v1/records", "/v1/hits", "/v1/series/query"} {
		for range 50 {
			r.dial().post(path, 1<<20).send(`{"records":[`)
		}
	}
	r.dial().post("/v1/records", len(quick)).send(quick).ok()
	hits := `{"hits":[{"metric":"quick"}]}`
	r.dial().post("/v1/hits", len(hits)).send("%s", hits).ok()
	r.dial().get("/v1/records").ok()
	r.stop()
	if err := r.finished(); err == nil {
		t.Error("want to hear that requests were cut off")
	}
}

// TestP12_SlowBodiesGiveTheirMemory fills the memory with bodies that lack their last byte. A new body takes the memory
// of the one that began first, which is aborted with an answer; the other continues.
func TestP12_SlowBodiesGiveTheirMemory(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1, Bodies: 2 << 20})
	var slow []*line
	large := strings.Repeat(" ", 1<<20-1)
	for n := range 2 {
		slow = append(slow, r.dial().post("/v1/records", 1<<20).send("%s", large))
		for end := time.Now().Add(patience); r.server.BodyRoom() != (1-n)<<20; {
			if time.Now().After(end) {
				t.Fatalf("with %d bodies there are %d bytes left", n+1, r.server.BodyRoom())
			}
		}
	}
	for range 3 {
		r.dial().post("/v1/records", len(quick)).send(quick).ok()
	}
	status, body, closes := slow[0].answer()
	if status != http.StatusServiceUnavailable || !strings.Contains(body, `"overloaded"`) || !closes {
		t.Errorf("%d %s, closes %v", status, body, closes)
	}
	if status, body, _ := slow[1].send(" ").answer(); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, body)
	}
	if room := r.server.BodyRoom(); room != 2<<20 {
		t.Errorf("%d bytes are left when all is done", room)
	}
	r.stop()
	if err := r.finished(); err != nil {
		t.Error(err)
	}
}

// TestP12_ConnectionsAreBounded opens one connection too many: the connection that has been idle longest is closed,
// never a busy one.
func TestP12_ConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1, ShutdownTimeout: patience, Connections: 3})
	slow := r.dial().post("/v1/records", len(quick))
	// A connection becomes idle a moment after its answer.
	idle := func(want int) {
		for end := time.Now().Add(patience); r.server.Idle() != want; {
			if time.Now().After(end) {
				t.Fatalf("%d connections are idle, want %d", r.server.Idle(), want)
			}
		}
	}
	first := r.dial().get("/livez").ok()
	idle(1)
	second := r.dial().get("/livez").ok()
	idle(2)
	first.get("/livez").ok()
	idle(2)
	third := r.dial().get("/livez").ok()
	second.closed()
	first.get("/v1/records").ok()
	third.get("/v1/records").ok()
	slow.send(quick).ok()
	r.stop()
	if err := r.finished(); err != nil {
		t.Error(err)
	}
}

// TestP12_IdleConnectionsKeepNothingOut opens far more idle connections than the limit, new ones and some that never
// finish their header. Health checks and work are still answered on new connections.
func TestP12_IdleConnectionsKeepNothingOut(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	r := serve(t, httpapi.Options{Linger: -1, ShutdownTimeout: time.Second, Connections: 20})
	for i := range 150 {
		l := r.dial()
		switch i % 3 {
		case 0:
			l.get("/livez").ok()
		case 1:
			l.send("GET /livez HTTP/1.1\r\nHost:")
		}
		if i%10 == 0 {
			r.dial().get("/readyz").ok()
			r.dial().post("/v1/records", len(quick)).send(quick).ok()
		}
	}
	r.stop()
	_ = r.finished()
}

// TestP12_HealthHasConnectionsOfItsOwn fills all connections with requests that are sent slowly, then with requests
// that are being handled. Health checks are answered in both cases; any other request takes the place of a slow body or
// is refused.
func TestP12_HealthHasConnectionsOfItsOwn(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	r := serve(t, httpapi.Options{Linger: -1, ShutdownTimeout: time.Millisecond, Connections: 8})
	slow := []*line{}
	for range 8 {
		slow = append(slow, r.dial().post("/v1/records", 100))
	}
	r.dial().get("/v1/records").ok()
	slow[0].closed()
	var feeds []*line
	for range 8 {
		l := r.dial().send("GET /v1/changes HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
		if status, err := l.ReadString('\n'); err != nil || !strings.Contains(status, "200") {
			t.Fatalf("%q, %v", status, err)
		}
		feeds = append(feeds, l)
	}
	for range 100 { // more than are kept for them at a time
		l := r.dial()
		for _, path := range []string{"/livez", "/readyz", "/metrics"} {
			status, body, closes := r.dial().get(path).answer()
			if status != http.StatusOK || !closes {
				t.Fatalf("%s: %d %s, closes %v", path, status, body, closes)
			}
		}
		if status, body, _ := l.get("/v1/records").answer(); status != http.StatusServiceUnavailable || !strings.Contains(body, `"overloaded"`) {
			t.Fatalf("%d %s", status, body)
		}
	}
	stuck := r.dial()
	for range 70 {
		r.dial().get("/livez").ok()
		r.dial() // and sends nothing
	}
	stuck.closed()
	feeds[0].Close()
	for end := time.Now().Add(patience); ; { // until the server has noticed
		status, body, _ := r.dial().get("/v1/records").answer()
		if status == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("a place is free, and: %d %s", status, body)
		}
	}
	r.stop()
	_ = r.finished()
}
