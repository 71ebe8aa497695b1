// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSubjectExport collects all data about one of two entities, and no data of the other.
func TestSubjectExport(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := write(t, "r.csv", "id,name,address,phones\n1,Joes Pizza,1000 Market Street,415-555-2300\n2,Joe's Pizza,1000 Market St.,(415) 555-2300\n3,Annas Bakery,1 Elm Road,212-555-0100\n")
	for _, args := range [][]string{
		{"ingest", "--source", "crm", "--key", "id", "--yes", file},
		{"entity", "unmerge", "crm:1", "crm:2", "--author", "ann"},
		{"entity", "merge", "crm:1", "crm:2", "--author", "ann"},
	} {
		if r := run(t.Context(), nil, append(args, "--data", data)...); r.code != 0 {
			t.Fatal(r)
		}
	}
	for _, flags := range [][]string{nil, {"--json"}} {
		r := run(t.Context(), nil, append([]string{"subject", "export", "crm:2", "--data", data}, flags...)...)
		if r.code != 0 || !strings.Contains(r.err, "2 records, ") {
			t.Fatal(r)
		}
		counts := map[string]int{}
		for line := range strings.Lines(r.stdout) {
			var of struct{ Type string }
			if err := json.Unmarshal([]byte(line), &of); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			counts[of.Type]++
		}
		if counts["entity"] != 1 || counts["record"] != 2 || counts["decision"] == 0 || counts["change"] == 0 ||
			counts["audit"] == 0 || len(counts) != 5 {
			t.Errorf("%v: %v", flags, counts)
		}
		if !strings.Contains(r.stdout, "1000 Market St.") || strings.Contains(r.stdout, "Annas") {
			t.Errorf("%v: %s", flags, r.stdout)
		}
	}
	for _, args := range [][]string{{"subject", "export", "crm:9"}, {"entity", "merge", "crm:1", "crm:9"}} {
		if r := run(t.Context(), nil, append(args, "--data", data)...); r.code != 4 || r.stdout != "" || !strings.Contains(r.err, "crm:9: no record") {
			t.Errorf("%v of no record: %v", args, r)
		}
	}
}
