// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// What went back is refused with what to do, which is neither to try again nor to look at the rights of a file;
// looking at it with --dry-run accepts nothing.
func TestCellRestored_AcceptsWhatWentBack(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	env := map[string]string{"LOCUS_DATA": filepath.Join(dir, "data")}
	must(t, env, "ingest", "--source", "crm", "--key", "id", "--map", "company=name", write(t, "places.csv", businesses))
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
