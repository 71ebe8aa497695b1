// SPDX-License-Identifier: Apache-2.0

package login_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/secret"
)

// TestP10_CodesStayAtTheProvider redirects the exchange of a code, which has the secret of the client, to another host.
// Reading the addresses of the provider may be redirected.
func TestP10_CodesStayAtTheProvider(t *testing.T) {
	t.Parallel()
	var got atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	idp := httptest.NewServer(mux)
	t.Cleanup(idp.Close)
	mux.Handle("GET /.well-known/openid-configuration", http.RedirectHandler("/moved", http.StatusFound))
	mux.HandleFunc("GET /moved", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q}`, idp.URL,
			idp.URL+"/auth", idp.URL+"/token", idp.URL+"/keys")
	})
	asked := 0
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		statuses := []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}
		http.Redirect(w, r, other.URL, statuses[asked%len(statuses)])
		asked++
	})
	p := login.New(login.Config{Issuer: idp.URL, ClientID: "locus", ClientSecret: secret.New("hunter2"),
		PublicURL: "https://locus.example"})
	for range 3 {
		address, cookie, err := p.Begin(t.Context(), sealing, "/")
		if err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = p.Finish(t.Context(), sealing, cookie, url.Values{"state": {at.Query().Get("state")}, "code": {"x"}})
		if !errors.Is(err, login.ErrRefused) {
			t.Errorf("the redirect of the exchange: %v", err)
		}
	}
	if asked < 3 || got.Load() != 0 {
		t.Errorf("the provider was asked %d times; another host got %d requests with the code", asked, got.Load())
	}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections) //nolint:forcetypeassert // the standard library says so
}
