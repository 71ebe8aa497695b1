// SPDX-License-Identifier: Apache-2.0

package login

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
)

const (
	// maxBearer limits how long a JWT is valid, from its issue on.
	maxBearer = time.Hour
	// skew is how far the clocks of an issuer and of this server may differ.
	skew = 30 * time.Second
	// askEvery is the minimum time between two requests to an issuer for its addresses or keys, however many tokens
	// arrive.
	askEvery = time.Minute
	// maxBytes limits the bytes of a JWT.
	maxBytes = 8 << 10
)

// ErrBearer means that a text is no valid JWT of a configured issuer.
var ErrBearer = errors.New("it is no valid token of a configured issuer")

// Issuer is an issuer of JWTs for services, such as CI or Kubernetes, and the roles of its subjects.
type Issuer struct {
	URL   string
	Roles map[string][]string // and limits, by subject; see Config
}

// Bearers checks the JWTs of issuers. It is safe for concurrent use.
type Bearers struct {
	audience string
	issuers  map[string]*issuer
	now      func() time.Time
}

type issuer struct {
	Issuer
	now    func() time.Time
	client *http.Client
	turn   sync.Mutex
	check  *oidc.IDTokenVerifier // once the issuer was reached
}

// NewBearers returns the check for JWTs whose audience is the public URL of this server. now is the clock, nil for the
// machine's.
func NewBearers(publicURL string, now func() time.Time, issuers ...Issuer) *Bearers {
	if now == nil {
		now = time.Now
	}
	b := &Bearers{audience: publicURL, issuers: map[string]*issuer{}, now: now}
	for _, one := range issuers {
		b.issuers[one.URL] = &issuer{
			Issuer: one, now: now,
			client: &http.Client{Timeout: patience,
				Transport: &seldom{over: http.DefaultTransport, now: now, asked: map[string]time.Time{}}},
		}
	}
	return b
}

// seldom sends a request to each address at most once a minute.
type seldom struct {
	over  http.RoundTripper
	now   func() time.Time
	mu    sync.Mutex
	asked map[string]time.Time
}

var errSeldom = errors.New("it was asked within the last minute")

// RoundTrip implements http.RoundTripper.
func (s *seldom) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	at, now := r.URL.String(), s.now()
	if last, found := s.asked[at]; found && now.Sub(last) < askEvery {
		s.mu.Unlock()
		return nil, errSeldom
	}
	s.asked[at] = now
	s.mu.Unlock()
	return s.over.RoundTrip(r)
}

// LooksLikeJWT reports whether a credential has the form of a JWT.
func LooksLikeJWT(text string) bool { return len(text) <= maxBytes && strings.Count(text, ".") == 2 }

// Check returns who a JWT is, and until when. The error is ErrBearer or ErrUnreachable, each with the cause.
func (b *Bearers) Check(ctx context.Context, text string) (*Person, time.Time, error) {
	none := time.Time{}
	if !LooksLikeJWT(text) {
		return nil, none, ErrBearer
	}
	var said struct {
		Issuer string `json:"iss"`
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(text, ".")[1])
	if err != nil || json.Unmarshal(payload, &said) != nil || b.issuers[said.Issuer] == nil {
		return nil, none, ErrBearer
	}
	of := b.issuers[said.Issuer]
	check, err := of.verifier(ctx, b.audience)
	if err != nil {
		return nil, none, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	id, err := check.Verify(ctx, text)
	if err != nil {
		return nil, none, fmt.Errorf("%w: %w", ErrBearer, err)
	}
	now := b.now()
	switch {
	case id.IssuedAt.IsZero() || id.IssuedAt.Unix() <= 0 || id.Expiry.Sub(id.IssuedAt) > maxBearer:
		return nil, none, fmt.Errorf("%w: it is valid for more than %v", ErrBearer, maxBearer)
	case now.Add(skew).Before(id.IssuedAt):
		return nil, none, fmt.Errorf("%w: it is of the future", ErrBearer)
	case !now.Before(id.Expiry.Add(skew)):
		return nil, none, fmt.Errorf("%w: it has expired", ErrBearer)
	}
	var limits struct {
		NotBefore float64 `json:"nbf"`
	}
	if err := id.Claims(&limits); err != nil || float64(now.Add(skew).Unix()) < limits.NotBefore {
		return nil, none, fmt.Errorf("%w: it is not valid yet", ErrBearer)
	}
	roles := slices.Clone(of.Roles[id.Subject])
	if id.Subject == "" || len(id.Subject) > maxAuthor || strings.ContainsFunc(id.Subject, unicode.IsControl) ||
		len(roles) == 0 {
		return nil, none, fmt.Errorf("%w: its subject has no role here", ErrBearer)
	}
	return &Person{Name: "jwt:" + id.Subject, Author: id.Subject, Roles: roles}, id.Expiry.Add(skew), nil
}

// verifier returns the check of an issuer's tokens. It leaves expiry to the caller, who allows for clock skew.
func (i *issuer) verifier(ctx context.Context, audience string) (*oidc.IDTokenVerifier, error) {
	i.turn.Lock()
	defer i.turn.Unlock()
	if i.check != nil {
		return i.check, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.URL)
	if err != nil {
		return nil, err
	}
	i.check = found.VerifierContext(oidc.ClientContext(context.WithoutCancel(ctx), i.client), &oidc.Config{
		ClientID: audience, SupportedSigningAlgs: []string{oidc.RS256, oidc.ES256, oidc.EdDSA},
		SkipExpiryCheck: true, Now: i.now,
	})
	return i.check, nil
}
