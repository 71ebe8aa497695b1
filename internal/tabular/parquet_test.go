// SPDX-License-Identifier: Apache-2.0

package tabular_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/uncompressed"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/tabular"
)

// textsOf returns the rows of a table as "1: column=text ...", and the error that ended it, nil for the end.
func textsOf(table tabular.Table) (rows []string, err error) {
	columns := table.Columns()
	for {
		row, err := table.Next()
		if errors.Is(err, io.EOF) {
			return rows, table.Close()
		}
		if err != nil {
			return rows, errors.Join(err, table.Close())
		}
		texts := []string{fmt.Sprintf("%d:", row.Number)}
		for _, c := range row.Cells {
			texts = append(texts, columns[c.Column].Name+"="+c.Text)
		}
		rows = append(rows, strings.Join(texts, " "))
	}
}

func openParquet(file []byte) (tabular.Table, error) {
	return tabular.OpenParquet(bytes.NewReader(file), int64(len(file)))
}

func written[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	for len(rows) > 0 {
		n := min(len(rows), 100)
		if _, err := w.Write(rows[:n]); err != nil {
			t.Fatal(err)
		}
		if rows = rows[n:]; len(rows) > 0 {
			if err := w.Flush(); err != nil { // a row group
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParquet_Texts(t *testing.T) {
	t.Parallel()
	type contact struct {
		Email string   `parquet:"email,optional"`
		Tags  []string `parquet:"tags,list"`
	}
	type row struct {
		Text     string            `parquet:"text"`
		Null     *string           `parquet:"null,optional"`
		Bool     bool              `parquet:"bool"`
		Int      int32             `parquet:"int"`
		Unsigned uint64            `parquet:"unsigned"`
		Float    float32           `parquet:"float"`
		Double   float64           `parquet:"double"`
		Money    int64             `parquet:"money,decimal(2:18)"`
		Date     int32             `parquet:"date,date"`
		UTC      time.Time         `parquet:"utc,timestamp(microsecond)"`
		Local    int64             `parquet:"local,timestamp(millisecond:local)"`
		Time     int64             `parquet:"time,time(microsecond)"`
		Impala   deprecated.Int96  `parquet:"impala"`
		ID       [16]byte          `parquet:"id,uuid"`
		Phones   []string          `parquet:"phones,list"`
		Legacy   []int32           `parquet:"legacy"`
		Place    *contact          `parquet:"place,optional"`
		Contacts []contact         `parquet:"contacts,list"`
		Names    map[string]string `parquet:"names"`
		Photo    [3]byte           `parquet:"photo"`
	}
	full := row{
		Text: "007", Bool: true, Int: -7, Unsigned: 1<<64 - 1, Float: 0.1, Double: 1001, Money: -5, Date: -1,
		UTC: time.Date(2026, 1, 2, 15, 4, 5, 120_000_000, time.FixedZone("", 3600)), Local: 1, Time: 3723_000_004,
		Impala: deprecated.Int96{0, 0, 2440589}, ID: [16]byte{0xab, 15: 1}, Phones: []string{"a", "b c"},
		Legacy:   []int32{1, 2},
		Place:    &contact{Email: "p"},
		Contacts: []contact{{Email: "x", Tags: []string{"1", "2"}}, {Email: "y"}}, Names: map[string]string{"de": "Köln"},
	}
	table, err := openParquet(written(t, []row{full, {UTC: time.Unix(-1, 0), Impala: deprecated.Int96{0, 0, 2440588}}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Columns() {
		if (c.Name == "photo") != (c.Binary != "") {
			t.Errorf("column %s: binary %q", c.Name, c.Binary)
		}
	}
	got, err := textsOf(table)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1: text=007 bool=true int=-7 unsigned=18446744073709551615 float=0.1 double=1001 money=-0.05 date=1969-12-31 " +
			"utc=2026-01-02T14:04:05.12Z local=1970-01-01T00:00:00.001 time=01:02:03.000004 impala=1970-01-02T00:00:00Z " +
			"id=ab000000-0000-0000-0000-000000000001 phones=a phones=b c legacy=1 legacy=2 place.email=p " +
			"contacts[].email=x contacts[].email=y contacts[].tags=1 contacts[].tags=2 names[].key=de names[].value=Köln photo=\x00\x00\x00",
		"2: text= bool=false int=0 unsigned=0 float=0 double=0 money=0.00 date=1970-01-01 utc=1969-12-31T23:59:59Z " +
			"local=1970-01-01T00:00:00 time=00:00:00 impala=1970-01-01T00:00:00Z id=00000000-0000-0000-0000-000000000000 photo=\x00\x00\x00",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Texts that hardly compress, in pages of each version and compression.
func TestParquet_Compression(t *testing.T) {
	t.Parallel()
	type row struct {
		Key  string  `parquet:"key"`
		City string  `parquet:"city,dict"`
		Note *string `parquet:"note,optional"`
	}
	rows, want := make([]row, 250), []string{}
	for i := range rows {
		sum := sha256.Sum256([]byte{byte(i)})
		rows[i] = row{Key: hex.EncodeToString(sum[:]), City: []string{"Bonn", "Köln"}[i%2]}
		text := fmt.Sprintf("%d: key=%s city=%s", i+1, rows[i].Key, rows[i].City)
		if i%3 == 0 {
			rows[i].Note = &rows[i].Key
			text += " note=" + rows[i].Key
		}
		want = append(want, text)
	}
	for _, codec := range []compress.Codec{
		&uncompressed.Codec{}, &snappy.Codec{}, &gzip.Codec{}, &brotli.Codec{}, &zstd.Codec{}, &lz4.Codec{Level: lz4.Level1},
	} {
		for _, version := range []int{1, 2} {
			for _, size := range []int{512, 1 << 20} {
				table, err := openParquet(written(t, rows, parquet.Compression(codec), parquet.DataPageVersion(version),
					parquet.PageBufferSize(size)))
				if err != nil {
					t.Fatal(err)
				}
				got, err := textsOf(table)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, version %d, pages of %d bytes: %d rows, not those that were written: %v", codec, version, size,
						len(got), err)
				}
			}
		}
	}
}

// A column of the type null has no values.
func TestParquet_Null(t *testing.T) {
	t.Parallel()
	type row struct {
		Name string `parquet:"name"`
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("rows", parquet.Group{
		"name": parquet.String(), "none": parquet.Optional(parquet.Leaf(parquet.NullType)),
	}))
	for _, name := range []string{"a", "b"} {
		if err := w.Write(row{name}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	table, err := openParquet(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if c := table.Columns(); len(c) != 2 || c[1].Binary != "" {
		t.Errorf("columns %v", c)
	}
	if got, err := textsOf(table); err != nil || !slices.Equal(got, []string{"1: name=a", "2: name=b"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// small is a file of several row groups and pages.
func small(t testing.TB) []byte {
	type row struct {
		Key    string   `parquet:"key"`
		City   string   `parquet:"city,optional,dict"`
		Phones []string `parquet:"phones,list"`
		N      *int64   `parquet:"n,optional"`
	}
	rows := make([]row, 250)
	for i := range rows {
		rows[i] = row{Key: fmt.Sprintf("K-%d", i), City: []string{"Bonn", "", "Köln"}[i%3]}
		for j := range i % 3 {
			rows[i].Phones = append(rows[i].Phones, fmt.Sprintf("0228 %d%d", i, j))
		}
		if n := int64(i); i%2 == 0 {
			rows[i].N = &n
		}
	}
	return written(t, rows, parquet.PageBufferSize(256), parquet.Compression(&zstd.Codec{}))
}

// A damaged file gives an error or the right rows: never a panic, other rows, or fewer. Nothing in the file protects
// the names of columns.
func TestParquet_Damage(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	file := small(t)
	table, err := openParquet(file)
	if err != nil {
		t.Fatal(err)
	}
	columns := table.Columns()
	want, err := textsOf(table)
	if err != nil || len(want) != 250 {
		t.Fatalf("%d rows, %v", len(want), err)
	}
	footer := len(file) - 8 - int(uint32(file[len(file)-8])|uint32(file[len(file)-7])<<8)
	failed := 0
	for at := range file {
		if at < footer && at%5 != 0 && !testing.Short() || at < footer && at%11 != 0 && testing.Short() {
			continue
		}
		damaged := bytes.Clone(file)
		damaged[at] ^= 1 << (at % 8)
		table, err := openParquet(damaged)
		var got []string
		if err == nil {
			got, err = textsOf(table)
		}
		var wrong *tabular.Error
		switch {
		case err != nil && !errors.As(err, &wrong):
			t.Fatalf("byte %d: %v is no *tabular.Error", at, err)
		case err != nil:
			failed++
			if n := len(got); n > len(want) || !slices.Equal(got, want[:n]) && at < footer {
				t.Errorf("byte %d of %d, the footer at %d: other rows before %v", at, len(file), footer, err)
			}
		case !slices.Equal(table.Columns(), columns):
			// Other names: the mapping of the columns sees them.
		case !slices.Equal(got, want):
			t.Errorf("byte %d of %d, the footer at %d: %d rows, not the right ones, and no error", at, len(file),
				footer, len(got))
		}
	}
	if failed < len(file)/8 {
		t.Errorf("%d of %d bytes were errors: were they read?", failed, len(file))
	}
}
