// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"strings"

	"github.com/locus-db/locus/internal/strictjson"
)

// Field is a column of a row as the file has it.
type Field struct {
	Name   string
	Values []string
}

// Header returns the columns of a CSV file, nil for any other format.
func (r *Reader) Header() []string {
	if c, ok := r.rows.(*csvReader); ok {
		return c.header
	}
	return nil
}

// Fields returns the row that Next returned last, or the rejected one, as the file has it: every column, known or not, with
// the names and the text of the file. A row of CSV with too few fields lacks the last columns, one with too many has the rest
// in the last one. A JSON object within a row is its text. The error says that the row cannot be taken
// apart.
func (r *Reader) Fields() ([]Field, error) {
	switch rows := r.rows.(type) {
	case *csvReader:
		if len(rows.ends) == 0 {
			return nil, errNoRow
		}
		fields := make([]Field, 0, len(rows.header))
		for i := range rows.ends {
			text := string(rows.field(i))
			if i < len(rows.header) {
				fields = append(fields, Field{rows.header[i], []string{text}})
			} else {
				fields[len(fields)-1].Values[0] += "," + text
			}
		}
		return fields, nil
	case *jsonlReader:
		object, err := strictjson.Parse(rows.line)
		if err != nil || object.Kind() != strictjson.Object {
			return nil, errNoRow
		}
		var fields []Field
		for name, value := range object.Members() {
			field := Field{Name: name}
			if list, reason := texts(value); reason == "" {
				field.Values = list
			} else if raw := string(value.Raw()); raw != "null" {
				field.Values = []string{raw}
			}
			fields = append(fields, field)
		}
		return fields, nil
	}
	return nil, errNoRow
}

var errNoRow = errors.New("the row cannot be taken apart")

// Text returns the rejected row as text, as far as the error has it.
func (e *RowError) Text() string {
	if text, err := strictjson.Parse(e.Row); err == nil && text.Kind() == strictjson.String {
		return text.Text()
	}
	return strings.TrimSpace(string(e.Row))
}
