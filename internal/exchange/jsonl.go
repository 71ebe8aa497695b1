// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"bufio"
	"io"
	"strconv"
	"unicode/utf8"
)

// jsonlWriter writes an object a line, its fields in the order of the columns.
type jsonlWriter struct {
	w       *bufio.Writer
	columns []Column
	names   [][]byte // each with its quotes and the colon
	line    []byte
}

func newJSONL(w io.Writer, columns []Column) *jsonlWriter {
	j := &jsonlWriter{w: bufio.NewWriterSize(w, 64<<10), columns: columns}
	for _, column := range columns {
		j.names = append(j.names, append(appendJSON(nil, column.Name), ':'))
	}
	return j
}

// Write writes a line.
func (j *jsonlWriter) Write(row Row) error {
	j.line = append(j.line[:0], '{')
	for i, values := range row {
		if len(values) == 0 {
			continue
		}
		if len(j.line) > 1 {
			j.line = append(j.line, ',')
		}
		j.line = append(j.line, j.names[i]...)
		list := j.columns[i].Many || len(values) > 1
		if list {
			j.line = append(j.line, '[')
		}
		for n, v := range values {
			if n > 0 {
				j.line = append(j.line, ',')
			}
			if j.columns[i].Type == Text {
				j.line = appendJSON(j.line, v)
			} else {
				j.line = append(j.line, v...)
			}
		}
		if list {
			j.line = append(j.line, ']')
		}
	}
	j.line = append(j.line, "}\n"...)
	_, err := j.w.Write(j.line)
	return err
}

// Close writes the buffered rows.
func (j *jsonlWriter) Close() error { return j.w.Flush() }

// appendJSON appends a text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendJSON(b []byte, text string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, text[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		b = append(b, text[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
		i++
		start = i
	}
	return append(append(b, text[start:]...), '"')
}

// FormatInt returns the value of a column of type Int.
func FormatInt(n int64) []string { return []string{strconv.FormatInt(n, 10)} }
