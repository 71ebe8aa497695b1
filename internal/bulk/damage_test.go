// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/bulk"
)

// table is a CSV file whose rows are known.
type table struct {
	rows  []string   // as written, with their ends
	cells [][]string // key, name, address, city
	like  bool       // whether a line is like rowLike
}

// rowLike is a value with a line that has the width of a row.
const rowLike = "list:\na,b,c,d\nend"

const tableHeader = "key,name,address,city\n"

func (f table) text() string { return tableHeader + strings.Join(f.rows, "") }

// drawTable draws a clean file: keys of one form, some values quoted, some of several lines.
func drawTable(t *rapid.T) table {
	form := rapid.SampledFrom([]string{"%d", "C-%04d", "a%db"}).Draw(t, "form")
	value := rapid.OneOf(
		rapid.SampledFrom([]string{"Blue Door", "Corner Bakery", "12 Main Street", "Springfield", ""}),
		rapid.SampledFrom([]string{"Smith, Jones & Sons", `Joe's "Best" Pizza`, "first line\nsecond line", "Suite 4\r\n12 Main Street, Springfield", "one\n\ntwo, three", rowLike, `Pipe 12"`}),
	)
	f := table{}
	rows := rapid.IntRange(20, 60).Draw(t, "rows")
	for i := range rows {
		cells, written := []string{fmt.Sprintf(form, i+1)}, []string{}
		for range 3 {
			cell := value.Draw(t, "value")
			if cell == rowLike && (f.like || rows < 30) { // lines as common as rows are rows
				cell = ""
			}
			f.like = f.like || cell == rowLike
			cells = append(cells, cell)
		}
		for _, cell := range cells {
			if cell != `Pipe 12"` && strings.ContainsAny(cell, ",\"\n") || rapid.IntRange(0, 9).Draw(t, "quoted") == 0 {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			written = append(written, cell)
		}
		f.rows, f.cells = append(f.rows, strings.Join(written, ",")+"\n"), append(f.cells, cells)
	}
	return f
}

// account is the outcome of the lines of a file.
type account struct {
	accepted map[string][]string // values of rows by key
	lines    map[int64]string    // accepted or refused, by line
}

// readAll reads a file and fails if a line is in two rows.
func readAll(t *rapid.T, text string) account {
	r, err := open(bulk.Stdin, strings.NewReader(text), bulk.CSV, &bulk.Options{Source: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a := account{accepted: map[string][]string{}, lines: map[int64]string{}}
	cover := func(first, lines int64, as string) {
		for line := first; line < first+lines; line++ {
			if a.lines[line] != "" {
				t.Fatalf("line %d is in two rows", line)
			}
			a.lines[line] = as
		}
	}
	for {
		row, err := r.Next()
		if err == io.EOF {
			return a
		}
		if refused, ok := errors.AsType[*bulk.RowError](err); ok {
			if cover(refused.Line, refused.Lines, "refused"); refused.Cause == "" {
				t.Fatalf("a refusal without a cause: %v", refused)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		cover(row.Line, row.Lines, "accepted")
		values := []string{row.Key}
		for _, name := range []string{"name", "address", "city"} {
			values = append(values, strings.Join(row.Attributes[name], "|"))
		}
		a.accepted[row.Key] = values
	}
}

// Every byte of an input is in one accepted row, one refused row, a blank line or the header, whatever the input.
func TestCSV_BytesAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawTable(t).text()
		for range rapid.IntRange(0, 6).Draw(t, "faults") {
			at := rapid.IntRange(len(tableHeader), len(text)).Draw(t, "at")
			text = text[:at] + rapid.SampledFrom([]string{`"`, `""`, ",", "\n", "\r\n", "x"}).Draw(t, "inserted") + text[at:]
		}
		a := readAll(t, text)
		bytes, lines := 0, strings.SplitAfter(text, "\n")
		for i, line := range lines {
			switch blank := strings.Trim(line, ",\r\n") == ""; {
			case i == 0, a.lines[int64(i+1)] != "", blank:
				bytes += len(line)
			default:
				t.Fatalf("line %d is lost: %q in %q", i+1, line, text)
			}
		}
		if bytes != len(text) || len(a.lines) >= len(lines)+1 {
			t.Fatalf("%d of %d bytes, %d of %d lines", bytes, len(text), len(a.lines), len(lines))
		}
	})
}

// One quote added or removed anywhere costs the row that it is in, and no other; a clean file loses nothing.
func TestCSV_OneFaultCostsOneRow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := drawTable(t)
		clean := readAll(t, f.text())
		for i, cells := range f.cells {
			if got := clean.accepted[cells[0]]; fmt.Sprint(got) != fmt.Sprint(cells) {
				t.Fatalf("row %d of a clean file is %q, want %q:\n%s", i, got, cells, f.text())
			}
		}
		hit := rapid.IntRange(0, len(f.rows)-1).Draw(t, "row")
		row := f.rows[hit]
		if at := rapid.IntRange(0, len(row)-1).Draw(t, "at"); row[at] == '"' {
			f.rows[hit] = row[:at] + row[at+1:]
		} else {
			f.rows[hit] = row[:at] + `"` + row[at:]
		}
		damaged := readAll(t, f.text())
		line := int64(2)
		for i, cells := range f.cells {
			lines := int64(strings.Count(f.rows[i], "\n"))
			if i == hit {
				line += lines
				continue
			}
			if got := damaged.accepted[cells[0]]; fmt.Sprint(got) != fmt.Sprint(cells) {
				t.Fatalf("row %d is %q, want %q; the fault is in row %d:\n%s", i, got, cells, hit, f.text())
			}
			if as := damaged.lines[line]; as != "accepted" {
				t.Fatalf("line %d is %s, the fault is in row %d:\n%s", line, as, hit, f.text())
			}
			line += lines
		}
		if damaged.accepted["a"] != nil && damaged.accepted[f.cells[hit][0]] == nil {
			t.Fatalf("a piece of row %d is taken for a row:\n%s", hit, f.text())
		}
	})
}
