// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// workbook writes sheets of rows, in this order.
func workbook(t testing.TB, names []string, sheets map[string][][]any) []byte {
	t.Helper()
	f := excelize.NewFile()
	for i, name := range names {
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for n, row := range sheets[name] {
			cell, _ := excelize.CoordinatesToCellName(1, n+1)
			if err := f.SetSheetRow(name, cell, &row); err != nil {
				t.Fatal(err)
			}
		}
		if i == 0 {
			if err := f.DeleteSheet("Sheet1"); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func customersBook(t testing.TB) []byte {
	return workbook(t, []string{"Read me", "Empty", "Customers", "Shops"}, map[string][][]any{
		"Read me": {{"Exported on Monday"}, {"by hand"}},
		"Customers": {
			{"Customers of 2026"}, {},
			{"Kunden-Nr", "Firma", "phones[]", "", "Ort"},
			{"007", "Blue Door", "0228 1 | 0228 2", nil, "Bonn"}, {},
			{"008", "Corner", nil, nil, "Köln"},
		},
		"Shops": {{"id", "name"}, {1, "x"}, {2, "y", "z"}},
	})
}

func recognisedBook(t testing.TB, file []byte, o bulk.Options) (*bulk.Plan, error) {
	t.Helper()
	return bulk.Recognise(bulk.Stdin, bytes.NewReader(file), []*match.Schema{match.Place()}, &o)
}

// The first sheet with a header is read, below any lines above the header; texts keep their zeros, and lists are read
// as in CSV.
func TestXLSX_FirstSheetWithAHeader(t *testing.T) {
	t.Parallel()
	p, err := recognisedBook(t, customersBook(t), bulk.Options{Source: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Layout(), `XLSX, sheet "Customers", header in row 3; not read: "Read me", "Empty", "Shops"`; got != want {
		t.Errorf("layout %s, want %s", got, want)
	}
	if len(p.Questions) > 0 || !strings.Contains(strings.Join(p.Args(), " "), "--sheet Customers") {
		t.Errorf("questions %v, command %v", p.Questions, p.Args())
	}
	rows, fields := rowsAndFields(t, p)
	if want := []string{"s:007 map[city:[Bonn] name:[Blue Door] phones:[0228 1 0228 2]]", "s:008 map[city:[Köln] name:[Corner]]"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	if want := "[{Kunden-Nr [008]} {Firma [Corner]} {phones[] []} {column4 []} {Ort [Köln]}]"; fields[1] != want {
		t.Errorf("fields %s, want %s", fields[1], want)
	}
	if p.Sample[1].Line != 6 {
		t.Errorf("the second row is %d, want 6", p.Sample[1].Line)
	}
}

// A header of two rows, the first of which names groups of columns in merged cells, is one header; a row of values
// below a column without a name is not part of it.
func TestXLSX_HeaderOfGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rows [][]any
		want []string
	}{
		{"groups and columns", [][]any{
			{"Report"}, {}, {"No.", "Name", "Address", nil, nil, "Phone"}, {nil, nil, "Street", "Zip", "City", nil},
			{1, "Blue Door", "12 Main St", "01234", "Bonn", "0228 1"}, {2, "Corner", "5 Elm St", "01235", "Bonn", "0228 2"},
		}, []string{"No.", "Name", "Street", "Zip", "City", "Phone"}},
		{"groups alone", [][]any{
			{"Customer", nil, "Billing", nil, "Shipping", nil}, {"No.", "Name", "Street", "City", "Street", "City"},
			{1, "Blue Door", "12 Main St", "Bonn", "1 Ring", "Bonn"}, {2, "Corner", "5 Elm St", "Bonn", "2 Ring", "Bonn"},
		}, []string{"No.", "Name", "Billing Street", "Billing City", "Shipping Street", "Shipping City"}},
		{"a column without a name", [][]any{
			{"id", "name", nil, "city"}, {1, "Blue Door", "new", "Bonn"}, {2, "Corner", nil, "Bonn"},
		}, []string{"id", "name", "column3", "city"}},
		{"few values below a column without a name", [][]any{
			{"id", "name", nil, "city"}, {nil, "Blue Door", "new", nil}, {2, "Corner", nil, "Bonn"},
		}, []string{"id", "name", "column3", "city"}},
	} {
		p, err := recognisedBook(t, workbook(t, []string{"A"}, map[string][][]any{"A": c.rows}), bulk.Options{Source: "s"})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var names []string
		for _, column := range p.Columns {
			names = append(names, column.Name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("%s: the columns are %q, want %q", c.name, names, c.want)
		}
	}
}

// A row that is wider than all rows of the sample is refused, not cut.
func TestXLSX_SheetByName(t *testing.T) {
	t.Parallel()
	p, err := recognisedBook(t, customersBook(t), bulk.Options{Source: "s", Sheet: "shops", IgnoreUnknown: true})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := rowsAndFields(t, p)
	if want := []string{"s:1 map[name:[x]]", "s:2 map[name:[y]]"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	var long [][]any
	for range 2000 {
		long = append(long, []any{"k", "n"})
	}
	long[0], long[1999] = []any{"key", "name"}, []any{"k", "n", "more"}
	p, err = recognisedBook(t, workbook(t, []string{"A"}, map[string][][]any{"A": long}), bulk.Options{Source: "s"})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ = rowsAndFields(t, p)
	if n := len(rows); n != 1999 || rows[n-1] != `refused {"key":"k","name":"n","source":"s"}` {
		t.Errorf("%d rows, the last %s", n, rows[n-1])
	}
}

// ole is a file of the old Office programs with an entry of that name.
func ole(entry string) []byte {
	file := append([]byte{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1}, make([]byte, 64<<10)...)
	for _, u := range utf16.Encode([]rune(entry)) {
		file = binary.LittleEndian.AppendUint16(file, u)
	}
	return append(file, make([]byte, 500)...)
}

func TestXLSX_IsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want, hint string
		file             []byte
		o                bulk.Options
	}{
		{"a missing sheet", `there is no sheet "Custmers"; did you mean "Customers"?`, `the sheets are: "Read me", "Empty", "Customers", "Shops"`, customersBook(t), bulk.Options{Sheet: "Custmers"}},
		{"a sheet without a header", `row 1 of sheet "A" does not name columns: "1", "x"`, "--no-header", workbook(t, []string{"A"}, map[string][][]any{"A": {{1, "x"}, {2, "y"}}}), bulk.Options{}},
		{"an old workbook", "old binary format (.xls)", "save it as .xlsx", ole("Workbook"), bulk.Options{}},
		{"an encrypted workbook", "is encrypted", "without a password", ole("EncryptedPackage"), bulk.Options{}},
		{"an old document", "is a document", "", ole("WordDocument"), bulk.Options{}},
		{"another archive", "is a zip archive", "unpack it", append([]byte("PK\x03\x04PK\x05\x06"), make([]byte, 18)...), bulk.Options{}},
		{"a name that is there twice", `column "name" twice`, "once", workbook(t, []string{"A"}, map[string][][]any{"A": {{"key", "name", "name"}, {1, 2, 3}}}), bulk.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := recognisedBook(t, c.file, c.o)
			wrong, ok := errors.AsType[*bulk.FileError](err)
			if !ok || !strings.Contains(wrong.Error(), c.want) || !strings.Contains(wrong.Hint, c.hint) {
				t.Errorf("error %v, want %q and %q", err, c.want, c.hint)
			}
		})
	}
}

// The total below a list is left out with its sums, if nothing of it would be imported.
func TestSheet_Total(t *testing.T) {
	t.Parallel()
	file := workbook(t, []string{"Customers"}, map[string][][]any{"Customers": {
		{"Kunden-Nr", "Firma", "Ort", "Umsatz"}, {1, "Blue Door", "Bonn", 12.5}, {2, "Corner", "Köln", 9}, {"Summe", nil, nil, 21.5},
	}})
	p, err := recognisedBook(t, file, bulk.Options{Source: "s", IgnoreUnknown: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) != 2 || len(p.Footer) != 1 || p.Footer[0].Text != "Summe" || p.Total() != nil {
		t.Errorf("%d rows, footer %v, total %v", len(p.Sample), p.Footer, p.Total())
	}
}
