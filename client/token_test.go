// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus/client"
)

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// TestToken_IsSent checks both kinds of requests, and that a token needs an encrypted line to another machine.
func TestToken_IsSent(t *testing.T) {
	t.Parallel()
	var sent []string
	record := transport(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.URL.Path+" "+r.Header.Get("Authorization"))
		return &http.Response{StatusCode: http.StatusUnauthorized,
			Body:   io.NopCloser(strings.NewReader(`{"code":"unauthenticated","outcome":"not_applied"}`)),
			Header: http.Header{}}, nil
	})
	c, err := client.New("https://locus.example",
		&client.Options{Token: "locus_tok_x", HTTP: &http.Client{Transport: record}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Hit(t.Context(), "visits"); err == nil {
		t.Error("a refused hit is counted")
	}
	if _, err := c.MatchRecords(t.Context(), &client.MatchRequest{Probes: []client.ProbeInput{{}}}, nil); err == nil {
		t.Error("a refused probe is matched")
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got := strings.Join(sent, ", "); got != "/v1/hits Bearer locus_tok_x, /v1/match Bearer locus_tok_x" {
		t.Error(got)
	}
	for address, taken := range map[string]bool{
		"http://127.0.0.1:7070": true, "http://[::1]:1": true, "http://localhost": true,
		"http://locus.example": false, "http://localhost.example": false, "http://192.0.2.1": false,
	} {
		c, err := client.New(address, &client.Options{Token: "locus_tok_x"})
		if (err == nil) != taken {
			t.Errorf("%s: %v", address, err)
		}
		if c != nil {
			_ = c.Close(t.Context())
		}
	}
}
