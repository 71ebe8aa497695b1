// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"time"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/tokens"
)

// TokenRequest is the body of POST /v1/tokens.
type TokenRequest struct {
	Name    string   `json:"name" doc:"Name of the principal, which signs its decisions"`
	Roles   []string `json:"roles,omitempty" doc:"reader, writer, reviewer, operator, administrator; they add up"`
	Allow   []string `json:"allow,omitempty" doc:"Single permissions besides those of the roles, such as erase"`
	Sources []string `json:"write_sources,omitempty" doc:"Sources whose records it may write: names, or beginnings of names and a *; all by default"`
	access.Restriction
	Rates   access.Rates `json:"rates,omitzero" doc:"Limits of each process for the principal"`
	Expires string       `json:"expires,omitempty" doc:"For how long, such as 720h, 8784h at most; or never. 2160h by default, which is 90 days"`
}

// RotateRequest is the body of POST /v1/tokens/{name}/rotate.
type RotateRequest struct {
	Overlap string `json:"overlap,omitempty" doc:"For how long the older tokens of the name stay valid, such as 24h; not at all by default"`
}

// TokenList are all tokens in the order of their names.
type TokenList struct {
	Tokens []Token `json:"tokens"`
}

// Token is a token without its secret.
type Token struct {
	tokens.Token
	Permissions []string `json:"permissions" doc:"Of its roles and single permissions together"`
	Expired     bool     `json:"expired,omitempty"`
}

// TokenMade is a new token.
type TokenMade struct {
	Secret string `json:"secret" doc:"The token, which is shown only once"`
	Token
}

// TokensRevoked is the answer to a revocation.
type TokensRevoked struct {
	Revoked int `json:"revoked" doc:"Number of tokens that there were"`
}

// never is the value of TokenRequest.Expires for a token without an end.
const never = "never"

func oneToken(t *tokens.Token) Token {
	set, _ := access.Grant(nil, t.Allow) // on error, the set is empty
	if given, err := access.ParseGiven(t.Roles); err == nil {
		set |= given.Principal().Permissions
	}
	return Token{Token: *t, Permissions: set.Names(), Expired: !t.Expires.IsZero() && !time.Now().Before(t.Expires)}
}

func (s *Server) listTokens(c *call) (any, error) {
	all, err := s.svc.Tokens().List(c)
	if err != nil {
		return nil, err
	}
	list := TokenList{Tokens: make([]Token, 0, len(all))}
	for i := range all {
		list.Tokens = append(list.Tokens, oneToken(&all[i]))
	}
	return list, nil
}

func (s *Server) createToken(c *call) (any, error) {
	if err := s.mayBegin(c); err != nil {
		return nil, err
	}
	body, err := object(c.body, "name", "roles", "allow", "write_sources", "kinds", "hide", "rates", "expires")
	if err != nil {
		return nil, err
	}
	var n tokens.Request
	if n.Name, err = textAt(body["name"], "/name"); err != nil {
		return nil, err
	}
	for field, to := range map[string]*[]string{"roles": &n.Roles, "allow": &n.Allow} {
		if v, given := body[field]; given {
			if *to, err = textsAt(v, "/"+field, field, len(access.Permissions())); err != nil {
				return nil, err
			}
		}
	}
	if v, given := body["write_sources"]; given {
		if n.WriteSources, err = textsAt(v, "/write_sources", "write_sources", access.MaxSources); err != nil {
			return nil, err
		}
		n.WriteSources = append([]string{}, n.WriteSources...) // an empty list is not nil, which would mean all
	}
	for field, to := range map[string]*[]string{"kinds": &n.Restriction.Kinds, "hide": &n.Restriction.Hide} {
		if v, given := body[field]; given {
			if *to, err = textsAt(v, "/"+field, field, access.MaxRestricted); err != nil {
				return nil, err
			}
			*to = append([]string{}, *to...) // an empty list is not nil
		}
	}
	if err := KnownRestriction(s.svc.Kinds().Schemas(), &n.Restriction); err != nil {
		return nil, err
	}
	if v, given := body["rates"]; given {
		if n.Rates, err = ratesAt(v, "/rates"); err != nil {
			return nil, err
		}
	}
	if text, err := duration(body, "expires", never); err != nil {
		return nil, err
	} else if n.Endless = text < 0; !n.Endless {
		n.Life = text
	}
	secret, t, err := s.svc.Tokens().Create(c, access.From(c), n)
	if err != nil {
		return nil, err
	}
	c.concerns("token=%s/%s", t.Name, t.ID)
	c.status = http.StatusCreated
	return TokenMade{Secret: secret, Token: oneToken(t)}, nil
}

func ratesAt(v strictjson.Value, pointer string) (r access.Rates, err error) {
	if v.Kind() != strictjson.Object {
		return r, wrongKind(pointer, v, "an object with requests, records, hits")
	}
	fields := map[string]*int{"requests": &r.Requests, "records": &r.Records, "hits": &r.Hits}
	for name, v := range v.Members() {
		to := fields[name]
		if to == nil {
			return r, unknownField(pointer, name, "requests, records, hits")
		}
		n, f := whole(pointer+"/"+name, v, 1, access.MaxRate)
		if f != nil {
			return r, f
		}
		*to = int(n)
	}
	return r, nil
}

// mayBegin refuses to create the first token for a caller that may be anywhere.
func (s *Server) mayBegin(c *call) error {
	if s.opts.Insecure && !access.From(c).Named() && !s.local(c) {
		return fault(CodeForbidden, "", "this server is open to the network: create the first token with locus token create --data or --map on its machine, and serve without --insecure-listen")
	}
	return nil
}

// duration returns the duration of a field, 0 if it is missing, and -1 for a word that means none, unless that is "".
func duration(body map[string]strictjson.Value, name, none string) (time.Duration, error) {
	v, given := body[name]
	if !given {
		return 0, nil
	}
	text, err := textAt(v, "/"+name)
	if err != nil {
		return 0, err
	}
	if none != "" && text == none {
		return -1, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fault(CodeInvalid, "/"+name, "%.40q is not a duration such as 24h", text)
	}
	return d, nil
}

func (s *Server) rotateToken(c *call) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	body, err := object(c.body, "overlap")
	if err != nil {
		return nil, err
	}
	overlap, err := duration(body, "overlap", "")
	if err != nil {
		return nil, err
	}
	secret, t, err := s.svc.Tokens().Rotate(c, access.From(c), name, overlap)
	if err != nil {
		return nil, err
	}
	c.concerns("token=%s/%s", t.Name, t.ID)
	c.status = http.StatusCreated
	return TokenMade{Secret: secret, Token: oneToken(t)}, nil
}

// revokeTokens revokes all tokens, for the operator alone.
func (s *Server) revokeTokens(c *call) (any, error) {
	n, err := s.svc.Tokens().RevokeAll(c, access.From(c))
	if err != nil {
		return nil, err
	}
	return TokensRevoked{Revoked: n}, nil
}

func (s *Server) revokeToken(c *call) (any, error) {
	name, err := c.path("name")
	if err != nil {
		return nil, err
	}
	n, err := s.svc.Tokens().Revoke(c, access.From(c), name)
	if err != nil {
		return nil, err
	}
	return TokensRevoked{Revoked: n}, nil
}
