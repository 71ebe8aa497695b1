// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/tokens"
)

var errClearText = fault(CodeForbidden, "", "signing in over this connection would expose the token: use https://")

// loginPage asks for a token, unless the browser needs none or has a session already.
func (p *site) loginPage(c *call, body *bytes.Buffer) error {
	if _, err := p.caller(c.r); err == nil {
		http.Redirect(c.w, c.r, local(c.query["to"]), http.StatusSeeOther)
		return nil
	} else if toFault(err, "").Code != CodeUnauthenticated {
		return err
	}
	if !p.privately(c.r) {
		return errClearText
	}
	return p.pages.Login(body, console.Login{To: local(c.query["to"]), Provider: p.opts.Login != nil})
}

// login exchanges the token of the form for a session. The session that the browser had before ends.
func (p *site) login(w http.ResponseWriter, r *http.Request) {
	c := &call{Context: r.Context(), w: w, r: r, route: &route{path: "/login", class: writes}, class: writes}
	fields, free, err := p.fields(c)
	if err != nil {
		p.sorry(c, err)
		return
	}
	defer free()
	var secret string
	var began *tokens.Session
	err = p.run(c, func() (err error) {
		token := strings.TrimSpace(fields["token"])
		who, err := p.svc.Tokens().Check(c, token)
		if err == nil {
			err = p.budget(who, requests, 1) // each session is a write to the authority
		}
		if err == nil {
			secret, began, err = p.svc.Tokens().SignIn(c, token, p.sessionOf(r))
		}
		if errors.Is(err, tokens.ErrUnknown) {
			if many := p.wrongLogin(r); many != nil {
				return many
			}
		}
		return err
	})
	switch {
	case err == nil:
		p.signIn(w, r, secret, began, fields["to"])
	case errors.Is(err, tokens.ErrUnknown):
		var body bytes.Buffer
		if err := p.pages.Login(&body, console.Login{To: local(fields["to"]), Provider: p.opts.Login != nil, Problem: "This token is not valid. It may have expired, or be cut off."}); err != nil {
			p.refuse(w, r, err)
			return
		}
		challenge(w)
		writePage(w, http.StatusUnauthorized, &body)
	default:
		p.sorry(c, err)
	}
}

// logout ends the session of the browser, and clears the browser's data of this server.
func (p *site) logout(w http.ResponseWriter, r *http.Request) {
	c := &call{Context: r.Context(), w: w, r: r, route: &route{path: "/logout", class: writes}, class: writes}
	_, free, err := p.fields(c)
	if err != nil {
		p.sorry(c, err)
		return
	}
	defer free()
	var ended *tokens.Session
	err = p.run(c, func() (err error) {
		ended, err = p.svc.Tokens().SignOut(c, p.sessionOf(r))
		return err
	})
	if err != nil {
		p.sorry(c, err)
		return
	}
	if ended != nil {
		p.passage(r, "logout", ended.Name, ended.ID)
	}
	http.SetCookie(w, p.cookie(r, p.cookieName(r), ""))
	w.Header().Set("Clear-Site-Data", `"cookies", "storage"`)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// fields reads a form that a page of this server sent over a connection that others cannot read.
func (p *site) fields(c *call) (fields values, free func(), err error) {
	if err := fromPage(c.r); err != nil {
		return nil, nil, err
	}
	if !p.privately(c.r) {
		return nil, nil, errClearText
	}
	if free, err = p.readBody(c, mediaForm); err != nil {
		return nil, nil, err
	}
	if fields, err = parseQuery(string(c.body)); err != nil {
		free()
		return nil, nil, err
	}
	return fields, free, nil
}
