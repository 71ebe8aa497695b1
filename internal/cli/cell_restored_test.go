// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// A restored cell is refused with the right hint, which is neither to retry nor to check file permissions. --dry-run
// accepts nothing.
func TestCellRestored_AcceptsWhatWentBack(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	env := map[string]string{"LOCUS_DATA": filepath.Join(dir, "data")}
	must(t, env, "ingest", "--source", "crm", "--key", "id", "--set", "name=company", write(t, "places.csv", businesses))
	if err := os.Remove(filepath.Join(dir, "data", "witness")); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"status"}, {"cell", "list"}, {"cell", "restored", "--dry-run"}, {"status"}} {
		got := run(t.Context(), env, command...)
		if command[0] == "cell" && command[1] == "restored" {
			if got.code != 0 {
				t.Errorf("%v: exit code %d\n%s", command, got.code, got.err)
			}
			continue
		}
		if got.code != 1 || !strings.Contains(got.err, "locus cell restored") || strings.Contains(got.err, "try:") {
			t.Errorf("%v: exit code %d\n%s", command, got.code, got.err)
		}
	}
	must(t, env, "cell", "restored", "--yes")
	must(t, env, "status")
	if got := run(t.Context(), nil, "cell", "restored", "--map", "postgres://a/x=postgres://b/x,postgres://c/x"); got.code != 2 || !strings.Contains(got.err, "OLD=NEW") {
		t.Errorf("a mixture: exit code %d\n%s", got.code, got.err)
	}
}

// A data directory, and a file that one of its cells was moved to, are restored to other paths given as a pair OLD=NEW.
// The original is not touched.
func TestP08_ACopyOfFilesIsReaddressed(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	env := map[string]string{"LOCUS_DATA": at("data")}
	must(t, env, "ingest", "--source", "crm", "--key", "id", "--set", "name=company", write(t, "places.csv", businesses))
	must(t, env, "cell", "move", "g0-3", "--to", "sqlite:"+at("moved", "g0-3.db"), "--yes")
	for from, to := range map[string]string{at("data"): at("copy"), at("moved"): at("copied")} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(at("moved", "g0-3.db"))
	if err != nil {
		t.Fatal(err)
	}
	pair := "sqlite:" + at("moved") + "=sqlite:" + at("copied")
	copied := map[string]string{"LOCUS_DATA": at("copy")}
	if got := run(t.Context(), copied, "cell", "restored", "--map", pair, "--dry-run"); got.code != 0 || !strings.Contains(got.err, "cell g0-3 was at sqlite:"+at("moved", "g0-3.db")+", is at sqlite:"+at("copied", "g0-3.db")) {
		t.Errorf("dry run: exit code %d\n%s", got.code, got.err)
	}
	must(t, nil, "cell", "restored", "--data", at("copy"), "--map", pair, "--yes")
	if got := must(t, copied, "cell", "show", "g0-3"); !strings.Contains(got.stdout, at("copied", "g0-3.db")) {
		t.Errorf("the copy is at\n%s", got.stdout)
	}
	must(t, copied, "check")
	if after, err := os.ReadFile(at("moved", "g0-3.db")); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file of the original has changed: %v", err)
	}
	for pair, want := range map[string]string{
		"sqlite:" + at("moved") + "=":                                  "want",
		"sqlite:" + at("moved"):                                        "want",
		"sqlite:" + at("moved") + "=sqlite:relative":                   "want",
		"sqlite:" + at("nowhere") + "=sqlite:" + at("copied"):          "g0-3",
		"sqlite:" + at("moved") + "=postgres://u:secret@db/locus_g0_3": "password",
	} {
		got := run(t.Context(), map[string]string{"LOCUS_DATA": at("data")}, "cell", "restored", "--map", pair, "--yes")
		if got.code == 0 || !strings.Contains(got.err, want) || strings.Contains(got.err, "secret") {
			t.Errorf("%s: exit code %d, %s", pair, got.code, got.err)
		}
	}
}
