// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// csvReader reads the rows of a CSV file with a header.
type csvReader struct {
	name    string
	scan    *scanner
	columns *meaning
	stream  bool // the writer of a stream may stop within a row, which then looks like the end

	header  []string
	targets []string
	values  []string // of the row
}

func (r *csvReader) fault(line int64, hint, format string, args ...any) error {
	return &FileError{Name: r.name, Line: line, Reason: fmt.Sprintf(format, args...), Hint: hint}
}

// readHeader reads the first row. The error is a *FileError, or io.EOF for an empty file.
func (r *csvReader) readHeader() error {
	line, err := r.scan.next()
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
	r.header = r.scan.row.strings(nil)
	mixed := r.columns.mixed(slices.Contains(r.header, ColumnKind))
	for i, column := range r.header {
		switch {
		case slices.Contains([]byte(column), '\r'):
			return r.fault(line, "save it with LF or CR LF line ends", "lines end in CR alone")
		case slices.Contains(r.header[:i], column):
			return r.fault(line, "name every column once", "the header names column %.60q twice", column)
		}
		target, reason := r.columns.target(column, mixed)
		unknown = cmp.Or(unknown, reason)
		r.targets = append(r.targets, target)
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
	r.scan.width, r.scan.keys = len(r.header), []int{slices.Index(r.targets, ColumnKey)}
	r.scan.prime(r.scan.lines.ahead())
	return nil
}

// Next reads the next row.
func (r *csvReader) Next() (*Row, error) {
	line, err := r.scan.next()
	refused, damaged := errors.AsType[*RowError](err)
	if damaged {
		refused.Row, refused.Text = r.literal(), string(r.scan.raw)
		return nil, refused
	}
	if err != nil {
		return nil, err
	}
	r.values = r.scan.row.strings(r.values[:0])
	if cause, reason := r.incomplete(); reason != "" {
		return nil, &RowError{Line: line, Lines: r.scan.span, Code: "malformed", Cause: cause, Row: r.object(r.values), Reason: reason}
	}
	row := r.build(r.values)
	row.Line, row.Lines = line, r.scan.span
	return row, nil
}

// build returns the row of the values of the columns.
func (r *csvReader) build(values []string) *Row {
	row := &Row{Source: r.columns.Source, Kind: r.columns.Kind, Attributes: make(map[string][]string, len(r.targets))}
	for i, target := range r.targets {
		value := values[i]
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
			if value != "" {
				row.Attributes[target] = append(row.Attributes[target], value)
			}
		}
	}
	r.columns.compose(row, func(column string) string { return values[slices.Index(r.header, column)] })
	return row
}

// literal returns a broken line as an object, as if no character quoted.
func (r *csvReader) literal() json.RawMessage {
	var f fields
	f.literal(r.scan.dialect, bytes.ToValidUTF8(r.scan.raw, []byte("\ufffd")))
	return r.object(f.strings(nil))
}

// object returns a row that cannot be imported as it is, as an object that can be once it is corrected: by the
// attributes if it has the width of the header, else by the columns as far as there are any.
func (r *csvReader) object(values []string) json.RawMessage {
	if len(values) == len(r.header) {
		return r.build(values).Flat()
	}
	object := map[string]string{}
	for i, value := range values {
		if i < len(r.header) {
			object[cmp.Or(r.targets[i], r.header[i])] = value
		} else if i < MaxColumns {
			object[fmt.Sprintf("column%d", i+1)] = value // refused until it is corrected
		}
	}
	text, _ := json.Marshal(object) // cannot fail: strings
	return text
}

// incomplete returns why a parsed row must be rejected, "" if it is complete. A last row without a line end may be cut
// off: the size of a file rules that out, but a stream cannot show that its writer was interrupted.
func (r *csvReader) incomplete() (cause, reason string) {
	if len(r.values) != len(r.targets) {
		cause, reason = causeWidth, fmt.Sprintf("it has %d columns, the header %d", len(r.values), len(r.targets))
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
