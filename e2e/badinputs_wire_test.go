// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
)

const (
	writeRoute = "/v1/records"
	listRoute  = "/v1/entities"
)

// placed fills in the placeholders for addresses.
func (t *trial) placed(text string) string {
	return strings.NewReplacer("{write}", writeRoute, "{list}", listRoute, "{host}", t.addr, "{token}", "none",
		"{head}", "Host: "+t.addr+"\r\nContent-Type: application/json\r\n", "/v1/hits", writeRoute, "/V1/HITS", "/V1/RECORDS", "//v1//hits", "//v1//records").Replace(text)
}

func (t *trial) dial() net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", t.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// raw sends bytes on a separate connection and reads one answer. Status 0 means that the connection was closed without
// an answer.
func (t *trial) raw(wire string, closeWrite bool) verdict {
	t.Helper()
	conn := t.dial()
	go func() {
		_, _ = io.WriteString(conn, wire) // the server may answer and close before all is sent
		if closeWrite {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Errorf("no answer to %.80q: %v", wire, err)
		}
		return verdict{}
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusContinue {
		t.Errorf("asked for the body of %.80q", wire)
	}
	body, _ := io.ReadAll(res.Body)
	return t.judge(res.StatusCode, res.Header, body)
}

// tryHTTP sends faults below the document: framing, headers, paths, connections.
func tryHTTP(t *trial, e *badInput) {
	before := t.count()
	defer func() {
		if after := t.count(); after != before && e.ID != "H23" {
			t.Errorf("%d records were stored", after-before)
		}
	}()
	switch e.ID {
	case "H33", "H39", "H40":
		tryKeys(t, e)
		return
	}
	switch e.As {
	case "raw":
		v := t.raw(t.placed(string(e.bytes(t.T))), e.ID == "H14")
		v.check(t, e)
		switch e.ID {
		case "H18":
			if allow := v.header.Get("Allow"); !strings.Contains(allow, "POST") {
				t.Errorf("Allow is %q", allow)
			}
		case "H19":
			for name := range v.header {
				if strings.HasPrefix(name, "Access-Control") {
					t.Errorf("the answer has %s", name)
				}
			}
		}
	case "target":
		target := t.placed(string(e.bytes(t.T)))
		t.raw("GET "+target+" HTTP/1.1\r\nHost: "+t.addr+"\r\n\r\n", false).check(t, e)
		if e.ID == "H26" || e.ID == "H28" {
			t.raw("POST "+target+" HTTP/1.1\r\n"+t.placed("{head}")+"Content-Length: 2\r\n\r\n{}", false).check(t, e)
		}
	case "header":
		header := t.placed(string(e.bytes(t.T)))
		v := t.raw("GET "+listRoute+"?limit=1 HTTP/1.1\r\nHost: "+t.addr+"\r\n"+header+"\r\n\r\n", false)
		v.check(t, e)
		v.is(t, header[:min(40, len(header))], http.StatusOK)
		if id := v.header.Get("X-Request-Id"); len(id) > 64 {
			t.Errorf("the request id is echoed: %d bytes", len(id))
		}
		if v.header.Get("Content-Range") != "" || !json.Valid(v.body) {
			t.Errorf("not the whole document: %s", v.body)
		}
	default:
		steps := map[string]func(*trial, *badInput){"H11": slowHeader, "H12": slowBody, "H13": idleConnections, "H23": pipelined}
		steps[e.ID](t, e)
	}
}

// count returns the number of records.
func (t *trial) count() int64 {
	t.Helper()
	status, err := t.svc.Cells().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status.Counts.Records
}

// drip writes one byte at a time until the other side closes or the bytes end.
func drip(conn net.Conn, wire string) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for i := range len(wire) {
		if _, err := io.WriteString(conn, wire[i:i+1]); err != nil {
			return
		}
		<-tick.C
	}
}

// held is the result of a request that arrives byte by byte.
type held struct {
	status int // 0 if the connection was closed
	header http.Header
	body   []byte
	took   time.Duration
}

// holdHeader starts a request whose header takes 200 s, in the background.
func holdHeader(t *testing.T, g *target) <-chan held {
	t.Helper()
	conn, start := (&trial{T: t, target: g}).dial(), time.Now()
	go drip(conn, "GET "+listRoute+" HTTP/1.1\r\nHost: "+g.addr+"\r\nX-Long: "+strings.Repeat("x", 1000))
	done := make(chan held, 1)
	go func() {
		answer, _ := io.ReadAll(conn)
		done <- held{body: answer, took: time.Since(start)}
	}()
	return done
}

func slowHeader(t *trial, _ *badInput) {
	if h := <-t.slowHeader; h.took < 4*time.Second || h.took > 100*time.Second {
		t.Errorf("closed after %v with %q, want 5 s", h.took, h.body)
	}
}

// holdBody starts a request whose body takes 200 s, in the background.
func holdBody(t *testing.T, g *target) <-chan held {
	t.Helper()
	tr := &trial{T: t, target: g}
	conn, start := tr.dial(), time.Now()
	if _, err := io.WriteString(conn, "POST "+writeRoute+" HTTP/1.1\r\n"+tr.placed("{head}")+"Content-Length: 1000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	go drip(conn, strings.Repeat(" ", 1000))
	done := make(chan held, 1)
	go func() {
		var h held
		if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
			h.status, h.header = res.StatusCode, res.Header
			h.body, _ = io.ReadAll(res.Body)
			res.Body.Close()
		}
		h.took = time.Since(start)
		done <- h
	}()
	return done
}

func slowBody(t *trial, e *badInput) {
	h := <-t.slowBody
	if h.status != 0 {
		t.judge(h.status, h.header, h.body).check(t, e)
	}
	if h.took > 150*time.Second { // all entries would take 200 s
		t.Errorf("held for %v, want 30 s", h.took)
	}
}

// idleConnections opens fewer connections than the list, because both ends are in this process.
func idleConnections(t *trial, _ *badInput) {
	for range 2000 {
		conn, err := net.Dial("tcp", t.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	for _, path := range []string{"/livez", "/readyz", listRoute} {
		t.send(http.MethodGet, path, nil).is(t, path, http.StatusOK)
	}
}

func pipelined(t *trial, _ *badInput) {
	conn := t.dial()
	go func() {
		for i := range 100 {
			body := batchOf(`"pipelined"`, fmt.Sprintf(`"%d"`, i), `"name":"Pipelined"`)
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", writeRoute, t.placed("{head}"),
				len(body), body)
		}
	}()
	reader := bufio.NewReader(conn)
	for i := range 100 {
		res, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		var answer httpapi.PutResponse
		if err != nil || json.Unmarshal(body, &answer) != nil || len(answer.Results) != 1 ||
			answer.Results[0].Key != fmt.Sprint(i) {
			t.Fatalf("answer %d: %s, %v", i, body, err)
		}
	}
}

// tryConsole requests the pages as a program would.
func tryConsole(t *trial, e *badInput) {
	switch e.ID {
	case "C02", "C03", "C11":
		tryPictured(t, e)
	case "C04":
		for _, path := range []string{"/", "/entities", "/nowhere", "/entities/x", "/v1/entities", "/static/nothing.js", "/v1/records/x/y"} {
			v := t.send(http.MethodGet, path, nil)
			policy := v.header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: %q", path, policy)
			}
			if !strings.HasPrefix(path, "/static/") && v.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: Cache-Control %q", path, v.header.Get("Cache-Control"))
			}
		}
	case "C05", "C14":
		site := map[string]string{"C05": "cross-site", "C14": "same-site"}[e.ID]
		body := batchOf(`"c"`, `"1"`, `"name":"Forged"`)
		for _, origin := range []string{"http://evil.example", "http://127.0.0.1:1", "null"} {
			t.post(body, "Origin", origin, "Sec-Fetch-Site", site).check(t, e)
			t.post(body, "Origin", origin).check(t, e)
			t.send(http.MethodDelete, "/v1/records/c/1", nil, "Origin", origin).check(t, e)
		}
	case "C06":
		t.raw("GET / HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n", false).check(t, e)
	case "C07":
		v := t.send(http.MethodGet, "/"+string(e.bytes(t.T)), nil)
		if v.status >= 300 && v.status < 400 || bytes.Contains(v.body, []byte("evil.example")) {
			t.Errorf("status %d, Location %q", v.status, v.header.Get("Location"))
		}
	default:
		v := t.raw("GET "+string(e.bytes(t.T))+" HTTP/1.1\r\nHost: "+t.addr+"\r\n\r\n", false)
		v.check(t, e)
		if location := v.header.Get("Location"); strings.Contains(location, "..") {
			t.Errorf("Location %q", location)
		}
	}
}
