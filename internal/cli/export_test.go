// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
)

// done runs a command that has to succeed.
func done(t *testing.T, args ...string) result {
	t.Helper()
	r := run(t.Context(), nil, args...)
	if r.code != 0 {
		t.Fatalf("%v: exit %d\n%s%s", args, r.code, r.stdout, r.err)
	}
	return r
}

func written(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// messyRecords are records of several kinds and sources whose values are hard on separators, quotes and line ends.
func messyRecords() string {
	hard := []string{
		`a | b`, `a|b`, `C:\new`, `\|`, "two\nlines", "cr\r\nlf", `say "x"`, "comma, too", " blanks ", "=1+1", "naïve – é",
		"\ttab", `ends\`, "'", "N/A",
	}
	var b strings.Builder
	for i, v := range hard {
		record := map[string]any{"source": []string{"crm", "shop"}[i%2], "key": fmt.Sprint(v[:1], i, " ", v[len(v)-1:]),
			"name": []string{v}, "observed_at": "2026-01-02T03:04:05.678Z"}
		if strings.HasPrefix(v, " ") || strings.ContainsAny(v, "\n\r\t\u00ef") {
			record["key"] = fmt.Sprint("k", i)
		}
		switch i % 3 {
		case 0:
			record["category"] = []string{v, hard[(i+1)%len(hard)], "x"}
		case 1:
			record["name"] = []string{v, "another " + v} // alternatives of an attribute with one value
		case 2:
			record["kind"], record["emails"] = "person", []string{"a@b.example"}
		}
		line, _ := json.Marshal(record)
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// Records that were exported, ingested elsewhere and exported again give the same file.
func TestExport_RecordsComeBackByteForByte(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("in.jsonl"), []byte(messyRecords()), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t.Context(), nil, "ingest", "--data", path("a"), path("in.jsonl")); r.code != 0 {
		rejects, _ := os.ReadFile(path("in.jsonl.rejected.jsonl"))
		t.Fatalf("%s\n%s", r.err, rejects)
	}
	for _, format := range []string{"csv", "jsonl", "parquet"} {
		first, second := path("first."+format), path("second."+format)
		done(t, "export", "records", "--data", path("a"), "-o", first)
		done(t, "ingest", "--data", path("b"+format), first)
		done(t, "export", "records", "--data", path("b"+format), "-o", second)
		if format != "parquet" && written(t, first) != written(t, second) { // its footer has the watermark
			t.Errorf("%s: exported\n%s\nand again\n%s", format, written(t, first), written(t, second))
		}
		done(t, "export", "records", "--data", path("b"+format), "-o", path("as.csv"))
		if written(t, path("as.csv")) != written(t, path("first.csv")) {
			t.Errorf("ingested from %s and exported as CSV:\n%s\nwant\n%s", format, written(t, path("as.csv")),
				written(t, path("first.csv")))
		}
		if n := strings.Count(written(t, path("as.csv")), "2026-01-02T03:04:05.678Z"); n != 15 {
			t.Errorf("%s: %d records, want 15", format, n)
		}
	}
	if header, _, _ := strings.Cut(written(t, path("first.csv")), "\n"); !strings.Contains(header, "name[],") || strings.Contains(header, "brand") {
		t.Errorf("the header is %s", header)
	}
}

func TestExport_TablesAndColumns(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	in := "source,key,name,phones\nchamber,1,Joes Pizza,415-555-2300\ncrawler,2,Joe's Pizza,(415) 555-2300\ncrawler,3,Blue Door Books,415-555-9999\n"
	if err := os.WriteFile(path("in.csv"), []byte(in), 0o600); err != nil {
		t.Fatal(err)
	}
	data := []string{"--data", path("a")}
	done(t, append([]string{"ingest", path("in.csv")}, data...)...)
	export := func(args ...string) result { return done(t, append(append([]string{"export"}, args...), data...)...) }

	if got := export("records", "--columns", "name,key", "--source", "crawler").stdout; got != "name,key\nJoe's Pizza,2\nBlue Door Books,3\n" {
		t.Errorf("two columns of a source:\n%s", got)
	}
	if got := export("links", "--columns", "*,puid", "--source", "chamber").stdout; !strings.HasPrefix(got, "source,key,kind,entity,puid\nchamber,1,place,") {
		t.Errorf("the usual columns and one more:\n%s", got)
	}
	links := export("links", "--format", "jsonl").stdout
	var of []struct{ Source, Key, Entity string }
	for line := range strings.Lines(links) {
		var link struct{ Source, Key, Entity string }
		if err := json.Unmarshal([]byte(line), &link); err != nil {
			t.Fatal(err)
		}
		of = append(of, link)
	}
	if len(of) != 3 || of[0].Entity != of[1].Entity || of[1].Entity == of[2].Entity {
		t.Errorf("links:\n%s", links)
	}
	if got := export("entities", "--columns", "records,phones", "--source", "chamber").stdout; got != "records[],phones[]\nchamber:1 | crawler:2,(415) 555-2300\n" && got != "records[],phones[]\ncrawler:2 | chamber:1,(415) 555-2300\n" {
		t.Errorf("entities with a record of a source:\n%s", got)
	}
	done(t, append([]string{"review", "answer", "chamber:1", "crawler:2", "--different", "--author", "ann"}, data...)...)
	decisions := export("decisions", "-o", path("d.jsonl"))
	if got := written(t, path("d.jsonl")); !strings.Contains(got, `{"verdict":"different","a":"chamber:1","b":"crawler:2","author":"ann"`) {
		t.Errorf("decisions:\n%s%s", got, decisions.err)
	}
	done(t, append([]string{"decision", "import", path("d.jsonl")}, data...)...)

	// The watermark of one export is where the next one begins.
	summary := export("entities", "--json", "-o", path("e.parquet")).stdout
	var said struct{ Watermark string }
	if err := json.Unmarshal([]byte(summary), &said); err != nil || said.Watermark == "" {
		t.Fatalf("%s: %v", summary, err)
	}
	file, _ := os.Open(path("e.parquet"))
	defer file.Close()
	info, _ := file.Stat()
	if p, err := parquet.OpenFile(file, info.Size()); err != nil || p.NumRows() != 3 {
		t.Errorf("parquet: %v", err)
	} else if mark, _ := p.Lookup("locus.watermark"); mark != said.Watermark {
		t.Errorf("the footer says %q, the summary %q", mark, said.Watermark)
	}
	if got := export("records", "--since", said.Watermark).stdout; strings.Count(got, "\n") != 1 {
		t.Errorf("nothing has changed, but:\n%s", got)
	}
	if err := os.WriteFile(path("in.csv"), []byte("source,key,name\nnew,9,Corner Bakery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	done(t, append([]string{"ingest", path("in.csv")}, data...)...)
	done(t, append([]string{"record", "erase", "crawler:3", "--yes"}, data...)...)
	if got := export("records", "--since", said.Watermark, "--columns", "key,op,name").stdout; got != "key,op,name\n,delete,\n9,upsert,Corner Bakery\n" {
		t.Errorf("records since:\n%s", got)
	}
	if got := export("entities", "--since", said.Watermark, "--columns", "op,records").stdout; !strings.Contains(got, "delete,\n") || !strings.Contains(got, "upsert,new:9\n") {
		t.Errorf("entities since:\n%s", got)
	}
	done(t, append([]string{"decision", "withdraw", "chamber:1", "crawler:2"}, data...)...)
	if got := export("entities", "--since", said.Watermark, "--columns", "op,records").stdout; !strings.Contains(got, "redirect,\n") || !strings.Contains(got, " | ") {
		t.Errorf("entities since, after a merge:\n%s", got)
	}
}

// A table that stops in the middle leaves no file, and keeps an older one.
func TestExport_LeavesNoHalfFile(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(httpapi.ColumnsHeader, "source,key")
		w.Header().Set(httpapi.WatermarkHeader, "g0-0:1")
		fmt.Fprintln(w, `{"source":"a","key":"b"}`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	name := filepath.Join(dir, "out.csv")
	for _, before := range []string{"", "old"} {
		if before != "" {
			if err := os.WriteFile(name, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := run(t.Context(), nil, "export", "links", "--url", server.URL, "-o", name)
		left, _ := os.ReadDir(dir)
		content, _ := os.ReadFile(name)
		if r.code != 6 || string(content) != before || len(left) != len(before)/3 {
			t.Errorf("exit %d, %d files, %q\n%s", r.code, len(left), content, r.err)
		}
		if r := run(t.Context(), nil, "export", "links", "--url", server.URL); r.code != 6 || r.stdout != "" {
			t.Errorf("exit %d, printed %q", r.code, r.stdout)
		}
	}
}

func TestExport_RefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := filepath.Join(t.TempDir(), "a")
	if r := runWith(t.Context(), "source,key,name\na,1,Joes Pizza\n", nil, "ingest", "--data", dir, "-"); r.code != 0 {
		t.Fatal(r.err)
	}
	for _, c := range []struct{ args, says string }{
		{"things", "there are records, entities, links and decisions"},
		{"records --format xml", "there are csv, jsonl and parquet"},
		{"records --format jsonl --spreadsheet", "is for csv"},
		{"records --columns nmae", "there is no column \"nmae\""},
		{"records --kind nobodys", "there is no kind"},
		{"records --since yesterday", "--since"},
		{"decisions --source a", "exported as a whole"},
		{"records -o " + filepath.Join(dir, "none", "x.csv"), "no such file"},
	} {
		r := run(t.Context(), nil, append(append([]string{"export"}, strings.Fields(c.args)...), "--data", dir)...)
		if r.code != 2 || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit %d, says %s", c.args, r.code, r.err)
		}
	}
}
