// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/tokens"
)

// handle registers a handler with the permissions that a caller needs. It is the only way into the router, and panics
// if no permission is stated.
func (s *Server) handle(pattern string, needs access.Rule, handler http.HandlerFunc) {
	if !needs.Valid() {
		panic("httpapi: the route " + pattern + " states no permission")
	}
	s.rules[pattern] = needs
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		who, err := s.permit(r, needs)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		handler(w, r.WithContext(access.With(r.Context(), who)))
	})
}

// permit returns the principal of a request if it may use a route. Nothing of the request but its header has been read,
// and nothing was looked up.
func (s *Server) permit(r *http.Request, needs access.Rule) (*access.Principal, error) {
	if needs.Open() {
		return &access.Principal{}, nil
	}
	who, err := s.caller(r)
	if err == nil {
		err = s.budget(who, requests, 1)
	}
	if err == nil {
		err = require(who, needs)
	}
	return who, err
}

func require(who *access.Principal, needs access.Rule) error {
	if who != nil && needs.Admits(who.Permissions) {
		return nil
	}
	return fault(CodeForbidden, "", "this needs the permission %s, which the token does not have", needs)
}

// local reports whether a request is the operator's: made in the process, or through the socket of the data directory, which only the
// account that owns the data may use.
func (s *Server) local(ctx context.Context) bool {
	_, socket := ctx.Value(http.LocalAddrContextKey).(*net.UnixAddr)
	return s.opts.Local || socket
}

// caller returns the principal of a request. The error is one fault for every reason why a credential is refused, so
// that it helps no one to guess.
func (s *Server) caller(r *http.Request) (*access.Principal, error) {
	if s.svc == nil || s.local(r.Context()) {
		return access.Local(), nil
	}
	closed, err := s.svc.Tokens().Closed(r.Context())
	if err != nil {
		return nil, err
	}
	if !closed {
		return access.Local(), nil
	}
	who, err := s.svc.Tokens().Check(r.Context(), credential(r))
	if errors.Is(err, tokens.ErrUnknown) {
		if err := s.failed(r); err != nil {
			return nil, err
		}
		return nil, standard(CodeUnauthenticated)
	}
	return who, err
}

// credential returns the token of a request, "" if it has none. A browser sends it as the password of the pages; /v1 takes
// no credential that a browser adds by itself.
func credential(r *http.Request) string {
	if len(r.Header["Authorization"]) != 1 {
		return ""
	}
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return value
	case strings.EqualFold(scheme, "Basic") && !ofAPI(r.URL.Path):
		pair, err := base64.StdEncoding.DecodeString(value)
		if _, password, found := strings.Cut(string(pair), ":"); err == nil && found {
			return password
		}
	}
	return ""
}

// challenge says which credential is missing.
func challenge(w http.ResponseWriter, r *http.Request) {
	if wantsPage(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="Locus: the password is a token", charset="UTF-8"`)
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="Locus"`)
}

// signed returns the author of a change: the principal, unless it may name another. Without tokens it is what was given.
func signed(ctx context.Context, author, pointer string) (string, error) {
	who := access.From(ctx)
	switch {
	case who == nil || !who.Named() || author == who.Name:
		return author, nil
	case author == "":
		return who.Name, nil
	case who.May(access.ActFor):
		return author, nil
	default:
		return "", fault(CodeInvalid, pointer, "the author is %.64q, whom the token belongs to: leave the author out, or use a token with the permission act_for", who.Name)
	}
}

// liveCheck is how often work that outlasts a request looks whether its credential is still valid.
const liveCheck = time.Second

// whileLive returns a context that ends when the token of a call does.
func (s *Server) whileLive(ctx context.Context) (context.Context, context.CancelFunc) {
	who := access.From(ctx)
	if s.svc == nil || who == nil || s.local(ctx) {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		beat := time.NewTicker(liveCheck)
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
				if live, err := s.svc.Tokens().Live(ctx, who); err != nil || !live {
					end(standard(CodeUnauthenticated))
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { end(nil) }
}
