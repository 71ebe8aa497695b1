// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"strings"

	"github.com/locus-db/locus/match"
)

// titleLines is how many lines before the header may be a title.
const titleLines = 20

// linesBefore returns how many lines precede the header, such as the name of a report and when it was made: lines with one value
// each, and blank ones, before a row of the usual width that names columns. It returns 0 if there is none, or if the first row
// may be the header.
func linesBefore(text []byte, o *Options, kinds []*match.Schema) int {
	if o.NoHeader || o.Exact {
		return 0
	}
	first := sniffDialect(text, o, kinds)
	if len(first.rows) < 3 || first.width < 2 || filled(first.rows[0]) != 1 {
		return 0
	}
	for n := range titleLines {
		line, rest := cutLine(text)
		if len(bytes.TrimSpace(line)) > 0 {
			s := sniffDialect(text, o, kinds)
			if len(s.rows) < 2 {
				return 0
			}
			switch names := s.rows[0]; {
			case filled(names) > 1 && len(names) == s.width && hasHeader(s.rows, kinds):
				return n
			case filled(names) > 1:
				return 0
			}
		}
		text = rest
	}
	return 0
}

// filled returns how many values of a row are not blank.
func filled(row []string) (n int) {
	for _, value := range row {
		if strings.TrimSpace(value) != "" {
			n++
		}
	}
	return n
}
