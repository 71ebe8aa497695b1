// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/internal/longtest"
)

// temporary gives the test its own directory for temporary files and returns a check that it is empty.
func temporary(t *testing.T) func() {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	return func() {
		t.Helper()
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}

// generated writes messy records of places as CSV, records with an even number to the first file.
func generated(t *testing.T, n int64) (names []string) {
	t.Helper()
	columns := []string{"name", "phones", "address", "city", "region", "postcode", "latitude", "longitude", "websites"}
	for part := range 2 {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		_ = w.Write(append([]string{"id", "remark"}, columns...))
		i := 0
		for r := range demo.New(3, n).All() {
			if i++; i%2 != part {
				continue
			}
			row := []string{r.Key, "no attribute, \"quoted\""}
			for _, column := range columns {
				row = append(row, strings.Join(r.Attributes[column], ";"))
			}
			_ = w.Write(row)
		}
		w.Flush()
		name := filepath.Join(t.TempDir(), fmt.Sprintf("part%d.csv", part))
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func rowsOf(t *testing.T, name string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(written(t, name))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Every row comes out in its place with its columns untouched; the same input gives the same bytes; nothing is left
// behind.
func TestDedupe_RowsKeepTheirPlacesAndTheirColumns(t *testing.T) {
	longtest.Slow(t)
	clean := temporary(t)
	files := generated(t, 300)
	written2 := map[string]string{}
	for range 2 {
		dir := t.TempDir()
		path := func(name string) string { return filepath.Join(dir, name) }
		done(t, append([]string{"dedupe", files[0], files[1]}, "--key", "id", "-o", path("out.csv"), "--golden",
			path("golden.jsonl"), "--links", path("links.csv"), "--review", path("review.csv"))...)
		clean()
		for _, name := range []string{"out.csv", "golden.jsonl", "links.csv", "review.csv"} {
			if before, again := written2[name]; again && before != written(t, path(name)) {
				t.Errorf("%s is another file the second time", name)
			}
			written2[name] = written(t, path(name))
		}
		out := rowsOf(t, path("out.csv"))[1:]
		in := slices.Concat(rowsOf(t, files[0])[1:], rowsOf(t, files[1])[1:])
		clusters := map[string]int{}
		for i, row := range out {
			if !slices.Equal(row[:len(in[i])], in[i]) {
				t.Fatalf("row %d is %q, was %q", i, row, in[i])
			}
			clusters[row[len(row)-3]]++
		}
		for _, row := range out {
			if fmt.Sprint(clusters[row[len(row)-3]]) != row[len(row)-2] || (row[len(row)-1] != "") != (row[len(row)-2] != "1") {
				t.Errorf("%q: the cluster has %d rows", row, clusters[row[len(row)-3]])
			}
		}
		if golden := strings.Count(written(t, path("golden.jsonl")), "\n"); len(out) != 300 || golden != len(clusters) || golden < 50 || golden > 250 {
			t.Errorf("%d rows in %d clusters, %d golden rows", len(out), len(clusters), golden)
		}
	}
}

// A refused row keeps its place without a cluster, and is in the file of refused rows.
func TestDedupe_RefusedRows(t *testing.T) {
	clean := temporary(t)
	dir := t.TempDir()
	name, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(name, []byte("name,phones\nJoes Pizza,415-555-2300\n\"Joe\"s,1\n,415-555-2300\nshort\nJoe's Pizza,415 555 2300\nmany,2,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t.Context(), nil, "dedupe", name, "-o", out)
	clean()
	if r.code != 3 || !strings.Contains(r.err, "3 rows were refused, 3 are compared") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	want := "name,phones,cluster_id,cluster_size,cluster_weight\nJoes Pizza,415-555-2300,1,3,15.8\n\"\"\"Joe\"\"s,1\",,,,\n,415-555-2300,1,3,9\n" +
		"short,,,,\nJoe's Pizza,415 555 2300,1,3,15.8\nmany,\"2,3\",,,\n"
	if got := written(t, out); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if n := strings.Count(written(t, out+".rejected.jsonl"), "\n"); n != 3 {
		t.Errorf("%d rows in the file of refused ones", n)
	}
}

// Rows without any value have no place in a result. Every command that reads them says so.
func TestDedupe_CountsEmptyRows(t *testing.T) {
	t.Parallel()
	in := write(t, "in.csv", "id;name;city\n1;Blue Door;Bath\n;;\n\n2;Corner Bakery;York\n;;\n")
	dir := filepath.Dir(in)
	const said = "in.csv: 2 rows without any value left out, the first is line 3"
	for _, args := range [][]string{
		{"dedupe", in, "-o", filepath.Join(dir, "out.csv")},
		{"link", in, write(t, "other.csv", "id,name\n7,Blue Door\n"), "-o", filepath.Join(dir, "links.csv")},
		{"ingest", in, "--yes", "--data", filepath.Join(dir, "data")},
		{"match", in, "--data", filepath.Join(dir, "data")},
	} {
		if r := run(t.Context(), nil, args...); r.code != 0 || !strings.Contains(r.err, said) {
			t.Errorf("%v: exit %d, %s", args, r.code, r.err)
		}
	}
	if r := run(t.Context(), nil, "dedupe", in, "-o", filepath.Join(dir, "out.csv"), "--json"); !strings.Contains(r.stdout, `"empty":2`) {
		t.Error(r.stdout)
	}
}

// The footer of a report is no row of any command, and counted.
func TestDedupe_LeavesOutTheFooter(t *testing.T) {
	t.Parallel()
	in := write(t, "in.csv", "id,name,city\n1,Blue Door,Bath\n2,Corner Bakery,York\n\n\"Grand Totals (2 records)\",,\nConfidential - do not share\n")
	dir := filepath.Dir(in)
	const said = `in.csv: 2 rows below the list left out, lines 5 to 6: "Grand Totals (2 records)", "Confidential - do not share"`
	for _, args := range [][]string{
		{"dedupe", in, "-o", filepath.Join(dir, "out.csv")},
		{"link", in, write(t, "other.csv", "id,name\n7,Blue Door\n"), "--left", "-o", filepath.Join(dir, "links.csv")},
		{"link", write(t, "other.csv", "id,name\n7,Blue Door\n"), in, "-o", filepath.Join(dir, "linked.csv")},
		{"ingest", in, "--yes", "--data", filepath.Join(dir, "data")},
		{"match", in, "--data", filepath.Join(dir, "data"), "-o", filepath.Join(dir, "matches.csv")},
	} {
		if r := run(t.Context(), nil, args...); r.code != 0 || !strings.Contains(r.err, said) {
			t.Errorf("%v: exit %d, %s", args, r.code, r.err)
		}
		if r := run(t.Context(), nil, append(args, "--json")...); r.code != 0 || !strings.Contains(r.stdout, `"footer":2`) {
			t.Errorf("%v: exit %d, %s", args, r.code, r.stdout)
		}
	}
	for _, name := range []string{"out.csv", "links.csv", "matches.csv"} {
		if text := written(t, filepath.Join(dir, name)); strings.Count(text, "\n") != 3 || strings.Contains(text, "Grand") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// Nothing is left behind after an error or an interrupt, and no file has the name of the result.
// Some exports have hundreds of columns that mean nothing.
func TestDedupe_ManyColumns(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	header, row := "id,Company", "1,Blue Door"
	for i := range 300 {
		header += fmt.Sprintf(",custom %d", i)
		row += ",x"
	}
	r := run(t.Context(), nil, "dedupe", "--key", "id", write(t, "wide.csv", header+"\n"+row+"\n"), "-o",
		filepath.Join(t.TempDir(), "out.csv"))
	if lines := strings.Count(r.err, "\n"); r.code != 0 || lines > 40 || !strings.Contains(r.err, "and 280 more columns that become nothing") || !strings.Contains(r.err, "custom 19 and 280 more") {
		t.Errorf("exit %d, %d lines: %s", r.code, lines, r.err)
	}
}

func TestDedupe_LeavesNothingBehind(t *testing.T) {
	clean := temporary(t)
	files := generated(t, 40)
	dir := t.TempDir()
	out := filepath.Join(dir, "out.csv")
	if code, said := runUntil(t, nil, "compared by", "dedupe", files[0], files[1], "-o", out); code != 130 {
		t.Errorf("interrupted: exit %d: %s", code, said)
	}
	clean()
	bad := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(bad, []byte("name,cluster_id\nx,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t.Context(), nil, "dedupe", bad, "-o", out); r.code != 2 || !strings.Contains(r.err, "cluster_id") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	clean()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	keep := filepath.Join(dir, "kept")
	done(t, "dedupe", files[0], "--key", "id", "-o", out, "--keep", keep)
	clean()
	if got := done(t, "export", "links", "--data", keep).stdout; strings.Count(got, "\n") != 21 {
		t.Errorf("the kept data has\n%s", got)
	}
}

func TestLink(t *testing.T) {
	clean := temporary(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"a.csv": "id,name,phones,city\n1,Joes Pizza,415-555-2300,Oakland\n2,Joes Pizza,415-555-2300,Oakland\n3,Blue Door Books,415-555-9999,Oakland\n",
		"b.csv": "id,name,phones\nx,Joe's Pizza,(415) 555-2300\ny,Corner Bakery,415-555-7777\nz,Joe's Pizza,(415) 555-2300\n",
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for flags, want := range map[string]string{
		"":                    "1x 1z 2x 2z",
		"--one-to-one":        "1x 2z",
		"--one-to-one --left": "1x 2z 3",
	} {
		done(t, slices.Concat([]string{"link", path("a.csv"), path("b.csv"), "-o", path("out.csv")},
			strings.Fields(flags))...)
		clean()
		var got []string
		for _, row := range rowsOf(t, path("out.csv"))[1:] {
			got = append(got, row[1]+row[5])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s\n%s", flags, got, want, written(t, path("out.csv")))
		}
	}
	if header := rowsOf(t, path("out.csv"))[0]; !slices.Equal(header, []string{"match_weight", "id", "name", "phones", "city", "second_id", "second_name", "second_phones"}) {
		t.Errorf("the header is %v", header)
	}
}

// If the files list nothing twice, each row gets one partner, and the output states how many pairs that leaves out.
func TestLink_OneToOneByDefault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := "id,title,authors,year\n", "id,title,authors,year\n"
	for i := range 30 {
		a += fmt.Sprintf("%d,Indexing %[2]s Structures in %[2]s Stores,Ada Quill %[2]s,%d\n", i,
			strings.Repeat(string(rune('a'+i%26)), 4+i/26), 1990+i%20)
		b += fmt.Sprintf("%d,Indexing %[2]s structures in %[2]s stores,A. Quill %[2]s,%d\n", i,
			strings.Repeat(string(rune('a'+i%26)), 4+i/26), 1990+i%20)
	}
	a += "30,Indexing aaaa Structures in aaaa Stores,Ada Quill aaaa,1992\n" // once more, in a journal
	for name, text := range map[string]string{"a.csv": a, "b.csv": b} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for flag, want := range map[string]int{"": 30, "--one-to-one=false": 31} {
		got := done(t, slices.Concat([]string{"link", filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv"), "-o", filepath.Join(dir, "out.csv")}, strings.Fields(flag))...)
		if rows := len(rowsOf(t, filepath.Join(dir, "out.csv"))) - 1; rows != want || strings.Contains(got.err, "1 pair of rows with a better partner left out") != (flag == "") {
			t.Errorf("%q: %d pairs\n%s", flag, rows, got.err)
		}
	}
}

// If two kinds explain the same number of columns, the one whose attributes have the names of the columns is used.
func TestDedupe_TheKindThatNamesTheColumns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for column, kind := range map[string]string{"title": "product", "name": "place"} {
		file := filepath.Join(dir, column+".csv")
		if err := os.WriteFile(file, []byte(column+"\nSony Turntable PSLX350H\nSony PS-LX350H turntable\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := done(t, "dedupe", file, "-o", filepath.Join(dir, "out.csv")); !strings.Contains(got.err, "kind "+kind+": compared by "+column) {
			t.Errorf("%s: %s", column, got.err)
		}
	}
}

// Files with different columns are recognised separately, as one kind. A flag may name columns that only one of them
// has.
func TestDedupe_RecognisesEachFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"a.csv":   "Kunden-Nr;Vorname;Nachname;Telefon;Notiz\nK-1;Jonas;Weber;0228 123456;x\nK-2;Anna;Kern;0221 998877;\n",
		"b.jsonl": `{"no":"1","first_name":"Jonas","last_name":"Weber","fon":"0228 123456"}` + "\n" + `{"no":"2","first_name":"Zoe","last_name":"Quill","fon":"0221 5555"}` + "\n",
		"c.csv":   "foo,bar\n1,2\n",
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := done(t, "dedupe", path("a.csv"), path("b.jsonl"), "-o", path("out.csv"), "--links", path("links.csv"), "--set",
		"phones=fon")
	for _, says := range []string{"each row is a person", "another name of it", "kind person: compared by Vorname, Nachname, Telefon, first_name", "not compared: Notiz "} {
		if !strings.Contains(r.err, says) {
			t.Errorf("it does not say %q:\n%s", says, r.err)
		}
	}
	if got, want := written(t, path("links.csv")), "source,key,cluster_id\na,K-1,1\na,K-2,2\nb,1,1\nb,2,3\n"; got != want {
		t.Errorf("got\n%swant\n%s\n%s", got, want, written(t, path("out.csv")))
	}
	for says, args := range map[string][]string{
		`there is no column "fone"; did you mean "fon"?`: {path("a.csv"), path("b.jsonl"), "--set", "phones=fone"},
		"no column is an attribute: there are foo, bar":  {path("c.csv")},
		"is given twice": {"-", "-"},
	} {
		if r := run(t.Context(), nil, append([]string{"dedupe", "-o", path("no.csv")}, args...)...); r.code != 2 || !strings.Contains(r.err, says) {
			t.Errorf("%v: exit %d: %s", args, r.code, r.err)
		}
	}
}
