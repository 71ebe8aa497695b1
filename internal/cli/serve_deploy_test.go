// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// deployed returns a file of deploy.
func deployed(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// commandOf returns the arguments after serve in a compose file.
func commandOf(t *testing.T, path string) []string {
	t.Helper()
	_, list, found := strings.Cut(deployed(t, path), "- serve\n")
	args := []string{}
	for line := range strings.Lines(list) {
		m := regexp.MustCompile(`^\s+- (--\S+)`).FindStringSubmatch(line)
		if m == nil {
			break
		}
		args = append(args, m[1])
	}
	if !found || len(args) < 5 {
		t.Fatalf("%s: %q", path, args)
	}
	return args
}

// The binary accepts the arguments of the compose files and the settings of the manifests, once the files are there
// that they name.
func TestDeploy_SettingsAreAccepted(t *testing.T) {
	t.Parallel()
	secret := write(t, "secret", "x")
	elsewhere := regexp.MustCompile(`(/run/secrets|/etc/locus-tls|/etc/locus-bootstrap)/[a-z.]+`)
	for _, path := range []string{"compose/single.yaml", "compose/cluster.yaml"} {
		args := []string{"config", "check"}
		for _, arg := range commandOf(t, path) {
			args = append(args, elsewhere.ReplaceAllLiteralString(arg, secret))
		}
		if r := run(t.Context(), nil, args...); r.code != 0 {
			t.Errorf("%s: %v", path, r)
		}
	}
	for _, base := range []string{"sqlite", "postgresql"} {
		text := deployed(t, "kubernetes/"+base+"/locus.yaml")
		config := write(t, base+".yaml", elsewhere.ReplaceAllLiteralString(text, secret))
		if r := run(t.Context(), nil, "config", "check", "--config", config); r.code != 0 {
			t.Errorf("%s: %v", base, r)
		}
		if r := run(t.Context(), nil, "config", "check", "--config", write(t, "bad.yaml", strings.Replace(text, "listen", "lisen", 1))); r.code != 2 {
			t.Errorf("%s: a misspelt section is accepted", base)
		}
	}
	image := deployed(t, "docker/Dockerfile")
	for _, m := range regexp.MustCompile(`CMD \["(?:/locus", ")?(serve|status)", "(.*)"\]`).FindAllStringSubmatch(image, -1) {
		help := run(t.Context(), nil, m[1], "--help").stdout
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(m[2], -1) {
			if !strings.Contains(help, flag+" ") {
				t.Errorf("the image calls locus %s %s, which does not exist", m[1], flag)
			}
		}
	}
}

// A server runs as compose/single.yaml starts it: its health check and the probes by the address of a container succeed
// while it runs, and fail when it does not.
func TestDeploy_Single(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, boot := filepath.Join(dir, "data"), filepath.Join(dir, "bootstrap")
	if r := run(t.Context(), nil, "token", "bootstrap", "--output", boot); r.code != 0 {
		t.Fatal(r)
	}
	health := func() int { return run(t.Context(), nil, "status", "--ready", "--data", data).code }
	if got := health(); got != 6 {
		t.Errorf("before the start the health check exits with %d, want 6", got)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the health check touches the data: %v", err)
	}
	words := strings.NewReplacer("/data", data, "/run/secrets/bootstrap", boot, "0.0.0.0:7070", "0.0.0.0:0")
	args := []string{"serve", "--cells=1", "--shutdown-timeout=2s"}
	for _, arg := range commandOf(t, "compose/single.yaml") {
		args = append(args, words.Replace(arg))
	}
	s := launch(t, args...)
	if got := health(); got != 0 {
		t.Errorf("the health check exits with %d, want 0", got)
	}
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // kubelets do so
	defer transport.CloseIdleConnections()
	for path, want := range map[string]int{"/livez": 200, "/readyz": 200, "/v1/status": 421} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			fmt.Sprintf("https://127.0.0.1:%s%s", at.Port(), path), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "10.244.1.7:" + at.Port()
		a, err := (&http.Client{Transport: transport}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("%s by the address of a pod: status %d, want %d", path, a.StatusCode, want)
		}
	}
	s.stop()
	if got := health(); got != 6 {
		t.Errorf("after the stop the health check exits with %d, want 6", got)
	}
}
