// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"slices"
	"testing"

	"github.com/locus-db/locus/internal/bulk"
)

// Cells, including keys, are read as a spreadsheet shows them; the raw row still has the text of the file.
func TestSpreadsheet_Marks(t *testing.T) {
	t.Parallel()
	const text = "id,name,zip,phone\n=\"0017\",'=Blue,'02134,'415 5550101\n\"=\"\"0018\"\"\",\"=\"\"Corner, Shop\"\"\",'SW1Y 4JH,'+1-415-555-0102\n=\"0019\",=\"a\"b\",\"'9\",=\"\"\n"
	p := planOf(t, "shop.csv", text, bulk.Options{Source: "shop", Spreadsheet: true})
	rows, fields := rowsAndFields(t, p)
	want := []string{
		"shop:0017 map[name:[=Blue] phones:[415 5550101] postcode:[02134]]",
		"shop:0018 map[name:[Corner, Shop] phones:[+1-415-555-0102] postcode:[SW1Y 4JH]]",
		`shop:0019 map[name:[="a"b"] postcode:[9]]`,
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%q, want %q", rows, want)
	}
	if want := `[{id [="0017"]} {name ['=Blue]} {zip ['02134]} {phone ['415 5550101]}]`; fields[0] != want {
		t.Errorf("fields %s, want %s", fields[0], want)
	}
	if p.FormatGuessed {
		t.Error("what an option says is a guess")
	}
}

// A mapping file can set the option.
func TestSpreadsheet_OfAMapping(t *testing.T) {
	t.Parallel()
	o, err := bulk.ParseMapping([]byte("format: {spreadsheet: true}\n"))
	if err != nil || !o.Spreadsheet {
		t.Errorf("%+v, %v", o, err)
	}
}

// A quote in a key is damage, unless it is part of such a mark.
func TestSpreadsheet_QuotesInKeys(t *testing.T) {
	t.Parallel()
	rows, _ := rowsAndFields(t, planOf(t, "a.csv", "source,key,name\nx,=\"01\",Blue\nx,a\"b,Corner\nx,3,\"a\nb\"\n", bulk.Options{Spreadsheet: true}))
	want := []string{"x:01 map[name:[Blue]]", `refused x,a"b,Corner`, "x:3 map[name:[a\nb]]"}
	if !slices.Equal(rows, want) {
		t.Errorf("%q, want %q", rows, want)
	}
}
