// SPDX-License-Identifier: Apache-2.0

package export

// MarkLists reads all rows once and turns every column that has several values in some row into a list: a source may
// send alternatives for an attribute with one value, which only such a column of CSV can hold. Writing CSV fails at a
// row with several values in any other column.
func (t *Table) MarkLists() error {
	if !t.several {
		return nil
	}
	for row, err := range t.Rows {
		if err != nil {
			return err
		}
		for i, values := range row {
			if len(values) > 1 {
				t.Columns[i].Many = true
			}
		}
	}
	return nil
}
