// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// dumped returns the path of a file in a directory that holds in.jsonl, the installation a made of it, and its dump.
func dumped(t *testing.T) (at func(name string) string) {
	t.Helper()
	dir := t.TempDir()
	at = func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("in.jsonl"), []byte(messyRecords()), 0o600); err != nil {
		t.Fatal(err)
	}
	done(t, "ingest", "--data", at("a"), at("in.jsonl"))
	done(t, "dump", "--data", at("a"), "-o", at("x.dump"))
	return at
}

// Restored into another number of cells, an installation exports the same as before, including ids.
func TestDump_RestoreKeepsExports(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	at := dumped(t)
	r := done(t, "restore", at("x.dump"), "--data", at("b"), "--cells", "5")
	if !strings.Contains(r.err, "15 records") {
		t.Errorf("restore says %s", r.err)
	}
	for _, what := range []string{"entities", "links", "records"} {
		is, was := done(t, "export", what, "--data", at("b")).stdout, done(t, "export", what, "--data", at("a")).stdout
		if is != was || strings.Count(is, "\n") < 10 {
			t.Errorf("%s before:\n%s\nafter:\n%s", what, was, is)
		}
	}
}

// An installation that cannot be dumped or restored gives an error that names the reason, and no files remain.
func TestDump_RefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	at := dumped(t)
	file, err := os.ReadFile(at("x.dump"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("cut.dump"), file[:len(file)-200], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		exit int
		says string
	}{
		{[]string{"dump", "--data", at("a")}, 2, "name the file"},
		{[]string{"dump", "--data", at("none"), "-o", at("y.dump")}, 4, "holds no data"},
		{[]string{"dump", "--data", at("a"), "-o", at("no/y.dump")}, 2, "no such"},
		{[]string{"restore", at("x.dump"), "--data", at("a")}, 5, "there is an installation already"},
		{[]string{"restore", at("in.jsonl"), "--data", at("b")}, 2, "line 1"},
		{[]string{"restore", at("cut.dump"), "--data", at("b")}, 2, "line "},
		{[]string{"restore", at("gone.dump"), "--data", at("b")}, 4, "no such"},
		{[]string{"restore", at("x.dump"), "--data", at("b"), "--cells", "-1"}, 2, "below 0"},
	} {
		if r := run(t.Context(), nil, tc.args...); r.code != tc.exit || !strings.Contains(r.err, tc.says) {
			t.Errorf("%v: exit %d, want %d and %q\n%s", tc.args, r.code, tc.exit, tc.says, r.err)
		}
	}
	for _, name := range []string{"b", "y.dump", "none"} {
		if _, err := os.Stat(at(name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	done(t, "restore", at("x.dump"), "--data", at("b"))
}
