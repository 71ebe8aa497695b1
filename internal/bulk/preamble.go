// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// titleLines is how many lines before the header may be a title.
const titleLines = 20

// linesBefore returns how many lines precede the header, such as the name and date of a report. These are lines with
// one value each, and blank lines, before a row of the usual width that names columns. It returns 0 if there is none,
// or if the first row may be the header.
func linesBefore(text []byte, part bool, o *Options, kinds []*match.Schema) int {
	if o.NoHeader {
		return 0
	}
	first := sniffDialect(text, part, o, kinds)
	switch {
	case len(first.rows) < 3 || first.width < 2:
		return 0
	case filled(first.rows[0]) == 1:
	case isAboutFile(first, kinds):
		return 1
	default:
		return 0
	}
	for n := range titleLines {
		line, rest := cutLine(text)
		if len(bytes.TrimSpace(line)) > 0 {
			s := sniffDialect(text, part, o, kinds)
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

// isAboutFile reports whether the first row describes the file, as in DATEV files: its width differs from that of the
// other rows, and the second row names columns.
func isAboutFile(s sniffed, kinds []*match.Schema) bool {
	isName := func(name string) bool { return isHeaderName(name, kinds) }
	if len(s.rows[0]) == s.width || len(s.rows[1]) != s.width || slices.ContainsFunc(s.rows[0], isName) {
		return false
	}
	first := slices.IndexFunc(s.rows[1], isName)
	return first >= 0 && slices.ContainsFunc(s.rows[1][first+1:], isName) && hasHeader(s.rows[1:], kinds)
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

// joinGroups joins a header of two rows in the second row and returns the index of that row; at is the index of either
// row, or of a header of one row.
func joinGroups(rows [][]string, at int, kinds []*match.Schema) int {
	for _, second := range []int{at + 1, at} {
		if second == 0 || second+1 >= len(rows) {
			continue
		}
		if names := ofGroups(rows[second-1], rows[second], kinds); names != nil {
			rows[second] = names
			return second
		}
	}
	return at
}

// ofGroups returns the column names of a header of two rows, or nil if it is not one. The first row names groups of
// columns, and columns that are in no group; the second row names the columns of each group, and may repeat the others.
func ofGroups(groups, below []string, kinds []*match.Schema) []string {
	width := max(len(groups), len(below))
	at := func(row []string, i int) string {
		if i < len(row) {
			return strings.TrimSpace(row[i])
		}
		return ""
	}
	names, within := make([]string, width), make([]string, width) // within which group
	grouped, repeated, known := 0, 0, 0
	for i := range width {
		name, sub := at(groups, i), at(below, i)
		if names[i] = cmp.Or(sub, name); isHeaderName(sub, kinds) {
			known++
		}
		switch {
		case name == "" && sub == "":
			return nil
		case name == "":
			if i == 0 || within[i-1] == "" {
				return nil
			}
			within[i] = within[i-1]
			grouped++
		case at(groups, i+1) == "" && i+1 < width:
			within[i] = name
		case sub != "":
			repeated++
		}
		if within[i] != "" && sub == "" {
			return nil
		}
	}
	if grouped == 0 || known == 0 || repeated > 0 && 2*known <= width { // it is a row of values
		return nil
	}
	whole := slices.Clone(names)
	for i, name := range names {
		if within[i] != "" && (slices.Contains(names[:i], name) || slices.Contains(names[i+1:], name)) {
			whole[i] = within[i] + " " + name
		}
	}
	return whole
}
