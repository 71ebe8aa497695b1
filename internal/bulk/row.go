// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"encoding/json"
	"fmt"
)

// Limits of what is read.
const (
	MaxRow     = 1 << 20 // bytes of a row, and of a line
	MaxColumns = 256     // columns of a CSV file
	MaxRatio   = 200     // decoded bytes for each compressed one
)

// Row is one record as a file gives it, its columns under the names of attributes.
type Row struct {
	// Line is the number of the row's first line, from 1, and Lines how many it has.
	Line   int64
	Lines  int64
	Source string
	Key    string
	// Kind is what the column kind says, or the kind of the file; "" if nothing does.
	Kind string
	// Observed is the text of the column observed_at, "" if there is none.
	Observed string
	// Attributes are what the other columns say: name to values, byte for byte.
	Attributes map[string][]string
}

// Flat is the row as a line of JSONL: source, key and observed_at beside the attributes.
func (r *Row) Flat() json.RawMessage {
	flat := r.Values()
	flat[ColumnSource], flat[ColumnKey] = r.Source, r.Key
	if r.Kind != "" {
		flat[ColumnKind] = r.Kind
	}
	if r.Observed != "" {
		flat[ColumnObserved] = r.Observed
	}
	text, _ := json.Marshal(flat) // strings and lists of strings always can be
	return text
}

// Values are the attributes as JSONL has them: a string, or a list of strings.
func (r *Row) Values() map[string]any {
	values := make(map[string]any, len(r.Attributes)+3)
	for name, of := range r.Attributes {
		if values[name] = of; len(of) == 1 {
			values[name] = of[0]
		}
	}
	return values
}

// RowError says why a row is refused. Reading goes on with the next one.
type RowError struct {
	// Line is the number of the row's first line, from 1, and Lines how many are refused with it.
	Line  int64
	Lines int64
	// Code is one of the codes of the HTTP API: malformed, invalid_utf8, too_large, ...
	Code string
	// Pointer leads to the field, such as /phones/0; "" for the row as a whole.
	Pointer string
	Reason  string
	// Row is the row as far as it could be read: a JSON object, or a string of its text.
	Row json.RawMessage
}

// Error names the line, the field and the reason.
func (e *RowError) Error() string {
	if e.Pointer != "" {
		return fmt.Sprintf("line %d: %s: %s", e.Line, e.Pointer, e.Reason)
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

// whole refuses a row that cannot be taken apart. Of its text a JSON string of at most 200 bytes is
// kept: enough to recognise it.
func (e *RowError) whole(text []byte, code, reason string) *RowError {
	e.Code, e.Reason = code, reason
	e.Row, _ = json.Marshal(string(text[:min(len(text), 200)])) // a string always can be
	return e
}

// FileError says why a file cannot be read, or not any further.
type FileError struct {
	Name   string
	Line   int64 // 0 if it is about the file as a whole
	Reason string
	Hint   string // what to try
	Err    error  // what the machine said, if it did
}

// Error names the file, the line and the reason.
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

// Unwrap gives what the machine said.
func (e *FileError) Unwrap() error { return e.Err }
