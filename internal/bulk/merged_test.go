// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/locus-db/locus/internal/bulk"
)

// A cell merged downwards gives its value to all its rows. Cells merged above the rows or sideways do not.
func TestXLSX_MergedCells(t *testing.T) {
	t.Parallel()
	f, err := excelize.OpenReader(bytes.NewReader(workbook(t, []string{"Shops"}, map[string][][]any{"Shops": {
		{"Shops of 2026"}, nil,
		{"id", "name", "city", "phone"},
		{1, "Blue Door", "Bonn", "0228 998877"},
		{2, "Corner", nil, "0228 998878"},
		{nil, nil, nil, nil},
		{3, "Mill", nil, nil},
		{4, "Quay", nil, "0228 998879"},
	}})))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range [][2]string{{"A1", "D2"}, {"C4", "C7"}, {"B7", "B7"}, {"D4", "D4"}} {
		if err := f.MergeCell("Shops", of[0], of[1]); err != nil {
			t.Fatal(err)
		}
	}
	file, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	p, err := recognisedBook(t, file.Bytes(), bulk.Options{Source: "s"})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := rowsAndFields(t, p)
	want := []string{
		"s:1 map[city:[Bonn] name:[Blue Door] phones:[0228 998877]]", "s:2 map[city:[Bonn] name:[Corner] phones:[0228 998878]]",
		"s:3 map[city:[Bonn] name:[Mill]]", "s:4 map[name:[Quay] phones:[0228 998879]]",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
}
