// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

// claim makes the stored rules name another version of the matcher as the one that made the entities.
func claim(t *testing.T, dir, version string) {
	t.Helper()
	cells, err := storage.Open(t.Context(), dir, &storage.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cells.Close()
	authority, err := cells.Cell(cells.Map().Authority())
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Exclusive(t.Context(), func(tx storage.Tx) error {
		rules, err := tx.Definition(t.Context(), "rules")
		if err != nil {
			return err
		}
		if !bytes.Contains(rules, []byte(`"matcher":"matcher 22"`)) {
			t.Errorf("rules without a matcher: %.200s", rules)
		}
		return tx.PutDefinition(t.Context(), "rules", bytes.Replace(rules, []byte("matcher 22"), []byte(version), 1))
	}); err != nil {
		t.Fatal(err)
	}
}

func TestUpgrade_PlanAndRun(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	env := installed(t)
	if got := must(t, env, "upgrade", "plan").stdout; !strings.HasPrefix(got, "made by matcher 22, as this Locus: there is nothing to upgrade\n") {
		t.Errorf("plan of what is current:\n%s", got)
	}
	claim(t, env["LOCUS_DATA"], "matcher 5")
	if got := must(t, env, "status"); !strings.Contains(got.err, "rules matcher 5") || !strings.Contains(got.err, "locus upgrade run") {
		t.Errorf("status: %s", got.err)
	}
	entities := must(t, env, "entity", "list", "--json").stdout
	for _, args := range [][]string{
		{"ingest", "--source", "crm", "--key", "id", write(t, "more.csv", shops)},
		{"match", "--source", "crm", "--key", "id", write(t, "more.csv", shops)},
		{"check"},
		{"terms", "build", "--kind", "place"},
	} {
		if got := run(t.Context(), env, args...); got.code == 0 || !strings.Contains(got.err+got.stdout, `"matcher 5"`) || !strings.Contains(got.err+got.stdout, "locus upgrade run") {
			t.Errorf("%s: exit %d, want the reason and the command:\n%s%s", args[0], got.code, got.stdout, got.err)
		}
	}
	plan := "made by matcher 5, and this Locus is matcher 22: locus upgrade run resolves all records again\n"
	for _, args := range [][]string{{"upgrade", "plan"}, {"upgrade", "run", "--dry-run"}} {
		got := must(t, env, args...).stdout
		if !strings.HasPrefix(got, plan) || !strings.Contains(got, "\nkind place, version 1, ") ||
			!strings.Contains(got, "0 would be merged from several, 0 would be split") {
			t.Errorf("%v:\n%s", args, got)
		}
	}
	if got := run(t.Context(), env, "upgrade", "run"); got.code != 2 || !strings.Contains(got.err, "--yes") {
		t.Errorf("without --yes: exit %d: %s", got.code, got.err)
	}
	if got := must(t, env, "upgrade", "run", "--yes"); !strings.Contains(got.err, "done: all records are resolved by matcher 22") {
		t.Errorf("run: %s", got.err)
	}
	if got := must(t, env, "entity", "list", "--json").stdout; got != entities {
		t.Errorf("entities before\n%s\nand after\n%s", entities, got)
	}
	if got := must(t, env, "upgrade", "run", "--json").stdout; !strings.Contains(got, `"needed":false`) {
		t.Errorf("again: %s", got)
	}
	must(t, env, "check")

	claim(t, env["LOCUS_DATA"], "matcher 109")
	if got := run(t.Context(), env, "status"); got.code != 1 || !strings.Contains(got.err, `upgraded to "matcher 109", and this Locus is "matcher 22"`) || !strings.Contains(got.err, "a later one") {
		t.Errorf("a newer matcher: exit %d: %s", got.code, got.err)
	}
}

func TestServe_ReadOnly(t *testing.T) {
	t.Parallel()
	env := installed(t)
	before := must(t, env, "entity", "list", "--json").stdout
	if code, said := runUntil(t, env, "next ", "serve", "--read-only", "--addr", "127.0.0.1:0"); code != 0 || strings.Contains(said, "level=ERROR") {
		t.Errorf("exit %d: %s", code, said)
	}
	if after := must(t, env, "entity", "list", "--json").stdout; after != before {
		t.Errorf("before\n%s\nand after\n%s", before, after)
	}
	none := map[string]string{"LOCUS_DATA": t.TempDir() + "/none"}
	if got := run(t.Context(), none, "serve", "--read-only", "--addr", "127.0.0.1:0"); got.code != 4 {
		t.Errorf("no installation: exit %d: %s", got.code, got.err)
	}
	if got := run(t.Context(), env, "serve", "--read-only", "--cells", "2"); got.code != 2 || !strings.Contains(got.err, "--read-only makes none") {
		t.Errorf("--cells: exit %d: %s", got.code, got.err)
	}
}
