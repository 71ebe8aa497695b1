// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus/internal/cli"
	"github.com/locus-db/locus/internal/longtest"
)

// pair writes a certificate for 127.0.0.1 with its key, and returns the files and a client that trusts it.
func pair(t *testing.T) (cert, key string, client *http.Client) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	server.Close()
	made := server.TLS.Certificates[0]
	der, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}
	t.Cleanup(transport.CloseIdleConnections)
	return write(t, "cert.pem", text("CERTIFICATE", made.Certificate[0])), write(t, "key.pem",
		text("PRIVATE KEY", der)), &http.Client{Transport: transport}
}

// TestP10_ServesOthersOnlyWithTLSAndTokens follows the hints, from a refused start to a server that others can use.
func TestP10_ServesOthersOnlyWithTLSAndTokens(t *testing.T) {
	t.Parallel()
	cert, key, client := pair(t)
	data := filepath.Join(t.TempDir(), "data")
	serve := []string{"serve", "--data", data, "--addr", "0.0.0.0:0", "--cells", "1"}
	if r := run(t.Context(), nil, serve...); r.code != 2 || !strings.Contains(r.err, "--tls-cert") {
		t.Errorf("without TLS: %v", r)
	}
	serve = append(serve, "--tls-cert", cert)
	if r := run(t.Context(), nil, serve...); r.code != 2 || !strings.Contains(r.err, "belong together") {
		t.Errorf("without the key: %v", r)
	}
	if r := run(t.Context(), nil, append(serve, "--tls-key", cert)...); r.code != 2 || !strings.Contains(r.err, cert) {
		t.Errorf("with another key: %v", r)
	}
	serve = append(serve, "--tls-key", key)
	if r := run(t.Context(), nil, serve...); r.code != 2 || !strings.Contains(r.err, "locus token create admin --role administrator --output admin.token --data "+data) {
		t.Errorf("without a token: %v", r)
	}
	made := run(t.Context(), nil, "token", "create", "admin", "--role", "administrator", "--data", data)
	if made.code != 0 {
		t.Fatal(made)
	}
	if r := run(t.Context(), nil, append(serve, "--insecure-listen")...); r.code != 2 || !strings.Contains(r.err, "leave --insecure-listen out") {
		t.Errorf("open although there is a token: %v", r)
	}

	ready := launch(t, serve...)
	at, err := url.Parse(ready.URL)
	if err != nil || at.Scheme != "https" {
		t.Fatalf("%+v, %v", ready, err)
	}
	get := func(token string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1:"+at.Port()+"/v1/entities", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		return fmt.Sprint(a.StatusCode, " ", a.Header.Get("Strict-Transport-Security"))
	}
	if got := get(strings.TrimSpace(made.stdout)); got != "200 max-age=31536000" {
		t.Errorf("with the token: %s", got)
	}
	if got := get(""); got != "401 max-age=31536000" {
		t.Errorf("without it: %s", got)
	}
	ready.stop()
}

// started is a server that runs.
type started struct {
	URL         string
	CA          string
	Fingerprint string        `json:"ca_fingerprint"`
	talk        *bytes.Buffer // its output, once it has stopped
	stop        func()        // fails the test unless the server stops properly
}

// launch runs a server until the test ends, or stop is called.
func launch(t *testing.T, args ...string) *started {
	t.Helper()
	return launchWith(t, nil, args...)
}

func launchWith(t *testing.T, env map[string]string, args ...string) *started {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ready(args)
	out, stdout := io.Pipe()
	s := &started{talk: &bytes.Buffer{}}
	ended := make(chan int, 1)
	go func() {
		defer stdout.Close()
		ended <- cli.Run(ctx, append(args, "--json", "--shutdown-timeout", "2s"), strings.NewReader(""), stdout, s.talk, env)
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("%v: exit %d: %s", args, code, s.talk)
		}
	})
	t.Cleanup(s.stop)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, s)
	}
	if err != nil {
		s.stop()
		t.Fatalf("%v: %q, %v", args, line, err)
	}
	return s
}

// TestP10_StartTable tries every row of the table of addresses, TLS and tokens: which servers start, how they respond
// on each address to a request without a token, and how the others report what is missing.
func TestP10_StartTable(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	cert, key, client := pair(t)
	client.Transport.(*http.Transport).TLSClientConfig.ServerName = "127.0.0.1" // also for ::1
	files := []string{"--tls-cert", cert, "--tls-key", key}
	own := []string{"--tls", "self-signed"}
	external := []string{"--tls", "external", "--trusted-proxies", "127.0.0.0/8,::1"}
	closed, open := filepath.Join(t.TempDir(), "closed"), filepath.Join(t.TempDir(), "open")
	first := launch(t, "serve", "--data", closed, "--addr", "127.0.0.1:0", "--cells", "1")
	if r := run(t.Context(), nil, "token", "create", "admin", "--role", "administrator", "--url", first.URL); r.code != 0 {
		t.Fatal(r)
	}
	first.stop()
	const loopback, other, firstToken, line = "127.0.0.1:0", "0.0.0.0:0", "locus token create admin --role administrator --output admin.token --data ", "--tls-cert FILE --tls-key FILE; or --tls self-signed; or --tls external"
	for _, row := range []struct {
		name   string
		addr   string
		flags  []string
		tokens bool
		status int    // of a request without a token, 0 if the server does not start
		says   string // then
	}{
		{"loopback, clear, none", loopback, nil, false, 200, ""},
		{"loopback, files, none", loopback, files, false, 200, ""},
		{"loopback, self-signed, none", loopback, own, false, 200, ""},
		{"other, self-signed, some", other, own, true, 401, ""},
		{"other, self-signed, none", other, own, false, 0, firstToken},
		{"loopback, external, none", loopback, external, false, 0, firstToken},
		{"loopback, clear, some", loopback, nil, true, 401, ""},
		{"loopback, files, some", loopback, files, true, 401, ""},
		{"loopback, external, some", loopback, external, true, 401, ""},
		{"other, files, some", other, files, true, 401, ""},
		{"other, external, some", other, external, true, 401, ""},
		{"other, external, some, not a proxy", other, []string{"--tls", "external", "--trusted-proxies", "192.0.2.1"},
			true, 403, ""},
		{"other, files, none", other, files, false, 0, firstToken},
		{"other, external, none", other, external, false, 0, firstToken},
		{"other, clear, none", other, nil, false, 0, line},
		{"other, clear, some", other, nil, true, 0, line},
		{"other, insecure, none", other, []string{"--insecure-listen"}, false, 200, ""},
		{"other, insecure, some", other, []string{"--insecure-listen"}, true, 0, "leave --insecure-listen out"},
		{"loopback, insecure, some", loopback, []string{"--insecure-listen"}, true, 0, "leave --insecure-listen out"},
	} {
		data := open
		if row.tokens {
			data = closed
		}
		args := append([]string{"serve", "--data", data, "--addr", row.addr, "--cells", "1"}, row.flags...)
		if row.status == 0 {
			if r := run(t.Context(), nil, args...); r.code != 2 || !strings.Contains(r.err, row.says) {
				t.Errorf("%s: want %q: %v", row.name, row.says, r)
			}
			continue
		}
		s := launch(t, args...)
		at, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(row.flags, "self-signed") {
			text, err := os.ReadFile(filepath.Join(data, "tls", "ca.pem"))
			if err != nil {
				t.Fatal(err)
			}
			client.Transport.(*http.Transport).TLSClientConfig.RootCAs.AppendCertsFromPEM(text)
		}
		for i, host := range []string{"127.0.0.1", "::1"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
				at.Scheme+"://"+net.JoinHostPort(host, at.Port())+"/v1/entities", nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := client.Do(r)
			if err != nil && i > 0 {
				continue // this machine does not support the other IP family, or the server does not listen on it
			}
			if err != nil {
				t.Errorf("%s: %v", row.name, err)
				continue
			}
			a.Body.Close()
			if only := a.Header.Get("Strict-Transport-Security") != ""; only != slices.Contains(row.flags, cert) {
				t.Errorf("%s at %s: https only %v", row.name, host, only)
			}
			if a.StatusCode != row.status {
				t.Errorf("%s at %s: %d, want %d", row.name, host, a.StatusCode, row.status)
			}
		}
		client.CloseIdleConnections()
		s.stop()
	}
}

// TestServe_FlagsOfTheLine has flags that contradict each other.
func TestServe_FlagsOfTheLine(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	for says, flags := range map[string][]string{
		"needs the addresses":                 {"--tls", "external"},
		"is for --tls external":               {"--trusted-proxies", "10.0.0.1"},
		"is every address":                    {"--tls", "external", "--trusted-proxies", "0.0.0.0/0"},
		"want files, self-signed or external": {"--tls", "yes"},
		"needs the files":                     {"--tls", "files"},
		"contradict": {"--tls", "external", "--trusted-proxies", "10.0.0.1", "--tls-cert", "x",
			"--tls-key", "y"},
		"want https://NAME":                  {"--public-url", "locus.example"},
		"without a path":                     {"--public-url", "https://locus.example/locus"},
		"needs TLS that ends in this server": {"--tls-client-ca", "x", "--cert-role", "a.example=reader"},
		"--cert-role belong together":        {"--tls", "self-signed", "--tls-client-ca", "x"},
		"there is no role": {"--tls", "self-signed", "--tls-client-ca", "x", "--cert-role",
			"a.example=king"},
		"begins with https://": {"--tls", "external", "--trusted-proxies", "10.0.0.1", "--public-url",
			"http://locus.example"},
	} {
		if r := run(t.Context(), nil, append([]string{"serve", "--data", data, "--addr", "127.0.0.1:0"}, flags...)...); r.code != 2 || !strings.Contains(r.err, says) {
			t.Errorf("%v: want %q: %v", flags, says, r)
		}
	}
}

// TestP10_BootstrapOverTheNetwork starts an installation as an orchestrator does, with a file and no other step.
func TestP10_BootstrapOverTheNetwork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, boot, admin := filepath.Join(dir, "data"), filepath.Join(dir, "boot"), filepath.Join(dir, "admin")
	if r := run(t.Context(), nil, "token", "bootstrap", "--output", boot); r.code != 0 || strings.Contains(r.stdout+r.err, "locus_boot_") {
		t.Fatal(r)
	}
	serve := []string{"serve", "--data", data, "--addr", "0.0.0.0:0", "--cells", "1", "--tls", "external",
		"--trusted-proxies", "127.0.0.1"}
	if r := run(t.Context(), nil, append(serve, "--bootstrap-token-file", filepath.Join(dir, "none"))...); r.code != 2 {
		t.Errorf("without the file: %v", r)
	}
	s := launch(t, append(serve, "--bootstrap-token-file", boot)...)
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"LOCUS_URL": "http://127.0.0.1:" + at.Port()}
	list := func(file string) int { return run(t.Context(), env, "token", "list", "--token-file", file).code }
	if r := run(t.Context(), env, "token", "list"); r.code != 1 {
		t.Errorf("without a token: %v", r)
	}
	if r := run(t.Context(), env, "token", "create", "admin", "--role", "administrator", "--token-file", boot, "--output", admin); r.code != 0 {
		t.Fatal(r)
	}
	if list(boot) != 1 || list(admin) != 0 {
		t.Error("the bootstrap token is valid beside another one, or that is not")
	}
	s.stop()
	if text, err := os.ReadFile(boot); err != nil || strings.Contains(s.talk.String(), strings.TrimSpace(string(text))[30:]) {
		t.Errorf("the log has the token: %s, %v", s.talk, err)
	}
}
