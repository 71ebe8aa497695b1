// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/login"
)

// inFile writes a configuration file.
func inFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "locus.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// configured runs locus config with a file.
func configured(t *testing.T, env map[string]string, args ...string) (code int, out, talk string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Run(t.Context(), append([]string{"config"}, args...), strings.NewReader(""), &o, &e, env)
	return code, o.String(), e.String()
}

// Every flag of a server is a setting, and every setting is a flag.
func TestConfig_IsComplete(t *testing.T) {
	t.Parallel()
	var s serving
	c := &cobra.Command{}
	(&app{}).serveFlags(c, &s)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		n := 0
		for _, of := range settings {
			if of.flag == f.Name {
				n++
			}
		}
		if want := 1; n != want && f.Name != "config" {
			t.Errorf("--%s is in %d settings, want %d", f.Name, n, want)
		}
	})
	for _, of := range settings {
		f := c.Flags().Lookup(of.flag)
		if f == nil {
			t.Errorf("%s: there is no flag --%s", of.path, of.flag)
			continue
		}
		if of.like == "" && (f.DefValue == "" || f.DefValue == "[]") {
			t.Errorf("%s has neither a default nor an example", of.path)
		}
	}
}

// The example changes nothing; with every comment mark removed, every line is accepted.
func TestConfig_ExampleIsValid(t *testing.T) {
	t.Parallel()
	_, text, _ := configured(t, nil, "example")
	if code, _, talk := configured(t, nil, "check", "--config", inFile(t, text)); code != 0 {
		t.Errorf("the example: exit code %d: %s", code, talk)
	}
	all := regexp.MustCompile(`(?m)^( *)#([a-z_]+: )`).ReplaceAllString(text, "$1$2")
	c, err := readConfig(inFile(t, all))
	if err != nil {
		t.Fatalf("%v\n%s", err, all)
	}
	if len(c.values) != len(settings) {
		t.Errorf("the example has %d of %d settings:\n%s", len(c.values), len(settings), all)
	}
	var s serving
	command := &cobra.Command{}
	(&app{}).serveFlags(command, &s)
	if err := c.set(command.Flags()); err == nil || !strings.Contains(err.Error(), "has data and map") {
		t.Errorf("everything at once: %v, want that data and map exclude each other", err)
	}
}

func TestConfig_Precedence(t *testing.T) {
	t.Parallel()
	path := inFile(t, "data: here\nlisten: {addr: '127.0.0.1:1', hosts: [a.example, b.example]}\nkeep:\n  changes: 48h\n  metrics: [api.=14d/1y, web.=30d/2y]\n"+
		"oidc:\n  roles: {a=b: [reviewer, reader]}\n  client_secret_file: oidc.secret\nlog:\n")
	_, out, talk := configured(t, map[string]string{"LOCUS_RETAIN": "72h", "LOCUS_ADDR": "127.0.0.1:2", "LOCUS_MONGODB_PASSWORD": "hunter2"},
		"print", "--config", path, "--addr", "127.0.0.1:3")
	dir := filepath.Dir(path)
	for _, want := range []string{
		"data\t" + filepath.Join(dir, "here") + "\t" + path + ":1",
		"listen.addr\t127.0.0.1:3\tflag --addr",
		"listen.hosts\ta.example b.example\t" + path + ":2",
		"keep.changes\t72h0m0s\tvariable LOCUS_RETAIN",
		"keep.metrics\tapi.=14d/1y web.=30d/2y\t" + path + ":5",
		"oidc.roles\ta=b=reviewer,reader\t" + path + ":7",
		"oidc.client_secret_file\t<from " + filepath.Join(dir, "oidc.secret") + ">\t" + path + ":8",
		"limits.kinds\t0\tdefault",
		"LOCUS_MONGODB_PASSWORD\t<from LOCUS_MONGODB_PASSWORD>\tvariable LOCUS_MONGODB_PASSWORD",
	} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("missing %q in\n%s%s", want, out, talk)
		}
	}
	if strings.Contains(out, "hunter2") {
		t.Errorf("a secret is shown:\n%s", out)
	}
}

// The location of the installation is one choice: the file's counts only if no flag and no variable sets one.
func TestConfig_Place(t *testing.T) {
	t.Parallel()
	path := inFile(t, "map: [postgres://db1/a, postgres://db2/a]\nnotice: 5s\n")
	for _, c := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{nil, nil, "map postgres://db1/a,postgres://db2/a 5s"},
		{map[string]string{"LOCUS_DATA": "mine"}, nil, "data mine 5s"},
		{nil, []string{"--data", "mine"}, "data mine 5s"},
		{nil, []string{"--url", "http://127.0.0.1:1"}, "http://127.0.0.1:1 0s"},
		{map[string]string{"LOCUS_MAP": "postgres://db3/b", "LOCUS_NOTICE": "7s"}, nil, "map postgres://db3/b 7s"},
	} {
		a := &app{env: c.env, stderr: &bytes.Buffer{}}
		root := a.root()
		status, _, _ := root.Find([]string{"status"})
		got := ""
		status.RunE = func(c *cobra.Command, _ []string) error {
			w, err := a.locate(c)
			got = fmt.Sprint(w, " ", w.notice)
			return err
		}
		root.SetArgs(append([]string{"status", "--config", path}, c.args...))
		if err := root.ExecuteContext(t.Context()); err != nil || got != c.want {
			t.Errorf("%v %q: %q, %v; want %q", c.env, c.args, got, err, c.want)
		}
	}
}

func TestConfig_Mistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"listen:\n  adr: 127.0.0.1:1\n": `line 2, listen.adr: no such word: there are addr, public_url, .*; did you mean "addr"\?\n +2 \|   adr: 127.0.0.1:1\n +\|   \^\n`,
		"lisen:\n  addr: x\n":           `line 1, lisen: no such word: .*; did you mean "listen"\?\n +1 \| lisen:\n +\| \^\n`,
		"keep: {changes: soon}\n":       `line 1, keep.changes: want a duration such as 90s, 10m or 24h\n +1 \| keep: \{changes: soon\}\n +\|        \^\n`,
		"cells: many\nnotice: 1x\n":     `line 1, cells: want a whole number; line 2, notice: want a duration`,
		"data: a\ndata: b\n":            `line 2, data: is given twice, first in line 1`,
		"map: /srv/locus\n":             `line 1, map: want postgres://HOST/NAME`,
		"map: postgres://u:pw@db/a\n":   `line 1, map: it contains a password`,
		"- data\n":                      `line 1, data: want fields with values`,
		"data: [\n":                     `line 1`,
		"keep:\n  changes: 1s\n":        `--retain 1s: want at least 1m0s`,
		"log: {format: xml}\n":          `--log-format "xml": want text or json`,
		"log: {level: loud}\n":          `--log-level "loud": want debug`,
		"listen: {tls: files, tls_cert: no.crt, tls_key: no.key}\n": `listen.tls_cert \(.*locus.yaml:1\): open .*no.crt`,
	} {
		code, _, talk := configured(t, nil, "check", "--config", inFile(t, text))
		if code != exitInvalid || !regexp.MustCompile(want).MatchString(talk) || strings.Contains(talk, "pw@") {
			t.Errorf("%q: exit code %d, want %d and %s:\n%s", text, code, exitInvalid, want, talk)
		}
	}
	if code, _, talk := configured(t, nil, "check", "--config", "no such file"); code != exitInvalid || !strings.Contains(talk, "no such file") {
		t.Errorf("no file: %d %s", code, talk)
	}
}

// At SIGHUP a server applies the log level and the roles of groups from the file, names settings that need a restart,
// and changes nothing if the file has a mistake. Flags keep their values.
func TestConfig_Reload(t *testing.T) {
	t.Parallel()
	path := inFile(t, "cells: 2\nlog: {level: info}\n")
	var talk bytes.Buffer
	a := &app{env: map[string]string{"LOCUS_CONFIG": path}, stderr: &talk}
	root := a.root()
	serve, _, _ := root.Find([]string{"serve"})
	options := &httpapi.Options{Login: login.New(login.Config{})}
	serve.RunE = func(c *cobra.Command, _ []string) error {
		options.Logger = a.logger(slog.LevelInfo)
		steps := []struct{ text, want string }{
			{"cells: 2\nlog: {level: debug}\n", "changed setting applied"},
			{"cells: 3\nlog: {level: debug}\n", "requires a restart\" setting=cells"},
			{"log: {level: error}\nkeep: {changes: 1s}\n", "configuration reload failed"},
			{"cels: 3\n", "configuration reload failed"},
			{"log: {level: debug}\nkeep: {metrics: [a=9d/1y]}\nlisten: {addr: 127.0.0.1:9}\n", "configuration reloaded"},
		}
		for _, step := range steps {
			talk.Reset()
			if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
				return err
			}
			a.reload(c, options)
			if said := talk.String(); !strings.Contains(said, step.want) || strings.Contains(said, "listen.addr") || strings.Contains(said, "keep.metrics") {
				t.Errorf("%q: the log says %q, want %q", step.text, said, step.want)
			}
			if got := a.level.Level(); got != slog.LevelDebug {
				t.Errorf("%q: the level is %v", step.text, got)
			}
		}
		return nil
	}
	root.SetArgs([]string{"serve", "--addr", "127.0.0.1:8", "--retain-metrics", "b=9d/1y", "--retain-metrics", "c=9d/1y"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The file that the service reads is the example, with the place of its data. UPDATE=1 writes it.
func TestConfig_OfTheService(t *testing.T) {
	t.Parallel()
	const path = "../../deploy/systemd/locus.yaml"
	want := configExample(map[string]string{"data": "/var/lib/locus"})
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // every user may read it
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s differs from the settings (%v): UPDATE=1 go test ./internal/cli -run TestConfig_OfTheService", path, err)
	}
	code, out, talk := configured(t, nil, "print", "--config", path)
	if code != 0 || !strings.Contains(out, "data\t/var/lib/locus\t"+path+":") || strings.Count(out, path) != 1 {
		t.Errorf("exit code %d: %s%s", code, out, talk)
	}
}

func TestFolded(t *testing.T) {
	t.Parallel()
	if got := folded("one two three", 7); !slices.Equal(got, []string{"one two", "three"}) {
		t.Errorf("%q", got)
	}
}
