// SPDX-License-Identifier: Apache-2.0

package tabular_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/locus-db/locus/internal/tabular"
)

// sheetTexts returns the rows of a sheet as "number: texts", and the error that ended them, nil for the end.
func sheetTexts(file []byte, sheet string) (rows []string, err error) {
	book, err := tabular.OpenWorkbook(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	defer book.Close()
	grid, err := book.Grid(sheet)
	if err != nil {
		return nil, err
	}
	defer grid.Close()
	for {
		number, texts, err := grid.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, fmt.Sprintf("%d: %s", number, strings.Join(texts, "|")))
	}
}

// book writes a workbook.
func book(t testing.TB, fill func(f *excelize.File, set func(cell string, value any, format string))) []byte {
	t.Helper()
	f := excelize.NewFile()
	set := func(cell string, value any, format string) {
		t.Helper()
		if err := f.SetCellValue("Sheet1", cell, value); err != nil {
			t.Fatal(err)
		}
		if format == "" {
			return
		}
		style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
		if err == nil {
			err = f.SetCellStyle("Sheet1", cell, cell, style)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fill(f, set)
	b, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestXLSX_Texts(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 3, 15, 4, 5, 250_000_000, time.UTC)
	day := at.Truncate(24 * time.Hour)
	for _, c := range []struct {
		value  any
		format string
		want   string
	}{
		{"007", "", "007"},
		{" a <b> & \nc ", "", " a <b> & \nc "},
		{"2026-11-03", "yyyy-mm-dd", "2026-11-03"},
		{7, "", "7"},
		{0.1, "", "0.1"},
		{4155552300, "", "4155552300"},
		{1e15, "", "1000000000000000"},
		{2134, "00000", "02134"},
		{12.5, "00000", "12.5"},
		{0.125, "0.00%", "0.125"},
		{1234.5, `#,##0.00 "days"`, "1234.5"},
		{1234.5, `[Red]#,##0`, "1234.5"},
		{true, "", "true"},
		{day, "mmm-yy", "2026-11-03"},
		{day, "dd.mm.yyyy", "2026-11-03"},
		{day, `[$-407]d. mmmm yyyy`, "2026-11-03"},
		{at, "dd.mm.yyyy", "2026-11-03T15:04:05.25"},
		{day, "yyyy-mm-dd hh:mm", "2026-11-03T00:00:00"},
		{at, "yyyy-mm-dd hh:mm", "2026-11-03T15:04:05.25"},
		{0.75, "hh:mm", "18:00:00"},
		{1.25, "[h]:mm", "30:00:00"},
		{-1, "dd.mm.yyyy", "-1"},
		{59, "yyyy-mm-dd", "1900-02-28"},
		{61, "yyyy-mm-dd", "1900-03-01"},
	} {
		file := book(t, func(_ *excelize.File, set func(string, any, string)) { set("A1", c.value, c.format) })
		got, err := sheetTexts(file, "Sheet1")
		if want := []string{"1: " + c.want}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v as %q: %q, %v, want %q", c.value, c.format, got, err, want)
		}
	}
}

// Rows have the numbers that a spreadsheet shows; rows without a value are left out; a formula has the saved value, and
// none if that is an error.
func TestXLSX_RowsAndFormulas(t *testing.T) {
	t.Parallel()
	file := edited(t, book(t, func(f *excelize.File, set func(string, any, string)) {
		set("B2", "x", "")
		set("AB5", "far", "")
		set("A5", 1, "")
		if err := f.SetCellRichText("Sheet1", "A7", []excelize.RichTextRun{{Text: "Köln "}, {Text: "Süd", Font: &excelize.Font{Bold: true}}}); err != nil {
			t.Error(err)
		}
	}), "xl/worksheets/sheet1.xml", "</sheetData>", `<row r="9"><c r="A9"><f>1+1</f><v>2</v></c><c r="B9" t="str"><f>A1</f><v>te_x000A_xt</v></c>`+
		`<c r="C9" t="e"><f>1/0</f><v>#DIV/0!</v></c><c t="inlineStr"><is><t>in</t><rPh><t>no</t></rPh></is></c><c><f>1</f></c></row></sheetData>`)
	got, err := sheetTexts(file, "Sheet1")
	want := []string{"2: |x", "5: 1" + strings.Repeat("|", 27) + "far", "7: Köln Süd", "9: 2|te\nxt||in"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// edited replaces a text in a part of a workbook.
func edited(t testing.TB, file []byte, part, old, text string) []byte {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, f := range in.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == part {
			if !bytes.Contains(content, []byte(old)) {
				t.Fatalf("%s has no %q: %s", part, old, content)
			}
			content = bytes.Replace(content, []byte(old), []byte(text), 1)
		}
		w, err := out.Create(f.Name)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A damaged workbook is an error, never fewer rows or other texts.
func TestXLSX_Damage(t *testing.T) {
	t.Parallel()
	file := book(t, func(_ *excelize.File, set func(string, any, string)) {
		for i := range 80 {
			set(fmt.Sprint("A", i+1), fmt.Sprintf("text %d of many", i*i), "")
			set(fmt.Sprint("B", i+1), i, "dd.mm.yyyy")
		}
	})
	want, err := sheetTexts(file, "Sheet1")
	if err != nil || len(want) != 80 {
		t.Fatalf("%d rows, %v", len(want), err)
	}
	failed := 0
	for at := 0; at < len(file); at += 19 {
		damaged := bytes.Clone(file)
		damaged[at] ^= 1 << (at % 8)
		got, err := sheetTexts(damaged, "Sheet1")
		var wrong *tabular.Error
		switch {
		case err == nil && !slices.Equal(got, want):
			t.Errorf("byte %d of %d: %d rows, not the right ones, and no error", at, len(file), len(got))
		case err != nil && !errors.As(err, &wrong) && !errors.Is(err, tabular.ErrNoWorkbook):
			t.Errorf("byte %d: %v is no *tabular.Error", at, err)
		case err != nil:
			failed++
		}
	}
	if failed < 20 {
		t.Errorf("%d damaged files were errors", failed)
	}
	for name, c := range map[string]struct{ part, old, text string }{
		"a sheet that ends early":       {"xl/worksheets/sheet1.xml", "</sheetData></worksheet>", ""},
		"a row that is not closed":      {"xl/worksheets/sheet1.xml", `</row><row r="9">`, `<row r="9">`},
		"a text that is not there":      {"xl/worksheets/sheet1.xml", `t="s"><v>0</v>`, `t="s"><v>999</v>`},
		"a number that is none":         {"xl/worksheets/sheet1.xml", `<v>7</v></c></row>`, `<v>seven</v></c></row>`},
		"a row before the one before":   {"xl/worksheets/sheet1.xml", `<row r="9">`, `<row r="3">`},
		"shared texts that end early":   {"xl/sharedStrings.xml", "</sst>", ""},
		"a sheet that is not there":     {"xl/_rels/workbook.xml.rels", "worksheets/sheet1.xml", "worksheets/sheet9.xml"},
		"a workbook that is no XML":     {"xl/workbook.xml", "<sheets>", "<sheets"},
		"a relationship without a part": {"xl/_rels/workbook.xml.rels", "styles.xml", "style.xml"},
	} {
		rows, err := sheetTexts(edited(t, file, c.part, c.old, c.text), "Sheet1")
		if wrong := new(tabular.Error); !errors.As(err, &wrong) {
			t.Errorf("%s: %d rows, error %v", name, len(rows), err)
		}
	}
}

func TestXLSX_IsRefused(t *testing.T) {
	t.Parallel()
	archive := func(parts map[string]int) []byte {
		var b bytes.Buffer
		out := zip.NewWriter(&b)
		for name, size := range parts {
			w, err := out.Create(name)
			if err == nil {
				_, err = w.Write(make([]byte, size))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for want, file := range map[string][]byte{
		".xlsb":                        archive(map[string]int{"xl/workbook.bin": 1}),
		"OpenDocument":                 archive(map[string]int{"content.xml": 1, "mimetype": 1}),
		"no workbook":                  archive(map[string]int{"a.csv": 1}),
		"more than 200 times its size": archive(map[string]int{"xl/workbook.xml": 8 << 20}),
		"list of its parts":            []byte("PK\x03\x04 and no more"),
	} {
		if _, err := sheetTexts(file, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
