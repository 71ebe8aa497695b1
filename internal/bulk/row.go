// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Limits of a row.
const (
	MaxRow     = 1 << 20 // bytes of a row or a line
	MaxColumns = 4096    // columns of a CSV file
	MaxRatio   = 200     // decompressed bytes per compressed byte
)

// Row is a record read from a file, with its columns renamed to attributes.
type Row struct {
	// Line is the number of the row's first line, from 1. Lines is the number of its lines.
	Line   int64
	Lines  int64
	Source string
	Key    string
	// Kind is the value of the column "kind" or the kind of the file; "" if there is neither.
	Kind string
	// Observed is the text of the column "observed_at", "" if there is none.
	Observed string
	// Position, if not nil, is where reading can continue after this row; see Plan.OpenAfter.
	Position []string
	// Attributes holds the values of the other columns by attribute name, byte for byte.
	Attributes map[string][]string

	// Label is the text in the first column of a row that may belong to the footer of a report.
	Label string
}

// Flat returns the row as a JSONL line: source, key and observed_at on the same level as the attributes.
func (r *Row) Flat() json.RawMessage {
	flat := r.Values()
	flat[ColumnSource], flat[ColumnKey] = r.Source, r.Key
	if r.Kind != "" {
		flat[ColumnKind] = r.Kind
	}
	if r.Observed != "" {
		flat[ColumnObserved] = r.Observed
	}
	return plainJSON(flat)
}

// plainJSON returns strings, and lists and maps of them, as JSON without escaping <, > and &.
func plainJSON(value any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // cannot fail: strings
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// Values returns the attributes as in JSONL: a string, or a list of strings.
func (r *Row) Values() map[string]any {
	values := make(map[string]any, len(r.Attributes)+3)
	for name, of := range r.Attributes {
		if values[name] = of; len(of) == 1 {
			values[name] = of[0]
		}
	}
	return values
}

// RowError is the reason why a row is rejected. Reading continues with the next row.
type RowError struct {
	// Line is the number of the row's first line, from 1. Lines is how many lines are rejected with it.
	Line  int64
	Lines int64
	// Source and Key are the row's source and key, "" if they cannot be read or are missing.
	Source, Key string
	// Code is one of the codes of the HTTP API: malformed, invalid_utf8, too_large, ...
	Code string
	// Pointer is the JSON pointer to the field, such as /phones/0; "" for the row as a whole.
	Pointer string
	Reason  string
	// Cause is the reason without the values of the row, so that refusals can be counted by it; "" if there is none.
	Cause string
	// Row is the row as far as it could be read: a JSON object, or its text as a JSON string.
	Row json.RawMessage
	// Text is the row as written, if Row may not have all of it.
	Text string
	// Position is the position of Row.
	Position []string

	// Label is the text in the first column of a row that may belong to the footer of a report.
	Label string
}

// At returns the position of the row, nil for a nil error.
func (e *RowError) At() []string {
	if e == nil {
		return nil
	}
	return e.Position
}

// Error returns the line, the field and the reason.
func (e *RowError) Error() string { return e.In(CSV) }

// In returns the text of Error in the terms of a format.
func (e *RowError) In(format Format) string {
	if e.Pointer != "" {
		return fmt.Sprintf("%s %d: %s: %s", format.Unit(), e.Line, e.Pointer, e.Reason)
	}
	return fmt.Sprintf("%s %d: %s", format.Unit(), e.Line, e.Reason)
}

// quoteText returns a text as a JSON string.
func quoteText(text []byte) json.RawMessage {
	return plainJSON(string(text))
}

// FileError is the reason why a file cannot be read, or not to its end.
type FileError struct {
	Name   string
	Line   int64 // 0 for the file as a whole
	Reason string
	Hint   string // what to try
	Err    error  // cause, if there is one
}

// Error returns the file, the line and the reason.
func (e *FileError) Error() string {
	text := fmt.Sprintf("%q", e.Name)
	if e.Line > 0 {
		text += fmt.Sprintf(" line %d", e.Line)
	}
	text += ": " + e.Reason
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }
