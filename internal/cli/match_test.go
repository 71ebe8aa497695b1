// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// A file is matched against the imported records, row by row, to the standard output and to files; nothing is stored.
func TestMatch_WritesALineForEachRowAndEntity(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if r := run(t.Context(), nil, "ingest", "--data", data, "--source", "vendor", write(t, "places.csv",
		"key,name,phones,city\n1,Joes Pizza,415-555-2300,Oakland\n2,Quill Dental,415-555-7777,Oakland\n")); r.code != 0 {
		t.Fatal(r.err)
	}
	before := run(t.Context(), nil, "record", "list", "--data", data, "--all", "--json").stdout
	file := write(t, "new.csv",
		"customer,tel,name,notes\nc1,415 555 2300,JOE'S PIZZA,hi\nc2,,Zephyr,\n\xff,x,y,z\nc4,(415) 555-7777,,\n")
	flags := []string{"match", "--data", data, "--key", "customer", "--encoding", "utf-8", "--set", "phones=tel", file}
	r := run(t.Context(), nil, flags...)
	if r.code != 3 || !strings.Contains(r.err, "4 rows: 1 created, 2 matched, 1 refused; nothing was stored") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	rows, err := csv.NewReader(strings.NewReader(r.stdout)).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%v\n%s", err, r.stdout)
	}
	at := func(row []string, column string) string { return row[slices.Index(rows[0], column)] }
	for i, want := range [][]string{
		{"2", "c1", "matched", "1", "same", "vendor:1", "Joes Pizza"},
		{"3", "c2", "created", "", "", "", ""},
		{"4", "", "refused", "", "", "", ""},
		{"5", "c4", "matched", "1", "same", "vendor:2", "Quill Dental"},
	} {
		for n, column := range []string{"line", "key", "outcome", "rank", "level", "record", "name"} {
			if got := at(rows[i+1], column); got != want[n] {
				t.Errorf("row %d: %s is %q, want %q", i, column, got, want[n])
			}
		}
		if at(rows[i+1], "into") != at(rows[i+1], "entity") || (at(rows[i+1], "match_weight") == "") != (want[3] == "") {
			t.Errorf("row %d: %v", i, rows[i+1])
		}
	}
	if reason := at(rows[3], "reason"); !strings.Contains(reason, "UTF-8") {
		t.Errorf("the refused row says %q", reason)
	}

	if dash := run(t.Context(), nil, append(flags, "-o", "-")...); dash.code != 3 || dash.stdout != r.stdout {
		t.Errorf("-o -: exit %d: %s", dash.code, dash.stdout+dash.err)
	}

	out := filepath.Join(dir, "out.jsonl")
	if r := run(t.Context(), nil, append(flags, "-o", out, "--json")...); r.code != 3 || !strings.HasPrefix(r.stdout, `{"type":"summary","counts":{"created":1,"matched":2,"refused":1},"rows":4}`) {
		t.Errorf("exit %d: %s", r.code, r.stdout)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var first struct {
		Type, Key, Outcome, Level string
		MatchWeight               float64 `json:"match_weight"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || len(lines) != 4 || first.Type != "match" || first.Key != "c1" || first.MatchWeight < 5 {
		t.Errorf("%v, %d lines: %+v", err, len(lines), first)
	}
	names, err := filepath.Glob(filepath.Join(dir, "out*"))
	if err != nil || len(names) != 1 {
		t.Errorf("files left: %v, %v", names, err)
	}
	if after := run(t.Context(), nil, "record", "list", "--data", data, "--all", "--json").stdout; after != before || before == "" {
		t.Errorf("the records were\n%s\nand are\n%s", before, after)
	}
}

func TestMatch_RefusesBadFlags(t *testing.T) {
	t.Parallel()
	file := write(t, "f.csv", "name\nx\n")
	for says, args := range map[string][]string{
		"FILE is missing":           {"match"},
		"want a name that ends":     {"match", file, "-o", "x.txt"},
		"would be read and written": {"match", file, "-o", filepath.Dir(file) + "/./" + filepath.Base(file)},
		"want 1 to 100":             {"match", file, "--top", "0"},
		"want -100 to 100":          {"match", file, "--min-match-weight", "500"},
		"--limit":                   {"match", file, "--limit", "-1"},
		"unknown --format \"xls\"":  {"match", file, "--format", "xls"},
	} {
		if r := run(t.Context(), nil, args...); r.code != 2 || !strings.Contains(r.err, says) {
			t.Errorf("locus %s: exit code %d, want 2, and %q:\n%s", strings.Join(args, " "), r.code, says, r.err)
		}
	}
}

// A file that could be of several kinds is matched with the one that there are entities of.
func TestMatch_TakesTheKindThatIsThere(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	data := filepath.Join(t.TempDir(), "data")
	if r := run(t.Context(), nil, "ingest", "--data", data, "--source", "crm", "--kind", "person", write(t, "people.csv",
		"key,name,phones,city\n1,Ada Kern,0221 998877,Bonn\n")); r.code != 0 {
		t.Fatal(r.err)
	}
	r := run(t.Context(), nil, "match", "--data", data,
		write(t, "ask.csv", "Name;Telefon;Ort\nAda Kern;0221/998877;Bonn\n"))
	if r.code != 0 || !strings.Contains(r.err, "each row is a person") || !strings.Contains(r.err, "1 row: 1 matched") {
		t.Errorf("exit %d: %s\n%s", r.code, r.err, r.stdout)
	}
}
