// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/tokens"
)

func proxies(t *testing.T, list ...string) listen.Proxies {
	t.Helper()
	p, err := listen.ParseProxies(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestP10_ForwardedForOfProxies guesses tokens under invented addresses: behind a proxy each client has failures of its
// own, and any other client cannot invent some.
func TestP10_ForwardedForOfProxies(t *testing.T) {
	t.Parallel()
	bad, _ := access.NewToken()
	for _, behind := range []bool{false, true} {
		var opts httpapi.Options
		if behind {
			opts.Proxies = proxies(t, "10.0.0.0/8")
		}
		f := setup(t, &opts)
		f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
		admitted := func(from string, forwarded func(int) string) (n int) {
			for i := range 60 {
				a := f.do("GET", "/v1/entities", "", append(bearer(bad), "From", from, "X-Forwarded-For", forwarded(i))...)
				if a.Code == http.StatusUnauthorized {
					n++
				}
			}
			return n
		}
		invented := func(i int) string { return fmt.Sprintf("198.51.100.%d, 203.0.113.9", i) }
		if n := admitted("10.0.0.1:1", invented); n > 20 {
			t.Errorf("behind a proxy %v: invented addresses got 401 %d times", behind, n)
		}
		n := admitted("10.0.0.2:1", func(i int) string { return fmt.Sprintf("203.0.%d.7", i) })
		if behind && n < 30 || !behind && n > 20 {
			t.Errorf("behind a proxy %v: 60 clients got 401 %d times", behind, n)
		}
	}
}

// TestP10_OnlyProxiesConnect connects as a proxy and as another machine.
func TestP10_OnlyProxiesConnect(t *testing.T) {
	t.Parallel()
	for network, status := range map[string]int{"127.0.0.0/8": 200, "10.0.0.0/8": 403} {
		r := serve(t, httpapi.Options{Linger: -1, Proxies: proxies(t, network)})
		for _, request := range []string{"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n", "no request"} {
			if status == 200 && !strings.HasPrefix(request, "GET") {
				continue
			}
			conn, err := net.Dial("tcp", r.addr)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, request); err != nil {
				t.Error(err)
			}
			a, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("%s, %q: %v", network, request, err)
			}
			body, _ := io.ReadAll(a.Body)
			a.Body.Close()
			conn.Close()
			if a.StatusCode != status || status == 403 && !strings.Contains(string(body), `"code":"forbidden"`) {
				t.Errorf("%s, %q: %d %s", network, request, a.StatusCode, body)
			}
		}
		r.stop()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	}
}

// TestP10_RefusesOnlyRequests connects as another machine: a response sent before the request would not belong to it,
// and Go's client, for one, drops the connection.
func TestP10_RefusesOnlyRequests(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1, Proxies: proxies(t, "10.0.0.0/8")})
	silent, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	asked, err := net.Dial("tcp", r.addr) // accepted after the silent one
	if err != nil {
		t.Fatal(err)
	}
	defer asked.Close()
	if _, err := io.WriteString(asked, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(asked); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 403 ") {
		t.Errorf("%q, %v", got, err)
	}
	if err := silent.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(silent); err != nil || len(got) > 0 {
		t.Errorf("before a request: %q, %v", got, err)
	}
	r.stop()
	if err := <-r.done; err != nil {
		t.Error(err)
	}
}

// TestP10_ProbesSkipTheHost calls every route under a foreign name: only the probes answer, with one word.
func TestP10_ProbesSkipTheHost(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for pattern := range f.server.Rules() {
		method, path, found := strings.Cut(pattern, " ")
		if !found {
			continue
		}
		path = strings.TrimSuffix(path, "{$}")
		a := f.do(method, path, "", "Host", "10.9.8.7:7070", "Accept", "text/html")
		word := map[string]string{"/livez": `{"live":true}`, "/readyz": `{"ready":true}`}[path]
		switch {
		case word != "" && (a.Code != http.StatusOK || strings.TrimSpace(a.Body.String()) != word):
			t.Errorf("%s: %d %s", pattern, a.Code, a.Body)
		case word == "":
			a.refused(http.StatusMisdirectedRequest, httpapi.CodeMisdirected)
		}
	}
	if a := f.do("GET", "/readyz?x", "", "Host", "10.9.8.7", "Accept", "text/html"); a.Code != http.StatusBadRequest || strings.Contains(a.Body.String(), "<") {
		t.Errorf("a page under a foreign name: %d %s", a.Code, a.Body)
	}
}

// TestPublicURL checks that its name is a Host, and its origin one of this server behind a proxy that sends another
// Host.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{PublicURL: "https://Locus.Example"})
	if a := f.do("GET", "/v1/entities", "", "Host", "locus.example"); a.Code != http.StatusOK {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	body := one(`{"source":"x","key":"1","attributes":{"name":"x"}}`)
	if a := f.do("POST", "/v1/records", body, "Origin", "https://locus.example"); a.Code != http.StatusOK {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	f.do("POST", "/v1/records", body, "Origin", "https://evil.example").refused(http.StatusForbidden,
		httpapi.CodeForbidden)
}
