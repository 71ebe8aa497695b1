// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"
)

// totalWords begin the label of a total below a list, in lower case without accents.
var totalWords = strings.Fields("total totals subtotal sum grand summe gesamt gesamtsumme zwischensumme insgesamt somme totale totaal totalen subtotaal suma soma somma")

// isTotal reports whether a text is the label of a total: "Total", "Grand total:", "Summe 2025".
func isTotal(text string) bool {
	first, rest, _ := strings.Cut(plainName(text), "_")
	return slices.Contains(totalWords, first) && (first != "grand" || strings.HasPrefix(rest, "total")) && strings.Count(rest, "_") < 2
}

// Total returns the last row of the file if it looks like the total below a list, and nil otherwise: it has the label
// of one, and at most half of the values that other rows have. A row of a name alone may be a total or a thing of that
// name, so it is a record unless a person leaves it out. Nil is also returned for a file that is longer than the
// sample.
func (p *Plan) Total() *Row {
	n := len(p.Sample) - 1
	if n < 2 || p.longer {
		return nil
	}
	last, rows, values := p.Sample[n], 0, 0
	for _, row := range p.Sample[:n] {
		if len(row.Attributes) > 0 {
			rows, values = rows+1, values+len(row.Attributes)
		}
	}
	if 2*len(last.Attributes)*rows > values {
		return nil
	}
	if len(last.Attributes) == 0 { // it is refused, or left out as the footer
		return nil
	}
	labelled := isTotal(last.Key)
	for _, of := range last.Attributes {
		labelled = labelled || slices.ContainsFunc(of, isTotal)
	}
	if !labelled {
		return nil
	}
	return last
}

// withoutEnd returns the rows of a whole file without the labels and the total at its end, which say nothing about the
// columns: a total of 3 below three phone numbers does not make these other than phone numbers.
func withoutEnd(rows [][]string) [][]string {
	for n := 0; n < mostFooter && len(rows) > 2 && beginsFooter(labelOf(rows[len(rows)-1])); n++ {
		rows = rows[:len(rows)-1]
	}
	last, values := len(rows)-1, 0
	if last < 2 || !slices.ContainsFunc(rows[last], isTotal) {
		return rows
	}
	for _, row := range rows[:last] {
		values += filled(row)
	}
	if 2*filled(rows[last])*last > values {
		return rows
	}
	return rows[:last]
}
