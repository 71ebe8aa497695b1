// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/longtest"
)

// The same snapshot in every format leaves the same records: one row stays, one is new, one is refused and keeps its
// record, and records in no row are deleted.
func TestSnapshot_OfEveryFormat(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := newWatchedServer(t)
	dir := t.TempDir()
	path := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	_, db := shop(t)
	if _, err := db.Exec(`CREATE TABLE things (key TEXT PRIMARY KEY, name TEXT, latitude TEXT);
		INSERT INTO things VALUES ('1', 'One', NULL), ('4', 'Four', NULL), ('2', 'Two', 'north')`); err != nil {
		t.Fatal(err)
	}
	var file string
	if err := db.QueryRow("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"csv":           {path("f.csv", "key,name,latitude\n1,One,\n4,Four,\n2,Two,north\n")},
		"two csv files": {path("a.csv", "key,name,latitude\n1,One,\n2,Two,north\n"), path("b.csv", "key,name\n4,Four\n")},
		"json lines": {path("f.jsonl",
			`{"key":1,"name":"One"}`+"\n"+`{"key":"4","name":"Four"}`+"\n"+`{"key":"2","name":"Two","latitude":"north"}`+"\n")},
		"unknown column": {path("g.jsonl", `{"key":1,"name":"One"}`+"\n"+`{"key":"4","name":"Four"}`+"\n"+strings.Repeat(`{"key":"4","name":"Four"}`+"\n", 15000)+`{"nothing":1,"key":"2","name":"Two"}`+"\n")},
		"json":           {path("f.json", `{"data":[{"key":1,"name":"One"},{"key":"4","name":"Four"},{"key":"2","name":"Two","latitude":"north"}]}`), "--rows", "data"},
		"parquet":        {parquetFile(t, filepath.Join(dir, "f.parquet"))},
		"xlsx":           {workbook(t, filepath.Join(dir, "f.xlsx"))},
		"table":          {"sqlite:" + file, "--table", "things"},
		"query":          {"sqlite:" + file, "--query", "SELECT * FROM things", "--key", "key"},
	} {
		source := strings.ReplaceAll(name, " ", "-")
		for i, of := range []string{"One", "Two", "Three"} {
			s.put(t, source, fmt.Sprint(i+1), of)
		}
		got := run(t.Context(), nil, append([]string{"ingest", "--url", s.url, "--source", source, "--snapshot", "--yes"},
			args...)...)
		if diff := cmp.Diff(map[string]string{"1": "One", "2": "Two", "4": "Four"}, s.state(t, source)); diff != "" || got.code != 3 {
			t.Errorf("%s: exit %d %s\n%s%s", name, got.code, diff, got.stdout, got.err)
		}
	}
}

func parquetFile(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := exchange.New(file, exchange.Parquet,
		[]exchange.Column{{Name: "key"}, {Name: "name"}, {Name: "latitude"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []exchange.Row{{{"1"}, {"One"}, nil}, {{"4"}, {"Four"}, nil}, {{"2"}, {"Two"}, {"north"}}} {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func workbook(t *testing.T, path string) string {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	for i, row := range [][]any{{"key", "name", "latitude"}, {1, "One"}, {4, "Four"}, {2, "Two", "north"}} {
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// A snapshot of a table that was stopped is read from the beginning, since its rows may have changed before the
// position.
func TestSnapshot_OfATableAfterAStop(t *testing.T) {
	t.Parallel()
	s := newWatchedServer(t)
	dir, db := shop(t)
	args := []string{
		"ingest", "--url", s.url, "--batch", "10", "--table", "customers", "--set", "name=company", "--ignore", "photo",
		"--ignore", "changed", "--snapshot", "--max-delete", "100%",
		"sqlite:" + filepath.Join(dir, "shop.db"),
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	n := 0
	s.watch(func(http.ResponseWriter, string) bool {
		if n++; n == 5 {
			stop()
		}
		return false
	})
	if got := run(ctx, nil, args...); got.code != 130 {
		t.Fatalf("stopped: exit %d\n%s", got.code, got.err)
	}
	s.watch(nil)
	if _, err := db.Exec("DELETE FROM customers WHERE no < 6 OR no > 200"); err != nil {
		t.Fatal(err)
	}
	if got := run(t.Context(), nil, args...); got.code != 0 || strings.Contains(got.err, "continuing") {
		t.Fatalf("repeated: exit %d\n%s%s", got.code, got.stdout, got.err)
	}
	state := s.state(t, "customers")
	if len(state) != 195 || state["5"] != "" || state["6"] != "Shop 6" || state["200"] != "Shop 200" {
		t.Errorf("%d records, want those of 6 to 200", len(state))
	}
}

// A key of the content makes an edited row a new record, and the snapshot deletes the old one.
func TestSnapshot_OfKeysByContent(t *testing.T) {
	t.Parallel()
	s := newWatchedServer(t)
	path := filepath.Join(t.TempDir(), "list.csv")
	args := []string{"ingest", "--url", s.url, "--source", "list", "--key", "@hash"}
	if err := os.WriteFile(path, []byte("name\nZero\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t.Context(), nil, append(args, path)...); got.code != 0 || !strings.Contains(got.err, "--snapshot deletes records that the file no longer has") {
		t.Fatalf("exit %d\n%s", got.code, got.err)
	}
	for _, text := range []string{"name,city\nOne,Springfield\nTwo,Springfield\n", "name,city\nOne,Springfield\nTwo,Shelbyville\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := run(t.Context(), nil, append(args, "--snapshot", path)...); got.code != 0 || strings.Contains(got.err, "--snapshot") {
			t.Fatalf("exit %d\n%s", got.code, got.err)
		}
	}
	if state := s.state(t, "list"); len(state) != 2 {
		t.Errorf("%d records, want 2: %v", len(state), state)
	}
}

// A snapshot of several files is complete only with all of them: a file that cannot be read prevents every deletion.
func TestSnapshot_OfAFileThatIsCut(t *testing.T) {
	t.Parallel()
	s := newWatchedServer(t)
	dir := t.TempDir()
	for i := range 3 {
		s.put(t, "cut", fmt.Sprint(i), fmt.Sprintf("Thing %d", i))
	}
	good, cut := filepath.Join(dir, "good.csv"), filepath.Join(dir, "cut.json")
	if err := os.WriteFile(good, []byte("key,name\n0,Thing 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, []byte(`[{"key":"1","name":"Thing 1"},`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, files := range [][]string{{good, cut}, {cut, good}} {
		got := run(t.Context(), nil, append([]string{"ingest", "--url", s.url, "--source", "cut", "--snapshot"}, files...)...)
		if len(s.state(t, "cut")) != 3 || got.code == 0 || !strings.Contains(got.err, "nothing is deleted") {
			t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.err)
		}
	}
}

// locus source delete prints its plan, asks, keeps records written since, and can be stopped and repeated.
func TestSourceDelete(t *testing.T) {
	t.Parallel()
	s := newWatchedServer(t)
	for i := range 5 {
		s.put(t, "old", fmt.Sprint(i), fmt.Sprintf("Thing %d", i))
	}
	s.put(t, "new", "1", "Other")
	env := map[string]string{"LOCUS_URL": s.url}
	for _, c := range []struct {
		args []string
		code int
		says string
		left int
	}{
		{[]string{"delete", "old", "--dry-run"}, 0, "would delete 5 records of source old: 5 place", 5},
		{[]string{"delete", "old"}, 2, "--yes", 5},
		{[]string{"delete", "old", "--kind", "person", "--yes"}, 4, "of kind person has no records", 5},
		{[]string{"delete", "nothing", "--yes"}, 4, "has no records", 5},
		{[]string{"delete", "NOT", "--yes"}, 2, "", 5},
		{[]string{"show", "nothing"}, 4, "has no records", 5},
	} {
		got := run(t.Context(), env, append([]string{"source"}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.err, c.says) || len(s.state(t, "old")) != c.left {
			t.Errorf("%q: exit %d, %d left\n%s%s", c.args, got.code, len(s.state(t, "old")), got.stdout, got.err)
		}
	}
	if got := run(t.Context(), env, "source", "list"); got.code != 0 || !strings.Contains(got.stdout, "new\tplace\t1\t") || !strings.Contains(got.stdout, "old\tplace\t5\t") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.err)
	}
	s.watch(func(http.ResponseWriter, string) bool {
		if _, err := s.svc.Records().Delete(context.Background(), []entity.Ref{{Source: "old", Key: "2"}}); err != nil {
			t.Error(err)
		}
		s.put(t, "old", "3", "Written since")
		return false
	})
	got := run(t.Context(), env, "source", "delete", "old", "--yes", "--json")
	if of := summaryOf(t, got, "summary"); got.code != 0 || of["deleted"] != 3.0 || of["kept"] != 1.0 || of["gone"] != 1.0 {
		t.Errorf("exit %d %v\n%s", got.code, of, got.err)
	}
	s.watch(nil)
	if diff := cmp.Diff(map[string]string{"3": "Written since"}, s.state(t, "old")); diff != "" {
		t.Error(diff)
	}
	if got := run(t.Context(), env, "source", "delete", "old", "--yes"); got.code != 0 || len(s.state(t, "old")) != 0 || len(s.state(t, "new")) != 1 {
		t.Errorf("repeated: exit %d\n%s%s", got.code, got.stdout, got.err)
	}
}
