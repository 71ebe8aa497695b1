// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/listen/listentest"
)

// ownServer starts a server that signs its certificate itself and has a token, and returns the file of its authority
// and the fingerprint.
func ownServer(t *testing.T, flags ...string) (s *started, token, ca, fingerprint string) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	made := run(t.Context(), nil, "token", "create", "admin", "--role", "administrator", "--data", data)
	if made.code != 0 {
		t.Fatal(made)
	}
	s = launch(t, append([]string{"serve", "--data", data, "--addr", "127.0.0.1:0", "--tls", "self-signed"}, flags...)...)
	return s, strings.TrimSpace(made.stdout), s.CA, s.Fingerprint
}

// TestP10_CertificatesOfClients presents certificates to a server: of services with and without roles, of another
// authority, expired, and together with a token.
func TestP10_CertificatesOfClients(t *testing.T) {
	t.Parallel()
	authority := listentest.New(t)
	s, token, ca, fingerprint := ownServer(t, "--tls-client-ca", authority.File(), "--cert-role",
		"spiffe://example/crm=writer", "--cert-role", "report.example=reader", "--cert-role",
		"partner.example=reader,kind:place,hide:phones")
	text, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	// ask sends a request with a certificate and returns the status and, of a whoami, the name; 0 if there is no
	// connection.
	ask := func(path string, token string, certificates ...tls.Certificate) string {
		t.Helper()
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: certificates}}
		defer transport.CloseIdleConnections()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		a, err := (&http.Client{Transport: transport}).Do(r)
		if err != nil {
			return "0"
		}
		defer a.Body.Close()
		body, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		var who httpapi.Whoami
		_ = json.Unmarshal(body, &who)
		return strings.TrimSpace(fmt.Sprint(a.StatusCode, " ", who.Name))
	}
	crm := authority.Issue(listentest.Client{URI: "spiffe://example/crm", DNS: "report.example"})
	report := authority.Issue(listentest.Client{DNS: "report.example"})
	for _, row := range []struct {
		name, path, token string
		of                []tls.Certificate
		want              string
	}{
		{"a writer", "/v1/whoami", "", []tls.Certificate{crm}, "200 cert:spiffe://example/crm"},
		{"a writer reads", "/v1/entities", "", []tls.Certificate{crm}, "403"},
		{"a reader", "/v1/entities", "", []tls.Certificate{report}, "200"},
		{"a reader of everything", "/v1/changes", "", []tls.Certificate{report}, "200"},
		{"a reader of some kinds", "/v1/changes", "",
			[]tls.Certificate{authority.Issue(listentest.Client{DNS: "partner.example"})}, "403"},
		{"a reader of some attributes", "/v1/entities?has=phones", "",
			[]tls.Certificate{authority.Issue(listentest.Client{DNS: "partner.example"})}, "403"},
		{"no role", "/v1/whoami", "", []tls.Certificate{authority.Issue(listentest.Client{DNS: "other.example"})}, "401"},
		{"the common name", "/v1/whoami", "",
			[]tls.Certificate{authority.Issue(listentest.Client{CommonName: "report.example"})}, "401"},
		{"another authority", "/v1/whoami", "",
			[]tls.Certificate{listentest.New(t).Issue(listentest.Client{DNS: "report.example"})}, "0"},
		{"ended", "/v1/whoami", "", []tls.Certificate{authority.Issue(listentest.Client{DNS: "report.example", Ends: time.Now().Add(-time.Hour)})}, "0"},
		{"none", "/v1/whoami", "", nil, "401"},
		{"a token wins", "/v1/whoami", token, []tls.Certificate{report}, "200 admin"},
		{"a wrong token wins", "/v1/whoami", token[:len(token)-1], []tls.Certificate{report}, "401"},
		{"only a token", "/v1/whoami", token, nil, "200 admin"},
	} {
		if got := ask(row.path, row.token, row.of...); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	env := map[string]string{"LOCUS_TOKEN": token, "LOCUS_URL": s.URL, "XDG_CONFIG_HOME": t.TempDir()}
	if r := run(t.Context(), env, "login", s.URL, "--ca-fingerprint", fingerprint); r.code != 0 {
		t.Fatal(r)
	}
	for _, step := range []struct{ verb, status string }{{"block", "401"}, {"unblock", "200"}} {
		if r := run(t.Context(), env, "access", step.verb, "cert:report.example"); r.code != 0 {
			t.Fatal(r)
		}
		if got := ask("/v1/entities", "", report); got != step.status {
			t.Errorf("after %s: %s", step.verb, got)
		}
	}
	if r := run(t.Context(), env, "access", "block", "cert:spiffe://example/crm"); r.code != 0 {
		t.Fatal(r)
	}
	if r := run(t.Context(), env, "access", "list"); r.code != 0 || !strings.Contains(r.stdout, "cert:spiffe://example/crm") || strings.Contains(r.stdout, "report") {
		t.Error(r)
	}
	if got := ask("/v1/whoami", "", crm); got != "401" {
		t.Errorf("blocked: %s", got)
	}
	s.stop()
}

// TestP10_LoginByFingerprint signs in to a server that signs its certificate itself, with its fingerprint and with
// another.
func TestP10_LoginByFingerprint(t *testing.T) {
	t.Parallel()
	s, token, _, fingerprint := ownServer(t)
	env := map[string]string{"XDG_CONFIG_HOME": t.TempDir(), "LOCUS_TOKEN": token}
	if r := run(t.Context(), env, "login", s.URL); r.code != 1 || !strings.Contains(r.err, "--ca-fingerprint") {
		t.Errorf("without a fingerprint: %v", r)
	}
	last := map[bool]string{true: "1", false: "0"}[strings.HasSuffix(fingerprint, "0")]
	for _, wrong := range []string{fingerprint[:len(fingerprint)-1] + last, "x"} {
		if r := run(t.Context(), env, "login", s.URL, "--ca-fingerprint", wrong); r.code == 0 || !strings.Contains(r.err, "--ca-fingerprint") {
			t.Errorf("with %s: %v", wrong, r)
		}
	}
	if r := run(t.Context(), env, "login", s.URL, "--ca-fingerprint", strings.ToUpper(fingerprint)); r.code != 0 {
		t.Fatal(r)
	}
	delete(env, "LOCUS_TOKEN")
	for _, command := range [][]string{{"whoami"}, {"whoami", "--url", s.URL}, {"entity", "list"}} {
		if r := run(t.Context(), env, command...); r.code != 0 {
			t.Errorf("%v: %v", command, r)
		}
	}
	// The other name of the server is another origin, whose authority is not known.
	if r := run(t.Context(), env, "whoami", "--url", strings.Replace(s.URL, "127.0.0.1", "localhost", 1)); r.code != 1 || !strings.Contains(r.err, "unknown authority") {
		t.Errorf("another origin: %v", r)
	}
	if r := run(t.Context(), env, "logout"); r.code != 0 {
		t.Error(r)
	}
	s.stop()
}
