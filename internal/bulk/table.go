// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/tabular"
)

// tableRows makes records from the rows of a table, whose columns are known in advance.
type tableRows struct {
	name   string // of the file
	table  tabular.Table
	mapper *mapper
	lists  []bool // whether a text is a list, as in CSV
	used   []bool // whether a column has a use
	binary []bool // whether a column holds bytes that are not text
	taken  *counter
	size   int64

	row   tabular.Row
	long  bool // the row is too long to keep
	cells []cell
	texts []string // of the row
}

func newTable(p *Plan, r *Reader, table tabular.Table, m *mapper) (*tableRows, error) {
	t := &tableRows{name: p.Name, table: table, mapper: m, taken: r.taken, size: r.Size}
	for i, c := range table.Columns() {
		if i >= len(p.columns) || p.columns[i] != c.Name {
			return nil, &FileError{Name: p.Name, Reason: fmt.Sprintf("column %.60q is new since the file was looked at", c.Name), Hint: "repeat the command"}
		}
		m.column(c.Name)
		t.lists = append(t.lists, m.mapping.list(c.Name) != "")
		t.used, t.binary = append(t.used, len(m.uses[i]) > 0), append(t.binary, c.Binary != "")
	}
	return t, nil
}

// Next reads the next row.
func (t *tableRows) Next() (*Row, error) {
	var err error
	if t.row, err = t.table.Next(); err != nil {
		return nil, tableError(t.name, err)
	}
	if done := t.table.Done(); t.taken != nil && t.size > 0 && done >= 0 {
		t.taken.n.Store(int64(done * float64(t.size)))
	}
	refused := &RowError{Line: t.row.Number, Lines: 1, Position: t.row.Position}
	if cells := t.row.Cells; len(cells) > 0 && cells[0].Column == 0 {
		t.texts = t.texts[:0]
		for _, c := range cells {
			t.texts = append(t.texts, c.Text)
		}
		refused.Label = labelOf(t.texts)
	}
	size := 0
	t.long = false
	if t.row.Wrong != "" {
		refused.Code, refused.Cause, refused.Reason, refused.Row = "malformed", causeWidth, t.row.Wrong, t.object()
		return nil, refused
	}
	for _, c := range t.row.Cells {
		if t.binary[c.Column] {
			continue
		}
		if size += len(c.Text); size > MaxRow {
			t.long = true
			return nil, refused.whole(nil, "too_large", causeLong, fmt.Sprintf("it is longer than %d bytes", MaxRow))
		}
		if t.used[c.Column] && !utf8.ValidString(c.Text) {
			refused.Code, refused.Cause, refused.Pointer = "invalid_utf8", causeBytes, pathPointer(t.mapper.names[c.Column])
			refused.Reason, refused.Row = "it is not text in UTF-8", t.object()
			refused.Source, refused.Key = t.mapper.identify(nil, t.list())
			return nil, refused
		}
	}
	row, fault := t.mapper.row(t.list())
	if fault != nil {
		refused.Code, refused.Pointer, refused.Reason, refused.Cause = fault.code, fault.pointer, fault.reason, fault.cause
		refused.Source, refused.Key = t.mapper.identify(row, t.cells)
		refused.Row = t.object()
		return nil, refused
	}
	row.Line, row.Lines, row.Position, row.Label = t.row.Number, 1, t.row.Position, refused.Label
	return row, nil
}

func (t *tableRows) list() []cell {
	t.cells = t.cells[:0]
	for _, c := range t.row.Cells {
		if t.binary[c.Column] {
			continue
		}
		if !t.lists[c.Column] {
			t.cells = append(t.cells, cell{c.Column, c.Text})
			continue
		}
		for _, of := range exchange.SplitList(c.Text) {
			t.cells = append(t.cells, cell{c.Column, of})
		}
	}
	return t.cells
}

// object returns a row that cannot be imported as an object that can be imported after correction: by attribute if it
// can be mapped, otherwise by column.
func (t *tableRows) object() json.RawMessage {
	if row, _ := t.mapper.row(t.list()); row != nil {
		return row.Flat()
	}
	by := map[string][]string{}
	for _, c := range t.cells {
		name := t.mapper.targetOf(c.column)
		by[name] = append(by[name], c.value)
	}
	return plainJSON((&Row{Attributes: by}).Values())
}

// fields returns the row as the table has it: a field for each column, without values if it is null. Bytes that are no
// text are written as blob has them.
func (t *tableRows) fields() []Field {
	fields := make([]Field, len(t.mapper.names))
	for i, name := range t.mapper.names {
		fields[i].Name = name
	}
	for _, c := range t.row.Cells {
		text := c.Text
		if t.binary[c.Column] || !utf8.ValidString(text) {
			text = blob(text)
		}
		fields[c.Column].Values = append(fields[c.Column].Values, text)
	}
	return fields
}

// blob returns bytes as DuckDB writes them: printable ASCII as it is, without quotes and backslashes, and any other
// byte as \xHH.
func blob(bytes string) string {
	var b strings.Builder
	for i := range len(bytes) {
		if c := bytes[i]; c < ' ' || c > '~' || strings.IndexByte(`\'"`, c) >= 0 {
			fmt.Fprintf(&b, `\x%02X`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// tableError converts an error of a table to a *FileError. The end of the table stays io.EOF.
func tableError(name string, err error) error {
	if wrong, ok := errors.AsType[*tabular.Error](err); ok {
		return &FileError{Name: name, Reason: wrong.Reason, Hint: wrong.Hint, Err: wrong.Err}
	}
	return err
}

// sampledTable has the rows of a sample.
type sampledTable struct {
	columns []tabular.Column
	rows    []tabular.Row
	whole   bool // the table has no other rows
}

// sampleOfTable reads rows from the beginning of a table, about as many bytes as a sample of text.
func sampleOfTable(t tabular.Table) (*sampledTable, error) {
	s := &sampledTable{columns: t.Columns()}
	for size := 0; len(s.rows) < sampleRows && size < sample; {
		row, err := t.Next()
		if s.whole = errors.Is(err, io.EOF); s.whole {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, c := range row.Cells {
			if s.columns[c.Column].Binary == "" {
				size += len(c.Text)
			}
		}
		row.Cells = slices.Clone(row.Cells)
		s.rows = append(s.rows, row)
	}
	return s, nil
}

// columnsOf returns the columns of a sample, and how many rows they are of.
func (s *sampledTable) columnsOf(null []string) ([]sampled, int) {
	rows := s.rows
	if s.whole {
		rows = rows[:len(withoutEnd(s.texts()))]
	}
	all := make([]sampled, len(s.columns))
	for i, c := range s.columns {
		all[i] = sampled{name: c.Name, rows: len(rows)}
	}
	for _, row := range rows {
		has := make([]bool, len(s.columns))
		filled := 0
		for _, c := range row.Cells {
			if isValue(c.Text, null) && s.columns[c.Column].Binary == "" && utf8.ValidString(c.Text) {
				all[c.Column].values = append(all[c.Column].values, c.Text)
				if !has[c.Column] {
					has[c.Column] = true
					filled++
				}
			}
		}
		for i := range all {
			if !has[i] && 2*filled < len(s.columns) {
				all[i].short++
			}
		}
	}
	return all, len(rows)
}

// texts returns the rows with the text of each column.
func (s *sampledTable) texts() [][]string {
	texts := make([][]string, len(s.rows))
	for i, row := range s.rows {
		texts[i] = make([]string, len(s.columns))
		for _, c := range row.Cells {
			texts[i][c.Column] = c.Text
		}
	}
	return texts
}

func (s *sampledTable) Columns() []tabular.Column { return s.columns }
func (s *sampledTable) Done() float64             { return -1 }
func (s *sampledTable) Close() error              { return nil }

func (s *sampledTable) Next() (tabular.Row, error) {
	if len(s.rows) == 0 {
		return tabular.Row{}, io.EOF
	}
	row := s.rows[0]
	s.rows = s.rows[1:]
	return row, nil
}
