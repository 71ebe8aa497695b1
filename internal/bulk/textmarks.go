// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"
)

// Programs that write CSV for spreadsheets mark cells that must stay text, so that 00123 keeps its zeros: as the
// formula ="00123", or with the apostrophe that is typed before a text, '00123. A spreadsheet shows 00123 for both.

// formulaText returns the text of a formula cell such as ="00123", and reports whether the cell is one.
func formulaText[T string | []byte](cell T) (text T, is bool) {
	n := len(cell)
	if n < len(`=""`) || cell[0] != '=' || cell[1] != '"' || cell[n-1] != '"' {
		return cell, false
	}
	return cell[2 : n-1], strings.IndexByte(string(cell[2:n-1]), '"') < 0
}

// isMarked reports whether a cell is such a formula, or has an apostrophe before a text that would be taken for a
// number, a date or the like, or before a code with digits: Shopify writes 'SW1Y 4JH beside '94109.
func isMarked(cell string) bool {
	if _, is := formulaText(cell); is {
		return true
	}
	text, quoted := strings.CutPrefix(cell, "'")
	return quoted && strings.ContainsAny(text, "0123456789") &&
		strings.Trim(text, "0123456789 +-.,/:()ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// unmarked returns a cell as a spreadsheet shows it. In addition to the marks of isMarked it removes those of formulas
// that locus export --spreadsheet writes.
func unmarked(cell string) string {
	if text, is := formulaText(cell); is {
		return text
	}
	if isMarked(cell) || len(cell) > 1 && cell[0] == '\'' && strings.IndexByte("=+-@", cell[1]) >= 0 {
		return cell[1:]
	}
	return cell
}

// withoutMarks returns the columns as a spreadsheet shows them, and the columns that differ.
func withoutMarks(columns []sampled) (shown []sampled, marked []string) {
	shown = slices.Clone(columns)
	for i, c := range columns {
		if slices.ContainsFunc(c.values, isMarked) {
			marked = append(marked, c.name)
		}
		shown[i].values = nil
		for _, value := range c.values {
			if value = unmarked(value); value != "" {
				shown[i].values = append(shown[i].values, value)
			}
		}
	}
	return shown, marked
}

// recogniseMarks guesses that a file has such marks, if a mapped column has one. As for texts that mean a missing
// value, it guesses nothing if nothing else about the file is guessed. It returns the columns without the marks.
func (p *Plan) recogniseMarks(found *recognition, columns []sampled, rows int) (*recognition, []sampled) {
	if said := p.options.IgnoreUnknown && len(p.options.Set) > 0; said || p.options.Spreadsheet || p.options.Exact || p.Format != CSV && p.Format != XLSX {
		return found, columns
	}
	shown, marked := withoutMarks(columns)
	if len(marked) == 0 {
		return found, columns
	}
	o := *p.options
	o.Spreadsheet = true
	without, err := recognise(&o, found.kinds, shown, rows, found.lists)
	if err != nil || len(without.reasons) == 0 {
		return found, columns
	}
	for _, name := range marked {
		if uses, _ := without.mapping.resolve(name); len(uses) > 0 {
			p.options, p.FormatGuessed = &o, true
			return without, shown
		}
	}
	return found, columns
}
