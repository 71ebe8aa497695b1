// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/internal/exchange"
)

// csvRows makes records from the rows of a CSV file.
type csvRows struct {
	scan   *scanner
	mapper *mapper
	stream bool     // the writer of a stream may stop within a row, which then looks like the end
	values []string // fields of the row, none if it is damaged
	lists  []bool   // whether a column has lists
	books  []bool   // whether a column is one of an address book
	cells  []cell
}

// newCSV returns the rows after the header; columns are the names of the columns.
func newCSV(s *scanner, m *mapper, columns []string, stream bool) *csvRows {
	for _, name := range columns {
		m.column(name)
	}
	r := &csvRows{scan: s, mapper: m, stream: stream}
	s.width, s.keys = len(columns), nil
	for i, name := range columns {
		r.lists = append(r.lists, m.mapping.list(name) != "")
		r.books = append(r.books, !r.lists[i] && m.mapping.lists && isAddressBook(name))
		if slices.ContainsFunc(m.uses[i], func(u use) bool { return u.kind == useKey }) {
			s.keys = append(s.keys, i)
		}
	}
	s.prime(s.lines.ahead())
	return r
}

// Next reads the next row.
func (r *csvRows) Next() (*Row, error) {
	r.values = r.values[:0]
	line, err := r.scan.next()
	if refused, damaged := errors.AsType[*RowError](err); damaged {
		refused.Row, refused.Text = r.literal(), string(r.scan.raw)
		return nil, refused
	}
	if err != nil {
		return nil, err
	}
	r.values = r.scan.row.strings(r.values)
	refused := &RowError{Line: line, Lines: r.scan.span, Code: "malformed"}
	if r.scan.ended || !r.stream {
		refused.Label = labelOf(r.values)
	}
	if refused.Cause, refused.Reason = r.incomplete(); refused.Reason != "" {
		refused.Row = r.object(r.values)
		return nil, refused
	}
	row, fault := r.mapper.row(r.list(r.values))
	if fault != nil {
		refused.Code, refused.Pointer, refused.Reason, refused.Cause = fault.code, fault.pointer, fault.reason, fault.cause
		refused.Source, refused.Key = r.mapper.identify(row, r.cells)
		refused.Row = r.object(r.values)
		return nil, refused
	}
	row.Line, row.Lines, row.Label = line, r.scan.span, refused.Label
	return row, nil
}

func (r *csvRows) list(values []string) []cell {
	r.cells = r.cells[:0]
	for i, value := range values {
		if !r.lists[i] && !r.books[i] {
			r.cells = append(r.cells, cell{i, value})
			continue
		}
		split := exchange.SplitList
		if r.books[i] {
			split = splitAddressBook
		}
		for _, of := range split(value) {
			r.cells = append(r.cells, cell{i, of})
		}
	}
	return r.cells
}

// literal returns a broken line as an object, without interpreting quotes.
func (r *csvRows) literal() json.RawMessage {
	var f fields
	f.literal(r.scan.dialect, bytes.ToValidUTF8(r.scan.raw, []byte("\ufffd")))
	return r.object(f.strings(nil))
}

// object returns a row that cannot be imported, as an object that can be imported once it is corrected: by attributes
// if it has the width of the header, otherwise by columns. Values without a column are refused until they get one.
func (r *csvRows) object(values []string) json.RawMessage {
	if len(values) == r.scan.width {
		if row, _ := r.mapper.row(r.list(values)); row != nil {
			return row.Flat()
		}
	}
	object := map[string]any{}
	for i, value := range values[:min(len(values), MaxColumns)] {
		if name := fmt.Sprintf("column%d", i+1); i >= r.scan.width {
			object[name] = value
		} else if name = r.mapper.targetOf(i); value != "" && r.lists[i] {
			object[name] = exchange.SplitList(value)
		} else if value != "" {
			object[name] = value
		}
	}
	text, _ := json.Marshal(object) // cannot fail: strings and lists of strings
	return text
}

// targetOf returns the attribute or the reserved name that a column maps to. If there are several or none, it returns
// the column's own name.
func (m *mapper) targetOf(column int) string {
	if len(m.uses[column]) == 1 {
		switch u := m.uses[column][0]; u.kind {
		case useAttribute:
			return u.attribute
		case useKey:
			if len(m.mapping.key) < 2 {
				return ColumnKey
			}
		case useSource:
			return ColumnSource
		case useRowKind:
			return ColumnKind
		case useObserved:
			return ColumnObserved
		case usePart:
		}
	}
	return m.names[column]
}

// incomplete returns why a parsed row must be rejected, "" if it is complete. A last row without a line end may be cut
// off: the size of a file rules that out, but a stream cannot show that its writer was interrupted.
func (r *csvRows) incomplete() (cause, reason string) {
	if len(r.values) != r.scan.width {
		cause, reason = causeWidth, fmt.Sprintf("it has %d columns, the header %d", len(r.values), r.scan.width)
	}
	if r.scan.ended || reason == "" && !r.stream {
		return cause, reason
	}
	if reason != "" {
		reason += ", and "
	} else {
		cause, reason = causeCut, "the input ends in this row: "
	}
	return cause, reason + "it has no line end, as if what wrote it had been stopped: see whether it is complete, and end it with a line end"
}
