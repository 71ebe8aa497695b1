// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// An import that loads prints so, and gives the same result as one that streams, also into an installation that has
// records.
func TestP09_AnImportThatLoadsIsOneThatStreams(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var rows strings.Builder
	rows.WriteString("source,key,name,phones\n")
	for i := range 60 {
		fmt.Fprintf(&rows, "s%d,%d,Zephyr %c%c Bakery,415-555-%04d\n", i%3, i, 'a'+i/3, 'k'+i/6, 2000+i/3)
	}
	rows.WriteString("s0,0,Quill Optics,415-555-7777\n") // the key occurs again
	if err := os.WriteFile(path("in.csv"), []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ingest := func(data, load string) result {
		t.Helper()
		r := run(t.Context(), nil, "ingest", "--data", path(data), "--load", load, path("in.csv"))
		if r.code != 0 {
			t.Fatalf("exit %d: %s%s", r.code, r.stdout, r.err)
		}
		return r
	}
	members := func(data string) string {
		t.Helper()
		done(t, "export", "entities", "--data", path(data), "--columns", "name,phones,records", "-o", path(data+".csv"))
		lines := strings.Split(strings.TrimSpace(written(t, path(data+".csv"))), "\n")
		for i, line := range lines { // members are in the order of their births
			cells := strings.Split(line, ",")
			last := strings.Split(cells[len(cells)-1], " | ")
			slices.Sort(last)
			lines[i] = strings.Join(cells[:len(cells)-1], ",") + "," + strings.Join(last, " | ")
		}
		return sortedLines(strings.Join(lines[1:], "\n"))
	}
	const says = "resolved at once"
	if r := ingest("loaded", "always"); !strings.Contains(r.err, "first load: 60 records "+says) {
		t.Errorf("a load says %q", r.err)
	}
	for _, load := range []string{"never", "auto"} { // a small file is streamed
		if r := ingest(load, load); strings.Contains(r.err, says) {
			t.Errorf("--load %s says %q", load, r.err)
		}
	}
	loaded, streamed, chosen := members("loaded"), members("never"), members("auto")
	if len(strings.Split(loaded, "\n")) != 21 {
		t.Errorf("loaded as %d entities, want 20 and what was put again:\n%s", len(strings.Split(loaded, "\n")), loaded)
	}
	if loaded != streamed || chosen != streamed {
		t.Errorf("loaded as\n%s\nstreamed as\n%s\nwith auto\n%s", loaded, streamed, chosen)
	}
	if r := ingest("loaded", "always"); !strings.Contains(r.err, "\nload: ") || !strings.Contains(r.err, says) {
		t.Errorf("a load of what is resolved says %q", r.err)
	}
	if again := members("loaded"); again != loaded {
		t.Errorf("imported again as\n%s\nwant\n%s", again, loaded)
	}
	rows.WriteString("s4,0,Zephyr ak Bakery,415-555-2000\ns4,1,Zephyr bk Bakery,415-555-2001\ns4,2,Brass Heron,415-555-3000\n")
	if err := os.WriteFile(path("in.csv"), []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := ingest("loaded", "always"); !strings.Contains(r.err, "\nload: ") {
		t.Errorf("a load into an installation that has records says %q", r.err)
	}
	ingest("never", "never")
	if loaded, streamed := members("loaded"), members("never"); loaded != streamed {
		t.Errorf("loaded as\n%s\nstreamed as\n%s", loaded, streamed)
	}
	if r := run(t.Context(), nil, "ingest", "--data", path("x"), "--load", "perhaps", path("in.csv")); r.code != 2 {
		t.Errorf("--load perhaps: exit %d: %s", r.code, r.err)
	}
}

func sortedLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
