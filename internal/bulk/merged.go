// SPDX-License-Identifier: Apache-2.0

package bulk

import "github.com/locus-db/locus/internal/tabular"

// mergedCells gives rows of a sheet the values of merged cells that begin above them, such as one city for the three
// shops beside it.
type mergedCells struct {
	left []tabular.Merged // that begin in later rows
	now  map[int]mergedCell
}

// mergedCell is the value of a column that applies up to a row.
type mergedCell struct {
	last int64
	text string
}

// fill returns the texts of a row, with the values of merged cells in their empty places.
func (m *mergedCells) fill(number int64, texts []string) []string {
	for len(m.left) > 0 && m.left[0].First <= number {
		of := m.left[0]
		if m.left = m.left[1:]; of.First < number || of.Column >= len(texts) { // the merged cell has no value
			continue
		}
		if m.now == nil {
			m.now = map[int]mergedCell{}
		}
		m.now[of.Column] = mergedCell{of.Last, texts[of.Column]}
	}
	for column, of := range m.now {
		if number > of.last {
			delete(m.now, column)
			continue
		}
		for len(texts) <= column {
			texts = append(texts, "")
		}
		if texts[column] == "" {
			texts[column] = of.text
		}
	}
	return texts
}
