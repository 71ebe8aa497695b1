// SPDX-License-Identifier: Apache-2.0

package exchange_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/exchange"
)

// messy draws texts that are hard on quotes, escapes and separators. Values of records are never empty.
var messy = rapid.StringOfN(rapid.SampledFrom([]rune("a| \\\",;\n\r\té–=+\u2028\u0001")), 1, 12, -1)

func TestList_SplitIsTheReverseOfJoin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(messy, 1, 4).Draw(t, "values")
		if diff := cmp.Diff(values, exchange.SplitList(exchange.JoinList(values))); diff != "" {
			t.Fatalf("%q: -joined +split:\n%s", exchange.JoinList(values), diff)
		}
	})
}

// Text that no export wrote is read unchanged.
func TestSplitList_KeepsWhatIsNoEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`C:\temp`: {`C:\temp`}, "a|b": {"a|b"}, "a | b": {"a", "b"}, `a \| b`: {"a | b"}, "|": {"|"}, `a\`: {`a\`}, "": nil,
		" | ": {"", ""},
	} {
		if diff := cmp.Diff(want, exchange.SplitList(text)); diff != "" {
			t.Errorf("%q: -want +got:\n%s", text, diff)
		}
	}
}

var columns = []exchange.Column{{Name: "key"}, {Name: "phones", Many: true}, {Name: "size", Type: exchange.Int},
	{Name: "weight", Type: exchange.Float}}

func table(t *testing.T, format exchange.Format, opts *exchange.Options, rows ...exchange.Row) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := exchange.New(&out, format, columns, opts)
	for _, row := range rows {
		err = errors.Join(err, w.Write(row))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestFormats(t *testing.T) {
	t.Parallel()
	rows := []exchange.Row{
		{{"a,\"b\"\n"}, {"1 | 2", `3\`}, {"7"}, {"-1.5"}},
		{{"=1+1"}, nil, nil, nil},
		{{"-5"}, {"x"}, nil, nil},
	}
	for name, want := range map[exchange.Format]string{
		exchange.CSV:   "key,phones[],size,weight\n\"a,\"\"b\"\"\n\",1 \\| 2 | 3\\\\,7,-1.5\n=1+1,,,\n-5,x,,\n",
		exchange.JSONL: `{"key":"a,\"b\"\n","phones":["1 | 2","3\\"],"size":7,"weight":-1.5}` + "\n" + `{"key":"=1+1"}` + "\n" + `{"key":"-5","phones":["x"]}` + "\n",
	} {
		if diff := cmp.Diff(want, string(table(t, name, nil, rows...))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
	if got := string(table(t, exchange.CSV, &exchange.Options{Spreadsheet: true}, rows...)); !strings.Contains(got, "\n'=1+1,") || !strings.Contains(got, "\n-5,") {
		t.Errorf("for a spreadsheet:\n%s", got)
	}
}

// A Parquet file is read with the library's own reader.
func TestParquet_HasTheRowsAndTheMetadata(t *testing.T) {
	t.Parallel()
	var rows []exchange.Row
	for i := range 700 {
		row := exchange.Row{{fmt.Sprint("k", i)}, nil, exchange.FormatInt(int64(i)), nil}
		if i%3 == 0 {
			row[1], row[3] = []string{"p", fmt.Sprint(i)}, []string{"0.25"}
		}
		rows = append(rows, row)
	}
	file := table(t, exchange.Parquet, &exchange.Options{Metadata: [][2]string{{"locus.watermark", "g0-0:17"}}}, rows...)
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if mark, _ := f.Lookup("locus.watermark"); mark != "g0-0:17" {
		t.Errorf("the watermark is %q", mark)
	}
	type record struct {
		Key    *string  `parquet:"key,optional"`
		Phones []string `parquet:"phones,list"`
		Size   *int64   `parquet:"size,optional"`
		Weight *float64 `parquet:"weight,optional"`
	}
	read, err := parquet.Read[record](bytes.NewReader(file), int64(len(file)))
	if err != nil || len(read) != len(rows) {
		t.Fatalf("%d rows, %v", len(read), err)
	}
	for i, r := range read {
		if *r.Key != rows[i][0][0] || *r.Size != int64(i) || len(r.Phones) != len(rows[i][1]) ||
			(r.Weight != nil) != (i%3 == 0) {
			t.Fatalf("row %d: %+v", i, r)
		}
	}
	if first := f.Schema().Fields()[1].Name(); first != "phones" {
		t.Errorf("the second column is %s", first)
	}
}

// Sorting with runs on disk is sorting in memory.
func TestSorter_IsAStableSort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := exchange.Sorter{Dir: dir, Memory: rapid.IntRange(1, 200).Draw(t, "memory")}
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "ab", "b", "\x00"}), 0, 60).Draw(t, "keys")
		type pair struct{ key, line string }
		var want []pair
		for i, key := range keys {
			want = append(want, pair{key, fmt.Sprint(i)})
			if err := s.Add([]byte(key), []byte(want[i].line)); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortStableFunc(want, func(a, b pair) int { return strings.Compare(a.key, b.key) })
		i := 0
		for line, err := range s.All() {
			if err != nil || string(line) != want[i].line {
				t.Fatalf("line %d is %q (%v), want %q", i, line, err, want[i].line)
			}
			i++
		}
		if err := s.Close(); err != nil || i != len(want) {
			t.Fatalf("%d lines of %d, %v", i, len(want), err)
		}
	})
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
}

func TestFile_HasItsNameOnlyWhenComplete(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "out.csv")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, complete := range []bool{false, true} {
		f, err := exchange.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(f, "new")
		if content, _ := os.ReadFile(name); string(content) != "old" {
			t.Errorf("before the end the file holds %q", content)
		}
		if complete {
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		f.Discard()
		left, _ := os.ReadDir(filepath.Dir(name))
		content, _ := os.ReadFile(name)
		if want := map[bool]string{false: "old", true: "new"}[complete]; len(left) != 1 || string(content) != want {
			t.Errorf("complete %t: %d files, %q, want %q", complete, len(left), content, want)
		}
	}
}

func Example() {
	w, _ := exchange.New(os.Stdout, exchange.CSV, []exchange.Column{{Name: "key"}, {Name: "phones", Many: true}}, nil)
	_ = w.Write(exchange.Row{{"88231"}, {"415-555-2300", "415-555-2301"}})
	_ = w.Close()
	// Output:
	// key,phones[]
	// 88231,415-555-2300 | 415-555-2301
}

// If the name is a link, its target is replaced. A pipe is written to directly, and a directory is refused.
func TestCreate_LinksAndStreams(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target.csv"), filepath.Join(dir, "link.csv")
	if err := errors.Join(os.WriteFile(target, []byte("old"), 0o600), os.Symlink("target.csv", link)); err != nil {
		t.Fatal(err)
	}
	put := func(name string) {
		t.Helper()
		f, err := exchange.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Discard()
		if _, err := f.WriteString("new"); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	put(link)
	text, err := os.ReadFile(target)
	info, errLink := os.Lstat(link)
	if err = errors.Join(err, errLink); err != nil || string(text) != "new" || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%s has %q, %s is %v; %v", target, text, link, info.Mode(), err)
	}
	put(os.DevNull)
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is %v now, %v", os.DevNull, info.Mode(), err)
	}
	if _, err := exchange.Create(dir); err == nil || !strings.Contains(err.Error(), "it is a directory") {
		t.Errorf("a directory: %v", err)
	}
	var none *exchange.File
	none.Discard()
	if err := none.Commit(); err != nil {
		t.Error(err)
	}
}
