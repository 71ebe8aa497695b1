// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/locus-db/locus/internal/tabular"
	"github.com/locus-db/locus/match"
)

// sheetTable is a sheet below its header, as a table.
type sheetTable struct {
	book    *tabular.Workbook
	grid    *tabular.Grid
	columns []tabular.Column
	title   int64 // row of the header
	cells   []tabular.Cell
	merged  mergedCells
}

// openBook opens a workbook.
func (p *Plan) openBook(r *Reader) (*tabular.Workbook, error) {
	begin := make([]byte, len(magicOLE))
	if _, err := r.at.ReadAt(begin, 0); err == nil && bytes.Equal(begin, magicOLE) {
		return nil, oleError(p.Name, io.NewSectionReader(r.at, 0, r.length))
	}
	book, err := tabular.OpenWorkbook(r.at, r.length)
	if errors.Is(err, tabular.ErrNoWorkbook) {
		return nil, &FileError{Name: p.Name, Reason: "is a zip archive", Hint: "unpack it and name the files in it; gzip and zstd are read as they are"}
	}
	return book, err
}

// oleError describes a file in the format of the old Office programs.
func oleError(name string, in io.Reader) error {
	wide := func(text string) (b []byte) {
		for _, u := range utf16.Encode([]rune(text)) {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
		return b
	}
	encrypted, old := false, false
	buf := make([]byte, 64<<10)
	for kept := 0; ; {
		n, err := io.ReadFull(in, buf[kept:])
		text := buf[:kept+n]
		encrypted = encrypted || bytes.Contains(text, wide("EncryptedPackage"))
		old = old || bytes.Contains(text, wide("Workbook")) || bytes.Contains(text, wide("Book\x00"))
		if err != nil {
			break
		}
		kept = copy(buf, text[len(text)-64:])
	}
	switch {
	case encrypted:
		return &FileError{Name: name, Reason: "is encrypted", Hint: "save it without a password"}
	case old:
		return &FileError{Name: name, Reason: "is a workbook of the old binary format (.xls)", Hint: "save it as .xlsx or as CSV"}
	}
	return &FileError{Name: name, Reason: "is a document of an old Office program, and no table", Hint: "save it as .xlsx or as CSV"}
}

// chooseSheet finds the sheet and its header: the sheet that an option names, or the first one that has a header.
func (p *Plan) chooseSheet(r *Reader, kinds []*match.Schema) (err error) {
	book, err := p.openBook(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	names := book.Sheets()
	if len(names) == 0 {
		return &FileError{Name: p.Name, Reason: "the workbook has no sheet with cells"}
	}
	candidates := names
	if name := p.options.Sheet; name != "" {
		if candidates = matching(names, name); len(candidates) == 0 {
			return &FileError{Name: p.Name, Reason: NoSheet(name, names), Hint: "the sheets are: " + listed(names)}
		}
	} else {
		if visible := slices.DeleteFunc(slices.Clone(names), book.Hidden); len(visible) > 0 {
			candidates = visible
		}
		defer func() {
			p.Sheets = slices.DeleteFunc(slices.Clone(candidates), func(name string) bool { return name == p.Sheet })
		}()
	}
	var first error
	// A sheet of notes looks like a table with one column, so sheets whose header has a known name come first.
	for _, known := range []bool{true, false} {
		for _, name := range candidates {
			p.Sheet = name
			found, err := p.sampleSheet(book, kinds)
			if err != nil && first == nil {
				first = err
			}
			if found && (!known || !p.Header || slices.ContainsFunc(p.columns, func(name string) bool { return isHeaderName(name, kinds) })) {
				return nil
			}
		}
	}
	if p.Sheet = candidates[0]; first == nil {
		p.Header, p.columns = !p.options.NoHeader, nil // all sheets are empty
		return nil
	}
	if wrong, ok := errors.AsType[*FileError](first); ok && len(candidates) > 1 {
		wrong.Hint += "; --sheet NAME reads another sheet: there are " + listed(names)
	}
	return first
}

// matching returns the sheets with a name, ignoring case if none matches exactly.
func matching(names []string, name string) []string {
	for _, same := range []func(string) bool{func(s string) bool { return s == name }, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), strings.TrimSpace(name)) }} {
		if i := slices.IndexFunc(names, same); i >= 0 {
			return names[i : i+1]
		}
	}
	return nil
}

// NoSheet returns why a workbook cannot be read without a sheet that an option names.
func NoSheet(name string, names []string) string {
	reason := fmt.Sprintf("there is no sheet %.60q", name)
	if near := Nearest(name, names); near != "" {
		reason += fmt.Sprintf("; did you mean %.60q?", near)
	}
	return reason
}

// sampleSheet looks at the first rows of a sheet and sets the row of the header and the columns. It reports whether to
// read the sheet; if false without an error, the sheet is empty.
func (p *Plan) sampleSheet(book *tabular.Workbook, kinds []*match.Schema) (found bool, err error) {
	grid, err := book.Grid(p.Sheet)
	if err != nil {
		return false, tableError(p.Name, err)
	}
	defer func() { err = errors.Join(err, grid.Close()) }()
	var rows [][]string
	var numbers []int64
	for size := 0; len(rows) < sampleRows && size < sample; {
		number, row, err := grid.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, tableError(p.Name, err)
		}
		for _, text := range row {
			size += len(text)
		}
		rows, numbers = append(rows, slices.Clone(row)), append(numbers, number)
	}
	if len(rows) == 0 {
		return false, nil
	}
	width := 0
	p.title, p.Header = 0, !p.options.NoHeader
	if p.Header {
		at := titleOf(rows)
		if !p.options.Exact {
			at = joinGroups(rows, at, kinds)
		}
		if !p.options.Exact && !hasHeader(rows[at:], kinds) {
			return false, &FileError{
				Name: p.Name, Reason: fmt.Sprintf("row %d of sheet %.60q does not name columns: %s", numbers[at], p.Sheet, listed(rows[at])),
				Hint: nameColumns(p.options.Columns, len(rows[at])),
			}
		}
		p.title, rows = numbers[at], rows[at:]
	}
	for _, row := range rows {
		width = max(width, len(row))
	}
	if width > MaxColumns {
		return false, &FileError{Name: p.Name, Reason: fmt.Sprintf("sheet %.60q has %d columns, at most %d", p.Sheet, width, MaxColumns), Hint: "remove the columns that are not needed"}
	}
	p.columns = columnNames(p.options.Columns, width)
	if p.Header {
		p.columns, err = p.header(append(slices.Clone(rows[0]), make([]string, width-len(rows[0]))...))
	}
	return err == nil, err
}

// titleOf returns the index of the header: the first row where more than half of the columns have a value. Lines
// above a table have one or two values.
func titleOf(rows [][]string) int {
	begin := rows[:min(len(rows), 50)]
	most := 0
	for _, row := range begin {
		most = max(most, filled(row))
	}
	return slices.IndexFunc(begin, func(row []string) bool { return 2*filled(row) > most })
}

// openSheet opens the sheet of the plan as a table.
func (p *Plan) openSheet(r *Reader) (tabular.Table, error) {
	book, err := p.openBook(r)
	if err != nil {
		return nil, err
	}
	grid, err := book.Grid(p.Sheet)
	if err != nil {
		return nil, errors.Join(err, book.Close())
	}
	merged, err := book.Merged(p.Sheet)
	if err != nil {
		return nil, errors.Join(err, grid.Close(), book.Close())
	}
	// of the title and the header
	merged = slices.DeleteFunc(merged, func(m tabular.Merged) bool { return m.First <= p.title })
	s := &sheetTable{book: book, grid: grid, title: p.title, merged: mergedCells{left: merged}}
	for _, name := range p.columns {
		s.columns = append(s.columns, tabular.Column{Name: name})
	}
	return s, nil
}

func (s *sheetTable) Columns() []tabular.Column { return s.columns }
func (s *sheetTable) Done() float64             { return s.grid.Done() }
func (s *sheetTable) Close() error              { return errors.Join(s.grid.Close(), s.book.Close()) }

// Next returns the next row below the header.
func (s *sheetTable) Next() (tabular.Row, error) {
	number, texts, err := s.grid.Next()
	for err == nil && number <= s.title {
		number, texts, err = s.grid.Next()
	}
	if err != nil {
		return tabular.Row{}, err
	}
	texts = s.merged.fill(number, texts)
	row := tabular.Row{Number: number}
	s.cells = s.cells[:0]
	for i, text := range texts {
		switch {
		case text == "":
		case i < len(s.columns):
			s.cells = append(s.cells, tabular.Cell{Column: i, Text: text})
		case row.Wrong == "":
			row.Wrong = fmt.Sprintf("it has a value in column %d, the sheet has %d columns in its first rows", i+1, len(s.columns))
		}
	}
	row.Cells = s.cells
	return row, nil
}

// sheetLayout describes a workbook for a person.
func (p *Plan) sheetLayout() string {
	text := fmt.Sprintf("XLSX, sheet %q", p.Sheet)
	switch {
	case !p.Header:
		text += ", no header"
	case p.title > 1:
		text = fmt.Sprintf("%s, header in row %d", text, p.title)
	}
	return text
}
