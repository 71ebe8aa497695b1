// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
)

// Limits of the request line and header.
const (
	maxTarget      = 8 << 10  // bytes of path and query
	maxHeaders     = 16 << 10 // bytes of all names and values
	maxHeaderLines = 100
)

// policy allows a page to load only its own files, without inline scripts or styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types locus"

// requestIDHeader is the id used in errors and in the log. A client's own id is not used.
const requestIDHeader = "X-Request-Id"

// ServeHTTP handles a request: guard, router, route. It needs no network.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	_, pattern := s.mux.Handler(r)
	out := &reply{ResponseWriter: w}
	h := out.Header()
	h.Set(requestIDHeader, rand.Text()[:16])
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
	if s.opts.HTTPSOnly && r.TLS != nil {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	defer func() {
		if cause := recover(); cause != nil {
			s.panicked(out, r, pattern, cause)
		}
		s.observe(pattern, out.status, start)
		if out.status >= http.StatusInternalServerError && !s.healthy[pattern] && s.svc != nil {
			s.svc.Counters().CountError()
		}
	}()
	if err := s.guard(out, r, pattern); err != nil {
		s.refuse(out, r, err)
		return
	}
	bounded, cancel, err := withTimeout(r)
	if err != nil {
		s.refuse(out, r, err)
		return
	}
	defer cancel()
	r = bounded
	if pattern == "" || !clean(r.URL.EscapedPath()) {
		s.unrouted(out, r)
		return
	}
	s.mux.ServeHTTP(out, r)
}

// clean reports whether the router accepts a path without redirecting.
func clean(p string) bool {
	cleaned := path.Clean(p)
	return p == cleaned || p == cleaned+"/" && cleaned != "/"
}

// guard rejects requests that no route should see. The Host is checked first: a page that reached this server under a
// foreign name (DNS rebinding) must not learn anything.
func (s *Server) guard(w http.ResponseWriter, r *http.Request, pattern string) error {
	if !s.allowed(r) && !s.probes(pattern) {
		return fault(CodeMisdirected, "", "this server does not serve the host %.60q: use the name or address that it listens on, or allow the name with locus serve --host", r.Host)
	}
	if len(r.RequestURI) > maxTarget {
		return fault(CodeTargetLength, "", "path and query have %d bytes: at most %d", len(r.RequestURI), maxTarget)
	}
	lines, size := 0, 0
	for name, values := range r.Header {
		for _, v := range values {
			lines++
			size += len(name) + len(v) + len(": \r\n")
		}
	}
	if lines > maxHeaderLines || size > maxHeaders {
		return fault(CodeHeaderLength, "", "%d header lines with %d bytes: at most %d with %d bytes", lines, size, maxHeaderLines, maxHeaders)
	}
	if err := s.crossOrigin.Check(r); err != nil {
		return fault(CodeForbidden, "", "the request comes from a page of another site")
	}
	if _, err := parseQuery(r.URL.RawQuery); err != nil {
		return err
	}
	if c := connectionOf(r.Context()); c != nil && c.spare {
		w.Header().Set("Connection", "close")
		if !s.healthy[pattern] {
			return fault(CodeOverloaded, "", "there are too many connections: try again after the seconds of Retry-After")
		}
	}
	if s.closing.Load() {
		w.Header().Set("Connection", "close")
		if !s.healthy[pattern] {
			return standard(CodeDraining)
		}
	}
	return nil
}

// probes reports whether a route is for the probes of orchestrators, which address a container by its IP. It says one
// word to a request under a name that is not allowed.
func (s *Server) probes(pattern string) bool { return s.healthy[pattern] && s.rules[pattern].Open() }

// allowed reports whether requests may use a Host. Only the name is checked: the port does not matter. The names of
// this machine are for connections to a loopback address: through another one, a page of any site could use them.
func (s *Server) allowed(r *http.Request) bool {
	host := r.Host
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		if port == "" || strings.Trim(port, "0123456789") != "" {
			return false
		}
		name = h
	} else if bare, ok := strings.CutPrefix(host, "["); ok {
		name, ok = strings.CutSuffix(bare, "]")
		if !ok {
			return false
		}
	}
	name = strings.ToLower(name)
	addr, err := netip.ParseAddr(name)
	switch {
	case slices.Contains(s.opts.Hosts, name):
		return true
	case name == "localhost" || err == nil && addr.Zone() == "" && addr.Unmap().IsLoopback():
		return toLoopback(r)
	}
	to, ok := localAddress(r)
	return ok && err == nil && to == addr.Unmap() // a page with a rebound name has that name as its Host
}

// toLoopback reports whether a connection was made to an address that only this machine can reach, or there is none.
func toLoopback(r *http.Request) bool {
	to, ok := localAddress(r)
	return !ok || to.IsLoopback()
}

// localAddress returns the address of this machine to which the connection of a request was made; false for a request
// without a network.
func localAddress(r *http.Request) (netip.Addr, bool) {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}, false
	}
	return at.AddrPort().Addr().Unmap(), true
}

// refuse sends an error, and logs it once if it is meant for operators.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := problem(toFault(err, ""), w.Header().Get(requestIDHeader))
	if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", retryAfter(err))
	}
	s.note(r, p, err)
	if p.Status == http.StatusUnauthorized {
		challenge(w)
	}
	if r.ContentLength < 0 {
		w.Header().Set("Connection", "close") // otherwise net/http would read the rest of the body first
	}
	s.tell(w, r, p)
}

// tell writes a problem: as a page to a browser that requests one, as JSON to all other clients.
func (s *Server) tell(w http.ResponseWriter, r *http.Request, p *Problem) {
	if wantsPage(r) && s.allowed(r) { // under a foreign name a page must not show even the version
		n := console.Notice{Title: http.StatusText(p.Status), Text: p.Detail, Asked: cut(r.URL.Path, 200)}
		switch {
		case p.Code == CodeNotFound:
			n.Title, n.Text = "Page not found", "There is no page at this address."
		case p.Status >= http.StatusInternalServerError:
			n.Hint = "Request " + p.RequestID + "."
		}
		if s.notice(w, r, p.Status, n) == nil {
			return
		}
	}
	writeJSON(w, p.Status, "application/problem+json", p)
}

// wantsPage reports whether a browser requests a page. /v1 is for programs, whatever they accept.
func wantsPage(r *http.Request) bool {
	accept := strings.ToLower(strings.Join(r.Header["Accept"], ","))
	return strings.Contains(accept, "text/html") && !strings.Contains(accept, "json") &&
		!ofAPI(r.URL.Path)
}

// ofAPI reports whether a path is for programs.
func ofAPI(path string) bool {
	return path == "/v1" || strings.HasPrefix(path, "/v1/") || path == "/mcp"
}

// shown returns the pages as the principal of a request sees them.
func (s *Server) shown(r *http.Request) *console.Console {
	who := access.From(r.Context())
	if !who.Named() {
		return s.pages
	}
	return s.pages.For(console.Viewer{Name: who.Signs(), Session: who.Session, Narrow: who.Restriction.Narrow(),
		SomeKinds: who.Restriction.Kinds != nil})
}

// notice writes a page with a message.
func (s *Server) notice(w http.ResponseWriter, r *http.Request, status int, n console.Notice) error {
	var body bytes.Buffer
	if err := s.shown(r).Notice(&body, n); err != nil {
		return err
	}
	writePage(w, status, &body)
	return nil
}

// note logs an error for operators.
func (s *Server) note(r *http.Request, p *Problem, err error) {
	attrs := []slog.Attr{slog.String("request_id", p.RequestID), slog.Any("err", err)}
	if p.Status == http.StatusInternalServerError || p.Code == CodeCommitUnknown || p.Code == CodeNoRoom {
		s.opts.Logger.LogAttrs(r.Context(), slog.LevelError, "request failed", attrs...)
	} else if p.Status == http.StatusServiceUnavailable && !errors.As(err, new(*Fault)) && r.Context().Err() == nil {
		s.opts.Logger.LogAttrs(r.Context(), slog.LevelWarn, "request refused", attrs...)
	}
}

// panicked answers after a panic, or closes the connection if an answer has begun, so that a partial answer never looks
// complete.
func (s *Server) panicked(w *reply, r *http.Request, pattern string, cause any) {
	if cause == http.ErrAbortHandler { //nolint:errorlint // a panic's value, compared as net/http does
		panic(cause)
	}
	id := w.Header().Get(requestIDHeader)
	s.opts.Logger.LogAttrs(r.Context(), slog.LevelError, "request panicked", slog.String("request_id", id),
		slog.String("route", pattern), slog.Any("err", cause), slog.String("stack", string(debug.Stack())))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	s.tell(w, r, problem(standard(CodeInternal), id))
}

// reply records the status of an answer. Unwrap gives http.ResponseController access, so that streams can flush and set
// deadlines.
type reply struct {
	http.ResponseWriter
	status int
}

func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *reply) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *reply) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}
