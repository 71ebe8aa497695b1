// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/cli"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/tokens"
)

// closedServer serves an installation that has the tokens of an administrator and of a reviewer.
func closedServer(t *testing.T) (server *httptest.Server, root, ann string) {
	t.Helper()
	db, err := locus.Open(t.Context(), filepath.Join(t.TempDir(), "data"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for name, role := range map[string]string{"root": "administrator"} {
		if root, _, err = db.Tokens().Create(t.Context(), tokens.Operator(), tokens.Request{Name: name, Roles: []string{role}}); err != nil {
			t.Fatal(err)
		}
	}
	if ann, _, err = db.Tokens().Create(t.Context(), tokens.Operator(), tokens.Request{Name: "ann", Roles: []string{"reviewer"}}); err != nil {
		t.Fatal(err)
	}
	server = httptest.NewServer(httpapi.New(db, nil))
	t.Cleanup(server.Close)
	return server, root, ann
}

// visitor is a person with a browser, who signs in with a token and confirms the page at an address.
func visitor(t *testing.T, token, address string) (last *http.Response, page string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	defer browser.CloseIdleConnections()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	submit := func(path string, fields url.Values) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+at.Host+path,
			strings.NewReader(fields.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+at.Host)
		r.Header.Set("Accept", "text/html")
		if last, err = browser.Do(r); err != nil {
			t.Fatal(err)
		}
		defer last.Body.Close()
		body, err := io.ReadAll(last.Body)
		if err != nil {
			t.Fatal(err)
		}
		page = string(body)
	}
	submit("/login", url.Values{"token": {token}, "to": {at.RequestURI()}})
	fields := url.Values{}
	for _, field := range regexp.MustCompile(`type="hidden" name="(\w+)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		fields.Set(field[1], field[2])
	}
	submit("/login/cli", fields)
	return last, page
}

// overheard calls do once with the address that a command prints.
type overheard struct {
	bytes.Buffer
	mu   sync.Mutex
	once sync.Once
	do   func(address string)
}

var loginAddress = regexp.MustCompile(`(http://\S+/login/cli\?\S+)\n`)

func (w *overheard) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.Buffer.Write(b)
	if found := loginAddress.FindStringSubmatch(w.Buffer.String()); found != nil {
		w.once.Do(func() { go w.do(found[1]) })
	}
	return n, err
}

// TestP10_LoginOfTheCommandLine signs in by a port and by pasting, uses the context, and logs out.
func TestP10_LoginOfTheCommandLine(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	server, _, ann := closedServer(t)
	for name, args := range map[string][]string{"port": nil, "paste": {"--paste"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			env := map[string]string{"XDG_CONFIG_HOME": home}
			stdin, typed := io.Pipe()
			said := &overheard{do: func(address string) {
				answer, page := visitor(t, ann, address)
				if name == "port" && (answer.StatusCode != http.StatusOK || !strings.Contains(page, "close this page")) {
					t.Errorf("%d %s", answer.StatusCode, page)
				}
				_, rest, _ := strings.Cut(page, `<code id="code">`)
				code, _, _ := strings.Cut(rest, "<")
				_, _ = fmt.Fprintln(typed, code)
			}}
			var out bytes.Buffer
			if code := cli.Run(t.Context(), append([]string{"login", server.URL}, args...), stdin, &out, said, env); code != 0 || !strings.Contains(said.String(), "as ann until ") {
				t.Fatalf("%d %s", code, said.String())
			}
			_ = stdin.Close()
			file := filepath.Join(home, "locus", "contexts.json")
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
			if r := run(t.Context(), env, "whoami"); r.code != 0 || !strings.Contains(r.stdout, "ann at "+server.URL+": schema read decide") {
				t.Errorf("%v", r)
			}
			if r := run(t.Context(), env, "entity", "list"); r.code != 0 {
				t.Errorf("%v", r)
			}
			if r := run(t.Context(), env, "context", "list"); !strings.Contains(r.stdout, "ann") || strings.Contains(r.stdout, "locus_tok") {
				t.Errorf("%v", r)
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if r := run(t.Context(), env, "logout"); r.code != 0 || !strings.Contains(r.err, "logged out") {
				t.Errorf("%v", r)
			}
			if r := run(t.Context(), env, "whoami", "--url", server.URL); r.code == 0 {
				t.Errorf("still signed in: %v", r)
			}
			if err := os.WriteFile(file, content, 0o600); err != nil { // the token has ended at the server too
				t.Fatal(err)
			}
			if r := run(t.Context(), env, "whoami"); r.code != 1 || !strings.Contains(r.err, "locus login") {
				t.Errorf("%v", r)
			}
		})
	}
}

// TestP10_TokensStayAtTheirOrigin stores tokens of two servers: each goes to its own, and to no other.
func TestP10_TokensStayAtTheirOrigin(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	first, root, _ := closedServer(t)
	second, _, ann := closedServer(t)
	var heard []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard = append(heard, r.Header.Get("Authorization")) }))
	defer thief.Close()
	home := t.TempDir()
	env := map[string]string{"XDG_CONFIG_HOME": home}
	for name, of := range map[string][2]string{"one": {first.URL, root}, "two": {second.URL, ann}} {
		file := write(t, name+".token", of[1])
		if r := run(t.Context(), env, "login", of[0], "--token-file", file, "--name", name); r.code != 0 {
			t.Fatal(r)
		}
	}
	for _, c := range [][2]string{{"one", "root"}, {"two", "ann"}} {
		if r := run(t.Context(), env, "context", "use", c[0]); r.code != 0 {
			t.Fatal(r)
		}
		if r := run(t.Context(), env, "context", "show"); !strings.Contains(r.stdout, c[0]) {
			t.Errorf("%v", r)
		}
		if r := run(t.Context(), env, "whoami", "--json"); !strings.Contains(r.stdout, `"name":"`+c[1]+`"`) {
			t.Errorf("%s: %v", c[0], r)
		}
		// The server that the command line names has its own token, whatever the current context.
		if r := run(t.Context(), env, "whoami", "--json", "--url", first.URL); !strings.Contains(r.stdout, `"name":"root"`) {
			t.Errorf("%v", r)
		}
		run(t.Context(), env, "whoami", "--url", thief.URL)
		run(t.Context(), env, "whoami", "--url", strings.Replace(first.URL, "127.0.0.1", "localhost", 1))
	}
	if len(heard) != 2 || strings.Join(heard, "") != "" {
		t.Errorf("another server has heard %q", heard)
	}
	file := filepath.Join(home, "locus", "contexts.json")
	if r := run(t.Context(), env, "logout", "--name", "one"); r.code != 0 || !strings.Contains(r.err, "stays valid") {
		t.Errorf("%v", r)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := run(t.Context(), env, "whoami"); r.code == 0 || !strings.Contains(r.err, "chmod 600") {
		t.Errorf("a file for all to read: %v", r)
	}
	if r := run(t.Context(), env, "login", "http://192.0.2.1:7070"); r.code != 2 || !strings.Contains(r.err, "https://") {
		t.Errorf("%v", r)
	}
	if r := run(t.Context(), nil, "login", first.URL); r.code != 2 || !strings.Contains(r.err, "HOME") {
		t.Errorf("%v", r)
	}
}
