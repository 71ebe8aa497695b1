// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"
)

// Alternative is an attribute with one value of which several columns give one: each is taken for another text of
// the same, not for a part of it.
type Alternative struct {
	Attribute string   `json:"attribute"`
	Columns   []string `json:"columns"`
}

// Template is what composes one value of the columns.
func (a Alternative) Template() string {
	parts := make([]string, len(a.Columns))
	for i, column := range a.Columns {
		if parts[i] = column; !isTemplate(column) {
			parts[i] = "{" + column + "}"
		}
	}
	return strings.Join(parts, " ")
}

// Alternatives are the attributes of which several columns of the file, as far as it has been read, give alternatives.
// The header of a CSV file says so before the first row.
func (r *Reader) Alternatives() []Alternative { return r.means.alternatives }

// alternate notes that columns give alternatives of an attribute, if it has one value.
func (m *meaning) alternate(attribute string, columns []string) {
	if len(columns) < 2 || slices.Contains(m.Many, attribute) {
		return
	}
	i := slices.IndexFunc(m.alternatives, func(a Alternative) bool { return a.Attribute == attribute })
	if i < 0 {
		i = len(m.alternatives)
		m.alternatives = append(m.alternatives, Alternative{Attribute: attribute})
	}
	a := &m.alternatives[i]
	for _, column := range columns {
		if !slices.Contains(a.Columns, column) && len(a.Columns) < MaxColumns { // names of unknown origin must not pile up
			a.Columns = append(a.Columns, column)
		}
	}
}

// alternatesIn notes the alternatives that columns with these targets give, in a row that has all of them.
func (m *meaning) alternatesIn(columns, targets []string) {
	by := map[string][]string{}
	for i, target := range targets {
		by[target] = append(by[target], columns[i])
	}
	for _, t := range m.made {
		by[t.attribute] = append(by[t.attribute], t.text)
	}
	for _, attribute := range slices.Concat(m.Attributes, m.Others) {
		m.alternate(attribute, by[attribute])
	}
}
