// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"
)

// Alternative describes several columns mapped to an attribute that has a single value. Each column counts as another
// version of the value, not as a part of it.
type Alternative struct {
	Attribute string   `json:"attribute"`
	Columns   []string `json:"columns"`
}

// Template returns a template that composes one value from the columns.
func (a Alternative) Template() string {
	parts := make([]string, len(a.Columns))
	for i, column := range a.Columns {
		if parts[i] = column; !isTemplate(column) {
			parts[i] = "{" + column + "}"
		}
	}
	return strings.Join(parts, " ")
}

// Alternatives returns the alternatives found in the rows read so far. For a CSV file the header is enough.
func (r *Reader) Alternatives() []Alternative { return r.means.alternatives }

// alternate records that columns are alternatives for an attribute, if the attribute has a single value.
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
		if !slices.Contains(a.Columns, column) && len(a.Columns) < MaxColumns { // untrusted names must not pile up
			a.Columns = append(a.Columns, column)
		}
	}
}

// alternatesIn records the alternatives among the columns of a row; targets are the attributes of the columns.
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
