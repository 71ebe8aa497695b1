// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// consume reads any input and checks what must be true of every file: rows are valid UTF-8 with source and key, line
// numbers ascend, rejections have a line and a code.
func consume(t *testing.T, text []byte, format bulk.Format) {
	r, err := open(bulk.Stdin, bytes.NewReader(text), format, &bulk.Options{IgnoreUnknown: true})
	if err != nil {
		if _, ok := errors.AsType[*bulk.FileError](err); !ok {
			t.Fatalf("refused without naming the file: %v", err)
		}
		return
	}
	defer r.Close()
	last := int64(0)
	for {
		row, err := r.Next()
		var refused *bulk.RowError
		var broken *bulk.FileError
		line := int64(0)
		switch {
		case err == io.EOF, errors.As(err, &broken):
			return
		case errors.As(err, &refused):
			if line = refused.Line; refused.Code == "" || refused.Reason == "" || len(refused.Row) == 0 {
				t.Fatalf("an incomplete refusal: %+v", refused)
			}
		case err != nil:
			t.Fatalf("an error of no kind: %v", err)
		default:
			if line = row.Line; !utf8.Valid(row.Flat()) || !utf8.ValidString(row.Key) {
				t.Fatalf("not UTF-8: %q", row.Flat())
			}
		}
		if line < last || line == last && format != bulk.JSON {
			t.Fatalf("line %d after line %d", line, last)
		}
		last = line
	}
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{sample, "source,key,name\r\nx,\"1\r\n\"\"\",a\r\n", "source,key\nx,1,\"", "\ufeffsource,key\n\n\nx,\x001\n", "key\rsource"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) { consume(t, text, bulk.CSV) })
}

func FuzzJSONL(f *testing.F) {
	for _, seed := range []string{`{"source":"x","key":"1"}`, `{"row":{"key":"1"},"reason":""}`, "[{}]", "{}\n{}", `{"source":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) { consume(t, text, bulk.JSONL) })
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`[{"source":"x","key":"1"},{"key":2}]`, "{\n\"key\":1}\n{}", `[[{"a":["b"]}],"]",{"a":"\\""}`, `{"a":{"b":[{},{}]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) { consume(t, text, bulk.JSON) })
}

// FuzzRecognise recognises any input: either it is read according to the plan, or there is an error of the file.
func FuzzRecognise(f *testing.F) {
	for _, seed := range []string{"id;name\n1;a\n", "sep=,\nid,name\n", `{"data":{"items":[{"id":1},{"id":2}]}}`, "\xff\xfei\x00d\x00\n\x00", "'id','name'\n'1','a'\n", "\n\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := bulk.Recognise(bulk.Stdin, bytes.NewReader(text), match.Kinds(), &bulk.Options{Source: "x", IgnoreUnknown: true, Key: []string{bulk.HashKey}})
		if err != nil {
			if _, ok := errors.AsType[*bulk.FileError](err); !ok {
				t.Fatalf("refused without naming the file: %v", err)
			}
			return
		}
		defer p.Close()
		r, err := p.Open()
		if err != nil {
			if _, ok := errors.AsType[*bulk.FileError](err); !ok {
				t.Fatalf("refused without naming the file: %v", err)
			}
			return
		}
		defer r.Close()
		for row, err := range r.All() {
			if err == nil && (row.Key == "" || !utf8.Valid(row.Flat())) {
				t.Fatalf("a row without a key, or not UTF-8: %+v", row)
			}
		}
	})
}

// The output of encoding/csv is read unchanged, including line ends inside fields.
func TestCSV_ReadsWhatOthersWrite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringOfN(rapid.SampledFrom([]rune("ab,\"\n é寿;' ")), 1, 8, -1)
		values := rapid.SliceOfN(value, 0, 20).Draw(t, "values")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.UseCRLF = false
		rows := [][]string{{"source", "key", "name"}}
		for i, name := range values {
			rows = append(rows, []string{"x", fmt.Sprintf("K-%d", i), name})
		}
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		r, err := open(bulk.Stdin, strings.NewReader(b.String()), bulk.CSV, &bulk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range rows[1:] {
			row, err := r.Next()
			if err != nil {
				t.Fatalf("%q: %v", b.String(), err)
			}
			if diff := cmp.Diff(want, []string{row.Source, row.Key, strings.Join(row.Attributes["name"], " | ")}); diff != "" {
				t.Fatalf("%q (-written +read):\n%s", b.String(), diff)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("after the last row: %v", err)
		}
	})
}

func BenchmarkJSONL(b *testing.B) {
	bench(b, bulk.JSONL, "", `{"source":"crm","key":"%d","name":"Joe's Pizza","phones":["415-555-2300"],"address":"1000 Market Street","city":"San Francisco","postcode":"94102"}`+"\n")
}

func BenchmarkCSV(b *testing.B) {
	bench(b, bulk.CSV, "source,key,name,phones,address,city,postcode\n", "crm,%d,Joe's Pizza,415-555-2300,\"1000 Market Street\",San Francisco,94102\n")
}

// BenchmarkStandardCSV is encoding/csv on the same text, which BenchmarkRows is compared with.
func BenchmarkStandardCSV(b *testing.B) {
	text := benchText("source,key,name,phones,address,city,postcode\n", "crm,%d,Joe's Pizza,415-555-2300,\"1000 Market Street\",San Francisco,94102\n")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r := csv.NewReader(strings.NewReader(text))
		for {
			if _, err := r.Read(); err != nil {
				break
			}
		}
	}
}

func benchText(header, row string) string {
	var text strings.Builder
	text.WriteString(header)
	for i := range 20_000 {
		fmt.Fprintf(&text, row, i)
	}
	return text.String()
}

// bench reads rows of one kind and reports the time per row.
func bench(b *testing.B, format bulk.Format, header, row string) {
	const rows = 1000
	var text strings.Builder
	text.WriteString(header)
	for i := range rows {
		fmt.Fprintf(&text, row, i)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := open(bulk.Stdin, strings.NewReader(text.String()), format, &bulk.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
