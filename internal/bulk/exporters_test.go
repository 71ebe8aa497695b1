// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// Whole files in the layout of the programs that write them, as records.
func TestRecognise_FilesOfExporters(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		// Nodes and ways have ids of their own, and their type is no category.
		"overpass.json": `{"address":"12 Sternstraße","category":["restaurant","italian;pizza"],"city":"Bonn","hours":"Mo-Su 11:30-23:00","key":"node/262456789","latitude":"50.7339132","longitude":"7.0996341","name":"Da Vinci","phones":"+49 228 631234","postcode":"53111","source":"osm","websites":"https://www.davinci-bonn.example/"}
{"category":"cafe","key":"node/262456790","latitude":"50.7352011","longitude":"7.1012345","name":"Café Göttlich","phones":"+49 228 636201","source":"osm"}
{"address":"1 Am Hof","city":"Bonn","key":"way/24112233","name":"Rheinische Friedrich-Wilhelms-Universität Bonn","source":"osm"}
`,
		"overpass-turbo.geojson": `{"address":"12 Sternstraße","category":["restaurant","italian;pizza"],"city":"Bonn","key":"node/262456789","latitude":"50.7339132","longitude":"7.0996341","name":"Da Vinci","phones":"+49 228 631234","postcode":"53111","source":"osm","websites":"https://www.davinci-bonn.example/"}
{"address":"1 Am Hof","category":"university","city":"Bonn","key":"way/24112233","latitude":"50.73","longitude":"7.1","name":"Universität Bonn","source":"osm"}
{"key":"way/24112234","name":"Hofgarten","source":"osm"}
`,
		// Several values with one label are in one cell.
		"google-contacts.csv": `{"address":"12 St James's Square","birth_date":"1815-12-10","city":"London","country":"GB","emails":["ada@engines.example","lovelace@home.example"],"family_name":"Lovelace","given_name":"Ada","key":"","kind":"person","phones":["+44 20 7946 0958","+44 20 7946 0959"],"postcode":"SW1Y 4JH","source":"osm"}
{"emails":["charles@babbage.example","cb@lucas.example"],"family_name":"Babbage","given_name":"Charles","key":"","kind":"person","phones":["+44 20 7946 0123","+44 20 7946 0124"],"source":"osm"}
{"birth_date":"1780-12-26","emails":"mary@somerville.example","family_name":"Somerville","given_name":"Mary Fairfax","key":"","kind":"person","source":"osm"}
`,
	} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, row := range recognised(t, name, string(text), &bulk.Options{Source: "osm"}).Sample {
			if !strings.Contains(row.Key, "/") {
				row.Key = "" // of the content
			}
			line, err := json.Marshal(json.RawMessage(row.Flat()))
			if err != nil {
				t.Fatal(err)
			}
			got.Write(append(line, '\n'))
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Tables that programs draw for people are refused: no delimiter divides them, and values are cut off.
func TestRecognise_RefusesDrawnTables(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a client of a database": "+----+------+\n| id | name |\n+----+------+\n|  1 | Blue |\n+----+------+\n",
		"a list of an ERP":       "30.11.2026      Debtors      1\r\n\r\n-----------------\r\n|  Debtor|Name 1|\r\n-----------------\r\n|  000101|Blue  |\r\n-----------------\r\n",
	} {
		_, err := bulk.Recognise(bulk.Stdin, strings.NewReader(text), match.Kinds(), &bulk.Options{Source: "s"})
		if err == nil || !strings.Contains(err.Error(), "drawn for reading") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"pipes":           "|id|name|\n|1|Blue|\n|2|Red|\n",
		"dashes in pipes": "id|name\n1|--\n2|---\n3|--\n",
	} {
		if _, err := bulk.Recognise(bulk.Stdin, strings.NewReader(text), match.Kinds(), &bulk.Options{Source: "s"}); err != nil && strings.Contains(err.Error(), "drawn") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
