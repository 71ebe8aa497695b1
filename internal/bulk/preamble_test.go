// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// Lines above the header, as in reports, are left out; lines that may be a header or a row are not.
func TestRecognise_TitlesAboveTheHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, layout, first string }{
		{"a title and a blank line", "Export created 2026-11-01\n\nid,Company Name,Phone\n1,Blue,020 7946 0018\n2,Red,020 7946 0019\n", "CSV with commas, header in line 3, ASCII so far", "Blue"},
		{"padded with delimiters", "Report;;\r\n;;\r\nid;Firma;Telefon\r\n1;Blau;0711 123456\r\n2;Rot;0711 123457\r\n", "CSV with semicolons, header in line 3, ASCII so far", "Blau"},
		{"no title", "id,name\n1,Blue\n2,Red\n", "CSV with commas, ASCII so far", "Blue"},
		{"a header with one name", "name\nBlue\nRed\nGreen\n", "CSV with commas, ASCII so far", "Blue"},
		{"one column with a stray comma", "name\nBlue\nRed, too\nGreen\n", "CSV with commas, ASCII so far", "Blue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "in.csv")
			if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			o := &bulk.Options{}
			if !strings.Contains(c.text, "id") {
				o.Key = []string{bulk.HashKey}
			}
			p, err := bulk.Recognise(name, nil, match.Kinds(), o)
			if err != nil {
				t.Fatal(err)
			}
			if p.Layout() != c.layout || len(p.Questions) > 0 {
				t.Errorf("%s, %+v", p.Layout(), p.Questions)
			}
			r, err := p.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if row, err := r.Next(); err != nil || row.Attributes["name"][0] != c.first {
				t.Errorf("the first row is %+v, %v", row, err)
			}
		})
	}
}

// A header of two rows, as exported from merged cells, is read as one header; rows below a column without a name are
// rows.
func TestRecognise_HeaderOfGroups(t *testing.T) {
	t.Parallel()
	const rows = "1,Blue Door,12 Main St,01234,Bonn,0228 1234567\n2,Corner,5 Elm St,01235,Bonn,0228 1234568\n"
	for _, c := range []struct{ name, text, layout, names, first string }{
		{
			"groups and columns", "No.,Name,Address,,,Phone\n,,Street,Zip,City,\n" + rows,
			"header in lines 1 and 2", "No. Name Street Zip City Phone", "[Blue Door]",
		},
		{
			"below a title", "Report,,,,,\n,,,,,\nNo.,Name,Address,,,Phone\n,,Street,Zip,City,\n" + rows,
			"header in lines 3 and 4", "No. Name Street Zip City Phone", "[Blue Door]",
		},
		{
			"one group, and names below it alone", ",,Address,,,\nNo.,Name,Street,Zip,City,Phone\n" + rows,
			"header in line 2", "No. Name Street Zip City Phone", "[Blue Door]",
		},
		{
			"groups alone, names twice", "Customer,,Billing,,Shipping,\nNo.,Name,Street,City,Street,City\n1,Blue Door,1 Main St,Bonn,1 Ring,Bonn\n2,Corner,5 Elm St,Bonn,2 Ring,Bonn\n",
			"header in lines 1 and 2", "No. Name Billing Street Billing City Shipping Street Shipping City", "[Blue Door]",
		},
		{
			"quoted", "\"No.\",\"Name\",\"Address\nof the shop\",\"\",\"\",\"Phone\"\n\"\",\"\",\"Street\",\"Zip\",\"City\",\"\"\n" + rows,
			"header in lines 1 and 2", "No. Name Street Zip City Phone", "[Blue Door]",
		},
		{"a column without a name", "id,name,,city\n1,Blue Door,new,Bonn\n2,Corner,,Bonn\n", "commas, ASCII", "id name column3 city", "[Blue Door]"},
		{"few values below it", "id,name,,city\n,Blue Door,new,\n2,Corner,,Bonn\n", "commas, ASCII", "id name column3 city", "[Blue Door]"},
		{"a value that is a name", "id,name,,type\n1,Blue Door,x,Phone\n2,Corner,,Phone\n", "commas, ASCII", "id name column3 type", "[Blue Door]"},
	} {
		name := filepath.Join(t.TempDir(), "in.csv")
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := bulk.Recognise(name, nil, match.Kinds(), &bulk.Options{Source: "s", Key: []string{bulk.HashKey}, Unstored: true})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var names []string
		for _, column := range p.Columns {
			names = append(names, column.Name)
		}
		if got := strings.Join(names, " "); got != c.names || !strings.Contains(p.Layout(), c.layout) {
			t.Errorf("%s: columns %s, %s", c.name, got, p.Layout())
		}
		r, err := p.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		n := 0
		for row, err := range r.All() {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if n++; n == 1 && fmt.Sprint(row.Attributes["name"]) != c.first {
				t.Errorf("%s: the first row is %v", c.name, row.Attributes)
			}
		}
		if n != 2 {
			t.Errorf("%s: %d rows", c.name, n)
		}
	}
}

// A draft of a kind has the columns of the header, not the title above it.
func TestRecognise_TitlesAboveExactNames(t *testing.T) {
	t.Parallel()
	text := "Export;;\nCreated 2026-11-01;;\nCust. No.;Company;Town\n1;Blue;Bonn\n2;Red;Ulm\n"
	p, err := bulk.Recognise("-", strings.NewReader(text), match.Kinds(), &bulk.Options{Exact: true, Unstored: true, IgnoreUnknown: true})
	if err != nil || len(p.Columns) != 3 || p.Columns[1].Name != "Company" {
		t.Errorf("%+v, %v", p.Columns, err)
	}
}

// Lines are counted from the beginning of the file.
func TestRecognise_TitlesCountAsLines(t *testing.T) {
	t.Parallel()
	text := "Export\n\nid,name,phones\n1,Blue,020 7946 0018\n2,Red\n3,Green,020 7946 0019\n"
	p, err := bulk.Recognise("-", strings.NewReader(text), match.Kinds(), &bulk.Options{Source: "s"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows := 0
	for {
		_, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var refused *bulk.RowError
		if errors.As(err, &refused) {
			if refused.Line != 5 {
				t.Errorf("refused: %+v, want line 5", refused)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	if rows != 2 {
		t.Errorf("%d rows", rows)
	}
}
