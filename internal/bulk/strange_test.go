// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// Files as other systems write them.
func TestRecognise_ExportsOfOtherSystems(t *testing.T) {
	t.Parallel()
	western := func(text string) string {
		encoded, err := charmap.Windows1252.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	for _, c := range []struct{ name, file, text, layout, columns string }{
		{
			"DATEV has a line about the file", "a.csv",
			western("\"EXTF\";700;16;\"Debitoren/Kreditoren\";5;20261129;;\"RE\";\"\"\r\nKonto;Name;Straße;Postleitzahl;Ort\r\n10001;\"Müller\";\"Ring 1\";\"01067\";\"Köln\"\r\n10002;\"Weber\";\"Ring 2\";\"53111\";\"Bonn\"\r\n"),
			"CSV with semicolons, header in line 2, Windows-1252", "name=Name address=Straße postcode=Postleitzahl city=Ort",
		},
		{
			"German with a Spanish name is not Hungarian", "a.csv",
			western("id,Vorname,Nachname,Straße geschäftlich\r\n" + strings.Repeat("1,José,García,Müllerstraße\r\n2,Jörg,Böhm,Königsplatz\r\n", 20)),
			"CSV with commas, Windows-1252", "given_name=Vorname family_name=Nachname address=Straße geschäftlich",
		},
		{"a phone that a spreadsheet has shortened is none", "a.csv", "id;First;Last;Mobile\n1;Ann;Lee;4,91512E+11\n2;Bob;Ray;4,91512E+11\n", "CSV with semicolons", "given_name=First family_name=Last"},
		{"a point in an abbreviation is no path", "a.csv", "id,Vorname,Nachname,Geb.-Datum\n1,Ann,Lee,01.02.1980\n2,Bob,Ray,02.02.1980\n", "CSV with commas", "given_name=Vorname family_name=Nachname birth_date=Geb.-Datum"},
		{"the end of a text of MS-DOS", "a.csv", "id,name\n1,Ann\n2,Bob\n\x1a", "CSV with commas", "name=name"},
		{
			"mongoexport", "a.json", `{"_id":{"$oid":"a1"},"name":"Ann Lee","born":{"$date":"1980-02-01T00:00:00Z"},"visits":{"$numberLong":"12"}}` + "\n" +
				`{"_id":{"$oid":"a2"},"name":"Bob Ray","born":{"$date":"1981-02-01T00:00:00Z"},"visits":{"$numberLong":"13"}}` + "\n",
			"JSON lines", "name=name birth_date=born.$date",
		},
		{
			"GeoJSON with a name, as GDAL writes it", "a.geojson", `{"type":"FeatureCollection","name":"museums","crs":{"type":"name","properties":{"name":"urn:x"}},"features":[` +
				`{"type":"Feature","id":"m.1","geometry":{"type":"Point","coordinates":[7.1,50.1]},"properties":{"NAME":"Mill","ORT":"Bonn"}},` +
				`{"type":"Feature","id":"m.2","geometry":{"type":"Point","coordinates":[7.2,50.2]},"properties":{"NAME":"Inn","ORT":"Ulm"}}]}`,
			"JSON, rows in features", "longitude=geometry.longitude latitude=geometry.latitude name=properties.NAME city=properties.ORT",
		},
	} {
		name := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := bulk.Recognise(name, nil, match.Kinds(), &bulk.Options{Unstored: true})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var columns []string
		for _, column := range p.Columns {
			for _, to := range column.To {
				if to != bulk.ColumnKey {
					columns = append(columns, to+"="+column.Name)
				}
			}
		}
		if got := strings.Join(columns, " "); got != c.columns || !strings.HasPrefix(p.Layout(), c.layout) {
			t.Errorf("%s: %s\n%s", c.name, p.Layout(), got)
		}
		r, err := p.Open()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range r.All() {
			if n++; err != nil {
				t.Errorf("%s: row %d: %v", c.name, n, err)
			}
		}
		if err := r.Close(); err != nil || n < 2 {
			t.Errorf("%s: %d rows, %v", c.name, n, err)
		}
	}
}

// For unreadable input the error names the format and what to do.
func TestRecognise_SaysWhatAFileIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"BEGIN:VCARD\nVERSION:3.0\nEND:VCARD\n":                         "address book (vCard)",
		`{"fields":[{"a":1},{"a":2}],"data":[{"a":1},{"a":2},{"a":3}]}`: "in data and in fields",
	} {
		p, err := bulk.Recognise("-", strings.NewReader(text), match.Kinds(), &bulk.Options{})
		if p != nil {
			err = p.Err()
			_ = p.Close()
		}
		if err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
