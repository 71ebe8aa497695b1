// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/access"
)

// unpacked returns the files of a bundle.
func unpacked(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for in := tar.NewReader(z); ; {
		entry, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(entry.Name, "locus-doctor/")] = string(text)
	}
}

// lacks fails the test if a bundle has a canary.
func lacks(t *testing.T, files map[string]string, canaries ...string) {
	t.Helper()
	for name, text := range files {
		for _, c := range canaries {
			if strings.Contains(strings.ToLower(text), strings.ToLower(c)) {
				t.Errorf("%s has %q:\n%s", name, c, text)
			}
		}
	}
}

// TestP10_BundleHasNoSecret packs an installation with records, tokens, a sink whose URL is a secret, a configuration
// and a log.
func TestP10_BundleHasNoSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	secret, _ := access.NewToken()
	done(t, "ingest", "--data", at("d"), "--source", "crm", "--key", "id", "--yes",
		write(t, "r.csv", "id,name,phones,emails\nkeycanary1,Zanzibar Namecanary,+1 510 555 0199,mail@canary.example\n"))
	done(t, "token", "create", "personcanary", "--role", "administrator", "--output", at("t"), "--expires", "24h",
		"--data", at("d"))
	if err := os.Chmod(at("d"), 0o755); err != nil { // which doctor says, with the name of the directory
		t.Fatal(err)
	}
	config := write(t, "locus.yaml", "data: "+at("d")+"\nlisten:\n  addr: 127.0.0.1:7070\n  tls_key: secretcanary.key\n  tls_cert: tls.crt\noidc:\n  roles:\n    groupcanary: [reviewer]\n"+
		"traces:\n  endpoint: http://user:passcanary@127.0.0.1:4318\n")
	log := write(t, "locus.log", strings.Join([]string{
		`{"time":"2026-11-28T19:39:38Z","level":"DEBUG","msg":"batch resolved","ops":2,"put_ms":5}`,
		`{"time":"2026-11-28T19:39:38Z","level":"WARN","msg":"cell is unavailable","cell":"g0-7","err":"dial 10.1.2.3:5432: no route for \"Namecanary\" of mail@canary.example, +1 510 555 0199, ` + secret + `"}`,
		`{"time":"2026-11-28T19:39:38Z","level":"ERROR","msg":"sink paused","sink":"crm-out","err":"the target said Namecanary"}`,
		`{"time":"2026-11-28T19:39:38Z","level":"INFO","msg":"signed in","principal":"personcanary","address":"198.51.100.7","deep":{"value":["Namecanary"]}}`,
		`time=2026-11-28T19:39:38.000Z level=WARN msg="rollup follower stalled" cell=g0-9 lag=17 err="the row of \"Namecanary\"" by=personcanary`,
		`Nov 28 19:39:38 hostcanary locus[12]: time=2026-11-28T19:39:38.000Z level=INFO msg="audit head" seq=600`,
		"panic: Namecanary is no number [recovered]",
		"goroutine 17 [running]:",
		"github.com/locus-db/locus/resolve.(*Resolver).apply(0xc000123456, {0x1, 0x2})",
		"\t/src/resolve/resolver.go:88 +0x1d",
		"whatever a program prints: Namecanary",
	}, "\n")+"\n")
	r := run(t.Context(), nil, "doctor", "--config", config, "--log", log, "--bundle", at("b.tar.gz"))
	if r.code == 2 || !strings.Contains(r.err, "look at it before you send it") {
		t.Fatal(r)
	}
	if info, err := os.Stat(at("b.tar.gz")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	files := unpacked(t, at("b.tar.gz"))
	lacks(t, files, "canary", dir, "zanzibar", "5550199", "555 0199", "510 555", "198.51", "10.1.2.3", secret, "0xc000")
	for name, want := range map[string][]string{
		"build.json":        {`"go": "go1.`, `"version": `},
		"doctor.jsonl":      {`"what":"cells"`, "1 record, 1 entity", " ends at 20", "a durable write takes"},
		"configuration.txt": {"listen.addr: 127.0.0.1:7070\n", "listen.tls_key: (a file)\n", "oidc.roles: (1)\n"},
		"status.json":       {`"cell": "g0-1"`, `"records": 1`, `"kind": "place"`},
		"cells.json":        {`"keys": "open"`},
		"metrics.txt":       {"locus_cell_up{"},
		"log.txt": {
			`"msg":"batch resolved"`, `"put_ms":5`, `"cell":"g0-7"`, "no route for _ of _", `"sink":"crm-out"`,
			`msg="rollup follower stalled" cell="g0-9" lag="17"`,
			`msg="audit head" seq="600"`, "(*Resolver).apply(", "resolver.go:88", "bytes left out",
		},
	} {
		for _, w := range want {
			if !strings.Contains(files[name], w) {
				t.Errorf("%s lacks %q:\n%s", name, w, files[name])
			}
		}
	}
	if r := run(t.Context(), nil, "doctor", "--data", at("d"), "--bundle", at("b.tar.gz")); r.code != 2 || !strings.Contains(r.err, "does not exist") {
		t.Errorf("over a file: %v", r)
	}
	if r := run(t.Context(), nil, "doctor", "--data", at("d"), "--log", log); r.code != 2 || !strings.Contains(r.err, "--bundle") {
		t.Errorf("a log without a bundle: %v", r)
	}
}

// A bundle contains neither texts from a target or a stream, nor the URL of a target, nor unknown fields from a server
// of another release.
func TestP10_BundleOfAServer(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/livez":      `{"status":"alive"}`,
		"/version":    `{"version":"9.9.9","motto":"canary"}`,
		"/v1/sinks":   `{"sinks":[{"name":"hook","to":"https://hooks.example/canary","state":"failing","reason":"it said canary","dead":3}]}`,
		"/v1/sources": `{"sources":[{"source":"crm","records":7,"stream":{"from":"nats://canary.example/x","state":"paused","reason":"not canary"}}]}`,
		"/v1/rollups": `{"rollups":[{"name":"r","state":"failed","trouble":"the group \"canary\"","definition":{"where":[{"city":"canary"}]}}]}`,
		"/v1/servers": `{"servers":[{"server":"locus@db1:5432","trouble":"password of \"canary\" is wrong"}]}`,
		"/v1/tokens":  `{"tokens":[{"name":"canary","id":"12345678"}]}`,
		"/v1/status":  `{"ready":true,"cells":[],"counts":{}}`,
		"/metrics":    "locus_ready 1\n",
		"/v1/kinds":   `{"kinds":[]}`,
		"/v1/upgrade": `{"needed":false}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.URL.Path]
		w.Header().Set("Content-Type", "application/json")
		if !known {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			answer = `{"title":"Forbidden","status":403,"code":"forbidden","detail":"not for \"canary\"","outcome":"not_applied"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	path := filepath.Join(t.TempDir(), "b.tar.gz")
	if r := run(t.Context(), nil, "doctor", "--url", server.URL, "--bundle", path); r.code != 1 || !strings.Contains(r.stdout, "it said canary") {
		t.Fatal(r)
	}
	files := unpacked(t, path)
	lacks(t, files, "canary")
	var unread map[string]string
	if err := json.Unmarshal([]byte(files["unread.json"]), &unread); err != nil || !strings.Contains(unread["/v1/cells"], "not for _") {
		t.Errorf("what was not read: %v, %v", unread, err)
	}
	for name, want := range map[string]string{
		"doctor.jsonl": "hook is failing", "sinks.json": `"dead": 3`, "sources.json": `"records": 7`,
		"rollups.json": `"name": "r"`, "version.json": "9.9.9", "metrics.txt": "locus_ready 1",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s lacks %q: %s", name, want, files[name])
		}
	}
	server.Close()
	path = filepath.Join(t.TempDir(), "c.tar.gz")
	if r := run(t.Context(), nil, "doctor", "--url", server.URL, "--bundle", path); r.code != 1 || !strings.Contains(unpacked(t, path)["doctor.jsonl"], "error") {
		t.Errorf("without a server: %v", r)
	}
}
