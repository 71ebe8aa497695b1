// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/strictjson"
)

// Field is a column of a row as the file has it.
type Field struct {
	Name   string
	Values []string
}

// Header returns the columns of a file that names them in advance, nil for JSON.
func (r *Reader) Header() []string {
	switch rows := r.rows.(type) {
	case *csvRows:
		return rows.mapper.names
	case *tableRows:
		return rows.mapper.names
	}
	return nil
}

// Lists reports whether Fields may have several values for one column.
func (r *Reader) Lists() bool {
	_, text := r.rows.(*csvRows)
	return !text
}

// Fields returns the row that Next returned last, or the rejected one, with the names and texts of the file, whether
// mapped or not. A CSV row with too few fields lacks the last columns; one with too many has the rest in its last
// column. A JSON object within a row is given as text. It returns an error if the row cannot be parsed.
func (r *Reader) Fields() ([]Field, error) {
	if fields, err := r.footer.kept(); fields != nil || err != nil {
		return fields, err
	}
	return r.fields()
}

// fields returns the row that was read last, which may be held back.
func (r *Reader) fields() ([]Field, error) {
	switch rows := r.rows.(type) {
	case *csvRows:
		if len(rows.values) == 0 {
			return nil, errNoRow
		}
		names := rows.mapper.names
		fields := make([]Field, 0, len(names))
		for i, text := range rows.values {
			if i < len(names) {
				fields = append(fields, Field{names[i], []string{text}})
			} else {
				fields[len(fields)-1].Values[0] += string(rune(rows.scan.dialect.Delimiter)) + text
			}
		}
		return fields, nil
	case *tableRows:
		if rows.long {
			return nil, errNoRow
		}
		return rows.fields(), nil
	case *jsonRows:
		object, err := strictjson.Parse(rows.text)
		if err != nil || object.Kind() != strictjson.Object {
			return nil, errNoRow
		}
		var fields []Field
		for name, value := range object.Members() {
			field := Field{Name: name}
			if list, plain := plainTexts(value); plain {
				field.Values = list
			} else if raw := string(value.Raw()); raw != "null" {
				var line bytes.Buffer // the value may be spread over lines
				if err := json.Compact(&line, value.Raw()); err == nil {
					raw = line.String()
				}
				field.Values = []string{raw}
			}
			fields = append(fields, field)
		}
		return fields, nil
	}
	return nil, errNoRow
}

// paths returns the row that Next returned last with the columns of a plan: for JSON these are paths such as
// crew.directors.
func (r *Reader) paths() (fields []Field, err error) {
	rows, is := r.rows.(*jsonRows)
	if !is {
		return r.Fields()
	}
	object, err := strictjson.Parse(rows.text)
	if err != nil || object.Kind() != strictjson.Object {
		return nil, errNoRow
	}
	flatten("", object, func(path, value string) {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == path })
		if i < 0 {
			i = len(fields)
			fields = append(fields, Field{Name: path})
		}
		fields[i].Values = append(fields[i].Values, value)
	})
	return fields, nil
}

// plainTexts returns the texts of a string, a number, or a list of both, and reports whether the value is one of these.
func plainTexts(value strictjson.Value) (list []string, plain bool) {
	switch value.Kind() {
	case strictjson.String:
		return []string{value.Text()}, true
	case strictjson.Number:
		return []string{value.Number()}, true
	case strictjson.Array:
		for _, item := range value.Items() {
			of, ok := plainTexts(item)
			if !ok || item.Kind() == strictjson.Array {
				return nil, false
			}
			list = append(list, of...)
		}
		return list, true
	case strictjson.Null, strictjson.Bool, strictjson.Object:
	}
	return nil, false
}

var errNoRow = errors.New("the row cannot be taken apart")

// Raw returns the rejected row as text of the file, as far as the error contains it.
func (e *RowError) Raw() string {
	if e.Text != "" {
		return e.Text
	}
	if text, err := strictjson.Parse(e.Row); err == nil && text.Kind() == strictjson.String {
		return text.Text()
	}
	return strings.TrimSpace(string(e.Row))
}
