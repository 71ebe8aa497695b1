// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"fmt"
	"slices"
	"strings"
)

// Type is the type of a column's values.
type Type int

// The types. Text is written unchanged. Values of Int are decimal integers of 64 bits, values of Float decimal numbers;
// JSON and Parquet have them as numbers.
const (
	Text Type = iota
	Int
	Float
)

// Column is a column of a table.
type Column struct {
	Name string
	// Many marks a column of lists. A row of any other column has at most one value; in JSON lines, more than one makes
	// a list of it.
	Many bool
	Type Type
}

// Row is a row of a table: the values of each column, nil for none. Its owner may reuse it after Write.
type Row [][]string

// Writer writes a table. Close ends the table and leaves the underlying writer open. After an error, the output is
// incomplete.
type Writer interface {
	Write(row Row) error
	Close() error
}

// listMark ends the name of a column of lists in a CSV header.
const listMark = "[]"

// Header returns the name of a column in a CSV header: NAME, or NAME[] if it has lists.
func (c Column) Header() string {
	if c.Many {
		return c.Name + listMark
	}
	return c.Name
}

// ParseHeader is the reverse of Column.Header.
func ParseHeader(text string) Column {
	name, many := strings.CutSuffix(text, listMark)
	return Column{Name: name, Many: many}
}

// Select returns the columns of these names, in this order, and their positions in columns. The error names the first
// one that does not exist, and all that do.
func Select(columns []Column, names []string) (selected []Column, at []int, err error) {
	for _, name := range names {
		i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name || c.Header() == name })
		if i < 0 {
			known := make([]string, len(columns))
			for n, c := range columns {
				known[n] = c.Name
			}
			return nil, nil, fmt.Errorf("there is no column %.64q: there are %s", name, strings.Join(known, ", "))
		}
		if slices.Contains(at, i) {
			return nil, nil, fmt.Errorf("column %.64q is named twice", name)
		}
		selected, at = append(selected, columns[i]), append(at, i)
	}
	return selected, at, nil
}

// separator separates the values of a list in CSV.
const separator = " | "

var listEscape = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// JoinList returns the values of a list as one text: joined by " | ", a backslash before each backslash and each bar of
// a value. An empty list is "".
func JoinList(values []string) string {
	switch len(values) {
	case 0:
		return ""
	case 1:
		if !strings.ContainsAny(values[0], `\|`) {
			return values[0]
		}
	}
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(separator)
		}
		_, _ = listEscape.WriteString(&b, v)
	}
	return b.String()
}

// SplitList is the reverse of JoinList. A backslash before any other character, and a bar without a blank on both
// sides, stand for themselves, so that text that JoinList did not write is unchanged.
func SplitList(text string) []string {
	if text == "" {
		return nil
	}
	if !strings.ContainsAny(text, `\|`) {
		return []string{text}
	}
	var values []string
	var value []byte
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == '\\' || text[i+1] == '|'):
			i++
			value = append(value, text[i])
		case strings.HasPrefix(text[i:], separator):
			values, value = append(values, string(value)), value[:0]
			i += len(separator) - 1
		default:
			value = append(value, text[i])
		}
	}
	return append(values, string(value))
}
