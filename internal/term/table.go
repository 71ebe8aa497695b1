// SPDX-License-Identifier: Apache-2.0

package term

import (
	"bufio"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
)

// Style selects terminal or pipe output, with colour or without. The zero value is a pipe.
type Style struct {
	Terminal bool // aligned columns instead of TSV
	Color    bool // ANSI sequences
}

// Paint wraps text in an ANSI attribute ("1" bold, "2" dim, "32" green) if colour is on.
func (s Style) Paint(attribute, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + attribute + "m" + text + "\x1b[0m"
}

// Table is a list of rows under a header. Cells are escaped when written.
type Table struct {
	Header []string
	// Right are the columns to align right, for numbers.
	Right map[int]bool
	rows  [][]string
}

// Add appends a row. It must have as many cells as the header.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Write writes the table: aligned with two spaces between columns, or as TSV.
func (t *Table) Write(w io.Writer, style Style) error {
	out := bufio.NewWriter(w)
	rows := make([][]string, 0, len(t.rows)+1)
	for _, row := range append([][]string{t.Header}, t.rows...) {
		escaped := make([]string, len(row))
		for i, cell := range row {
			escaped[i] = Escape(cell)
		}
		rows = append(rows, escaped)
	}
	if !style.Terminal {
		for _, row := range rows {
			out.WriteString(strings.Join(row, "\t"))
			out.WriteByte('\n')
		}
		return out.Flush()
	}
	widths := make([]int, len(t.Header))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], lipgloss.Width(cell))
		}
	}
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-lipgloss.Width(cell))
			if t.Right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		text := strings.TrimRight(line.String(), " ")
		if n == 0 {
			text = style.Paint("1", text)
		}
		out.WriteString(text)
		out.WriteByte('\n')
	}
	return out.Flush()
}
