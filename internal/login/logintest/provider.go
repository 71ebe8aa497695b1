// SPDX-License-Identifier: Apache-2.0

// Package logintest is an identity provider for tests. It signs each person in without a question, and misbehaves on
// request.
package logintest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The client that is registered at the provider.
const (
	ClientID     = "locus"
	ClientSecret = "the-secret-of-a-test"
)

// Fault is a way to misbehave.
type Fault string

// The faults of ID tokens.
const (
	None      Fault = ""
	Audience  Fault = "audience of another client"
	Issuer    Fault = "another issuer"
	Nonce     Fault = "nonce of another login"
	Signature Fault = "signature by another key"
	Unsigned  Fault = "alg none"
	Expired   Fault = "expired"
)

// Provider is an identity provider.
type Provider struct {
	*httptest.Server
	Now func() time.Time

	mu     sync.Mutex
	fault  Fault
	claims map[string]any
	key    jose.JSONWebKey
	codes  map[string]url.Values // the requests of codes that were not used
	asked  int
	tried  int // exchanges of codes
}

// New starts a provider that signs people in with these claims.
func New(t testing.TB, claims map[string]any) *Provider {
	t.Helper()
	p := &Provider{Now: time.Now, claims: claims, codes: map[string]url.Values{}, key: newKey()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		send(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
			"jwks_uri":                              p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"ES256", "none"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked++
		send(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{p.key.Public()}})
	})
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func newKey() jose.JSONWebKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the reader never fails
	}
	return jose.JSONWebKey{Key: key, KeyID: rand.Text(), Algorithm: string(jose.ES256), Use: "sig"}
}

// Misbehave sets the fault of the tokens from now on.
func (p *Provider) Misbehave(f Fault) { p.mu.Lock(); defer p.mu.Unlock(); p.fault = f }

// Rotate replaces the key.
func (p *Provider) Rotate() { p.mu.Lock(); defer p.mu.Unlock(); p.key = newKey() }

// KeysAsked returns how often the keys were read.
func (p *Provider) KeysAsked() int { p.mu.Lock(); defer p.mu.Unlock(); return p.asked }

// Sign returns a token with these claims.
func (p *Provider) Sign(claims map[string]any) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sign(claims)
}

func (p *Provider) sign(claims map[string]any) string {
	body, _ := json.Marshal(claims) // texts, numbers and lists
	key := p.key
	switch p.fault {
	case Unsigned:
		head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`))
		return head + "." + base64.RawURLEncoding.EncodeToString(body) + "."
	case Signature:
		key = newKey()
		key.KeyID = p.key.KeyID
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		panic(err)
	}
	signed, err := signer.Sign(body)
	if err != nil {
		panic(err)
	}
	text, _ := signed.CompactSerialize() // never fails for one signature
	return text
}

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	to, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != ClientID || q.Get("response_type") != "code" ||
		q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" {
		http.Error(w, "not a request of the client", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = q
	p.mu.Unlock()
	to.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tried++
	id, secret, _ := r.BasicAuth()
	code := r.FormValue("code")
	asked, found := p.codes[code]
	delete(p.codes, code)
	proof := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if id != ClientID || secret != ClientSecret || !found ||
		base64.RawURLEncoding.EncodeToString(proof[:]) != asked.Get("code_challenge") ||
		r.FormValue("redirect_uri") != asked.Get("redirect_uri") {
		w.WriteHeader(http.StatusBadRequest)
		send(w, map[string]string{"error": "invalid_grant"})
		return
	}
	now := p.Now()
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "nonce": asked.Get("nonce"), "iat": now.Unix(),
		"exp": now.Add(time.Hour).Unix()}
	for name, value := range p.claims {
		claims[name] = value
	}
	switch p.fault {
	case Audience:
		claims["aud"] = "another"
	case Issuer:
		claims["iss"] = "https://another.example"
	case Nonce:
		claims["nonce"] = rand.Text()
	case Expired:
		claims["exp"] = now.Add(-time.Minute).Unix()
	}
	send(w, map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "id_token": p.sign(claims)})
}

func send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has left
}

// Exchanges returns how many exchanges of a code were requested.
func (p *Provider) Exchanges() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tried
}
