// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/longtest"
)

// The writer of a stream may be killed between any two bytes. Every complete row is imported, an incomplete row is not,
// and the rejection says that the input ends there.
func TestStream_Halves(t *testing.T) {
	t.Parallel()
	const header = "source,key,name,phones\n"
	for _, c := range []struct {
		name, head string
		rows       []string
		format     bulk.Format
	}{
		{"CSV", header, []string{"x,1,Joe's Pizza,415-555-2300\n", "x,2,\"Café, \"\"Roma\"\"\",415-555-2301\n", "x,3,\"two\nlines\",\"415-555-2302\"\n"}, bulk.CSV},
		{"CSV, CR LF", strings.ReplaceAll(header, "\n", "\r\n"), []string{"x,1,a,5\r\n", "x,2,\"b\",6\r\n"}, bulk.CSV},
		{"JSON lines", "", []string{`{"source":"x","key":"1","name":"Joe"}` + "\n", `{"source":"x","key":"2","phones":["5","6"]}` + "\n"}, bulk.JSONL},
	} {
		whole := c.head + strings.Join(c.rows, "")
		want, err := read(t, whole, bulk.Options{})
		if err != nil || len(want) != len(c.rows) {
			t.Fatalf("%s: %q, %v", c.name, want, err)
		}
		for cut := len(c.head); cut < len(whole); cut++ {
			complete, rest := 0, cut-len(c.head)
			for ; rest >= len(c.rows[complete]); complete++ {
				rest -= len(c.rows[complete])
			}
			if c.format == bulk.JSONL && rest == len(c.rows[complete])-1 {
				complete, rest = complete+1, 0 // a closed object is complete
			}
			r, err := open(bulk.Stdin, strings.NewReader(whole[:cut]), c.format, &bulk.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, last, says := 0, (*bulk.RowError)(nil), ""
			for {
				row, err := r.Next()
				if err == io.EOF {
					break
				}
				if errors.As(err, &last) {
					says += last.Reason + "\n"
					continue
				}
				if err != nil || last != nil || got >= complete || fmt.Sprintf("%d %s:%s %v", row.Line, row.Source, row.Key, row.Attributes) != want[got] {
					t.Fatalf("%s, cut behind %q: row %+v, %v, after a refusal: %v", c.name, whole[:cut], row, err, last)
				}
				got++
			}
			if got != complete || (last != nil) != (rest > 0) {
				t.Errorf("%s, cut behind %q: %d rows, want %d; refused: %v", c.name, whole[:cut], got, complete, last)
			}
			if last != nil && !strings.Contains(says, "as if what wrote it had been stopped") && !strings.Contains(says, "the file ends before") {
				t.Errorf("%s, cut behind %q: %q does not say that the input ends there", c.name, whole[:cut], says)
			}
		}
	}
}

// The last line of a file may lack its line end, because the size of a file is known, however it is opened.
func TestFile_LastLineWithoutEnd(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "places.csv")
	if err := os.WriteFile(name, []byte("source,key,name\nx,1,a"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pipe, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if _, err := writer.WriteString("source,key,name\nx,1,a"); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	for _, c := range []struct {
		name  string
		stdin io.Reader
		want  string
	}{
		{name, nil, "2 x:1 map[name:[a]]"},
		{bulk.Stdin, file, "2 x:1 map[name:[a]]"},
		{bulk.Stdin, pipe, "2 refused malformed "},
	} {
		r, err := open(c.name, c.stdin, bulk.CSV, &bulk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := drain(t, r); err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// A truncated compressed file is detected at any cut: it is an error of the file, after the rows before it.
func TestCompressed_Cut(t *testing.T) {
	t.Parallel()
	var text, zipped, packed bytes.Buffer
	text.WriteString("source,key,name\n")
	for i := range 200 {
		fmt.Fprintf(&text, "x,%d,name %d\n", i, i*7919)
	}
	g := gzip.NewWriter(&zipped)
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z} {
		if _, err := w.Write(text.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, whole := range map[string][]byte{"gzip": zipped.Bytes(), "zstd": packed.Bytes()} {
		for cut := 5; cut < len(whole); cut += 1 + len(whole)/97 {
			r, err := open(bulk.Stdin, bytes.NewReader(whole[:cut]), bulk.CSV, &bulk.Options{})
			if err == nil {
				_, err = drain(t, r)
			}
			if _, ok := errors.AsType[*bulk.FileError](err); !ok {
				t.Errorf("%s, %d of %d bytes: %v, want an error of the file", name, cut, len(whole), err)
			}
		}
	}
}

// A quote that is opened and not closed costs only its line.
func TestCSV_StrayQuote(t *testing.T) {
	t.Parallel()
	const header = "source,key,name\n"
	many := strings.Repeat("x,9,some name or other\n", bulk.MaxRow/23+10)
	for _, c := range []struct {
		name, in string
		want     []string // rejections and the rows around them
		rows     int
	}{
		{"to the end of the file", header + "x,1,\"a\nx,2,b\nx,3,c\n", []string{"2 refused malformed ", "3 x:2 map[name:[b]]", "4 x:3 map[name:[c]]"}, 3},
		{"in the last line", header + "x,1,a\nx,2,\"b\n", []string{"2 x:1 map[name:[a]]", "3 refused malformed "}, 2},
		{"two of them", header + "x,1,\"a\nx,2,b\nx,3,\"c\nx,4,d\n", []string{"2 refused malformed ", "3 x:2 map[name:[b]]", "4 refused malformed ", "5 x:4 map[name:[d]]"}, 4},
		{"before a row with quotes", header + "x,1,\"a\nx,2,b\nx,3,\"c, d\"\n", []string{"2 refused malformed ", "3 x:2 map[name:[b]]", "4 x:3 map[name:[c, d]]"}, 3},
		{"before a row of two lines", header + "x,1,\"a\nx,2,b\nx,3,\"c\nd\"\nx,4,e\n", []string{"2 refused malformed ", "3 x:2 map[name:[b]]", "4 x:3 map[name:[c\nd]]", "6 x:4 map[name:[e]]"}, 4},
		{"before bytes that are no text", header + "x,1,\"a\nx,2,\xff\nx,3,ç\n", []string{"2 refused malformed ", "3 refused invalid_utf8 ", "4 x:3 map[name:[ç]]"}, 3},
		{"before more than a row may have", header + "x,1,\"a\n" + many, []string{"2 refused malformed ", "3 x:9 map[name:[some name or other]]"}, 1 + bulk.MaxRow/23 + 10},
		{"before a line that is too long", header + "x,1,\"a\nx,2,b\n" + strings.Repeat("a", bulk.MaxRow+5) + "\nx,3,c\n", []string{"2 refused malformed ", "3 x:2 map[name:[b]]", "4 refused too_large ", "5 x:3 map[name:[c]]"}, 4},
		{"closed by the inches of another row", header + "x,1,\"a\nx,2,b\nx,3,12\"\nx,4,d\n", []string{"2 refused malformed ", "3 x:2 map[name:[b]]", "4 x:3 map[name:[12\"]]", "5 x:4 map[name:[d]]"}, 4},
		{"closed by inches before a delimiter", "source,name,key\nx,\"a,1\nx,b,2\nx,12\",3\nx,d,4\n", []string{"2 refused malformed ", "3 x:2 map[name:[b]]", "4 x:3 map[name:[12\"]]", "5 x:4 map[name:[d]]"}, 4},
		{"a piece after a broken row", header + "x,1,\"a\"b\nand,more,text\nx,2,b\n" + strings.Repeat("x,3,c\n", 20), []string{"2 refused malformed ", "3 refused malformed ", "4 x:2 map[name:[b]]"}, 23},
		{"closed by the next one", header + "x,1,\"a\nx,2,b\n\",c\nx,3,d\n", []string{"2 refused malformed ", "3 x:2 map[name:[b]]", "4 refused malformed ", "5 x:3 map[name:[d]]"}, 4},
	} {
		got, err := read(t, c.in, bulk.Options{})
		if err != nil || len(got) != c.rows {
			t.Errorf("%s: %d rows, want %d: %v", c.name, len(got), c.rows, err)
			continue
		}
		if diff := cmp.Diff(c.want, got[:len(c.want)]); diff != "" {
			t.Errorf("%s: -want +got:\n%.2000s", c.name, diff)
		}
	}
}

// A row with several multi-line fields is read as one row, although its lines look like rows: one line closes a quote
// and opens the next, with a number where keys are.
func TestCSV_FieldsOfSeveralLines(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"two in the middle": "postcode,key,name,address,source\n1,1,a,b,x\n2,2,c,d,x\n3,3,\"e\nf\",\"g\n4,5\",x\n6,6,h,i,x\n",
		"as in a register":  "postcode,key,name,address,source\n1,1,a,b,x\n2,2,c,d,x\n3,3,\"e\nf\",60046,\"g\nh\"\n6,6,h,i,x\n",
		"in the first":      "name,key,address,source\na,1,b,x\nc,2,d,x\n\"e\nf\",3,g,x\nh,4,i,x\n",
		"in the key's line": "name,key,address,source\na,1,b,x\nc,2,d,x\n\"e\nf\",3,\"g\nh\",x\nj,4,i,x\n",
	} {
		got, err := read(t, in, bulk.Options{})
		if err != nil || len(got) != 4 || slices.ContainsFunc(got, func(row string) bool { return strings.Contains(row, "refused malformed") }) {
			t.Errorf("%s: %v: %q", name, err, got)
		}
	}
}

// A rejection reports how many lines it covers, whether the row cannot be parsed or is invalid.
func TestCSV_RefusalsSayTheirLines(t *testing.T) {
	t.Parallel()
	in := "source,key,name\nx,1,\"a\n\nb\"\nx,2,\"\xff\nb\"\nx,3,\"ç\nd\"\nx,4,\"e\n"
	r, err := open(bulk.Stdin, strings.NewReader(in), bulk.CSV, &bulk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][2]int64{{2, 3}, {5, 2}, {7, 2}, {9, 1}} {
		row, err := r.Next()
		var got [2]int64
		if refused, ok := errors.AsType[*bulk.RowError](err); ok {
			got = [2]int64{refused.Line, refused.Lines}
		} else if err == nil {
			got = [2]int64{row.Line, row.Lines}
		}
		if got != want {
			t.Errorf("line and lines %v, want %v: %v", got, want, err)
		}
	}
}

// With any stray quotes, every line is in exactly one row or rejection, or is blank.
func TestCSV_StrayQuotesLoseNoLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"x,1,\"a\n", "x,1,a\n", "\n", "x,1,\"\"\n", "x,1,\"\"\"\n", "\",\"\n", "x,1,\"a\"\n"}), 1, 6).Draw(t, "pieces")
		text := "source,key,name\n" + strings.Repeat(strings.Join(pieces, ""), longtest.Sample(100, 40, 100, 400))
		lines := strings.Count(text, "\n")
		r, err := open(bulk.Stdin, strings.NewReader(text), bulk.CSV, &bulk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		covered, last := int64(1), int64(1)
		for {
			row, err := r.Next()
			if err == io.EOF {
				break
			}
			line, span := int64(0), int64(0)
			if refused, ok := errors.AsType[*bulk.RowError](err); ok {
				line, span = refused.Line, refused.Lines
			} else if err == nil {
				line, span = row.Line, row.Lines
			}
			if line <= last || span < 1 {
				t.Fatalf("line %d of %d lines after line %d: %v", line, span, last, err)
			}
			covered, last = covered+span, line+span-1
		}
		if blank := int64(strings.Count(text, "\n\n")) * 2; last > int64(lines) || covered+blank < int64(lines) {
			t.Fatalf("%d of %d lines are accounted for, the last is %d", covered, lines, last)
		}
	})
}

// The test measures allocations of the whole process, so it runs alone.
func TestCSV_StrayQuotesTakeNoMemory(t *testing.T) {
	longtest.Slow(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := read(t, "source,key,name\nx,1,\""+strings.Repeat("\n", 4*bulk.MaxRow), bulk.Options{})
	runtime.ReadMemStats(&after)
	if err != nil || len(got) != 1 {
		t.Errorf("%d rows, %v", len(got), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("%d MB for a quote before 4 MB of blank lines", used>>20)
	}
}
