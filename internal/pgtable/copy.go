// SPDX-License-Identifier: Apache-2.0

package pgtable

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/locus-db/locus/internal/exchange"
)

// copier writes rows in the text format of COPY.
type copier struct {
	w     *bufio.Writer
	line  []byte
	lists []bool // the columns of type text[]
}

func newCopier(w io.Writer, lists []bool) *copier {
	return &copier{w: bufio.NewWriterSize(w, 64<<10), lists: lists}
}

// write writes columns of a row; at are their positions in it.
func (c *copier) write(row exchange.Row, columns []Column, at []int) error {
	line := c.line[:0]
	for n, i := range at {
		if n > 0 {
			line = append(line, '\t')
		}
		values := row[i]
		switch {
		case len(values) == 0:
			line = append(line, `\N`...)
			continue
		case len(values) > 1 && !c.lists[n]:
			return fmt.Errorf("column %s has %d values in one row, and is no list", columns[n].Name, len(values))
		}
		for _, v := range values {
			if strings.IndexByte(v, 0) >= 0 {
				return fmt.Errorf("column %s has a value with the character U+0000, %.60q, which PostgreSQL cannot store: correct it, or leave the column out with --columns",
					columns[n].Name, v)
			}
		}
		if c.lists[n] {
			line = appendList(line, values)
		} else {
			line = appendText(line, values[0])
		}
	}
	c.line = append(line, '\n')
	_, err := c.w.Write(c.line)
	return err
}

// appendText escapes the characters that end a field or a line, and the backslash.
func appendText(to []byte, text string) []byte {
	for i := range len(text) {
		switch b := text[i]; b {
		case '\\':
			to = append(to, `\\`...)
		case '\t':
			to = append(to, `\t`...)
		case '\n':
			to = append(to, `\n`...)
		case '\r':
			to = append(to, `\r`...)
		default:
			to = append(to, b)
		}
	}
	return to
}

// appendList appends an array. Its values are quoted, and escaped once for the array and once for COPY.
func appendList(to []byte, values []string) []byte {
	to = append(to, '{')
	for i, v := range values {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(to, '"')
		if strings.ContainsAny(v, `"\`) {
			v = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v)
		}
		to = append(appendText(to, v), '"')
	}
	return append(to, '}')
}
