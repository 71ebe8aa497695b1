// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/tokens"
)

// attemptCookie is the suffix of the session cookie's name for a login at the identity provider.
const attemptCookie = "-login"

// toProvider leads the browser to the identity provider.
func (p *site) toProvider(c *call, _ *bytes.Buffer) error {
	if p.opts.Login == nil {
		return errNoPath
	}
	if !p.privately(c.r) {
		return errClearText
	}
	secret, err := p.svc.Tokens().LoginSecret(c)
	if err != nil {
		return err
	}
	address, cookie, err := p.opts.Login.Begin(c, secret, local(c.query["to"]))
	if err != nil {
		return p.notConfirmed(c, err)
	}
	one := p.cookie(c.r, p.cookieName(c.r)+attemptCookie, cookie)
	one.MaxAge = int(login.Life.Seconds())
	http.SetCookie(c.w, one)
	http.Redirect(c.w, c.r, address, http.StatusSeeOther)
	return nil
}

// fromProvider begins a session for the person whom the identity provider has confirmed. The cookie of the attempt is
// used up.
func (p *site) fromProvider(c *call, _ *bytes.Buffer) error {
	if p.opts.Login == nil {
		return errNoPath
	}
	name, cookie := p.cookieName(c.r)+attemptCookie, ""
	if found := c.r.CookiesNamed(name); len(found) == 1 {
		cookie = found[0].Value
	}
	http.SetCookie(c.w, p.cookie(c.r, name, ""))
	if err := p.mayGuess(c.r); err != nil { // each code is a request to the provider
		return err
	}
	secret, err := p.svc.Tokens().LoginSecret(c)
	if err != nil {
		return err
	}
	who, to, err := p.opts.Login.Finish(c, secret, cookie, c.r.URL.Query())
	if errors.Is(err, login.ErrAttempt) || errors.Is(err, login.ErrRefused) {
		if many := p.wrongLogin(c.r); many != nil {
			return many
		}
	}
	if err != nil {
		return p.notConfirmed(c, err)
	}
	session, began, err := p.svc.Tokens().Admit(c, tokens.Person{Name: who.Name, Author: who.Author, Roles: who.Roles},
		p.sessionOf(c.r))
	if errors.Is(err, tokens.ErrUnknown) {
		return p.notConfirmed(c, errBlocked)
	}
	if err != nil {
		return err
	}
	p.signIn(c.w, c.r, session, began, to)
	return nil
}

// errBlocked is shown at the sign-in of a blocked person.
var errBlocked = errors.New("you are blocked here: ask an administrator")

// notConfirmed shows the login page with the reason, and logs the cause, which may name hosts and claims.
func (p *site) notConfirmed(c *call, cause error) error {
	p.opts.Logger.WarnContext(c, "sign-in at the identity provider failed", "err", cause)
	for status, errs := range map[int][]error{
		http.StatusForbidden: {login.ErrNoRole, errBlocked}, http.StatusBadGateway: {login.ErrUnreachable},
		http.StatusUnauthorized: {login.ErrAttempt, login.ErrRefused},
	} {
		for _, err := range errs {
			if !errors.Is(cause, err) {
				continue
			}
			var body bytes.Buffer
			text := err.Error()
			if err := p.pages.Login(&body, console.Login{To: "/", Provider: true, Problem: strings.ToUpper(text[:1]) + text[1:] + "."}); err != nil {
				return err
			}
			if status == http.StatusUnauthorized {
				challenge(c.w)
			}
			writePage(c.w, status, &body)
			return nil
		}
	}
	return cause
}
