// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
)

func TestGuard_Host(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{Hosts: []string{"Locus.Example", "10.1.2.3"}})
	for host, allowed := range map[string]bool{
		"localhost": true, "localhost:7070": true, "LOCALHOST:1": true, "127.0.0.1": true, "127.0.0.1:7070": true,
		"127.8.9.10:80": true,
		"[::1]":         true, "[::1]:7070": true, "[0:0:0:0:0:0:0:1]:7070": true, "[::ffff:127.0.0.1]:7070": true,
		"locus.example": true, "LOCUS.example:7070": true, "10.1.2.3:7070": true,
		"": false, "evil.example": false, "evil.example:7070": false, "localhost.evil.example": false, "localhost.": false,
		"localhost:":  false,
		"localhost:x": false, "localhost:80:80": false, "10.1.2.4": false, "0.0.0.0": false, "[::]": false, "[::1": false,
		"[::1]x": false, "[::1%25lo]": false,
		"127.0.0.1.nip.io": false, "0x7f000001": false, "2130706433": false, "locus.example@localhost": false,
		"localhost/": false,
	} {
		for _, target := range []string{"/v1/entities", "/version", "/", "/nowhere"} {
			a := f.do(http.MethodGet, target, "", "Host", host)
			if !allowed {
				a.refused(http.StatusMisdirectedRequest, httpapi.CodeMisdirected)
			} else if a.Code == http.StatusMisdirectedRequest {
				t.Errorf("host %q at %s: %d", host, target, a.Code)
			}
		}
	}
}

func TestGuard_CrossSite(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	body := one(`{"source":"x","key":"1","attributes":{"name":"x"}}`)
	tests := []struct {
		headers []string
		allowed bool
	}{
		{nil, true},
		{[]string{"Sec-Fetch-Site", "same-origin"}, true},
		{[]string{"Sec-Fetch-Site", "none"}, true},
		{[]string{"Origin", "http://localhost:7070"}, true},
		{[]string{"Sec-Fetch-Site", "cross-site"}, false},
		{[]string{"Sec-Fetch-Site", "same-site"}, false},
		{[]string{"Origin", "http://evil.example"}, false},
		{[]string{"Origin", "http://localhost:8080"}, false},
		{[]string{"Origin", "null"}, false},
	}
	for _, test := range tests {
		a := f.do(http.MethodPost, "/v1/records", body, test.headers...)
		if test.allowed && a.Code != http.StatusOK {
			t.Errorf("%v: %d %s", test.headers, a.Code, a.Body)
		}
		if !test.allowed {
			a.refused(403, httpapi.CodeForbidden)
			f.do(http.MethodDelete, "/v1/records/x/1", "", test.headers...).refused(403, httpapi.CodeForbidden)
		}
	}
}

// TestGuard_HeadersOfEveryAnswer asks all kinds of answers for the headers that protect a browser.
func TestGuard_HeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	answers := []answer{
		f.get("/v1/entities"), f.get("/livez"), f.get("/readyz"), f.get("/metrics"), f.get("/version"),
		f.get("/openapi.json"), f.get("/"),
		f.get("/nowhere"), f.get("/v1/entities/x"), f.do(http.MethodPut, "/v1/records", ""),
		f.do(http.MethodGet, "/v1/entities", "", "Host", "evil.example"),
		f.do(http.MethodOptions, "/v1/records", "", "Origin", "http://evil.example", "Access-Control-Request-Method", "POST"),
	}
	ids := map[string]bool{}
	for _, a := range answers {
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types locus",
		} {
			if got := a.Header().Get(name); got != want {
				t.Errorf("status %d: %s is %q", a.Code, name, got)
			}
		}
		for name := range a.Header() {
			if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" || name == "Server" {
				t.Errorf("status %d has the header %s", a.Code, name)
			}
		}
		id := a.Header().Get("X-Request-Id")
		if len(id) != 16 || ids[id] {
			t.Errorf("request id %q", id)
		}
		ids[id] = true
	}
}

func TestGuard_IgnoresWhatClientsClaim(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(joe)
	for _, h := range [][2]string{
		{"X-Request-Id", strings.Repeat("x", 10240)},
		{"X-Forwarded-Host", "evil.example"},
		{"X-Forwarded-For", "1.2.3.4"},
		{"X-HTTP-Method-Override", "DELETE"},
		{"Range", "bytes=0-1"},
		{"Accept-Encoding", "gzip"},
		{"Accept", "text/html"},
	} {
		a := f.do(http.MethodGet, "/v1/records/guide/1", "", h[0], h[1])
		if r := decode[httpapi.Record](a); r.Key != "1" {
			t.Errorf("%s: %+v", h[0], r)
		}
		if strings.Contains(fmt.Sprint(a.Header()), h[1]) {
			t.Errorf("%s is echoed: %v", h[0], a.Header())
		}
	}
}

func TestGuard_Sizes(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	fill := func(n int) string { return "/v1/entities?q=" + strings.Repeat("q", n-len("/v1/entities?q=")) }
	f.get(fill(8<<10)).refused(422, httpapi.CodeInvalid)
	f.get(fill(8<<10+1)).refused(414, httpapi.CodeTargetLength)
	if a := f.do(http.MethodGet, "/livez", "", "X-Big", strings.Repeat("x", 16<<10-len("X-Big: \r\n"))); a.Code != http.StatusOK {
		t.Errorf("16 KiB of headers: %d", a.Code)
	}
	f.do(http.MethodGet, "/livez", "", "X-Big", strings.Repeat("x", 16<<10-len("X-Big: \r\n")+1)).refused(431,
		httpapi.CodeHeaderLength)
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprint("X-", i), "1")
	}
	if a := f.do(http.MethodGet, "/livez", "", lines...); a.Code != http.StatusOK {
		t.Errorf("100 lines: %d", a.Code)
	}
	f.do(http.MethodGet, "/livez", "", append(lines, "X-100", "1")...).refused(431, httpapi.CodeHeaderLength)
}

func TestQuery_IsStrict(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	params := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "&a%d=1", i)
		}
		return b.String()[1:]
	}
	tests := []struct {
		query   string
		status  int
		code    httpapi.Code
		pointer string
	}{
		{"limt=5", 400, httpapi.CodeUnknownField, "?limt"},
		{"offset=5", 400, httpapi.CodeUnknownField, "?offset"},
		{"LIMIT=5", 400, httpapi.CodeUnknownField, "?LIMIT"},
		{"=5", 400, httpapi.CodeUnknownField, "?"},
		{"filter[$ne]=", 400, httpapi.CodeUnknownField, "?filter[$ne]"},
		{"limit=1&limit=1000", 400, httpapi.CodeDuplicateKey, "?limit"},
		{"limit=1&%6cimit=1", 400, httpapi.CodeDuplicateKey, "?limit"},
		{"limit=1&q=%zz", 400, httpapi.CodeMalformed, "?q"},
		{"%zz=1", 400, httpapi.CodeMalformed, ""},
		{"limit=1;q=2", 400, httpapi.CodeMalformed, ""},
		{"q=%ff", 400, httpapi.CodeInvalidUTF8, "?q"},
		{"%1b[31m=1", 400, httpapi.CodeUnknownField, `?\x1b[31m`},
		{params(64), 400, httpapi.CodeUnknownField, ""},
		{params(65), 400, httpapi.CodeMalformed, ""},
		{"limit=0", 422, httpapi.CodeInvalid, "?limit"},
		{"limit=-1", 422, httpapi.CodeInvalid, "?limit"},
		{"limit=1001", 422, httpapi.CodeInvalid, "?limit"},
		{"limit=1000000000", 422, httpapi.CodeInvalid, "?limit"},
		{"limit=99999999999999999999", 422, httpapi.CodeInvalid, "?limit"},
		{"limit=abc", 422, httpapi.CodeInvalid, "?limit"},
		{"limit=", 422, httpapi.CodeInvalid, "?limit"},
		{"limit=%2B1", 422, httpapi.CodeInvalid, "?limit"},
		{"limit=01", 422, httpapi.CodeInvalid, "?limit"},
		{"limit=1e1", 422, httpapi.CodeInvalid, "?limit"},
	}
	for _, test := range tests {
		for _, route := range []string{"/v1/entities", "/v1/records"} {
			if route == "/v1/records" && strings.Contains(test.query, "q=") && test.code == httpapi.CodeInvalid {
				continue
			}
			p := f.get(route+"?"+test.query).refused(test.status, test.code)
			if p.Pointer != test.pointer && test.pointer != "" {
				t.Errorf("%s: pointer %q, want %q", test.query, p.Pointer, test.pointer)
			}
		}
	}
	for _, target := range []string{"/livez?x=1", "/v1/schema?x=1", "/v1/records/a/b?x=1", "/v1/status?limit=1", "/openapi.json?v=1", "/metrics?x"} {
		f.get(target).refused(400, httpapi.CodeUnknownField)
	}
	for _, target := range []string{"/v1/find", "/v1/route", "/v1/why-not?a=x:1"} {
		f.get(target).refused(422, httpapi.CodeInvalid)
	}
	for _, target := range []string{
		"/v1/find?address=", "/v1/entities?kind=", "/v1/entities?order=", "/v1/entities?filter=", "/v1/entities?has",
		"/v1/records?source=", "/v1/records?limit=",
		"/v1/records?cursor=", "/v1/decisions?of=", "/v1/changes?cell=", "/v1/ids?cell=",
		"/v1/rollups/none/groups?min_watermark=",
		"/v1/rollups/none/groups?latest=", "/v1/series?metric=", "/v1/series?prefix=&zone=", "/v1/series/explain?at=",
	} {
		f.get(target).refused(422, httpapi.CodeInvalid)
	}
	for _, query := range []string{"limit=1", "limit=1000", "q=", "q=a%26b", "q=a+b"} {
		if a := f.get("/v1/entities?" + query); a.Code != http.StatusOK {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
}

func TestRouter_MethodsAndPaths(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for path, methods := range map[string]string{
		"/v1/records": "GET HEAD POST", "/v1/records/a/b": "DELETE GET HEAD", "/v1/records/delete": "POST",
		"/v1/entities": "GET HEAD", "/livez": "GET HEAD",
		"/v1/entities/x": "GET HEAD", "/v1/entities/x/why": "GET HEAD", "/metrics": "GET HEAD",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"} {
			a := f.do(method, path, "")
			if slices.Contains(strings.Fields(methods), method) {
				if a.Code == http.StatusMethodNotAllowed {
					t.Errorf("%s %s: 405", method, path)
				}
				continue
			}
			a.refused(405, httpapi.CodeMethod)
			if got := strings.ReplaceAll(a.Header().Get("Allow"), ", ", " "); got != methods {
				t.Errorf("%s %s: Allow %q, want %q", method, path, got, methods)
			}
		}
	}
	for _, path := range []string{
		"/nowhere", "/V1/RECORDS", "/v1", "/v1/", "/v1/records/", "//v1//records", "/v1/../v1/records", "/v1/./records",
		"/v1/entities/", "/livez/",
		"/debug/pprof/", "/debug/vars", "/.git/config", "/v1/records/a", "/v1/records/a/b/c",
	} {
		a := f.get(path)
		a.refused(404, httpapi.CodeNotFound)
		if a.Header().Get("Location") != "" {
			t.Errorf("%s redirects to %s", path, a.Header().Get("Location"))
		}
	}
}

// TestGuard_LoopbackNamesNeedLoopback sends the names of this machine over a connection to an address of the network,
// where a page of any site could use them.
func TestGuard_LoopbackNamesNeedLoopback(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		at, host string
		hosts    []string
		allowed  bool
	}{
		{"127.0.0.1", "localhost", nil, true}, {"::1", "localhost:7070", nil, true}, {"127.0.0.1", "[::1]:1", nil, true},
		{"192.0.2.1", "localhost", nil, false}, {"192.0.2.1", "127.0.0.1:7070", nil, false},
		{"2001:db8::1", "[::1]", nil, false},
		{"192.0.2.1", "LOCALHOST", []string{"localhost"}, true},
		{"192.0.2.1", "locus.example", []string{"locus.example"}, true},
		{"192.0.2.1", "127.0.0.1", []string{"localhost"}, false},
		{"192.0.2.1", "192.0.2.1:7070", nil, true}, {"192.0.2.1", "192.0.2.2:7070", nil, false},
		{"::ffff:192.0.2.1", "192.0.2.1", nil, true}, {"2001:db8::1", "[2001:db8::1]:7070", nil, true},
		{"192.0.2.1", "192.0.2.1.nip.io", nil, false}, {"192.0.2.1", "0.0.0.0", nil, false},
	} {
		f := setup(t, &httpapi.Options{Hosts: test.hosts})
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey,
			&net.TCPAddr{IP: net.ParseIP(test.at), Port: 7070}), http.MethodGet, "/version", nil)
		r.Host = test.host
		rec := httptest.NewRecorder()
		f.server.ServeHTTP(rec, r)
		if got := rec.Code == http.StatusOK; got != test.allowed || !got && rec.Code != http.StatusMisdirectedRequest {
			t.Errorf("%q at %s: %d", test.host, test.at, rec.Code)
		}
	}
}
