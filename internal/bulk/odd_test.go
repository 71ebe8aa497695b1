// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// kundenliste is a list whose words have letters beyond ASCII.
const kundenliste = "Kundennr;Firma;Straße;PLZ;Ort\r\n1;Müller & Söhne;Hauptstraße 5;80331;München\r\n2;Café Zoé;Lindenweg 2;50667;Köln\r\n3;Bäckerei Groß;Ring 3;04109;Leipzig\r\n"

func encoded(t testing.TB, of encoding.Encoding, text string) string {
	t.Helper()
	out, err := of.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Guesses about the format are applied, shown in the layout and in the command, and have to be accepted.
func TestRecognise_GuessesFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, layout, flags string
		rows                      string // the names, joined
	}{
		{"MS-DOS", encoded(t, charmap.CodePage850, kundenliste), "CSV with semicolons, cp850", "--encoding cp850", "Müller & Söhne|Café Zoé|Bäckerei Groß"},
		{"Mac", encoded(t, charmap.Macintosh, kundenliste), "CSV with semicolons, macintosh", "--encoding macintosh", "Müller & Söhne|Café Zoé|Bäckerei Groß"},
		{"nulls of databases and data frames", "id,name,city,phone\n1,Blue,NULL,N/A\n2,Corner,\\N,415-555-0101\n3,Golden,nan,-\n", `CSV with commas, ASCII so far, NULL, \N, N/A, nan and - are no values`, `--null NULL --null \N --null N/A --null nan --null -`, "Blue|Corner|Golden"},
		{"text of a spreadsheet", "id,name,zip,phone\n=\"01\",Blue,'01234,'(415) 555-0101\n=\"02\",'90s Corner,=\"02345\",'+1 415 555 0102\n", `CSV with commas, ASCII so far, ="00123" and '00123 are 00123`, "--spreadsheet", "Blue|'90s Corner"},
		{"old text of a spreadsheet", "id,name,zip\r'7,Blue,'01234\r'8,Corner,02345\r", `CSV with commas, ASCII so far, ="00123" and '00123 are 00123`, "--spreadsheet", "Blue|Corner"},
		{"a document with a list", `{"meta": {"n": 2}, "data": {"items": [{"id": 1, "name": "Blue"}, {"id": 2, "name": "Corner"}]}}`, "JSON, rows in data.items, UTF-8", "--rows data.items", "Blue|Corner"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := recognised(t, c.name, c.text, &bulk.Options{Source: "x", IgnoreUnknown: true})
			if !p.FormatGuessed || !p.Guessed() {
				t.Error("nothing asks whether that is right")
			}
			if got := p.Layout(); got != c.layout {
				t.Errorf("%s, want %s", got, c.layout)
			}
			if got := strings.Join(p.Args(), " "); !strings.Contains(got, c.flags) {
				t.Errorf("%s lacks %s", got, c.flags)
			}
			var names []string
			for _, row := range rows(t, p) {
				names = append(names, row.Attributes["name"]...)
				for name, values := range row.Attributes {
					if got := fmt.Sprint(values); strings.Contains(c.layout, "no values") && (got == "[-]" || got == "[NULL]" || got == `[\N]`) {
						t.Errorf("%s is %s", name, got)
					}
				}
			}
			if got := strings.Join(names, "|"); got != c.rows {
				t.Errorf("%s, want %s", got, c.rows)
			}
		})
	}
}

// Certain facts and options are not guesses.
func TestRecognise_KeepsWhatIsCertain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		o          bulk.Options
		layout     string
	}{
		{"Windows-1252", encoded(t, charmap.Windows1252, kundenliste), bulk.Options{}, "CSV with semicolons, Windows-1252"},
		{"apostrophes and euros", encoded(t, charmap.Windows1252, "id;name\n1;O’Neil’s – 5 € “best”…\n2;Joe’s\n3;L’Été\n"), bulk.Options{}, "CSV with semicolons, Windows-1252"},
		{"the encoding is said", encoded(t, charmap.CodePage850, kundenliste), bulk.Options{Encoding: bulk.Windows1252}, "CSV with semicolons, Windows-1252"},
		{"a null in a column that means nothing", "id,name,remark\n1,Blue,NULL\n2,Corner,x\n", bulk.Options{}, "CSV with commas, ASCII so far"},
		{"other nulls are said", "id,name,city\n1,Blue,NULL\n2,Corner,?\n", bulk.Options{Null: []string{"?"}}, "CSV with commas, ASCII so far, ? is no value"},
		{"apostrophes that begin names", "id,name,city\n1,'t Hof,'s-Hertogenbosch\n2,'90s Bar,'s-Gravenhage\n", bulk.Options{}, "CSV with commas, ASCII so far"},
		{"marks where no column is guessed", "source,key,name,phones\nx,1,Blue,'0415\nx,2,Corner,'0416\n", bulk.Options{}, "CSV with commas, ASCII so far"},
		{"a table of locus export", "source,key,kind,observed_at,name,city\nx,1,place,2026-01-02T00:00:00Z,Blue,NULL\nx,2,place,2026-01-02T00:00:00Z,Corner,-\n", bulk.Options{}, "CSV with commas, ASCII so far"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := recognised(t, c.name, c.text, &c.o)
			if p.FormatGuessed {
				t.Error("it asks whether the format is right")
			}
			if got := p.Layout(); got != c.layout {
				t.Errorf("%s, want %s", got, c.layout)
			}
		})
	}
}

// Every supported encoding reads text that was written in it, also if its characters contain the byte of a delimiter.
func TestParseEncoding(t *testing.T) {
	t.Parallel()
	for name, written := range map[string]string{
		"CP-437": encoded(t, charmap.CodePage437, "Müller"), "ibm850": encoded(t, charmap.CodePage850, "Müller"), "latin-9": encoded(t, charmap.ISO8859_15, "Müller"),
		"cp1251": encoded(t, charmap.Windows1251, "Москва"), "KOI8-R": encoded(t, charmap.KOI8R, "Москва"), "Shift_JIS": encoded(t, japanese.ShiftJIS, "ソ表|能"),
	} {
		of, err := bulk.ParseEncoding(name)
		if err != nil {
			t.Fatal(err)
		}
		p := recognised(t, name, "id|name\n1|\""+written+"\"\n", &bulk.Options{Source: "x", Encoding: of, Delimiter: "|"})
		all := rows(t, p)
		if want := map[bool]string{true: "Москва", false: "Müller"}[name == "cp1251" || name == "KOI8-R"]; len(all) != 1 || name != "Shift_JIS" && all[0].Attributes["name"][0] != want || name == "Shift_JIS" && all[0].Attributes["name"][0] != "ソ表|能" {
			t.Errorf("%s: %v", name, all)
		}
	}
	if _, err := bulk.ParseEncoding("utf-7"); err == nil || !strings.Contains(err.Error(), "cp850") {
		t.Errorf("utf-7: %v", err)
	}
}

// A total below the list hides no key, and is refused.
func TestRecognise_KeyAboveATotal(t *testing.T) {
	t.Parallel()
	const list = "Customer No;Name;City;Turnover\n1;Blue;Springfield;7\n2;Corner;Springfield;8\n"
	p := recognised(t, "a total", list+";;;15\n", &bulk.Options{Source: "x", IgnoreUnknown: true})
	if len(p.Key) != 1 || p.Key[0] != "Customer No" || len(p.Refused) != 1 {
		t.Errorf("key %v, refused %v", p.Key, p.Refused)
	}
	p = recognised(t, "a row without a key", list+";Golden;Springfield;15\n", &bulk.Options{Source: "x", IgnoreUnknown: true})
	if len(p.Key) != 0 {
		t.Errorf("key %v, though a full row has none", p.Key)
	}
}

// The last row of a list may look like a total. The plan reports it, because only a person can tell.
func TestPlan_Total(t *testing.T) {
	t.Parallel()
	const list = "name;city;turnover\nBlue;Bath;1.200,50\nCorner;York;900\nMill;Leeds;100\n"
	for last, want := range map[string]bool{
		"Summe;;2.200,50\n": true, "TOTAL:;;2200\n": true, "Grand total;;2200\n": true, "Insgesamt 2025;;2200\n": true, "Total;York;12\n": false, "Golden;;3\n": false,
		"Grand Hotel;;3\n": false, "Total Office Supplies and More;;3\n": false,
	} {
		p := recognised(t, last, list+last, &bulk.Options{Source: "x", Key: []string{bulk.HashKey}, IgnoreUnknown: true})
		if row := p.Total(); (row != nil) != want || row != nil && row.Line != 5 {
			t.Errorf("%q: %v, want %t", last, row, want)
		}
	}
	if p := recognised(t, "a key", "no,name,city\n1,Blue,Bath\n2,Corner,York\nTotal,2,\n", &bulk.Options{Source: "x"}); p.Total() == nil {
		t.Error("a total in the column of the key")
	}
}

// The end of a report says nothing about the columns of a tiny sheet: the numbers of a total and the text of a footer
// are no phones.
func TestRecognise_TheEndDoesNotHideColumns(t *testing.T) {
	t.Parallel()
	const list = "Phone,Name,City,Zip\n415-555-0101,Blue,Bath,BA1 1AA\n415-555-0102,Corner,York,YO1 7HH\n415-555-0103,Mill,Leeds,LS1 4AP\n"
	for name, end := range map[string]string{
		"a total": "3,Total,,\n", "footer": "\nConfidential - internal use\nPrinted by the office\n", "both": "3,Total,,\n\nPrinted by the office\n",
	} {
		p := recognised(t, name, list+end, &bulk.Options{Source: "x", Key: []string{bulk.HashKey}})
		if diff := cmp.Diff("- key=@hash phones name city postcode", brief(p)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Rows of nothing but delimiters have no value. They are left out and counted.
func TestReader_Empty(t *testing.T) {
	t.Parallel()
	p := recognised(t, "empty rows", "id;name\n1;Blue\n;\n\n2;Corner\n;\n;\n", &bulk.Options{Source: "x"})
	r, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for _, err := range r.All() {
		if n++; err != nil {
			t.Error(err)
		}
	}
	if e := r.Empty(); n != 2 || e != (bulk.Empty{Rows: 3, Line: 3}) {
		t.Errorf("%d rows, empty %+v", n, e)
	}
}

// A GeoJSON point has a longitude and a latitude; other geometries stay as they are.
func TestRecognise_GeoJSON(t *testing.T) {
	t.Parallel()
	const text = `{"type":"FeatureCollection","features":[
		{"type":"Feature","id":"n/1","geometry":{"type":"Point","coordinates":[7.1,50.1,12]},"properties":{"name":"Blue","addr:city":"Bath"}},
		{"type":"Feature","id":"n/2","geometry":{"type":"LineString","coordinates":[[7,50],[8,51]]},"properties":{"name":"Corner"}},
		{"type":"Feature","id":"n/3","geometry":null,"properties":{"name":"Mill"}}]}`
	p := recognised(t, "features", text, &bulk.Options{Source: "x", IgnoreUnknown: true})
	all := rows(t, p)
	if p.Rows != "features" || len(all) != 3 || all[0].Attributes["longitude"][0] != "7.1" || all[0].Attributes["latitude"][0] != "50.1" || all[0].Attributes["category"] != nil || all[1].Attributes["latitude"] != nil {
		t.Errorf("rows in %q: %v", p.Rows, all)
	}
}

// JSON is recognised whatever the name of the file, and an object whose members are rows or columns is not a record.
func TestRecognise_JSONThatIsNoList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":{"name":"Blue","city":"Bath"},"b":{"name":"Corner","city":"York"},"c":{"name":"Mill","city":"Leeds"}}`: "its members look like rows",
		`{"name":["Blue","Corner"],"city":["Bath","York"]}`:                                                          "its members look like columns",
		`{"name":{"0":"Blue","1":"Corner"},"city":{"0":"Bath","1":"York"}}`:                                          "its members look like columns",
		`{"customer":{"id":1,"name":"Blue"},"address":{"city":"Bath"}}`:                                              "",
		`{"name":"Blue","billing":{"city":"Bath"},"shipping":{"city":"York"}}`:                                       "",
		`{"name":["Blue"],"city":["Bath"]}`:                                                                          "",
	} {
		p := recognised(t, text, text, &bulk.Options{Source: "x"})
		got := ""
		for _, q := range p.Questions {
			if strings.Contains(q.Text, "members") {
				got = q.Text
			}
		}
		if want == "" && got != "" || !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	dir := t.TempDir()
	for text, want := range map[string]bulk.Format{`[{"id":1,"name":"Blue"}]`: bulk.JSON, "{\"id\":1,\"name\":\"Blue\"}\n": bulk.JSONL, "[id],name\n1,Blue\n": bulk.CSV, "{id},name\n1,Blue\n": bulk.CSV} {
		name := filepath.Join(dir, string(want)+"x.csv")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := bulk.Recognise(name, nil, match.Kinds(), nil); err != nil || p.Format != want {
			t.Errorf("%q: %v %v", text, p, err)
		}
	}
	p := recognised(t, "lists", `[["id","name"],[1,"Blue"]]`, &bulk.Options{Source: "x"})
	if len(p.Refused) != 2 || !strings.Contains(p.Refused[0].Reason, "@csv") {
		t.Errorf("lists of values: %v", p.Refused)
	}
}

// The plan shows rows as records before their key is known, and judges all rows of the sample.
func TestPlan_SampleWithoutKey(t *testing.T) {
	t.Parallel()
	p := recognised(t, "no key", "name,city\nBlue,Bath\nBlue,York\nCorner\n", &bulk.Options{Source: "x"})
	if len(p.Sample) != 2 || p.Sample[0].Key == "" || len(p.Refused) != 1 || p.Err() == nil {
		t.Errorf("sample %v, refused %v, error %v", p.Sample, p.Refused, p.Err())
	}
	if p := recognised(t, "a long row", "id,note\n1,"+strings.Repeat("x", 300<<10)+"\n", &bulk.Options{Source: "x"}); p.IsEmpty() {
		t.Error("a file whose first row is longer than the sample has no rows")
	}
	long := strings.Repeat("a line, with a \"\"word\"\"\n", 4000)
	p = recognised(t, "long values", "id,name,note\n1,Blue,\""+long+"\"\n2,Corner,x\n3,Golden,\""+long+"\"\n4,Brass,\""+long+"\"\n", &bulk.Options{Source: "x"})
	if len(p.Sample) != 3 || len(p.Refused) > 0 || len(p.Key) != 1 || p.Key[0] != "id" {
		t.Errorf("a row that goes on after the sample: %d rows, %d refused, key %q", len(p.Sample), len(p.Refused), p.Key)
	}
	p = recognised(t, "other values", "id,name,zip\n1,Blue,XYZ\n2,Corner,ABC\n", &bulk.Options{Source: "x"})
	if len(p.Questions) != 1 || !strings.Contains(p.Questions[0].Text, `name of postcode and other values, such as "XYZ"`) {
		t.Errorf("%v", p.Questions)
	}
}

// Names within a list are about its elements, and not about the row.
func TestRecognise_ElementsOfLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`{"id":1,"title":"Quay Books","tags":[{"name":"books"}],"contacts":[{"type":"phone","value":"x"}]}` + "\n" + `{"id":2,"title":"Mill","tags":[{"name":"bread"}]}`, "id=key title=name tags[].name=category contacts[].type= contacts[].value="},
		{`{"id":1,"name":"Quay","phones":[{"type":"work","number":"020 7946 0018","value":"020 7946 0018"}],"addresses":[{"city":"Bath","line1":"1 Ring Rd"}],"email_addresses":["q@example.org"]}` + "\n" + `{"id":2,"name":"Mill"}`, "id=key name=name phones[].type= phones[].number=phones phones[].value=phones addresses[].city=city addresses[].line1=address email_addresses=emails"},
	} {
		p := recognised(t, c.text, c.text, &bulk.Options{Source: "x", Kind: "place"})
		var got []string
		for _, column := range p.Columns {
			got = append(got, column.Name+"="+strings.Join(column.To, "+"))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s\nbecomes %s\nwant    %s", c.text, got, c.want)
		}
	}
}

// Without rows the name alone decides that a column is the key; otherwise the plan says why it is not.
func TestRecognise_KeyOfNoRows(t *testing.T) {
	t.Parallel()
	if p := recognised(t, "no rows", "id,name\n", &bulk.Options{Source: "x"}); len(p.Key) != 1 || p.Key[0] != "id" {
		t.Errorf("the key is %v", p.Key)
	}
	for text, want := range map[string]string{
		"id,name\n1,Blue\n2,Corner\n1,Golden\n": `"id" has "1" more than once`,
		"id,name\n1,Blue\n,Corner\n2,Golden\n":  `"id" is not in every row`,
		"name,city\nBlue,Bath\nCorner,Bath\n":   `there is no column "key"`,
	} {
		p := recognised(t, text, text, &bulk.Options{Source: "x"})
		if len(p.Questions) == 0 || !strings.HasSuffix(p.Questions[0].Text, want) {
			t.Errorf("%q: %v, want %s", text, p.Questions, want)
		}
	}
}

// For a file without rows the error names its format.
func TestRecognise_Foreign(t *testing.T) {
	t.Parallel()
	for begin, want := range map[string]string{
		"BZh91AY&SY\x00\x01": "bunzip2", "\xfd7zXZ\x00\x00\x04": "xz -dc", "SQLite format 3\x00\x10\x00": "sqlite:", "%PDF-1.4\n%\xe2\xe3\n": "is a PDF",
		"\xff\xfe\x00\x00i\x00\x00\x00": "UTF-32", "Obj\x01\x04\x14avro": "Avro", "ORC\x00\x01": "ORC", "ARROW1\x00\x00": "Arrow", "7z\xbc\xaf\x27\x1c": "7z",
		"\n<!DOCTYPE html><html><table>": "web page", "<?xml version=\"1.0\"?><rows/>": "XML", "\xff\xfe" + wide("<html><body>"): "web page",
		"PGDMP\x01\x0e\x00": "pg_restore", "-- MySQL dump 10.13\n\nDROP TABLE IF EXISTS `a`;\nCREATE TABLE `a` (\n  `id` int\n);\nINSERT INTO `a` VALUES (1,'x'),(2,'y');\n": "SQL",
		"--\n-- PostgreSQL database dump\n--\n\nSET x = 0;\nCOPY public.a (id, name) FROM stdin;\n1\tx\n\\.\n":             "SQL",
		"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE a(id int, name text);\nINSERT INTO a VALUES(1,'x');\n": "SQL",
		"INSERT INTO a (id, name) VALUES\n(1, 'x'),\n(2, 'y');\n":                                                          "SQL",
	} {
		_, err := bulk.Recognise(bulk.Stdin, strings.NewReader(begin), match.Kinds(), &bulk.Options{Source: "x"})
		file, _ := errors.AsType[*bulk.FileError](err)
		if file == nil || !strings.Contains(file.Reason+file.Hint, want) {
			t.Errorf("%q: %v", begin, err)
		}
	}
	recognised(t, "ORC as a column", "ORC,name\n1,Blue\n2,Corner\n", &bulk.Options{Source: "x"})
	recognised(t, "SQL in a column", "id,name,note\n1,Blue,\"insert into x (y)\"\n2,Corner,\"\nCREATE TABLE y (\"\n", &bulk.Options{Source: "x"})
	if _, err := bulk.Recognise("https://example.org/a.csv", nil, match.Kinds(), nil); err == nil || !strings.Contains(err.Error(), "is a URL") {
		t.Errorf("a URL: %v", err)
	}
}
