// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
)

// tables is a data directory whose tables are exported to a database.
type tables struct {
	*testing.T
	server        *pgtest.Server
	database, dir string
}

func newTables(t *testing.T) *tables {
	longtest.Slow(t)
	server := pgtest.Shared(t)
	return &tables{T: t, server: server, database: server.Database(t), dir: filepath.Join(t.TempDir(), "a")}
}

func (t *tables) url(table string) string { return t.server.URL(t.database) + "&table=" + table }

func (t *tables) put(rows string) {
	t.Helper()
	if r := runWith(t.Context(), rows, nil, "ingest", "--data", t.dir, "-"); r.code != 0 {
		t.Fatal(r.err)
	}
}

func (t *tables) do(args ...string) result {
	t.Helper()
	return done(t.T, append(args, "--data", t.dir)...)
}

// same compares a table with an export to a file. The first row of that names the columns; a list is joined as there.
func (t *tables) same(table string, args ...string) {
	t.Helper()
	want := t.do(append([]string{"export"}, args...)...).stdout
	header, _, _ := strings.Cut(want, "\n")
	var columns []string
	for _, c := range strings.Split(header, ",") {
		name, list := strings.CutSuffix(c, "[]")
		name = `"` + name + `"`
		if list {
			name = `array_to_string(` + name + `, ' | ')`
		} else if name == `"observed_at"` || name == `"at"` {
			name = `to_char(` + name + ` AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
		}
		columns = append(columns, "coalesce("+name+"::text, '')")
	}
	got := header + "\n"
	order := "1, 2"
	if !strings.Contains(header, ",") {
		order = "1"
	}
	for _, row := range t.server.Exec(t.T, t.database, "SELECT "+strings.Join(columns, ", ")+" FROM "+table+` ORDER BY (`+columns[0]+`) COLLATE "C", `+order) {
		got += strings.Join(row, ",") + "\n"
	}
	if got != want {
		t.Errorf("table %s holds\n%s\nand the export\n%s", table, got, want)
	}
}

// A table that is brought up to date contains the same as an export to a file, whatever has happened in between.
func TestExportTo_FollowsByWatermark(t *testing.T) {
	t.Parallel()
	a := newTables(t)
	a.put("source,key,name,phones\nchamber,1,Joes Pizza,415-555-2300\ncrawler,2,Joe's Pizza,(415) 555-2300\ncrawler,3,Blue Door Books,415-555-9999\nweb,4,Corner Bakery,\n")
	all := map[string][]string{
		"golden": {"entities"}, "recs": {"records"}, "places": {"records", "--kind", "place"},
		"crawled": {"entities", "--source", "crawler"},
		"links":   {"links", "--source", "crawler"}, "decided": {"decisions", "--columns", "verdict,a,b,at"},
	}
	export := func() {
		t.Helper()
		for table, args := range all {
			a.do(append(append([]string{"export"}, args...), "--to", a.url(table))...)
		}
	}
	export()
	a.do("review", "answer", "chamber:1", "crawler:2", "--different", "--author", "ann") // a split
	a.put("source,key,kind,name,emails\nshop,8,person,Ann Doe,a@b.example\ncrawler,3,place,Blue Door,\n")
	export()
	a.do("review", "answer", "crawler:2", "web:4", "--different", "--author", "ann")
	a.do("decision", "withdraw", "chamber:1", "crawler:2") // a merge: an id becomes a redirect
	a.do("record", "erase", "crawler:3", "chamber:1", "--yes")
	a.put(`{"source":"web","key":"4","kind":"person","name":"Corner Baker"}` + "\n" + // leaves the kind place
		`{"source":"chamber","key":"1","name":"Joes Pizza","phones":"415-555-2300"}` + "\n" + // has another puid
		`{"source":"web","key":"9","name":["Two Names","Zwei"]}` + "\n") // a column becomes a list
	export()
	for table, args := range all {
		a.same(table, args...)
	}
	if got := a.do("export", "records", "--to", a.url("recs")); !strings.Contains(got.err, "0 changed rows") {
		t.Errorf("nothing has changed: %s", got.err)
	}
	// Without a watermark everything is written again, and additions by others stay.
	a.server.Exec(t, a.database, "UPDATE locus_export SET watermark = ''; UPDATE recs SET source = 'lost'; ALTER TABLE recs ADD COLUMN note text DEFAULT 'mine'")
	a.do("export", "records", "--to", a.url("recs"))
	a.same("recs", "records")
	if got := a.server.Exec(t, a.database, "SELECT DISTINCT note FROM recs"); len(got) != 1 || got[0][0] != "mine" {
		t.Errorf("the notes are %v", got)
	}
}

// A table that was exported can be ingested, and exported again it is the same.
func TestExportTo_RecordsComeBack(t *testing.T) {
	a := newTables(t)
	a.put(messyRecords())
	a.do("export", "records", "--to", a.url("messy"))
	b := &tables{T: t, server: a.server, database: a.database, dir: filepath.Join(t.TempDir(), "b")}
	t.Chdir(t.TempDir()) // for the state of the import
	b.do("ingest", b.server.URL(b.database), "--table", "messy")
	first, second := a.do("export", "records").stdout, b.do("export", "records").stdout
	if first != second || strings.Count(first, "2026-01-02T03:04:05.678Z") != 15 {
		t.Errorf("exported\n%s\nand again\n%s", first, second)
	}
}

// A table that was not made by such an export is not changed.
func TestExportTo_LeavesOtherTablesAlone(t *testing.T) {
	t.Parallel()
	a := newTables(t)
	a.put("source,key,name\nweb,4,Corner Bakery\n")
	a.server.Exec(t, a.database, "CREATE TABLE customers (entity uuid, name text)")
	a.do("export", "entities", "--to", a.url("golden"))
	other := filepath.Join(t.TempDir(), "other")
	if r := runAsIs(t.Context(), "source,key,name\nweb,5,Blue Door\n", nil, "ingest", "--data", other, "-"); r.code != 0 {
		t.Fatal(r.err)
	}
	for _, c := range []struct {
		code       int
		args, says string
	}{
		{5, "entities --to " + a.url("customers"), "no export made it"},
		{5, "links --to " + a.url("golden"), "was made by an export of entities, and this one is of links"},
		{5, "entities --kind place --to " + a.url("golden"), "of kind (all)"},
		{5, "entities --columns name --to " + a.url("golden"), "of columns (all)"},
		{5, "entities --data " + other + " --to " + a.url("golden"), "of installation"},
		{2, "entities --to postgres://u:hidden@h/db", "names no table"},
		{2, "entities --to mysql://u:hidden@h/db?table=t", "cannot be read"},
		{2, "entities --to postgres://u:hidden@h:x/db?table=t", "cannot be read"},
		{2, "entities -o x.csv --to " + a.url("golden"), "leave out -o"},
		{6, "entities --to postgres://u:hidden@127.0.0.1:1/db?table=t", "cannot connect"},
	} {
		args := append([]string{"export"}, strings.Fields(c.args)...)
		if !strings.Contains(c.args, "--data") {
			args = append(args, "--data", a.dir)
		}
		if r := run(t.Context(), nil, args...); r.code != c.code || !strings.Contains(r.err, c.says) || strings.Contains(r.err, "hidden") {
			t.Errorf("%s: exit %d, says %s", c.args, r.code, r.err)
		}
	}
	a.same("golden", "entities")
	if got := a.server.Exec(t, a.database, "SELECT count(*) FROM customers"); got[0][0] != "0" {
		t.Errorf("%s customers", got[0][0])
	}
	a.server.Exec(t, a.database, "ALTER TABLE golden DROP COLUMN name")
	if r := run(t.Context(), nil, "export", "entities", "--data", a.dir, "--to", a.url("golden")); r.code != 5 || !strings.Contains(r.err, `lost the column "name"`) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// Golden records with many values come back from a table of PostgreSQL, too.
func TestExportTo_ManyValuesComeBack(t *testing.T) {
	t.Parallel()
	a := newTables(t)
	a.put(severalPhones(40))
	a.do("export", "entities", "--to", a.url("golden"))
	b := filepath.Join(t.TempDir(), "b")
	done(t, "ingest", "--data", b, a.server.URL(a.database), "--table", "golden")
	got := done(t, "export", "entities", "--data", b, "--columns", "phones").stdout
	if n := strings.Count(got, "|") + 1; n != 79 {
		t.Errorf("%d phones, want 79: %s", n, got)
	}
}
