// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/strictjson"
)

// csvReader reads CSV according to RFC 4180 with a header: fields separated by commas, quotes around fields that
// contain commas, quotes or line ends, doubled quotes inside, lines ended by LF or CR LF. Blank lines are skipped.
type csvReader struct {
	name    string
	lines   *lines
	columns *meaning
	stream  bool // the writer of a stream may stop within a row, which then looks like the end

	header  []string
	targets []string
	lists   []bool // whether a column has lists: phones[]
	raw     []byte // the beginning of the row as written
	text    []byte // the row, unquoted
	ends    []int  // where each field ends in text
	span    int64  // how many physical lines the row has
	ended   bool   // whether its last line has a line end
}

// state is the state of the scanner within a row.
type state int

const (
	fieldStart state = iota
	bare             // inside an unquoted field
	quoted
	closed // after the closing quote of a field, or the first of a doubled quote
	faulty // after a fault, looking for the end of the row
)

func (r *csvReader) fault(line int64, hint, format string, args ...any) error {
	return &FileError{Name: r.name, Line: line, Reason: fmt.Sprintf(format, args...), Hint: hint}
}

// readHeader reads the first row. The error is a *FileError, or io.EOF for an empty file.
func (r *csvReader) readHeader() error {
	line, err := r.scan()
	if errors.Is(err, io.EOF) {
		return err
	}
	if refused, ok := errors.AsType[*RowError](err); ok {
		return r.fault(refused.Line, "the first line must name the columns", "the header cannot be read: %s", refused.Reason)
	}
	if err != nil {
		return err
	}
	unknown := ""
	for i := range r.ends {
		r.header = append(r.header, string(r.field(i)))
	}
	mixed := r.columns.mixed(slices.Contains(r.header, ColumnKind))
	for i, column := range r.header {
		switch {
		case slices.Contains([]byte(column), '\r'):
			return r.fault(line, "save it with LF or CR LF line ends", "lines end in CR alone")
		case slices.Contains(r.header[:i], column):
			return r.fault(line, "name every column once", "the header names column %.60q twice", column)
		}
		name, list := r.columns.list(column)
		target, reason := r.columns.target(name, mixed)
		unknown = cmp.Or(unknown, reason)
		r.targets, r.lists = append(r.targets, target), append(r.lists, list)
	}
	if reason := r.columns.unmapped(r.header); reason != "" {
		return r.fault(line, "the columns are: "+listed(r.header), "%s", reason)
	}
	for _, needed := range []struct{ target, column, hint string }{
		{ColumnKey, cmp.Or(r.columns.Key, ColumnKey), "--key COLUMN names the column with the source's own key; the columns are: " + listed(r.header)},
		{ColumnSource, ColumnSource, "--source NAME names the source of the whole file"},
	} {
		if needed.target == ColumnSource && r.columns.Source != "" {
			continue
		}
		switch n := count(r.targets, needed.target); {
		case n == 0 && r.columns.NoRefs && (needed.target == ColumnSource || r.columns.Key == ""):
		case n == 0 && needed.target == ColumnKey && r.columns.Keyless:
		case n == 0:
			return r.fault(line, needed.hint, "there is no column %.60q", needed.column)
		case n > 1:
			return r.fault(line, needed.hint, "%d columns are the %s", n, needed.target)
		}
	}
	if unknown != "" {
		return r.fault(line, "--map COLUMN=ATTRIBUTE to rename it, or --ignore-unknown to leave it out", "%s", unknown)
	}
	r.columns.alternatesIn(r.header, r.targets)
	return nil
}

// Next reads the next row.
func (r *csvReader) Next() (*Row, error) {
	line, err := r.scan()
	if err != nil {
		return nil, err
	}
	row := &Row{Line: line, Lines: r.span, Source: r.columns.Source, Kind: r.columns.Kind, Attributes: make(map[string][]string, len(r.targets))}
	if reason := r.incomplete(); reason != "" {
		return nil, &RowError{Line: line, Lines: r.span, Code: "malformed", Row: r.asObject(), Reason: reason}
	}
	for i, target := range r.targets {
		value := string(r.field(i))
		switch target {
		case skip:
		case ColumnSource:
			row.Source = value
		case ColumnKey:
			row.Key = value
		case ColumnObserved:
			row.Observed = value
		case ColumnKind:
			if r.columns.isKind() {
				row.Kind = value
			} else if value != "" {
				row.Attributes[target] = append(row.Attributes[target], value)
			}
		default:
			if r.lists[i] && value != "" {
				row.Attributes[target] = append(row.Attributes[target], exchange.SplitList(value)...)
			} else if value != "" {
				row.Attributes[target] = append(row.Attributes[target], value)
			}
		}
	}
	r.columns.compose(row, func(column string) string { return string(r.field(slices.Index(r.header, column))) })
	return row, nil
}

// incomplete returns why a parsed row must be rejected, "" if it is complete. A last row without a line end may be cut
// off: the size of a file rules that out, but a stream cannot show that its writer was interrupted.
func (r *csvReader) incomplete() string {
	reason := ""
	if len(r.ends) != len(r.targets) {
		reason = fmt.Sprintf("it has %d columns, the header %d", len(r.ends), len(r.targets))
	}
	if r.ended || reason == "" && !r.stream {
		return reason
	}
	if reason != "" {
		reason += ", and "
	} else {
		reason = "the input ends in this row: "
	}
	return reason + "it has no line end, as if what wrote it had been stopped: see whether it is complete, and end it with a line end"
}

// scan reads one row into text and ends and returns the number of its first line. A fault costs the row. A quote that
// is never closed costs only its first line: the following lines are read again.
func (r *csvReader) scan() (first int64, err error) {
	r.text, r.ends, r.span = r.text[:0], r.ends[:0], 1
	defer r.lines.letGo()
	var fault *RowError
	fail := func(code, format string, args ...any) {
		if fault == nil {
			fault = (&RowError{Line: first}).whole(r.raw, code, fmt.Sprintf(format, args...))
		}
	}
	// The quote opened in the first line is stray.
	stray := func(why string) (int64, error) {
		r.lines.back()
		fault = nil
		fail("malformed", "a quote is opened and not closed: %s; the lines after this one are read on their own", why)
		fault.Lines, r.ends = 1, r.ends[:0]
		return first, fault
	}
	s, size := fieldStart, int64(0)
	for {
		line, cut, err := r.lines.read()
		if err != nil && first > 0 {
			return stray("the file ends before")
		}
		if err != nil {
			return 0, err
		}
		begins := first == 0
		if begins {
			text := trimEnd(line)
			if len(text) == 0 {
				continue
			}
			first = r.lines.number
			r.raw = append(r.raw[:0], text[:min(len(text), 200)]...)
		}
		if size += int64(len(line)); cut || size > MaxRow+2 {
			if !begins {
				return stray(fmt.Sprintf("a row has at most %d bytes", MaxRow))
			}
			fail("too_large", "it is longer than %d bytes", MaxRow)
		}
		if i := strictjson.InvalidUTF8(line); i >= 0 && !cut {
			fail("invalid_utf8", "byte %d of the file is not UTF-8; is the file in another encoding, such as Latin-1?", r.lines.offset+int64(i))
		}
		if s = r.scanLine(line, s, fault != nil); s == faulty {
			if !begins {
				return stray(fmt.Sprintf("line %d has a quote in the middle of a field", r.lines.number))
			}
			fail("malformed", "a quote stands in the middle of a field: put the field into quotes and double the quote")
		}
		// The quotes in the rest of a truncated line are unknown, so it ends the row.
		if s == quoted && !cut {
			if begins {
				r.lines.hold()
			}
			continue
		}
		if fault == nil && len(r.ends) > MaxColumns {
			fail("too_large", "it has %d columns, at most %d", len(r.ends), MaxColumns)
		}
		r.span, r.ended = r.lines.number-first+1, ended(line)
		if fault != nil {
			fault.Lines, r.ends = r.span, r.ends[:0]
			return first, fault
		}
		return first, nil
	}
}

// scanLine parses one physical line and returns the state at its end. With pass it does not keep the content.
func (r *csvReader) scanLine(line []byte, s state, pass bool) state {
	end := len(line)
	if s != quoted {
		end = len(trimEnd(line))
	}
	for i := 0; i < end; i++ {
		b := line[i]
		switch {
		case s == quoted && b == '"':
			s = closed
			// Outside quotes again, so the line end is not part of a field.
			end = len(trimEnd(line))
			continue
		case s == quoted:
		case b == ',':
			if s = fieldStart; !pass {
				r.ends = append(r.ends, len(r.text))
			}
			continue
		case b == '"' && s == fieldStart, b == '"' && s == closed:
			if s == closed && !pass {
				r.text = append(r.text, '"')
			}
			s, end = quoted, len(line)
			continue
		case b == '"', s == closed:
			return faulty
		default:
			s = bare
		}
		if !pass {
			r.text = append(r.text, b)
		}
	}
	if s == quoted {
		return quoted
	}
	r.ends = append(r.ends, len(r.text))
	return fieldStart
}

func (r *csvReader) field(i int) []byte {
	start := 0
	if i > 0 {
		start = r.ends[i-1]
	}
	return r.text[start:r.ends[i]]
}

// asObject returns a row of the wrong width, by the names of the header as far as there are any.
func (r *csvReader) asObject() json.RawMessage {
	object := map[string]string{}
	for i, column := range r.header[:min(len(r.header), len(r.ends))] {
		object[cmp.Or(r.targets[i], column)] = string(r.field(i))
	}
	text, _ := json.Marshal(object)
	return text
}

func count(list []string, s string) (n int) {
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

func listed(names []string) string {
	if len(names) > 20 {
		names = append(slices.Clone(names[:20]), "...")
	}
	var text strings.Builder
	for i, name := range names {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(fmt.Sprintf("%.40q", name))
	}
	return text.String()
}
