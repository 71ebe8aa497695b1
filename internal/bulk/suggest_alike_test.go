// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// become returns what a draft for files makes of their columns.
func become(t *testing.T, files ...string) (lines []string) {
	t.Helper()
	s := bulk.Suggester{Kinds: match.Kinds()}
	for i, text := range files {
		show(t, &s, fmt.Sprintf("%c.csv", 'a'+i), text)
	}
	d, err := s.Draft("thing")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Columns {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s: %s %s", c.Name, c.Attribute, c.Type)))
	}
	return lines
}

// rowsOf returns a file whose rows are composed of a number.
func rowsOf(columns string, rows int, row func(n int) string) string {
	lines := []string{columns}
	for n := range rows {
		lines = append(lines, row(n))
	}
	return strings.Join(lines, "\n") + "\n"
}

// Columns of different files with the same values mean the same, whatever they are called, and so do columns of one name
// fewRows is a number of rows of which not enough are known to be of one thing to show anything.
const fewRows = 36

// in other letters.
func TestSuggest_UnitesColumnsOfTheSameValues(t *testing.T) {
	t.Parallel()
	consoles := []string{"PS2", "Wii", "DS", "PC", "Xbox 360"}
	makers := []string{"Walford Games", "Dalow", "Meritz Soft", "Crowward"}
	word := func(n int) string { return fmt.Sprintf("%c%c%co", 'a'+n%26, 'b'+n/26%20, 'c'+n%7) }
	got := become(t,
		rowsOf("Name,Platform,Studio,Genre,Disc", fewRows, func(n int) string {
			return fmt.Sprintf("Red %s,%s,%s,Puzzle,%d", word(n), consoles[n%5], makers[n%4], n%3)
		}),
		rowsOf("game,genre,system,made by,disc number,players", fewRows, func(n int) string {
			return fmt.Sprintf("Red %s,puzzle,%s,%s,%d,%d", word(n), strings.ToLower(consoles[n%5]), makers[n%4]+".", n%3, n%3)
		}))
	want := []string{
		"Name: name name title", "Platform: platform text tag", "Studio: studio text tag", "Genre: genre text tag", "Disc: disc text note",
		"game: name name title", "genre: genre text tag", "system: platform text tag", "made by: studio text tag", "disc number: disc text note", "players: players text note",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Three bands that are called like colours are no colours, and columns of one file are different ones.
func TestSuggest_UnitesNoOtherColumns(t *testing.T) {
	t.Parallel()
	got := become(t,
		rowsOf("title,colour", 60, func(n int) string {
			return fmt.Sprintf("Song %c%co,%s", 'a'+n%26, 'b'+n/26, []string{"red", "blue", "black"}[n%3])
		}),
		rowsOf("title,played by,heard by", 60, func(n int) string {
			return fmt.Sprintf("Song %c%co,%s,%s", 'a'+n%26, 'b'+n/26, []string{"Red", "Blue", "Black", fmt.Sprintf("The %c%cs", 'A'+n%26, 'e'+n/26)}[min(n, 3)],
				fmt.Sprintf("The %c%cs", 'A'+n%26, 'e'+n/26))
		}))
	for _, line := range []string{"colour: colour text tag", "played by: played_by text", "heard by: heard_by text"} {
		if !slices.Contains(got, line) {
			t.Errorf("no %q in %q", line, got)
		}
	}
}

// A column names the things of its file if it has the names of another file.
func TestSuggest_NamesAreThoseOfAnotherFile(t *testing.T) {
	t.Parallel()
	name := func(n int) string { return fmt.Sprintf("%c%cra Lake", 'A'+n%26, 'e'+n/26%2) }
	got := become(t,
		rowsOf("event,venue", 50, func(n int) string { return fmt.Sprintf("%s,Hall %c", name(n), 'A'+n%9) }),
		rowsOf("what,remark", 80, func(n int) string { return fmt.Sprintf("%s,told by %c%ce", name(n/2), 'a'+n%26, 'b'+n/26) }))
	if !slices.Contains(got, "what: event name title") {
		t.Errorf("%q", got)
	}
}

// People are the things of a list that names nothing else, and not of one that has titles.
func TestSuggest_PeopleAreNames(t *testing.T) {
	t.Parallel()
	name := func(n int) string { return fmt.Sprintf("%c%cra Lake", 'A'+n%26, 'e'+n/26%2) }
	genre := []string{"rock", "jazz", "folk"}
	got := become(t,
		rowsOf("artist,genre", 50, func(n int) string { return name(n) + "," + genre[n%3] }),
		rowsOf("name,formed", 50, func(n int) string { return fmt.Sprintf("%s,%d", name(n), 1960+n) }))
	if !slices.Contains(got, "artist: artist name title") || !slices.Contains(got, "name: artist name title") {
		t.Errorf("%q", got)
	}
	got = become(t, rowsOf("song,artist", 50, func(n int) string { return fmt.Sprintf("Song of %c%c,%s", 'a'+n%26, 'a'+n/26, name(n)) }))
	if !slices.Contains(got, "artist: artist people") {
		t.Errorf("%q", got)
	}
	got = become(t, rowsOf("authors,genre", 50, func(n int) string { return name(n) + "; " + name(n+1) + "," + genre[n%3] }))
	if slices.Contains(got, "authors: authors name title") {
		t.Errorf("%q", got)
	}
}

// The draft says which column of a file certainly names the things, whatever it is called.
func TestSuggest_Naming(t *testing.T) {
	t.Parallel()
	firm := func(n int) string {
		return fmt.Sprintf("%c%cra %s", 'A'+n%26, 'e'+n/26%2, []string{"Foods", "Mills", "Works"}[n%3])
	}
	for name, c := range map[string]struct {
		second string
		row    func(n int) string
		want   string
	}{
		"names of the first file":        {"payee,city", func(n int) string { return firm(n) + ",Ulm" }, "payee"},
		"names of the same words":        {"payee,city", func(n int) string { return firm(n)[:5] + "Foods Mills,Ulm" }, "payee"},
		"called like a name":             {"charity_name,city", func(n int) string { return fmt.Sprintf("Friends of %c%cil,Ulm", 'A'+n%26, 'a'+n/26) }, "charity_name"},
		"called like those who have one": {"institution,city", func(n int) string { return fmt.Sprintf("Friends of %c%cil,Ulm", 'A'+n%26, 'a'+n/26) }, "institution"},
		"people":                         {"holder,city", func(n int) string { return fmt.Sprintf("Mary %c%cilson,Ulm", 'A'+n%26, 'a'+n/26) }, "holder"},
		"texts that name nothing":        {"remark,city", func(n int) string { return fmt.Sprintf("see %c%c there,Ulm", 'a'+n%26, 'a'+n/26) }, ""},
	} {
		s := bulk.Suggester{Kinds: match.Kinds()}
		show(t, &s, "a.csv", rowsOf("company,city", 50, func(n int) string { return firm(n) + ",Ulm" }))
		show(t, &s, "b.csv", rowsOf(c.second, 50, c.row))
		d, err := s.Draft("firm")
		if err != nil || !slices.Equal(d.Naming, []string{"company", c.want}) {
			t.Errorf("%s: %q, %v", name, d.Naming, err)
		}
	}
}

// The models of cars are no model numbers, and families of plants no family names, because many rows share them.
func TestSuggest_GroupsAreNoIdentifiers(t *testing.T) {
	t.Parallel()
	got := become(t, rowsOf("car,model", 60, func(n int) string { return fmt.Sprintf("Volta %c%cra,A%d", 'a'+n%26, 'b'+n/26, n%4) }))
	if want := []string{"car: car name title", "model: model text tag"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	s := bulk.Suggester{Kinds: match.Kinds()}
	show(t, &s, "a.csv", rowsOf("plant,family,author", 60, func(n int) string {
		return fmt.Sprintf("Salvia %c%cra,%caceae,Mill. and Benth.", 'a'+n%26, 'b'+n/26, 'R'+n%4)
	}))
	if d, err := s.Draft("plant"); err != nil || !d.Better {
		t.Errorf("a list of plants is compared as %s: %v", d.Known, err)
	}
}

// A file that has the names of another file in several columns composes them in the order of these names. What many
// rows share, such as a condition, names nothing.
func TestSuggest_NamesOfSeveralColumns(t *testing.T) {
	t.Parallel()
	makers := []string{"Volta", "Ardent", "Quill"}
	model := func(n int) string { return fmt.Sprintf("%c%cra", 'A'+n%26, 'e'+n/26) }
	parts := rowsOf("class,model,maker,condition", fewRows, func(n int) string {
		return fmt.Sprintf("%s,%s,%s,%s", []string{"EX", "GT"}[n%2], model(n), makers[n%3], []string{"new", "used"}[n%2])
	})
	whole := func(end string) string {
		return rowsOf("title,price", fewRows, func(n int) string {
			return fmt.Sprintf("%s %s %s %s,%d", makers[n%3], model(n), []string{"EX", "GT"}[n%2], end, 900+n*7)
		})
	}
	s := bulk.Suggester{Kinds: match.Kinds()}
	show(t, &s, "a.csv", parts)
	show(t, &s, "b.csv", whole("4dr"))
	d, err := s.Draft("car")
	if err != nil || len(d.Composed) != 1 || d.Composed[0].String() != "title={maker} {model} {class}" {
		t.Fatalf("%+v, %v", d, err)
	}
	if !d.Names([]string{"class", "model", "maker"}) || d.Names([]string{"class", "maker"}) {
		t.Error("the columns of the composition name the things, together")
	}
	for text, want := range map[string]bool{parts: true, whole(""): false} {
		plan, err := bulk.Recognise(bulk.Stdin, strings.NewReader(text), []*match.Schema{d.Schema}, &bulk.Options{Composed: d.Composed, Unstored: true})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(plan.Assignments(), d.Composed[0].Assignment) != want {
			t.Errorf("%v", plan.Assignments())
		}
	}
	s = bulk.Suggester{Kinds: match.Kinds()}
	show(t, &s, "a.csv", rowsOf("type,condition", 100, func(n int) string {
		return []string{"flat", "house"}[n%2] + "," + []string{"old", "used"}[n%2]
	}))
	show(t, &s, "b.csv", rowsOf("title", 100, func(n int) string { return fmt.Sprintf("%s flat used %s", model(n), model(n+1)) }))
	if d, err := s.Draft("home"); err != nil || len(d.Composed) > 0 {
		t.Errorf("%+v, %v", d.Composed, err)
	}
}

// Some dates of a column may be years, and a word may stand for no date. Numbers of eight digits are not dates.
func TestSuggest_Dates(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"date": {"2008-07-21", "1986", "TBA", "May 15, 2009", "Fri, 8 Apr 2022, 8 pm", "2008-09", "1999-01-02"},
		"text": {"2008-07-21", "volume 12", "TBA", "soon", "1999-01-02"},
		"note": {"20080721", "19861301", "12345678"},
	} {
		var rows []string
		for n := range 5 * len(values) {
			rows = append(rows, fmt.Sprintf("Red %c%cra|%s", 'a'+n%26, 'b'+n/26, values[n%len(values)]))
		}
		got, _ := suggested(t, "title|seen", rows...)
		if is := strings.TrimPrefix(got[1], "seen: seen "); is != name && is != "text "+name {
			t.Errorf("%v are %s", values, is)
		}
	}
}
