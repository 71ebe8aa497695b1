// SPDX-License-Identifier: Apache-2.0

package console

import "slices"

// RollupTable returns the table on the page of a rollup as rows of a file, the first with the names of the columns.
// Numbers are exact and not grouped; a measure without a value is empty.
func RollupTable(r Rollup) [][]string {
	p := newRollupPage("", r)
	switch {
	case p.One != nil:
		return p.One.rows()
	case p.Table != nil:
		return p.Table.rows()
	default:
		return nil
	}
}

func (t *groupTable) rows() [][]string {
	head := append(slices.Clone(t.Names), t.Measure)
	for _, c := range t.Columns {
		switch {
		case c.Other:
			head = append(head, "others")
		default:
			head = append(head, c.Text)
		}
	}
	rows := [][]string{append(head, t.Extra...)}
	for _, r := range t.Rows {
		row := append(slices.Clone(r.Group), r.Total.Exact)
		for _, a := range slices.Concat(r.By, r.Extra) {
			row = append(row, a.Exact)
		}
		rows = append(rows, row)
	}
	return rows
}

// rows has a row for each value of the dimension, and at the end the total.
func (o *oneGroup) rows() [][]string {
	rows := [][]string{append([]string{o.Dimension}, o.Measures...)}
	line := func(name string, figures []amount) {
		row := []string{name}
		for _, a := range figures {
			row = append(row, a.Exact)
		}
		rows = append(rows, row)
	}
	for _, r := range o.Rows {
		line(r.Value, r.Figures)
	}
	if o.Total != nil {
		line("total", o.Total)
	}
	return rows
}
