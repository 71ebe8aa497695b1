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
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/cli"
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
	return write(t, "cert.pem", text("CERTIFICATE", made.Certificate[0])), write(t, "key.pem", text("PRIVATE KEY", der)), &http.Client{Transport: transport}
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

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, stdout := io.Pipe()
	var talk bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		defer stdout.Close()
		ended <- cli.Run(ctx, append(serve, "--json", "--shutdown-timeout", "2s"), strings.NewReader(""), stdout, &talk, nil)
	}()
	var ready struct{ URL string }
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	at, err2 := url.Parse(ready.URL)
	if err != nil || err2 != nil || at.Scheme != "https" {
		t.Fatalf("%s, %v, %v: %s", line, err, err2, talk.String())
	}
	get := func(token string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1:"+at.Port()+"/v1/entities", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		return fmt.Sprint(a.StatusCode, " ", a.TLS != nil)
	}
	if got := get(strings.TrimSpace(made.stdout)); got != "200 true" {
		t.Errorf("with the token: %s", got)
	}
	if got := get(""); got != "401 true" {
		t.Errorf("without it: %s", got)
	}
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("exit %d: %s", code, talk.String())
	}
}
