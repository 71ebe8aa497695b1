// SPDX-License-Identifier: Apache-2.0

package login_test

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/internal/login/logintest"
	"github.com/locus-db/locus/secret"
)

var sealing = bytes.Repeat([]byte{7}, login.SecretBytes)

func ann() map[string]any {
	return map[string]any{"sub": "17", "email": "ann@example.com", "email_verified": true, "name": "Ann",
		"groups": []string{"crm", "staff"}}
}

func provider(t *testing.T, idp *logintest.Provider) *login.Provider {
	t.Helper()
	return login.New(login.Config{
		Issuer: idp.URL, ClientID: logintest.ClientID, ClientSecret: secret.New(logintest.ClientSecret),
		PublicURL: "https://locus.example",
		Roles:     map[string][]string{"staff": {"reader"}, "crm": {"reviewer", "reader"}, "ops": {"operator"}},
	})
}

// visit begins a login, lets the provider confirm it, and returns the cookie and the query with which the browser
// returns.
func visit(t *testing.T, p *login.Provider) (cookie string, query url.Values) {
	t.Helper()
	address, cookie, err := p.Begin(t.Context(), sealing, "/review")
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	to, err := answer.Location()
	if err != nil || !strings.HasPrefix(to.String(), "https://locus.example/login/callback?") {
		t.Fatalf("%v leads to %v, %v", address, to, err)
	}
	return cookie, to.Query()
}

// TestP10_Provider lets the provider, or another on the way, misbehave in nine ways.
func TestP10_Provider(t *testing.T) {
	t.Parallel()
	idp := logintest.New(t, ann())
	p := provider(t, idp)
	for _, fault := range []logintest.Fault{logintest.Audience, logintest.Issuer, logintest.Nonce, logintest.Signature, logintest.Unsigned, logintest.Expired} {
		idp.Misbehave(fault)
		cookie, query := visit(t, p)
		if who, _, err := p.Finish(t.Context(), sealing, cookie, query); !errors.Is(err, login.ErrRefused) || who != nil {
			t.Errorf("%s: %+v, %v", fault, who, err)
		}
		idp.Misbehave(logintest.None)
		cookie, query = visit(t, p)
		if _, _, err := p.Finish(t.Context(), sealing, cookie, query); err != nil {
			t.Errorf("after %s: %v", fault, err)
		}
	}
	// The verifier of another login: a code that was stolen from its browser.
	mine, query := visit(t, p)
	_, stolen := visit(t, p)
	query.Set("code", stolen.Get("code"))
	if who, _, err := p.Finish(t.Context(), sealing, mine, query); !errors.Is(err, login.ErrRefused) {
		t.Errorf("verifier: %+v, %v", who, err)
	}
	// A code that is used twice.
	cookie, query := visit(t, p)
	if who, to, err := p.Finish(t.Context(), sealing, cookie, query); err != nil || to != "/review" || who.Name != "oidc:17" || who.Author != "ann@example.com" || !slices.Equal(who.Roles, []string{"reader", "reviewer"}) {
		t.Errorf("%+v, %q, %v", who, to, err)
	}
	if who, _, err := p.Finish(t.Context(), sealing, cookie, query); !errors.Is(err, login.ErrRefused) {
		t.Errorf("used twice: %+v, %v", who, err)
	}
	// Another key than before.
	idp.Rotate()
	cookie, query = visit(t, p)
	if _, _, err := p.Finish(t.Context(), sealing, cookie, query); err != nil {
		t.Errorf("rotated: %v", err)
	}
}

// TestP10_Attempt brings back a login that this browser has not begun.
func TestP10_Attempt(t *testing.T) {
	t.Parallel()
	idp := logintest.New(t, ann())
	p := provider(t, idp)
	cookie, query := visit(t, p)
	other, _ := visit(t, p)
	changed := maps.Clone(query)
	changed["state"] = []string{""}
	for name, try := range map[string]struct {
		secret []byte
		cookie string
		query  url.Values
	}{
		"no cookie": {sealing, "", query}, "of another login": {sealing, other, query},
		"no state":       {sealing, cookie, changed},
		"another secret": {bytes.Repeat([]byte{8}, login.SecretBytes), cookie, query},
		"altered":        {sealing, "A" + cookie[1:], query}, "cut off": {sealing, cookie[:20], query},
	} {
		if try.cookie == cookie && name == "altered" {
			try.cookie = "B" + cookie[1:]
		}
		if who, _, err := p.Finish(t.Context(), try.secret, try.cookie, try.query); !errors.Is(err, login.ErrAttempt) {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
	if _, _, err := p.Finish(t.Context(), sealing, cookie, url.Values{"state": query["state"], "error": {"access_denied"}}); !errors.Is(err, login.ErrRefused) {
		t.Errorf("denied: %v", err)
	}
	if strings.Contains(cookie, query.Get("state")) {
		t.Error("the cookie is not sealed")
	}
	if _, _, err := p.Finish(t.Context(), sealing, cookie, query); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

func TestPerson_NeedsAGroup(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		claims map[string]any
		author string
		err    error
	}{
		"no groups": {map[string]any{"sub": "1"}, "", login.ErrNoRole},
		"others":    {map[string]any{"sub": "1", "groups": []string{"sales"}}, "", login.ErrNoRole},
		"one":       {map[string]any{"sub": "1", "groups": "ops", "preferred_username": "ann"}, "ann", nil},
		"no address": {map[string]any{"sub": "1", "groups": "ops", "email": "root@example.com", "name": "Ann B"},
			"Ann B", nil},
		"strange":        {map[string]any{"sub": "1", "groups": "ops", "name": "a\nb"}, "1", nil},
		"no subject":     {map[string]any{"groups": "ops"}, "", login.ErrRefused},
		"groups of what": {map[string]any{"sub": "1", "groups": 7}, "", login.ErrRefused},
	} {
		idp := logintest.New(t, test.claims)
		p := provider(t, idp)
		cookie, query := visit(t, p)
		who, _, err := p.Finish(t.Context(), sealing, cookie, query)
		if !errors.Is(err, test.err) || err == nil && who.Author != test.author {
			t.Errorf("%s: %+v, %v", name, who, err)
		}
	}
}

// A provider that cannot be reached is not asked by everyone who opens the page of the login.
func TestP10_ProviderIsAway(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(away.Close)
	p := login.New(login.Config{Issuer: away.URL, ClientID: logintest.ClientID, PublicURL: "https://locus.example"})
	now := time.Now()
	p.SetClock(func() time.Time { return now })
	begin := func() {
		t.Helper()
		if _, _, err := p.Begin(t.Context(), sealing, "/"); !errors.Is(err, login.ErrUnreachable) {
			t.Error(err)
		}
	}
	for range 20 {
		begin()
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("20 visitors asked it %d times", n)
	}
	now = now.Add(6 * time.Second)
	if begin(); asked.Load() != 2 {
		t.Errorf("later it was asked %d times in all", asked.Load())
	}
}

func FuzzCookie(f *testing.F) {
	p := login.New(login.Config{Issuer: "http://127.0.0.1:1"})
	f.Add("", "")
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "x")
	f.Fuzz(func(t *testing.T, cookie, state string) {
		if _, _, err := p.Finish(t.Context(), sealing, cookie, url.Values{"state": {state}, "code": {"x"}}); !errors.Is(err, login.ErrAttempt) {
			t.Errorf("%q: %v", cookie, err)
		}
	})
}
