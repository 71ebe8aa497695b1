// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/internal/login"
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
		r = r.WithContext(access.With(r.Context(), who))
		if s.opts.Tracer != nil && !s.healthy[pattern] {
			var end func()
			r, end = s.traced(w, r, pattern, err == nil && !needs.Open())
			defer end()
		}
		if err == nil {
			handler(w, r)
			return
		}
		s.countRefused(err)
		if wantsPage(r) && toFault(err, "").Code == CodeUnauthenticated {
			toLogin(w, r)
		} else {
			s.refuse(w, r, err)
		}
	})
}

// countRefused counts a refused caller in the audit log. Without a token none is refused.
func (s *Server) countRefused(err error) {
	if f := toFault(err, ""); f.Code == CodeUnauthenticated || f.Code == CodeForbidden {
		s.svc.Audit().Refused(string(f.Code))
	}
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
	if err != nil {
		return who, err
	}
	at, err := require(who, needs)
	if err != nil {
		return who, err
	}
	if source := r.PathValue("source"); source != "" && needs.LimitsSources() {
		if f := requireSource(at, source, ""); f != nil {
			return who, f
		}
	}
	return at, nil
}

// require returns the principal with the shares that have the permissions of a rule; see access.Principal.For. The
// error is the refusal if there are none, or if the route cannot respect their limits.
func require(who *access.Principal, needs access.Rule) (*access.Principal, error) {
	at := who.For(needs)
	switch {
	case at == nil:
		return nil, fault(CodeForbidden, "", "this needs the permission %s, which the token does not have", needs)
	case at.Sources != nil && !needs.AdmitsLimited(who.Whole().Permissions):
		return nil, fault(CodeForbidden, "", "the token may write the sources %s only, but this request is not about a source", strings.Join(at.Sources, ", "))
	case at.Restriction.Narrow() && !needs.AdmitsNarrowed(&at.Restriction):
		return nil, fault(CodeForbidden, "", "the token may see some kinds or attributes only, but this route cannot hide the others")
	}
	return at, nil
}

// requireSource refuses to write records of a source that the principal may not write.
func requireSource(who *access.Principal, source, pointer string) *Fault {
	if who.Writes(source) {
		return nil
	}
	return fault(CodeForbidden, pointer, "the token may write the sources %s only", strings.Join(who.Sources, ", "))
}

// local reports whether a request is the operator's: made in the process, or through the socket of the data directory,
// which only the account that owns the data may use.
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
	var who *access.Principal
	if session := s.sessionOf(r); session != "" && len(r.Header["Authorization"]) == 0 {
		who, err = s.svc.Tokens().CheckSession(r.Context(), session)
	} else if text := credential(r); s.opts.Bearers != nil && login.LooksLikeJWT(text) {
		who, err = s.bearer(r.Context(), text)
	} else if name, until := listen.Client(r.TLS, time.Now()); name != "" && len(r.Header["Authorization"]) == 0 {
		who, err = s.certified(name, until)
	} else {
		who, err = s.svc.Tokens().Check(r.Context(), text)
	}
	if err == nil && !who.Until.IsZero() {
		err = s.checkBlocked(r.Context(), who)
	}
	if errors.Is(err, tokens.ErrUnknown) {
		if err := s.failed(r); err != nil {
			return nil, err
		}
		return nil, standard(CodeUnauthenticated)
	}
	return who, err
}

// checkBlocked returns ErrUnknown if a principal is blocked. For a credential that is stored nowhere this is the only way
// to end it.
func (s *Server) checkBlocked(ctx context.Context, who *access.Principal) error {
	if blocked, err := s.svc.Tokens().Blocked(ctx, who.Name); err != nil || !blocked {
		return err
	}
	return tokens.ErrUnknown
}

// bearer returns the principal of a JWT.
func (s *Server) bearer(ctx context.Context, text string) (*access.Principal, error) {
	who, until, err := s.opts.Bearers.Check(ctx, text)
	switch {
	case errors.Is(err, login.ErrUnreachable):
		s.opts.Logger.WarnContext(ctx, "JWT issuer unreachable", "err", err)
		return nil, fmt.Errorf("%w: the issuer of the token cannot be asked for its keys", locus.ErrUnavailable)
	case err != nil:
		return nil, tokens.ErrUnknown
	}
	return outside("jwt", *who, until)
}

// certified returns the principal of a client's certificate, which the connection has verified.
func (s *Server) certified(name string, until time.Time) (*access.Principal, error) {
	roles := s.opts.CertRoles[name]
	if len(roles) == 0 {
		return nil, tokens.ErrUnknown
	}
	return outside("cert", login.Person{Name: "cert:" + name, Author: name, Roles: roles}, until)
}

// outside returns the principal of a credential that is stored nowhere.
func outside(id string, who login.Person, until time.Time) (*access.Principal, error) {
	given, err := access.ParseGiven(who.Roles)
	if err != nil {
		return nil, err
	}
	one := given.Principal()
	one.Name, one.Author, one.ID, one.Until = who.Name, who.Author, id, until
	return one, nil
}

// credential returns the token of a request, "" if it has none.
func credential(r *http.Request) string {
	if len(r.Header["Authorization"]) != 1 {
		return ""
	}
	if scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return value
	}
	return ""
}

// challenge says which credential is missing.
func challenge(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="Locus"`)
}

// signed returns the author of a change: the principal or its agent, unless it may name another. Without tokens it is
// the given name.
func (s *Server) signed(ctx context.Context, author, pointer string) (string, error) {
	who := access.From(ctx)
	author = strings.TrimSpace(author)
	switch {
	case author == "" && !who.Named(): // the operator, who needs no token
		closed, err := s.svc.Tokens().Closed(ctx)
		if err == nil && closed {
			err = fault(CodeInvalid, pointer, "the installation has tokens, so each decision needs an author: give a name")
		}
		return "", err
	case !who.Named() || author == who.Signs() || author == "agent:"+who.Signs():
		return author, nil
	case author == "":
		return who.Signs(), nil
	case who.May(access.ActFor):
		return author, nil
	default:
		return "", fault(CodeInvalid, pointer,
			"the author must be %.64q, the owner of the token: leave the author out, or use a token with the permission act_for",
			who.Signs())
	}
}

// proved returns the name of the principal that a credential has proved, "" without one.
func proved(ctx context.Context) string {
	if who := access.From(ctx); who.Named() {
		return who.Name
	}
	return ""
}

// liveCheck is how often an operation that outlasts its request checks whether the credential is still valid.
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
