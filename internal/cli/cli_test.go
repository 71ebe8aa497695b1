// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/cli"
)

// result is the result of a command line.
type result struct {
	code        int
	stdout, err string
}

func run(ctx context.Context, env map[string]string, args ...string) result {
	return runWith(ctx, "", env, args...)
}

// runWith runs a command that reads its standard input.
func runWith(ctx context.Context, stdin string, env map[string]string, args ...string) result {
	ready(args)
	return runAsIs(ctx, stdin, env, args...)
}

// runAsIs is runWith where a command creates its data directory itself: installations that are filled have the same id.
func runAsIs(ctx context.Context, stdin string, env map[string]string, args ...string) result {
	var out, talk bytes.Buffer
	code := cli.Run(ctx, args, strings.NewReader(stdin), &out, &talk, env)
	return result{code, out.String(), talk.String()}
}

// ready fills the data directory that a command creates with an installation of two cells, not sixteen.
func ready(args []string) {
	creates := []string{"ingest", "serve", "token", "kind", "metric"}
	at := slices.Index(args, "--data") + 1
	if at == 0 || at == len(args) || !slices.Contains(creates, args[0]) || slices.Contains(args, "--cells") {
		return
	}
	if err := blank.Fill(args[at], 2); err != nil {
		panic(err)
	}
}

// runUntil runs a command and interrupts it once it prints a word. said is its standard error.
func runUntil(t *testing.T, env map[string]string, word string, args ...string) (code int, said string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	talk := &stopper{word: word, stop: cancel}
	code = cli.Run(ctx, args, strings.NewReader(""), io.Discard, talk, env)
	return code, talk.String()
}

// stopper interrupts a command once it prints a word.
type stopper struct {
	bytes.Buffer
	word string
	stop context.CancelFunc
}

func (s *stopper) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(s.word)) {
		s.stop()
	}
	return s.Buffer.Write(p)
}

func TestRun_ExitCodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(foreign.Close)
	missing := filepath.Join(dir, "none")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 0, ""},
		{[]string{"--help"}, 0, ""},
		{[]string{"--version"}, 0, ""},
		{[]string{"entity"}, 0, ""},
		{[]string{"help", "cell", "move"}, 0, ""},
		{[]string{"help", "nosuch"}, 2, "locus has no command \"nosuch\""},
		{[]string{"help", "cell", "grwo"}, 2, "did you mean locus cell grow?"},
		{[]string{"help", "version", "x"}, 2, "locus version has no commands"},
		{[]string{"statuss"}, 2, "did you mean locus status?"},
		{[]string{"entity", "gte"}, 2, "did you mean locus entity get?"},
		{[]string{"why", "vendor:1"}, 2, "did you mean locus entity why?"},
		{[]string{"why", "vendor:1", "--data", missing}, 2, "did you mean locus entity why?"},
		{[]string{"--frob"}, 2, "unknown flag"},
		{[]string{"status", "--urll", "x"}, 2, "did you mean --url?"},
		{[]string{"status", "extra"}, 2, `unexpected argument "extra"`},
		{[]string{"entity", "why-not", "a:1"}, 2, "ADDRESS is missing"},
		{[]string{"status", "--url", "ftp://x"}, 2, "want http://HOST:PORT"},
		{[]string{"status", "--url", "http://user:secret@127.0.0.1:1"}, 2, "want http://HOST:PORT"},
		{[]string{"status", "--url", "http://127.0.0.1:1"}, 6, "locus serve starts one"},
		{[]string{"status", "--url", foreign.URL}, 6, "does not respond like a Locus server"},
		{[]string{"status", "--data", missing}, 4, "holds no data"},
		{[]string{"status", "--data", "mongodb://h/db"}, 2, "is no kind of database"},
		{[]string{"status", "--data", "postgres://h/db"}, 2, "--map URL"},
		{[]string{"status", "--data", dir, "--map", "postgres://h/db"}, 2, "--data and --map: give only one"},
		{[]string{"status", "--url", "http://127.0.0.1:1", "--map", "postgres://h/db"}, 2, "--url and --map: give only one"},
		{[]string{"status", "--map", "locus-data"}, 2, "a directory is --data DIR"},
		{[]string{"status", "--map", "postgres://u:secret@h/db"}, 2, "PGPASSFILE"},
		{[]string{"status", "--map", "postgres://h/db,postgres://u@h/db?password=secret"}, 2, "PGPASSFILE"},
		{[]string{"serve", "--data", missing, "--connections", "5"}, 2, "--connections needs --map"},
		{[]string{"serve", "--data", missing, "--notice", "-1s"}, 2, "below 0"},
		{[]string{"serve", "--data", missing, "--retain", "30s"}, 2, "want at least 1m0s"},
		{[]string{"ingest", "--map", "postgres://u:secret@h/db", "f.csv"}, 2, "PGPASSFILE"},
		{[]string{"serve", "--data", missing, "--addr", "0.0.0.0:1"}, 2, "--insecure-listen"},
		{[]string{"serve", "--data", missing, "--addr", "192.0.2.1:1"}, 2, "--insecure-listen"},
		{[]string{"serve", "--data", missing, "--addr", ":7070"}, 2, "--insecure-listen"},
		{[]string{"serve", "--data", missing, "--addr", "nonsense"}, 2, "not HOST:PORT"},
		{[]string{"serve", "--data", missing, "--addr", "127.0.0.1:99999"}, 2, "up to 65535"},
		{[]string{"serve", "--data", missing, "--addr", "127.0.0.1:http"}, 2, "up to 65535"},
		{[]string{"record", "get", "nocolon"}, 2, "not SOURCE:KEY"},
		{[]string{"record", "erase"}, 2, "SOURCE:KEY is missing"},
		{[]string{"ingest", "--limit", "-1", "f.csv"}, 2, "below 0"},
	} {
		got := runAsIs(t.Context(), "", nil, c.args...)
		if got.code != c.code || !strings.Contains(got.err, c.says) {
			t.Errorf("locus %s: exit code %d, want %d, and %q:\n%s", strings.Join(c.args, " "), got.code, c.code,
				c.says, got.err)
		}
		if strings.Contains(got.err, "secret") {
			t.Errorf("locus %s tells the password:\n%s", strings.Join(c.args, " "), got.err)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a command that was refused has made a directory")
	}
}

// An error is two lines of text, or one line of JSON at the end of the standard error.
func TestRun_ErrorForms(t *testing.T) {
	t.Parallel()
	people := run(t.Context(), nil, "id", "nonsense")
	if lines := strings.Split(strings.TrimSpace(people.err), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "locus: ") || !strings.HasPrefix(lines[1], "try:   ") {
		t.Errorf("for people: %q", people.err)
	}
	programs := run(t.Context(), nil, "id", "nonsense", "--json")
	want := `{"type":"exit_error","code":"invalid","outcome":"not_applied","message":`
	if !strings.HasPrefix(programs.err, want) || !json.Valid([]byte(programs.err)) || programs.stdout != "" {
		t.Errorf("for programs: %q", programs.err)
	}
	evil := run(t.Context(), nil, "id", "\x1b[31m")
	if strings.Contains(evil.err, "\x1b") {
		t.Errorf("an argument drives the terminal: %q", evil.err)
	}
}

func TestRun_FlagOverVariableOverDefault(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"default", nil, []string{"config", "print"}, "log.format\t\tdefault"},
		{"variable", map[string]string{"LOCUS_LOG_FORMAT": "json"}, []string{"config", "print"},
			"log.format\tjson\tvariable LOCUS_LOG_FORMAT"},
		{"flag", map[string]string{"LOCUS_LOG_FORMAT": "json"}, []string{"config", "print", "--log-format", "text"},
			"log.format\ttext\tflag --log-format"},
		{"empty is not set", map[string]string{"LOCUS_LOG_FORMAT": ""}, []string{"config", "print"}, "log.format\t\tdefault"},
	} {
		got := run(t.Context(), c.env, c.args...)
		if got.code != 0 || !strings.Contains(got.stdout, c.want+"\n") {
			t.Errorf("%s: %d, want %q in\n%s", c.name, got.code, c.want, got.stdout)
		}
	}
	if got := run(t.Context(), map[string]string{"LOCUS_NODE": "many"}, "id"); got.code != 2 || !strings.Contains(got.err, "LOCUS_NODE") {
		t.Errorf("a wrong variable: %d %s", got.code, got.err)
	}
	// A variable for one command affects no other: LOCUS_NUMBER does not change how many ids are minted.
	if got := run(t.Context(), map[string]string{"LOCUS_NUMBER": "3"}, "id"); strings.Count(got.stdout, "\n") != 1 {
		t.Errorf("LOCUS_NUMBER: %d %s", got.code, got.stdout)
	}
	// Confirmation of irreversible actions cannot come from an environment variable.
	if got := run(t.Context(), map[string]string{"LOCUS_YES": "true", "LOCUS_DATA": t.TempDir()}, "record", "erase", "x:1"); got.code == 0 {
		t.Errorf("LOCUS_YES: %d %s", got.code, got.err)
	}
	// The two variables conflict. A flag overrides both, and columns do not name an installation.
	both := map[string]string{"LOCUS_DATA": missing, "LOCUS_MAP": "postgres://127.0.0.1:1/none"}
	if got := run(t.Context(), both, "status"); got.code != 2 || !strings.Contains(got.err, "LOCUS_DATA and LOCUS_MAP") {
		t.Errorf("both variables: %d %s", got.code, got.err)
	}
	if got := run(t.Context(), both, "status", "--data", missing); got.code != 4 {
		t.Errorf("a flag beside both variables: %d %s", got.code, got.err)
	}
	if got := run(t.Context(), map[string]string{"LOCUS_MAP": "company=name"}, "status"); got.code != 2 || !strings.Contains(got.err, "LOCUS_MAP") {
		t.Errorf("columns for an installation: %d %s", got.code, got.err)
	}
	if got := run(t.Context(), map[string]string{"LOCUS_MAP": "postgres://u:secret@h/db"}, "ingest", "f.csv"); got.code != 2 ||
		!strings.Contains(got.err, "PGPASSFILE") || strings.Contains(got.err, "secret") {
		t.Errorf("a password in a variable: %d %s", got.code, got.err)
	}
	// --data on the command line overrides a server in the environment.
	if got := run(t.Context(), map[string]string{"LOCUS_URL": "http://127.0.0.1:1"}, "status", "--data", filepath.Join(t.TempDir(), "none")); got.code != 4 {
		t.Errorf("LOCUS_URL beside --data: %d %s", got.code, got.err)
	}
}

func TestServe_WarnsOnceOfAWrongLevel(t *testing.T) {
	t.Parallel()
	code, said := runUntil(t, map[string]string{"LOCUS_LOG": "loud"}, "Ctrl-C", "demo", "--no-load", "--cells", "1",
		"--addr", "127.0.0.1:0")
	if n := strings.Count(said, "LOCUS_LOG=loud is not a level"); code != 0 || n != 1 {
		t.Errorf("exit code %d, %d warnings:\n%s", code, n, said)
	}
}

func TestServe_DrainsWhenAsked(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := run(ctx, nil, "demo", "--records", "5", "--cells", "1", "--addr", "127.0.0.1:0")
	if got.code != 0 && got.code != 130 {
		t.Errorf("a demo that is interrupted at once: %d\n%s", got.code, got.err)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "locus-demo-*", "cells"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range left {
		if strings.Contains(got.err, filepath.Dir(dir)) {
			t.Errorf("%s is left behind", dir)
		}
	}
}
