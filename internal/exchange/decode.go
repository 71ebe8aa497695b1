// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locus-db/locus/internal/strictjson"
)

// Decoder turns lines that a writer of JSON lines wrote back into rows.
type Decoder struct {
	columns []Column
	at      map[string]int
	row     Row
}

// NewDecoder returns a decoder of the rows of a table. Fields that are not columns are left out.
func NewDecoder(columns []Column) *Decoder {
	d := &Decoder{columns: columns, at: map[string]int{}, row: make(Row, len(columns))}
	for i, c := range columns {
		d.at[c.Name] = i
	}
	return d
}

// Decode returns the row of a line, which is valid until the next call.
func (d *Decoder) Decode(line []byte) (Row, error) {
	text := string(bytes.TrimSpace(line))
	if d.clear(); d.written(text) {
		return d.row, nil
	}
	d.clear()
	return d.row, d.any([]byte(text))
}

func (d *Decoder) clear() {
	for i := range d.row {
		d.row[i] = d.row[i][:0]
	}
}

// written reads a line that has the fields of the columns in their order and no white space between them, as a writer
// writes them. It reports false for any other line, and for one that is not valid. The values are parts of the line.
func (d *Decoder) written(line string) bool {
	if len(line) < 2 || line[0] != '{' || !utf8.ValidString(line) {
		return false
	}
	rest, next := line[1:], 0
	for first := true; rest != "}"; first = false {
		if !first {
			if rest == "" || rest[0] != ',' {
				return false
			}
			rest = rest[1:]
		}
		name, after, ok := plainString(rest)
		if !ok || after == "" || after[0] != ':' {
			return false
		}
		ahead := slices.IndexFunc(d.columns[next:], func(c Column) bool { return c.Name == name })
		if ahead < 0 {
			return false
		}
		i := next + ahead
		next = i + 1
		if rest, ok = d.values(i, after[1:]); !ok {
			return false
		}
	}
	return true
}

// values reads the value of a field, or the values of a list that is not empty, and returns what follows.
func (d *Decoder) values(i int, rest string) (after string, ok bool) {
	if rest == "" || rest[0] != '[' {
		var value string
		value, after, ok = scalarText(rest)
		d.row[i] = append(d.row[i], value)
		return after, ok
	}
	for rest[0] != ']' {
		var value string
		if value, rest, ok = scalarText(rest[1:]); !ok || rest == "" || rest[0] != ',' && rest[0] != ']' {
			return "", false
		}
		d.row[i] = append(d.row[i], value)
	}
	return rest[1:], true
}

// scalarText reads a string or an integer.
func scalarText(rest string) (value, after string, ok bool) {
	if rest == "" {
		return "", "", false
	}
	if rest[0] == '"' {
		if value, after, ok = plainString(rest); ok {
			return value, after, true
		}
		return escapedString(rest)
	}
	n := 0
	for n < len(rest) && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '-' && n == 0) {
		n++
	}
	digits := strings.TrimPrefix(rest[:n], "-")
	if digits == "" || len(digits) > 1 && digits[0] == '0' || n > strictjson.MaxNumber || n == len(rest) ||
		!strings.ContainsRune(",]}", rune(rest[n])) {
		return "", "", false
	}
	return rest[:n], rest[n:], true
}

// plainString reads a string without escapes.
func plainString(rest string) (value, after string, ok bool) {
	if rest == "" || rest[0] != '"' {
		return "", "", false
	}
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return rest[1:i], rest[i+1:], true
		case c == '\\' || c < ' ':
			return "", "", false
		}
	}
	return "", "", false
}

// escapedString reads a string with escapes.
func escapedString(rest string) (value, after string, ok bool) {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			v, err := strictjson.Parse([]byte(rest[:i+1]))
			return v.Text(), rest[i+1:], err == nil
		}
	}
	return "", "", false
}

// any reads a line of JSON that is written in any way.
func (d *Decoder) any(line []byte) error {
	object, err := strictjson.Parse(line)
	if err != nil {
		return err
	}
	if object.Kind() != strictjson.Object {
		return fmt.Errorf("a line is no JSON object: %.80q", line)
	}
	for name, value := range object.Members() {
		i, known := d.at[name]
		if !known {
			continue
		}
		if value.Kind() != strictjson.Array {
			if d.row[i], err = appendScalar(d.row[i], value); err != nil {
				return fmt.Errorf("field %.64q: %w", name, err)
			}
			continue
		}
		for _, item := range value.Items() {
			if d.row[i], err = appendScalar(d.row[i], item); err != nil {
				return fmt.Errorf("field %.64q: %w", name, err)
			}
		}
	}
	return nil
}

func appendScalar(values []string, v strictjson.Value) ([]string, error) {
	switch v.Kind() {
	case strictjson.String:
		return append(values, v.Text()), nil
	case strictjson.Number:
		return append(values, v.Number()), nil
	default:
		return nil, fmt.Errorf("%.40s is neither a text nor a number", v.Raw())
	}
}
