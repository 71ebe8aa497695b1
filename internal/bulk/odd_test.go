// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

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

// What is guessed about a format is applied, shown in the layout and in the command, and has to be accepted.
func TestRecognise_GuessesFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, layout, flags string
		rows                      string // the names, joined
	}{
		{"MS-DOS", encoded(t, charmap.CodePage850, kundenliste), "CSV with semicolons, cp850", "--encoding cp850", "Müller & Söhne|Café Zoé|Bäckerei Groß"},
		{"Mac", encoded(t, charmap.Macintosh, kundenliste), "CSV with semicolons, macintosh", "--encoding macintosh", "Müller & Söhne|Café Zoé|Bäckerei Groß"},
		{"nulls of databases and data frames", "id,name,city,phone\n1,Blue,NULL,N/A\n2,Corner,\\N,415-555-0101\n3,Golden,nan,-\n", `CSV with commas, ASCII so far, NULL, \N, N/A, nan and - are no values`, `--null NULL --null \N --null N/A --null nan --null -`, "Blue|Corner|Golden"},
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

// What is certain, and what was said, is no guess.
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

// Every encoding that can be named reads what was written in it, also one whose characters contain a delimiter.
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

// Names within a list are about its elements, and not about the row.
func TestRecognise_ElementsOfLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`{"id":1,"title":"Quay Books","tags":[{"name":"books"}],"contacts":[{"type":"phone","value":"x"}]}` + "\n" + `{"id":2,"title":"Mill","tags":[{"name":"bread"}]}`, "id=key title=name tags[].name=category contacts[].type= contacts[].value="},
		{`{"id":1,"name":"Quay","phones":[{"type":"work","number":"020 7946 0018","value":"020 7946 0018"}],"addresses":[{"city":"Bath"}]}` + "\n" + `{"id":2,"name":"Mill"}`, "id=key name=name phones[].type= phones[].number= phones[].value=phones addresses[].city=city"},
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

// A column of keys is one by its name if there are no rows, and says why it is none.
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

// A file that has no rows says what it is.
func TestRecognise_Foreign(t *testing.T) {
	t.Parallel()
	for begin, want := range map[string]string{
		"BZh91AY&SY\x00\x01": "bunzip2", "\xfd7zXZ\x00\x00\x04": "xz -dc", "SQLite format 3\x00\x10\x00": "sqlite:", "%PDF-1.4\n%\xe2\xe3\n": "is a PDF",
		"Obj\x01\x04\x14avro": "Avro", "ORC\x00\x01": "ORC", "ARROW1\x00\x00": "Arrow", "7z\xbc\xaf\x27\x1c": "7z",
		"\n<!DOCTYPE html><html><table>": "web page", "<?xml version=\"1.0\"?><rows/>": "XML", "\xff\xfe" + wide("<html><body>"): "web page",
	} {
		_, err := bulk.Recognise(bulk.Stdin, strings.NewReader(begin), match.Kinds(), &bulk.Options{Source: "x"})
		file, _ := errors.AsType[*bulk.FileError](err)
		if file == nil || !strings.Contains(file.Reason+file.Hint, want) {
			t.Errorf("%q: %v", begin, err)
		}
	}
	recognised(t, "ORC as a column", "ORC,name\n1,Blue\n2,Corner\n", &bulk.Options{Source: "x"})
	if _, err := bulk.Recognise("https://example.org/a.csv", nil, match.Kinds(), nil); err == nil || !strings.Contains(err.Error(), "is a URL") {
		t.Errorf("a URL: %v", err)
	}
}
