// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// suggested returns the draft for rows, whose columns are separated by bars, as one line per column.
func suggested(t *testing.T, columns string, rows ...string) (lines []string, d *bulk.Draft) {
	t.Helper()
	s := bulk.Suggester{Kinds: match.Kinds()}
	for _, row := range rows {
		var fields []bulk.Field
		values := strings.Split(row, "|")
		for i, name := range strings.Split(columns, "|") {
			fields = append(fields, bulk.Field{Name: name, Values: []string{values[i]}})
		}
		s.See(fields)
	}
	d, err := s.Draft("thing")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Columns {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s: %s %s", c.Name, c.Attribute, c.Type)))
	}
	if _, err := match.ParseSchema(d.Schema.YAML()); err != nil {
		t.Errorf("the draft is no kind: %v\n%s", err, d.Schema.YAML())
	}
	return lines, d
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	many := make([]string, 60)
	for i := range many {
		many[i] = fmt.Sprintf("No. %d|%s|part %d", i, []string{"Rock", "Pop", "Jazz"}[i%3], i/2)
	}
	for _, c := range []struct {
		name, columns string
		rows, want    []string
	}{
		{
			"films", "movie_id|Film|Regie|Darsteller|Jahr|Bewertung|Image URL",
			[]string{
				"1|Blade Runner|Ridley Scott|Harrison Ford, Rutger Hauer|1982|8.1|https://img.example/1.jpg",
				"2|Alien|Ridley Scott|Sigourney Weaver, Tom Skerritt|1979|8.5|https://img.example/2.jpg",
			},
			[]string{"movie_id:", "Film: film name title", "Regie: regie people", "Darsteller: darsteller people", "Jahr: jahr date", "Bewertung: bewertung text note", "Image URL: image_url text note"},
		},
		{
			"publications", "id|title|authors|venue|year|doi",
			[]string{"a|The WASA2 system|Gottfried Vossen, Mathias Weske|ICMD|1999|10.1145/1", "b|A user-centered interface|Isabel F. Cruz, Kimberly M. James|SIGMOD|1999|10.1145/2"},
			[]string{"id:", "title: title name title", "authors: authors people", "venue: venue text", "year: year date", "doi: doi id world"},
		},
		{
			"persons by their values alone", "Werk|Wer",
			[]string{"Das Boot|Jürgen Prochnow, Herbert Grönemeyer", "Metropolis|Brigitte Helm; Alfred Abel", "M|Peter Lorre"},
			[]string{"Werk: werk name title", "Wer: wer people"},
		},
		{
			"what built-in kinds have, under other names", "Titel|Marke|EAN|Preis|PLZ|Ort|Telefon",
			[]string{"Bohrmaschine|Bosch|4006381333931|99,90|10115|Berlin|030 123456", "Säge|Makita|4006381333948|120,00|20095|Hamburg|040 654321"},
			[]string{"Titel: titel name title", "Marke: marke category", "EAN: ean id world", "Preis: preis number", "PLZ: plz text postcode", "Ort: ort text locality", "Telefon: telefon phone"},
		},
		{
			"numbers with one unit, and with several",
			"Beer|Brewery|ABV|Serving|Cost each|Runs|Label|Sold as",
			[]string{
				"Amber Ale|Stone Bay Brewery|9.0%|12 oz|$4.99|3:41|12 Angry Men|12 oz", "Winter Porter|Old Mill Brewing Co.|5%|16 oz.|$5|1:02:03|7 Sisters|0.5 l",
			},
			[]string{
				"Beer: beer name title", "Brewery: brewery people", "ABV: abv number", "Serving: serving number", "Cost each: cost_each number",
				"Runs: runs number", "Label: label text", "Sold as: sold_as text",
			},
		},
		{
			"a role of two columns", "wine|city|town",
			[]string{"Old Mill Red|Springfield|Shelbyville", "Blue Door White|Springfield|Ogden"},
			[]string{"wine: wine name title", "city: city text locality", "town: town text"},
		},
		{
			"years and quantities as people write them", "song|year|length|label",
			[]string{"Moonlight Ride|'01|3m 59sec|Blue Door", "Your Grace|94|2.983|Old Mill", "Action Time|2005|03:13|Old Mill"},
			[]string{"song: song name title", "year: year date", "length: length number", "label: label text"},
		},
		{
			"groups, empty and reserved columns", "track|genre|kind",
			many,
			[]string{"track: track name title", "genre: genre text tag", "kind: kind_value text"},
		},
		{
			"names without Latin letters, and one twice", "название|Сорт|название",
			[]string{"Солярис|S1|Solaris", "Сталкер|S2|Stalker"},
			[]string{"название: column name title", "Сорт: column_2 text"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _ := suggested(t, c.columns, c.rows...)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A draft reads the file that it was made for by the names of its columns.
func TestSuggest_ColumnsAreRecognised(t *testing.T) {
	t.Parallel()
	_, d := suggested(t, "Track No|Song Title|Künstler|kind", "1|Under Pressure|Queen & David Bowie|rock", "2|Heroes|David Bowie|pop")
	name := filepath.Join(t.TempDir(), "songs.csv")
	if err := os.WriteFile(name, []byte("Track No,Song Title,Künstler,kind\n1,Under Pressure,Queen & David Bowie,rock\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := bulk.Recognise(name, nil, []*match.Schema{d.Schema}, &bulk.Options{Kind: "thing", Unstored: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"track_no", "song_title", "kunstler", "kind_value"} {
		if got := strings.Join(p.Columns[i].To, ","); got != want {
			t.Errorf("column %s becomes %q, want %q", p.Columns[i].Name, got, want)
		}
	}
}

// Different brands mean different things, as in kind product.
func TestSuggest_WeighsBrands(t *testing.T) {
	t.Parallel()
	_, d := suggested(t, "Titel|Marke", "Bohrmaschine|Bosch", "Säge|Makita")
	if diff := cmp.Diff(map[string]map[string]match.Weight{"category": match.Product().Weights["category"]}, d.Schema.Weights); diff != "" {
		t.Error(diff)
	}
}

// show shows a file to a suggester.
func show(t *testing.T, s *bulk.Suggester, name, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := bulk.Recognise(file, nil, match.Kinds(), &bulk.Options{Unstored: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Read(r), r.Close()); err != nil {
		t.Fatal(err)
	}
}

// Every file has its own keys: the same number in two files is not a repetition. Rows that cannot be read are skipped.
func TestSuggest_ReadsFiles(t *testing.T) {
	t.Parallel()
	var s bulk.Suggester
	show(t, &s, "nested.jsonl", `{"id":9,"title":"Brazil","crew":{"writers":["Terry Gilliam","Tom Stoppard"]},"studio":{"title":"Embassy"}}`)
	for name, text := range map[string]string{"a.jsonl": `{"id":1,"title":"Alien"}` + "\n" + `{"id":2,"title":`, "b.csv": "id,title\n1,Solaris\n2,Stalker\n"} {
		show(t, &s, name, text)
	}
	d, err := s.Draft("film")
	if err != nil || len(d.Columns) != 4 || d.Columns[0].Attribute != "" {
		t.Fatalf("%+v, %v", d.Columns, err)
	}
	if c := d.Columns[2]; c.Name != "crew.writers" || c.Type != "people" || c.Set {
		t.Errorf("%+v", c)
	}
	if c := d.Columns[3]; c.Name != "studio.title" || c.Attribute != "title_2" || !c.Set {
		t.Errorf("%+v", c)
	}
}

// Files have different names for the same column: each has one title, one column of people and one of years, but
// several of words.
func TestSuggest_UnitesColumnsOfFiles(t *testing.T) {
	t.Parallel()
	s := bulk.Suggester{Kinds: match.Kinds()}
	show(t, &s, "a.csv", "id,title,year,director,country,studio,cast,runtime\n1,Alien,1979,Ridley Scott,GB,Fox,Tom Skerritt,117 min\n")
	show(t, &s, "b.csv", "film_id,titel,jahr,besetzung,regie,land,verleih,laufzeit\n7,Alien,1979,Tom Skerritt,Ridley Scott,GB,Fox,117\n")
	show(t, &s, "c.csv", "сорт,отзыв,titre\nа1,Чужой,Alien\n")
	d, err := s.Draft("film")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range d.Columns {
		lines = append(lines, c.Name+": "+c.Attribute)
	}
	want := []string{
		"id: ", "title: title", "year: year", "director: director", "country: country", "studio: studio", "cast: cast", "runtime: runtime",
		"film_id: ", "titel: title", "jahr: year", "besetzung: cast", "regie: director", "land: country", "verleih: verleih", "laufzeit: runtime",
		"сорт: column", "отзыв: column_2", "titre: title",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if a, _ := d.Schema.Attribute("title"); !slices.Equal(a.Aliases, []string{"titel", "titre"}) {
		t.Errorf("aliases %v", a.Aliases)
	}
	if !d.Names([]string{"jahr", "titel"}) || d.Names([]string{"jahr"}) {
		t.Error("titel names the films, jahr does not")
	}
}

// Columns of durations mean the same, whatever their units and their names are.
func TestSuggest_Durations(t *testing.T) {
	t.Parallel()
	s := bulk.Suggester{Kinds: match.Kinds()}
	show(t, &s, "a.csv", "id,title,length\n1,Red River,221\n2,Blue Moon,187\n3,Old Road,305\n")
	show(t, &s, "b.csv", "id,title,length\n1,Red River,3m 41s\n2,Blue Moon,3m 7s\n")
	show(t, &s, "c.csv", "id,title,milliseconds\n1,Red River,221400\n")
	show(t, &s, "d.csv", "id,title,time\n1,Red River,3:41\n2,Blue Moon,3:07\n")
	d, err := s.Draft("song")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Columns {
		if slices.Contains([]string{"length", "milliseconds", "time"}, c.Name) && (c.Attribute != "length" || c.Type != "number") {
			t.Errorf("%s: %s as %s", c.Name, c.Attribute, c.Type)
		}
	}
}

func TestSuggest_BetterThanAKnownKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns, row string
		better       bool
		lost         string
	}{
		{"id|title|year|director", "1|Alien|1979|Ridley Scott", true, "year director"},
		{"title|country|released", "Alien|GB|July 20, 1979", true, "released"},
		{"beer|brewery|style", "Amber Ale|Stone Bay|Red Ale", true, "brewery"},
		{"company|country|founded", "Acme GmbH|DE|1990", true, "founded"},
		{"name|city|founded", "Acme GmbH|Berlin|1990", false, "founded"},
		{"name|description|tags", "Acme GmbH|Tools|a", false, ""},
		{"title|manufacturer|price|pages", "Drill|Bosch|99|12", true, "pages"},
		{"title|brand|price|pack_size", "Ketchup|Heinz|2.99|500 g", true, "pack_size"},
		{"title|brand|price|shade", "Lip gloss|NYX|9.99|07 Toffee", true, "shade"},
		{"title|brand|price|stock", "Lip gloss|NYX|9.99|7", false, ""},
		{"offer|brand|price", "Cordless drill|Bosch|99", true, "offer"},
		{"event|date|venue|city", "Quill Tour|2020-03-04|Blue Door|Berlin", true, "event date"},
		{"betriebsstaette|street|phone", "Acme Tools|Main St 1|030 1234567", true, "betriebsstaette"},
		{"author|title|address|year", "Y. Freund|Boosting a weak learner|Rochester, NY|(1990)", true, "author year"},
		{"player|club|goals", "Ann Kay|Blue Door|12", true, ""},
		{"name|street|city|founded|filed|checked", "Acme GmbH|Main St 1|Berlin|1990-01-02|2001-02-03|2004-05-06", false, "founded filed checked"},
		{"name|city|phone|founded|filed|checked", "Acme GmbH|Berlin|030 1234567|1990-01-02|2001-02-03|2004-05-06", true, "founded filed checked"},
		{"first_name|last_name|hired|left", "Ann|Kay|2001-02-03|2004-05-06", false, "hired left"},
	} {
		_, d := suggested(t, c.columns, c.row)
		if d.Better != c.better || strings.Join(d.Lost, " ") != c.lost {
			t.Errorf("%s: better %v, lost %v, known %s", c.columns, d.Better, d.Lost, d.Known)
		}
	}
}

// Names of businesses are compared as such if a built-in kind has names in that column.
func TestSuggest_StylesOfNames(t *testing.T) {
	t.Parallel()
	for columns, want := range map[string]match.Style{
		"company|founded":          match.StyleBusiness,
		"name|street|city|phone":   match.StyleBusiness,
		"full_name|turnover":       match.StylePerson,
		"name|year":                match.StyleTitle,
		"title|street|city|phone":  match.StyleTitle,
		"song|artist|city|street":  match.StyleTitle,
		"branch|street|city|phone": match.StyleBusiness,
	} {
		_, d := suggested(t, columns, "Acme Tools|1990|Berlin|030 1234567")
		if got := d.Schema.Style(); got != want {
			t.Errorf("%s: style %s, want %s", columns, got, want)
		}
	}
}

// A kind that explains the columns is named.
func TestSuggest_KnownKind(t *testing.T) {
	t.Parallel()
	_, d := suggested(t, "name|phone|address|city", "Joe's|415-555-2300|1000 Market St.|San Francisco")
	if d.Known != "place" || d.Explained != 4 {
		t.Errorf("kind %q explains %d columns, want place and 4", d.Known, d.Explained)
	}
}

func TestSuggest_NothingNamesTheRows(t *testing.T) {
	t.Parallel()
	s := bulk.Suggester{Kinds: match.Kinds()}
	s.See([]bulk.Field{{Name: "a", Values: []string{"1.5"}}, {Name: "b", Values: []string{""}}})
	if _, err := s.Draft("thing"); err == nil || !strings.Contains(err.Error(), "records are compared by") {
		t.Errorf("%v", err)
	}
}

// A column of few values is compared if it distinguishes things of one name, and otherwise not.
func TestSuggest_VariantsAreCompared(t *testing.T) {
	t.Parallel()
	looks := []string{"plain", "striped", "checked", "dotted", "faded", "washed"}
	var rows []string
	for n := range 120 {
		for i, look := range []int{n, n, n, n + 1 + n/6%5, n + 1 + n/6%5} {
			rows = append(rows, fmt.Sprintf("Alba %c%c%c Dress|%s|%s|%s|%d", 'a'+n%26, 'b'+n/26, 'c'+n%7, looks[look%6], []string{"new", "used"}[i*n%2], looks[look%6], 5*n+i))
		}
	}
	got, d := suggested(t, "dress|look|condition|shop|price", rows...)
	want := []string{"dress: dress name title", "look: look text variant tag", "condition: condition text tag", "shop: shop text tag", "price: price number"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !slices.Contains(d.Lost, "look") {
		t.Errorf("no kind compares the look: %v", d.Lost)
	}
}

// A file without duplicates has each thing of a name once, by its size as by the shop that lists it. Only the name of the column tells
// which it is.
func TestSuggest_VariantsOfAFileWithoutDuplicates(t *testing.T) {
	t.Parallel()
	looks := []string{"plain", "striped", "checked", "dotted"}
	var rows []string
	for n := range 200 {
		for i := range 3 {
			rows = append(rows, fmt.Sprintf("Alba %c%c%c Dress|%s|%s|%d", 'a'+n%26, 'b'+n/26, 'c'+n%7, looks[(n+i)%4], looks[(n+i+1)%4], 3*n+i))
		}
	}
	got, _ := suggested(t, "dress|finish|listing|price", rows...)
	want := []string{"dress: dress name title", "finish: finish text variant tag", "listing: listing text tag", "price: price number"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
