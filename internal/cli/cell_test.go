// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// write creates a file and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const businesses = "id,company,phones\n1,Joe's Pizza,415-555-2300\n2,Golden Bakery,415-555-7777\n"

// must runs a command that must succeed.
func must(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	got := run(t.Context(), env, args...)
	if got.code != 0 {
		t.Fatalf("locus %s: exit code %d\n%s", strings.Join(args, " "), got.code, got.err)
	}
	return got
}

// TestCellGrow_GoesOnAfterAnInterrupt interrupts a growth after its announcement; the same command finishes it.
func TestCellGrow_GoesOnAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	env := map[string]string{"LOCUS_NOTICE": "5s", "LOCUS_DATA": filepath.Join(t.TempDir(), "data")}
	must(t, env, "ingest", "--source", "crm", "--key", "id", "--set", "name=company", write(t, "places.csv", businesses))
	grow := []string{"cell", "grow", "--to", "32", "--yes", "--wait"}
	if code, said := runUntil(t, env, "announced generation 1", grow...); code != 130 || !strings.Contains(said, "run it again to continue") {
		t.Fatalf("interrupted: exit code %d\n%s", code, said)
	}
	got := must(t, env, grow...)
	if strings.Contains(got.err, "created") ||
		!strings.Contains(got.err, "done: generation 1 of 32 cells takes new keys") {
		t.Errorf("again:\n%s", got.err)
	}
	var list []map[string]any
	for line := range strings.Lines(must(t, env, "cell", "list", "--json").stdout) {
		var of map[string]any
		if err := json.Unmarshal([]byte(line), &of); err != nil {
			t.Fatal(err)
		}
		list = append(list, of)
	}
	if len(list) != 16+32+1 || list[0]["keys"] != "sealed" || list[16]["keys"] != "open" {
		t.Errorf("%d lines: %v", len(list), list)
	}
	must(t, env, "record", "get", "crm:2")
}

// Progress goes to the standard error, the plan and the summary to the standard output.
func TestCellCompact_Lines(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	env := map[string]string{"LOCUS_NOTICE": "5s", "LOCUS_DATA": filepath.Join(t.TempDir(), "data")}
	must(t, env, "demo", "--records", "20", "--cells", "2", "--speed", "0", "--exit-when-done", "--addr", "127.0.0.1:0",
		"--keep", env["LOCUS_DATA"])
	if got := run(t.Context(), env, "cell", "compact", "--yes"); got.code != 2 || !strings.Contains(got.err, "there is one generation") {
		t.Errorf("nothing to compact: %d %s", got.code, got.err)
	}
	must(t, env, "cell", "grow", "--to", "2", "--yes", "--wait")
	got := must(t, env, "cell", "compact", "--yes", "--json")
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"type":"plan"`) ||
		!strings.Contains(lines[1], `{"type":"summary","epoch":`) {
		t.Errorf("stdout:\n%s", got.stdout)
	}
	for line := range strings.Lines(got.err) {
		if !strings.HasPrefix(line, `{"type":"progress","step":"`) {
			t.Errorf("stderr: %s", line)
		}
	}
	if !strings.Contains(got.err, `"step":"floor"`) {
		t.Errorf("stderr:\n%s", got.err)
	}
	must(t, env, "cell", "map", "--history", "--json")
}
