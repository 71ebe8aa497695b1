// SPDX-License-Identifier: Apache-2.0

package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/secret"
)

// Life is how long a login may take at the provider.
const Life = 10 * time.Minute

// patience limits each request to the provider.
const patience = 10 * time.Second

// retryEvery is how long a provider that cannot be reached is not asked again: anyone may open the page that asks it,
// and each would wait for patience.
const retryEvery = 5 * time.Second

// maxAuthor limits the bytes of the name that people read.
const maxAuthor = 255

// Errors of this package. Each wraps the cause, which is for the log: it may name hosts and claims.
var (
	// ErrAttempt means that a return belongs to no login of this browser, or came too late.
	ErrAttempt = errors.New("this sign-in was not begun in this browser, or took more than ten minutes: begin again")
	// ErrRefused means that the provider did not confirm the person, or that its answer is not valid.
	ErrRefused = errors.New("the identity provider did not confirm who you are: begin again")
	// ErrUnreachable means that the provider cannot be asked.
	ErrUnreachable = errors.New("the identity provider cannot be reached: try again later, or sign in with a token")
	// ErrNoRole means that the person is in no group that has a role.
	ErrNoRole = errors.New("you are signed in there, but none of your groups has a role here: ask an administrator")
)

// Config is an identity provider and the roles of its groups.
type Config struct {
	Issuer, ClientID string
	ClientSecret     secret.Text
	// PublicURL is how browsers reach the server. The provider has to allow PublicURL + Callback.
	PublicURL string
	// Roles of a group and its limits, such as hide:ssn, by the names in the claim groups.
	Roles map[string][]string
}

// Callback is the path that the provider leads back to.
const Callback = "/login/callback"

// Person is a person who signed in.
type Person struct {
	// Name is never given to another person: oidc: and the subject of the provider.
	Name string
	// Author is the name that people read.
	Author string
	// Roles and limits, for access.ParseGiven.
	Roles []string
}

// Provider is an identity provider. It is safe for concurrent use.
type Provider struct {
	config Config
	client *http.Client
	now    func() time.Time

	turn   sync.Mutex     // held while the provider is asked for its addresses
	found  *oidc.Provider // nil until the provider was reached
	failed time.Time      // when it could last not be reached
	cause  error          // why

	mu    sync.Mutex
	roles map[string][]string
}

// New returns a provider, whose addresses and keys are requested at the first login.
func New(c Config) *Provider {
	return &Provider{config: c, roles: c.Roles, client: &http.Client{Timeout: patience, CheckRedirect: onlyReads},
		now: time.Now}
}

// onlyReads follows redirects of requests that only read. The token request contains the client secret and the code: no
// redirect may send these to another host.
func onlyReads(_ *http.Request, via []*http.Request) error {
	switch {
	case via[0].Method != http.MethodGet:
		return http.ErrUseLastResponse
	case len(via) >= 10:
		return errors.New("stopped after 10 redirects")
	default:
		return nil
	}
}

// SetRoles replaces the roles of the groups, for people who sign in from now on.
func (p *Provider) SetRoles(roles map[string][]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.roles = roles
}

func (p *Provider) rolesOf(group string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.roles[group]
}

// discover returns the addresses of the provider.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, *oauth2.Config, error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	if p.found == nil {
		if p.cause != nil && p.now().Sub(p.failed) < retryEvery {
			return nil, nil, p.cause
		}
		found, err := oidc.NewProvider(ctx, p.config.Issuer)
		if err != nil {
			p.failed, p.cause = p.now(), fmt.Errorf("%w: %w", ErrUnreachable, err)
			return nil, nil, p.cause
		}
		p.found = found
	}
	return p.found, &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret.Reveal(), Endpoint: p.found.Endpoint(),
		RedirectURL: p.config.PublicURL + Callback, Scopes: []string{oidc.ScopeOpenID, "profile", "email", "groups"},
	}, nil
}

// Begin returns the address at the provider where the browser is to go, and the cookie that it has to bring back. to is
// the path that the login leads to. The error is ErrUnreachable.
func (p *Provider) Begin(ctx context.Context, secret []byte, to string) (address, cookie string, err error) {
	_, config, err := p.discover(oidc.ClientContext(ctx, p.client))
	if err != nil {
		return "", "", err
	}
	a := attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), To: to,
		Until: p.now().Add(Life)}
	if cookie, err = a.seal(secret); err != nil {
		return "", "", err
	}
	return config.AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), cookie, nil
}

// Finish returns the person who signed in, from the cookie of Begin and the query that the provider sent the browser
// back with, and the path that Begin was given. The errors are ErrAttempt, ErrRefused, ErrUnreachable and ErrNoRole.
func (p *Provider) Finish(ctx context.Context, secret []byte, cookie string,
	query url.Values) (who *Person, to string, err error) {
	a, err := open(secret, cookie, p.now())
	if err != nil {
		return nil, "", err
	}
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1 {
		return nil, "", ErrAttempt
	}
	if query.Get("code") == "" {
		return nil, "", fmt.Errorf("%w: it says %.100q", ErrRefused, query.Get("error"))
	}
	ctx = oidc.ClientContext(ctx, p.client)
	provider, config, err := p.discover(ctx)
	if err != nil {
		return nil, "", err
	}
	token, err := config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(a.Verifier))
	if refusal := (*oauth2.RetrieveError)(nil); errors.As(err, &refusal) && refusal.Response.StatusCode < http.StatusInternalServerError {
		return nil, "", fmt.Errorf("%w: %w", ErrRefused, err)
	} else if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := provider.Verifier(&oidc.Config{ClientID: p.config.ClientID, Now: p.now}).Verify(ctx, raw)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1 {
		return nil, "", fmt.Errorf("%w: the nonce is that of another login", ErrRefused)
	}
	who, err = p.person(id)
	return who, a.To, err
}

// claims of a person besides the subject.
type claims struct {
	Email    string `json:"email"`
	Verified bool   `json:"email_verified"`
	Name     string `json:"name"`
	Username string `json:"preferred_username"`
	Groups   texts  `json:"groups"`
}

// texts is a list that some providers write as one text if it has one item.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

func (p *Provider) person(id *oidc.IDToken) (*Person, error) {
	var c claims
	if err := id.Claims(&c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if id.Subject == "" || len(id.Subject) > maxAuthor || strings.ContainsFunc(id.Subject, unicode.IsControl) {
		return nil, fmt.Errorf("%w: its subject is not one", ErrRefused)
	}
	who := &Person{Name: "oidc:" + id.Subject, Author: id.Subject}
	if !c.Verified {
		c.Email = ""
	}
	for _, name := range []string{c.Username, c.Name, c.Email} { // the last one that can be a name
		if name = strings.TrimSpace(name); name != "" && len(name) <= maxAuthor && !strings.ContainsFunc(name, unicode.IsControl) {
			who.Author = name
		}
	}
	var groups [][]string
	for _, group := range c.Groups {
		if roles := p.rolesOf(group); len(roles) > 0 {
			groups = append(groups, roles)
		}
	}
	if who.Roles = access.JoinGroups(groups); !access.GivesRole(who.Roles) {
		return nil, fmt.Errorf("%w: %s", ErrNoRole, who.Name)
	}
	return who, nil
}
