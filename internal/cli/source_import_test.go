// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/sources"
)

// The list of sources shows the last import of each source in a file, with the rows that were refused.
func TestSourceList_ShowsTheLastImport(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	data, in := filepath.Join(dir, "a"), filepath.Join(dir, "all.csv")
	rows := "source,key,name,latitude\ncrm,1,Joes Pizza,\ncrm,2,,\nweb,1,Blue Door Books,north\nweb,2,,\nweb,3,,\nold,1,,\n../x,1,Quill Optics,\n"
	if err := os.WriteFile(in, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t.Context(), nil, "ingest", "--data", data, in); r.code != 3 {
		t.Fatal(r.code, r.err)
	} else if strings.Contains(r.err, "does not show") {
		t.Error(r.err)
	}
	imports := map[string]*sources.Import{}
	list := done(t, "source", "list", "--data", data, "--json").stdout
	for line := range strings.Lines(list) {
		var s httpapi.Source
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		if s.Import != nil {
			if s.Import.At.IsZero() || s.Import.File != "all.csv" {
				t.Errorf("%+v", s.Import)
			}
			imports[s.Source] = s.Import
		}
	}
	for source, want := range map[string]struct {
		rows, refused int64
		causes        []sources.Refusal
	}{
		"crm": {2, 1, []sources.Refusal{{Cause: "a record of kind place needs an attribute that it can be matched by", Rows: 1, First: 3}}},
		"web": {3, 3, []sources.Refusal{{Cause: "a record of kind place needs an attribute that it can be matched by", Rows: 2, First: 5}, {Cause: "latitude invalid", Rows: 1, First: 4}}},
		"old": {1, 1, []sources.Refusal{{Cause: "a record of kind place needs an attribute that it can be matched by", Rows: 1, First: 7}}},
	} {
		got := imports[source]
		if got == nil || got.Rows != want.rows || got.Outcomes["refused"] != want.refused {
			t.Errorf("%s: %+v, want %+v", source, got, want)
			continue
		}
		if diff := cmp.Diff(want.causes, got.Refusals); diff != "" {
			t.Errorf("%s: %s", source, diff)
		}
	}
	if got := done(t, "source", "show", "web", "--data", data).stdout; !strings.Contains(got, "all.csv\t3\t3\n") || !strings.Contains(got, "matched by\t2\t5\n") {
		t.Error(got)
	}

	// The next import takes the place of this one.
	if err := os.WriteFile(in, []byte("source,key,name\ncrm,1,Joes Pizza\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done(t, "ingest", "--data", data, in)
	if got := done(t, "source", "list", "--data", data).stdout; !strings.Contains(got, "all.csv\t1\t0\n") || !strings.Contains(got, "web\t\t0\t0\t0\t\t2") {
		t.Error(got)
	}
}

// Records are counted by outcome as they are now, and the rows of the last import as they were. The cursor of --since
// is that of the last import that read all rows.
func TestSourceShow_CountsOutcomes(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir, db := shop(t)
	data, name := filepath.Join(dir, "data"), "sqlite:"+filepath.Join(dir, "shop.db")
	if _, err := db.Exec(`DELETE FROM customers WHERE no > 4; UPDATE customers SET company = 'Blue Door Books' WHERE no < 3;
		UPDATE customers SET company = NULL WHERE no = 4`); err != nil {
		t.Fatal(err)
	}
	ingest := []string{"ingest", "--data", data, name, "--table", "customers", "--set", "name=company", "--ignore", "photo", "--since", "changed"}
	for _, step := range []struct {
		change  string
		args    []string
		refused bool
		want    []string
		said    string
	}{
		{"", nil, true, []string{"customers\tplace\t3\t2\t1\t", "outcome\trows\nnew\t2\nmatched\t1\nrefused\t1\n"}, "changed begins at 2026-01-14"},
		{"UPDATE customers SET company = 'Quill Optics', changed = '2026-01-20' WHERE no IN (2, 4)", []string{"--limit", "1"}, false,
			[]string{"customers\tplace\t3\t3\t0\t", "outcome\trows\nupdated\t1\n"}, "changed begins at 2026-01-14"},
		{"", nil, false, []string{"customers\tplace\t4\t3\t1\t", "outcome\trows\nmatched\t1\nunchanged\t1\n"}, "changed begins at 2026-01-20"},
	} {
		if _, err := db.Exec(step.change); err != nil {
			t.Fatal(err)
		}
		if r := run(t.Context(), nil, append(ingest, step.args...)...); (r.code == 3) != step.refused {
			t.Fatal(r.code, r.err)
		}
		got := run(t.Context(), nil, "source", "show", "customers", "--data", data)
		for _, want := range step.want {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("%v: %s, want %q", step.args, got.stdout, want)
			}
		}
		if !strings.Contains(got.err, step.said) {
			t.Errorf("%v: %s, want %q", step.args, got.err, step.said)
		}
	}
}
