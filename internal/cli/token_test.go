// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/httpapi"
)

// TestToken_FromTheFirstOn makes the first token in the data directory, as its owner, and the others at the server.
func TestToken_FromTheFirstOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "admin.token")
	made := run(t.Context(), nil, "ingest", "--data", data, "--source", "s", "--key", "id", "--yes",
		write(t, "r.csv", "id,name\n1,Joes Pizza\n"))
	if made.code != 0 {
		t.Fatal(made)
	}
	if r := run(t.Context(), nil, "token", "create", "admin", "--role", "administrator", "--output", file, "--data", data); r.code != 0 || strings.Contains(r.stdout+r.err, "_tok_") {
		t.Fatal(r)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	db, err := locus.Open(t.Context(), data, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	server := httptest.NewServer(httpapi.New(db, nil))
	defer server.Close()
	env := map[string]string{"LOCUS_URL": server.URL}
	if r := run(t.Context(), env, "entity", "list"); r.code != 1 || !strings.Contains(r.err, "--token-file") {
		t.Errorf("without a token: %v", r)
	}
	env["LOCUS_TOKEN_FILE"] = file
	if r := run(t.Context(), env, "entity", "list"); r.code != 0 || !strings.Contains(r.stdout, "Joes Pizza") {
		t.Errorf("with one: %v", r)
	}
	if r := run(t.Context(), env, "token", "create", "ci", "--role", "writer", "--rate", "requests=5,cows=7"); r.code != 2 || !strings.Contains(r.err, `"cows=7" is no rate`) {
		t.Errorf("%v", r)
	}
	r := run(t.Context(), env, "token", "create", "ci", "--role", "writer", "--rate", "requests=5,hits=7", "--rate",
		"records=6")
	if listed := run(t.Context(), env, "token", "list", "--json"); !strings.Contains(listed.stdout, `"rates":{"requests":5,"records":6,"hits":7}`) {
		t.Errorf("%v", listed)
	}
	secret := strings.TrimSpace(r.stdout)
	if _, _, err := access.ParseToken(secret); r.code != 0 || err != nil || strings.Contains(r.err, secret) {
		t.Fatal(r)
	}
	env["LOCUS_TOKEN"] = secret
	if r := run(t.Context(), env, "entity", "list"); r.code != 1 || !strings.Contains(r.err, "permission read") {
		t.Errorf("a writer reads: %v", r)
	}
	if r := run(t.Context(), env, "token", "revoke", "ci", "--token-file", file); r.code != 0 || !strings.Contains(r.err, "revoked 1 token") {
		t.Errorf("%v", r)
	}
	if r := run(t.Context(), env, "entity", "list"); r.code != 1 {
		t.Errorf("a revoked token: %v", r)
	}
}

// TestToken_StaysWithItsServer checks where a token is not sent: to another origin, in clear text, or cut off.
func TestToken_StaysWithItsServer(t *testing.T) {
	t.Parallel()
	secret, _ := access.NewToken()
	received := make(chan string, 10)
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received <- r.Header.Get("Authorization") }))
	defer thief.Close()
	server := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	env := map[string]string{"LOCUS_TOKEN": secret}
	for _, test := range []struct{ url, says string }{
		{server.URL, "does not respond like a Locus server"},
		{"http://192.0.2.1:1", "refusing to send the token"},
		{"http://localhost.example:1", "refusing to send the token"},
	} {
		if r := run(t.Context(), env, "entity", "list", "--url", test.url); r.code == 0 || !strings.Contains(r.err, test.says) || strings.Contains(r.err, secret[20:]) {
			t.Errorf("%s: %v", test.url, r)
		}
	}
	if len(received) > 0 {
		t.Errorf("a redirect led to another server, with %q", <-received)
	}
	for name, text := range map[string]string{"empty": "", "cut": secret[:50], "long": strings.Repeat(secret, 10), "two": secret + "\n" + secret} {
		if r := run(t.Context(), nil, "entity", "list", "--url", server.URL, "--token-file", write(t, name, text)); r.code != 2 || strings.Contains(r.err, secret[20:40]) {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// TestP10_TheOperatorGetsIn runs commands with --data on the machine of a server: they use its socket, need no token,
// and replace a lost administrator, while the network needs a token.
func TestP10_TheOperatorGetsIn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no socket")
	}
	dir, err := os.MkdirTemp("", "s") // names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data := filepath.Join(dir, "data")
	s := launch(t, "serve", "--data", data, "--addr", "127.0.0.1:0", "--cells", "1")
	csv := write(t, "r.csv", "id,name\n1,Joes Pizza\n")
	for _, step := range []struct {
		says string
		code int
		args []string
	}{
		{"", 0, []string{"ingest", "--data", data, "--source", "s", "--key", "id", "--yes", csv}},
		{"", 0, []string{"token", "create", "admin", "--role", "administrator", "--data", data}},
		{"", 1, []string{"entity", "list", "--url", s.URL}},
		{"Joes Pizza", 0, []string{"entity", "list", "--data", data}},
		{"Joes Pizza", 0, []string{"export", "records", "--data", data}},
		{"admin", 0, []string{"token", "list", "--data", data}},
		{"revoked 1 token", 0, []string{"token", "revoke", "admin", "--data", data}},
		{"", 0, []string{"token", "create", "second", "--role", "administrator", "--data", data}},
		{"", 1, []string{"entity", "list", "--url", s.URL}},
		{"put", 0, []string{"change", "tail", "--data", data}},
	} {
		if r := run(t.Context(), nil, step.args...); r.code != step.code || !strings.Contains(r.stdout+r.err, step.says) {
			t.Errorf("%v: want exit %d, %q: %v", step.args, step.code, step.says, r)
		}
	}
	s.stop()
	if _, err := os.Lstat(filepath.Join(data, "locus.sock")); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
	if r := run(t.Context(), nil, "entity", "list", "--data", data); r.code != 0 || !strings.Contains(r.stdout, "Joes Pizza") {
		t.Errorf("without the server: %v", r)
	}
}

// TestComplete_Names completes names from lists: each name once, and only names with the typed prefix.
func TestComplete_Names(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, args := range [][]string{
		{"token", "create", "admin", "--role", "administrator"},
		{"token", "create", "ci", "--role", "writer"},
		{"token", "rotate", "ci", "--overlap", "1h"},
		{"access", "block", "jwt:repo"},
		{"ingest", "--source", "crm", "--key", "id", "--yes", write(t, "r.csv", "id,name\n1,Joes Pizza\n")},
	} {
		if r := run(t.Context(), nil, append(args, "--data", data)...); r.code != 0 {
			t.Fatal(r)
		}
	}
	for command, want := range map[string]string{
		"token revoke c": "ci\n:4\n", "token revoke x": ":4\n", "access unblock ": "jwt:repo\n:4\n",
		"source show ": "crm\n:4\n", "sink show ": ":4\n", "session end ": ":4\n",
	} {
		verb, begun := command[:strings.LastIndexByte(command, ' ')], command[strings.LastIndexByte(command, ' ')+1:]
		args := append([]string{"__complete"}, strings.Fields(verb)...)
		if r := run(t.Context(), map[string]string{"LOCUS_DATA": data}, append(args, begun)...); r.code != 0 || r.stdout != want {
			t.Errorf("%s: %q, want %q: %s", command, r.stdout, want, r.err)
		}
	}
}

// TestP10_RestoredTokens restores a backup that has a token that was revoked since.
func TestP10_RestoredTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	done(t, "token", "create", "admin", "--role", "administrator", "--output", at("admin.token"), "--data", at("a"))
	done(t, "backup", "--data", at("a"), "-o", at("a.backup"))
	done(t, "token", "revoke", "admin", "--data", at("a"))
	if r := done(t, "restore", at("a.backup"), "--data", at("b")); !strings.Contains(r.err, "locus token revoke --all") {
		t.Errorf("it does not warn: %v", r)
	}
	if r := run(t.Context(), nil, "token", "revoke", "--all", "--data", at("b")); r.code != 2 || !strings.Contains(r.err, "--yes") {
		t.Errorf("it does not ask: %v", r)
	}
	if r := run(t.Context(), nil, "token", "revoke", "admin", "--all", "--data", at("b")); r.code != 2 {
		t.Errorf("a name beside --all: %v", r)
	}
	if r := done(t, "token", "revoke", "--all", "--yes", "--data", at("b")); !strings.Contains(r.err, "revoked 1 token") {
		t.Errorf("%v", r)
	}
	db, err := locus.Open(t.Context(), at("b"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	server := httptest.NewServer(httpapi.New(db, nil))
	defer server.Close()
	for _, args := range [][]string{{"entity", "list"}, {"entity", "list", "--token-file", at("admin.token")}} {
		if r := run(t.Context(), map[string]string{"LOCUS_URL": server.URL}, args...); r.code != 1 || !strings.Contains(r.err, "valid token") {
			t.Errorf("%v: %v", args, r)
		}
	}
}
