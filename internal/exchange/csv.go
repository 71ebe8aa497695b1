// SPDX-License-Identifier: Apache-2.0

package exchange

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// csvWriter writes CSV as RFC 4180 has it, with LF: a field with a comma, a quote or a line end is quoted.
type csvWriter struct {
	w       *bufio.Writer
	columns []Column
	defuse  bool
	line    []byte
}

func newCSV(w io.Writer, columns []Column, defuse bool) (*csvWriter, error) {
	c := &csvWriter{w: bufio.NewWriterSize(w, 64<<10), columns: columns, defuse: defuse}
	for i, column := range columns {
		c.field(i, column.Header())
	}
	return c, c.end()
}

// field adds a field to the line. A line of one empty field is quoted, since a blank line is no row.
func (c *csvWriter) field(i int, text string) {
	if i > 0 {
		c.line = append(c.line, ',')
	}
	if text == "" && len(c.columns) == 1 || strings.ContainsAny(text, ",\"\r\n") || strings.HasPrefix(text, "\ufeff") {
		c.line = append(c.line, '"')
		c.line = append(c.line, strings.ReplaceAll(text, `"`, `""`)...)
		c.line = append(c.line, '"')
		return
	}
	c.line = append(c.line, text...)
}

func (c *csvWriter) end() error {
	c.line = append(c.line, '\n')
	_, err := c.w.Write(c.line)
	c.line = c.line[:0]
	return err
}

// Write writes a line.
func (c *csvWriter) Write(row Row) error {
	for i, column := range c.columns {
		text := ""
		switch values := row[i]; {
		case column.Many:
			text = JoinList(values)
		case len(values) > 1:
			return fmt.Errorf("column %s has %d values in one row, and is no list", column.Name, len(values))
		case len(values) == 1:
			text = values[0]
		}
		if c.defuse && column.Type == Text {
			text = defused(text)
		}
		c.field(i, text)
	}
	return c.end()
}

// Close writes the buffered rows.
func (c *csvWriter) Close() error { return c.w.Flush() }

// defused keeps a spreadsheet from evaluating a text: an apostrophe before what would be a formula, unless it is a
// negative number.
func defused(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && text[0] == '-' {
		return text
	}
	return "'" + text
}
