// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

type customer struct {
	No     int64    `parquet:"customer_no"`
	Name   *string  `parquet:"company,optional"`
	Phones []string `parquet:"phones,list"`
	Place  struct {
		City string `parquet:"city"`
	} `parquet:"location"`
	Photo [4]byte `parquet:"photo"`
}

// customers is a Parquet file of three rows: the second has no name, the name of the third is not UTF-8.
func customers(t testing.TB) []byte {
	t.Helper()
	rows := []customer{{No: 7, Phones: []string{"1", "2"}}, {No: 8}, {No: 9}}
	for i, name := range []string{"Blue Door", "", "\xff"} {
		if rows[i].Place.City = "Bonn"; name != "" {
			rows[i].Name = &name
		}
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A Parquet file is recognised by its content, from a file, a pipe and compressed, and gives the same rows.
func TestParquet_IsRecognised(t *testing.T) {
	t.Parallel()
	content := customers(t)
	dir := t.TempDir()
	o := &bulk.Options{Ignore: []string{"photo"}, Source: "s"}
	var want []string
	for name, text := range map[string][]byte{"a.parquet": content, "b.gz": gzipped(t, string(content)), "c.txt": content, bulk.Stdin: content} {
		file := name
		if name != bulk.Stdin {
			file = filepath.Join(dir, name)
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := bulk.Recognise(file, bytes.NewReader(text), []*match.Schema{match.Place()}, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p.Format != bulk.Parquet || !slices.Equal(p.Key, []string{"customer_no"}) || len(p.Questions) > 0 || len(p.Sample) != 2 || len(p.Refused) != 1 {
			t.Errorf("%s: %s key %v, questions %v, %d rows and %d refused", name, p.Format, p.Key, p.Questions, len(p.Sample), len(p.Refused))
		}
		rows, fields := rowsAndFields(t, p)
		got := slices.Concat(rows, fields)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows %q, want %q", name, got, want)
		}
	}
	if rows := want[:3]; !slices.Equal(rows[:2], []string{"s:7 map[city:[Bonn] name:[Blue Door] phones:[1 2]]", "s:8 map[city:[Bonn]]"}) || !strings.HasPrefix(rows[2], "refused ") {
		t.Errorf("rows %q", rows)
	}
	if got := want[3]; got != "[{customer_no [7]} {company [Blue Door]} {phones [1 2]} {location.city [Bonn]} {photo [\\x00\\x00\\x00\\x00]}]" {
		t.Errorf("fields %s", got)
	}
}

func TestParquet_IsRefused(t *testing.T) {
	t.Parallel()
	content := customers(t)
	for _, c := range []struct {
		name, want string
		text       []byte
		o          bulk.Options
	}{
		{"binary", `column "photo" has bytes of a fixed length`, content, bulk.Options{Source: "s"}},
		{"binary key", `column "photo" has bytes of a fixed length`, content, bulk.Options{Key: []string{"photo"}}},
		{"cut", "footer", content[:len(content)-9], bulk.Options{}},
		{"only its beginning", "footer", []byte("PAR1"), bulk.Options{}},
		{"encrypted", "encrypted", []byte("PARE and so on"), bulk.Options{}},
		{"another format", "it is a parquet file", content, bulk.Options{Format: bulk.CSV}},
		{"none", "it is no parquet file", []byte("a,b\n1,2\n"), bulk.Options{Format: bulk.Parquet}},
		{"a column that is missing", `no column "companie"`, content, bulk.Options{Set: []bulk.Assignment{{Attribute: "name", Expression: "companie"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := bulk.Recognise(bulk.Stdin, bytes.NewReader(c.text), []*match.Schema{match.Place()}, &c.o)
			if err == nil {
				defer p.Close()
				err = p.Err()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// Bytes that are not text appear in the output of dedupe as DuckDB writes them. A column without a logical type is text
// if its values can be.
func TestParquet_BytesInTheOutput(t *testing.T) {
	t.Parallel()
	type row struct {
		Name  []byte  `parquet:"name"`
		Hash  []byte  `parquet:"hash"`
		Photo [4]byte `parquet:"photo"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{{[]byte("Köln"), []byte{0, 0xff, '"', 'a', '\\'}, [4]byte{'D', 'E', ' ', 0xe9}}, {[]byte("Bonn"), []byte("plain \"text\""), [4]byte{}}}); err != nil {
		t.Fatal(err)
	}
	p, err := bulk.Recognise(bulk.Stdin, &b, match.Kinds(), &bulk.Options{Unstored: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for _, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		fields, err := r.Fields()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(fields))
	}
	want := []string{`[{name [Köln]} {hash [\x00\xFF\x22a\x5C]} {photo [DE \xE9]}]`, `[{name [Bonn]} {hash [plain "text"]} {photo [\x00\x00\x00\x00]}]`}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
