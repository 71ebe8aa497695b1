// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A table never overwrites a file that is read or another table, and its name must fit its format. That is checked
// before anything is read.
func TestOutputs_AreChecked(t *testing.T) {
	t.Parallel()
	const text = "id,name,city\n1,Blue Door,Oakland\n2,Green Gate,Oakland\n"
	in := write(t, "in.csv", text)
	dir := filepath.Dir(in)
	again := dir + string(filepath.Separator) + "." + string(filepath.Separator) + "in.csv"
	linked := filepath.Join(dir, "linked.csv")
	if err := os.Link(in, linked); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.csv")
	data := filepath.Join(dir, "data")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"would be read and written", []string{"dedupe", in, "-o", again}},
		{"would be read and written", []string{"dedupe", in, "-o", linked}},
		{"would be read and written", []string{"dedupe", in, "-o", out, "--review", in}},
		{"would be read and written", []string{"match", in, "-o", again, "--data", data}},
		{"would be written twice", []string{"dedupe", in, "-o", out, "--golden", dir + "/./out.csv"}},
		{"there is no directory", []string{"dedupe", in, "-o", filepath.Join(dir, "none", "out.csv")}},
		{"nothing is written as .xlsx", []string{"dedupe", in, "-o", filepath.Join(dir, "out.xlsx")}},
		{"nothing is written as .gz", []string{"dedupe", in, "-o", out, "--links", out + ".gz"}},
		{"nothing is written as .json", []string{"export", "records", "-o", filepath.Join(dir, "out.json"), "--data", data}},
		{"would be written twice", []string{"dedupe", in, "-o", "-", "--golden", "/dev/stdout"}},
		{"it is a directory", []string{"dedupe", in, "-o", dir}},
		{"is given twice", []string{"link", in, linked, "-o", out}},
	} {
		if r := run(t.Context(), nil, c.args...); r.code != 2 || !strings.Contains(r.err, c.want) || !strings.Contains(r.err, "try:") {
			t.Errorf("%q: exit %d, %s; want %q", c.args, r.code, r.err, c.want)
		}
	}
	if got := written(t, in); got != text {
		t.Errorf("the input is %q afterwards", got)
	}
}

// A preview shows rows as the command below it reads them, also without a key, judges all rows that were looked at, and
// asks once about all columns that mean nothing.
func TestIngest_Preview(t *testing.T) {
	t.Parallel()
	in := write(t, "in.csv", "company,city,a,b\nBlue Door,Bath,1,2\n,,1,2\nCorner Bakery,York,3,4\nMill,Leeds,3,4\nQuay,Hull,5,6\n,,7,8\nTotal,,20,24\n")
	r := run(t.Context(), nil, "ingest", "--preview", in, "--data", t.TempDir())
	for _, want := range []string{`line 2: {"city":"Bath","key":"`, "line 5: {", "refused: line 3: a record of kind place", "(and 1 other row)", "line 8 looks like the total", "question: 2 columns mean nothing", "--key @hash"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s%s", want, r.stdout, r.err)
		}
	}
	if strings.Contains(r.stdout, "line 6: {") || strings.Contains(r.stdout, "/key: it is missing") {
		t.Error(r.stdout)
	}
	if r := run(t.Context(), nil, "ingest", "--preview", "--json", in, "--data", t.TempDir()); !strings.Contains(r.stdout, `"total":8`) {
		t.Error(r.stdout)
	}
}

// A file without rows is reported, because the program that made it may have failed.
func TestDedupe_NamesFilesWithoutRows(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "id,name,city\n"} {
		in := write(t, "in.csv", text)
		if r := run(t.Context(), nil, "dedupe", in, "-o", filepath.Join(filepath.Dir(in), "out.csv")); r.code != 0 || !strings.Contains(r.err, "in.csv has no rows") {
			t.Errorf("%q: exit %d, %s", text, r.code, r.err)
		}
		if r := run(t.Context(), nil, "ingest", "--preview", in, "--data", t.TempDir()); r.code != 0 || !strings.Contains(r.stdout, "in.csv has no rows") {
			t.Errorf("%q: exit %d, %s%s", text, r.code, r.stdout, r.err)
		}
	}
}
