// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/tokens"
)

// The cookie of a session. Over TLS its name makes browsers refuse one that another host has set; on loopback without
// TLS they would not store that name.
const (
	cookieTLS      = "__Host-locus"
	cookieLoopback = "locus"
)

// overTLS reports whether the browser sees this server under https: here, through the proxies that alone may connect,
// or at the public URL.
func (s *Server) overTLS(r *http.Request) bool {
	return r.TLS != nil || len(s.opts.Proxies) > 0 || strings.HasPrefix(s.opts.PublicURL, "https://") &&
		s.opts.PublicURL == "https://"+r.Host
}

// privately reports whether the network between browser and server cannot read the browser's requests.
func (s *Server) privately(r *http.Request) bool { return s.overTLS(r) || toLoopback(r) }

// cookie returns the cookie of a session; with an empty secret it ends the one in the browser.
func (s *Server) cookie(r *http.Request, name, secret string) *http.Cookie {
	c := &http.Cookie{Name: name, Value: secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: s.overTLS(r)}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}

func (s *Server) cookieName(r *http.Request) string {
	if s.overTLS(r) {
		return cookieTLS
	}
	return cookieLoopback
}

// sessionOf returns the secret of the session in a request, "" if there is none. A browser adds cookies to requests
// that pages of other sites cause, so the API accepts no cookies. If there are two cookies with the name, one was set
// by another host.
func (s *Server) sessionOf(r *http.Request) string {
	if ofAPI(r.URL.Path) {
		return ""
	}
	found := r.CookiesNamed(s.cookieName(r))
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}

// signIn gives the browser the cookie of a session that has begun, and leads it to a page.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request, secret string, began *tokens.Session, to string) {
	http.SetCookie(w, s.cookie(r, s.cookieName(r), secret))
	s.passage(r, "login", began.Name, began.ID)
	http.Redirect(w, r, local(to), http.StatusSeeOther)
}

// passage is called after every login, logout and end of a session. The id is the id of the session or token.
func (s *Server) passage(r *http.Request, what, principal, id string) {
	s.svc.Audit().Note(audit.Entry{Class: audit.Access, Principal: principal, Credential: id,
		Address: s.recordedAddress(r), Action: what}).End("ok")
	s.opts.Logger.LogAttrs(r.Context(), slog.LevelInfo, "access", slog.String("what", what),
		slog.String("principal", principal),
		slog.String("id", id), slog.String("client", s.addressOf(r)))
}

// local returns a path of this server with its query, "/" for anything else. A login redirects to it.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || !strings.HasPrefix(to, "/") ||
		strings.HasPrefix(u.Path, "//") ||
		strings.ContainsFunc(u.Path, func(c rune) bool { return c == '\\' || c < ' ' || c == 0x7f }) || u.Path == "/login" || u.Path == "/logout" {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}

// toLogin leads a browser without a valid session to the login page, and from there back.
func toLogin(w http.ResponseWriter, r *http.Request) {
	at := "/login"
	if to := local(r.URL.RequestURI()); to != "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		at += "?" + url.Values{"to": {to}}.Encode()
	}
	http.Redirect(w, r, at, http.StatusSeeOther)
}

// SessionList are the sessions that have not ended, the oldest first.
type SessionList struct {
	Sessions []tokens.Session `json:"sessions"`
}

func (s *Server) listSessions(c *call) (any, error) {
	all, err := s.svc.Tokens().Sessions(c)
	if err != nil {
		return nil, err
	}
	return SessionList{all}, nil
}

func (s *Server) endSession(c *call) (any, error) {
	id, err := c.path("id")
	if err != nil {
		return nil, err
	}
	ended, err := s.svc.Tokens().EndSession(c, id)
	if err != nil {
		return nil, err
	}
	s.passage(c.r, "session ended by "+access.From(c).Name, ended.Name, ended.ID)
	return ended, nil
}

// Whoami is the principal of a request.
type Whoami struct {
	Name        string   `json:"name" doc:"Name of the principal; empty for an installation without tokens, where every request is the operator's"`
	Author      string   `json:"author,omitempty" doc:"Name displayed with its decisions, if different"`
	ID          string   `json:"id,omitempty" doc:"Id of the token"`
	Permissions []string `json:"permissions"`
	Sources     []string `json:"write_sources,omitempty" doc:"Sources whose records it may write; missing for all"`
	access.Restriction
	Shares []WhoamiShare `json:"shares,omitempty" doc:"Permissions for some kinds and sources, if they differ"`
}

// WhoamiShare is a part of the permissions of a principal, for some kinds and sources.
type WhoamiShare struct {
	Permissions []string `json:"permissions"`
	Kinds       []string `json:"kinds,omitempty" doc:"Missing for all"`
	Sources     []string `json:"write_sources,omitempty" doc:"Missing for all"`
}

func (s *Server) whoami(c *call) (any, error) {
	who := access.From(c).Whole()
	of := Whoami{Name: who.Name, Author: who.Author, ID: who.ID, Permissions: who.Permissions.Names(),
		Sources: who.Sources, Restriction: who.Restriction}
	for _, share := range who.Shares {
		of.Shares = append(of.Shares, WhoamiShare{share.Permissions.Names(), share.Kinds, share.Sources})
	}
	return of, nil
}
