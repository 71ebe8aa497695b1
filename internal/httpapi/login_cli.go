// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/tokens"
)

// loginFields are the parameters that locus login puts into the URL of the page, and the page into its form.
var loginFields = []string{"challenge", "port", "state"}

var stateForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// loopback returns the address at which locus login waits for the code on the machine of the browser, "" if the person
// pastes it.
func loopback(fields values) (string, error) {
	port := fields["port"]
	if port == "" {
		return "", nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != port || !stateForm.MatchString(fields["state"]) {
		return "", fault(CodeInvalid, "", "this is not an address that locus login opens: run it again")
	}
	return "http://127.0.0.1:" + port, nil
}

// grantPage asks whether the command line may have a token.
func (p *site) grantPage(c *call, body *bytes.Buffer) error {
	at, err := loopback(c.query)
	if err != nil {
		return err
	}
	if at != "" { // browsers compare where a form leads with the policy of its page
		c.w.Header().Set("Content-Security-Policy",
			strings.Replace(policy, "form-action 'self'", "form-action 'self' "+at, 1))
	}
	fields := map[string]string{}
	for _, name := range loginFields {
		if c.query[name] != "" {
			fields[name] = c.query[name]
		}
	}
	return p.shown(c.r).Grant(body, console.Grant{Name: access.From(c).Signs(), Fields: fields})
}

// grant gives the code of a token to the command line: by its port on the machine of the browser, or by a page to paste
// from.
func (p *site) grant(w http.ResponseWriter, r *http.Request) {
	c := &call{Context: r.Context(), w: w, r: r, route: &route{path: "/login/cli", class: writes}, class: writes}
	fields, free, err := p.fields(c)
	if err != nil {
		p.sorry(c, err)
		return
	}
	defer free()
	at, err := loopback(fields)
	var code string
	if err == nil {
		err = p.run(c, func() (err error) {
			code, err = p.svc.Tokens().Code(c, access.From(c), fields["challenge"])
			return err
		})
	}
	var body bytes.Buffer
	switch {
	case err != nil:
		p.sorry(c, err)
	case at != "":
		http.Redirect(w, r, at+"/?"+url.Values{"code": {code}, "state": {fields["state"]}}.Encode(), http.StatusSeeOther)
	default:
		if err := p.shown(r).Grant(&body, console.Grant{Code: code}); err != nil {
			p.refuse(w, r, err)
			return
		}
		writePage(w, http.StatusOK, &body)
	}
}

// LoginRequest is the body of POST /v1/login.
type LoginRequest struct {
	Code     string `json:"code" doc:"The code that the login page gave"`
	Verifier string `json:"verifier" doc:"The text whose SHA-256 was in the address of the login page, in base64"`
}

// LoggedOut is the answer to a logout.
type LoggedOut struct {
	Ended bool `json:"ended" doc:"Whether the token was one of locus login, which has ended; others are revoked with DELETE /v1/tokens/{name}"`
}

func (s *Server) redeem(c *call) (any, error) {
	body, err := object(c.body, "code", "verifier")
	if err != nil {
		return nil, err
	}
	var request LoginRequest
	for field, to := range map[string]*string{"code": &request.Code, "verifier": &request.Verifier} {
		if *to, err = textAt(body[field], "/"+field); err != nil {
			return nil, err
		}
	}
	secret, t, err := s.svc.Tokens().Redeem(c, request.Code, request.Verifier)
	if errors.Is(err, tokens.ErrUnknown) {
		if err := s.wrongLogin(c.r); err != nil {
			return nil, err
		}
		return nil, fault(CodeUnauthenticated, "",
			"the code is not valid: it works once, within two minutes, for the login that requested it: run locus login again")
	} else if err != nil {
		return nil, err
	}
	c.status = http.StatusCreated
	s.passage(c.r, "login", t.Name, t.ID)
	return TokenMade{Secret: secret, Token: oneToken(t)}, nil
}

func (s *Server) quit(c *call) (any, error) {
	who := access.From(c)
	ended, err := s.svc.Tokens().Quit(c, who)
	if err != nil {
		return nil, err
	}
	if ended {
		s.passage(c.r, "logout", who.Name, who.ID)
	}
	return LoggedOut{ended}, nil
}
