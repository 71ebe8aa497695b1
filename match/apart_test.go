// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

const works = `kind: work
version: 1
attributes:
  title: { type: name, style: title }
  authors: { type: people }
  year: { type: date }
`

// A word written as one equals the same word written as two, in titles and in names of businesses.
func TestNames_JoinedAndApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, a, b, level string }{
		{"work", "Blade Runner: the final cut of a film", "Bladerunner, final cut", "mostly alike"},
		{"work", "Query processing in time series data bases", "Query processing in timeseries databases, revisited", "alike"},
		{"place", "Mc Donald Garage Oakland", "Garage McDonald", "mostly alike"},
		{"place", "Star Bucks Coffee", "Starbucks of Oakland", "half alike"},
		{"place", "Sun Field Bakery", "Sunfields Bakery", "hardly alike"}, // another word
	} {
		m, name := match.New(match.Place(), nil), "name"
		if c.kind == "work" {
			m, name = match.New(kindOf(t, works), nil), "title"
		}
		a, b := m.Normalise("s", "a", match.Attributes{name: {c.a}}), m.Normalise("s", "b", match.Attributes{name: {c.b}})
		l, _ := line(m.Explain(a, b, m.Compare(a, b)), name)
		if l.Level != c.level {
			t.Errorf("%q, %q: %s, want %s", c.a, c.b, l.Level, c.level)
		}
		if m.Compare(a, b) != m.Compare(b, a) {
			t.Errorf("%q, %q: one way and the other differ", c.a, c.b)
		}
	}
}

// Titles become candidates even if their rarest words differ: a typo is rarer than any real word.
func TestTitles_MeetBesideTheirRarestWords(t *testing.T) {
	t.Parallel()
	var all []match.Attributes
	word := func(n int) string { return "quer" + string(rune('a'+n%26)) + string(rune('a'+n/26)) }
	for i := range 600 {
		all = append(all, match.Attributes{"title": {fmt.Sprintf("Planning of %s Updates in %s Systems", word(i/2), word(i/3))}})
	}
	of := func(title, author, year string) match.Attributes {
		return match.Attributes{"title": {title}, "authors": {author}, "year": {year}}
	}
	whole := of("Planning of querha Updates in querja Systems", "Ada Quill", "1999")
	s := kindOf(t, works)
	m := match.New(s, match.CountTerms(s, slices.Values(append(all, whole))))
	for name, other := range map[string]match.Attributes{
		"three typos":             of("Plannign of querha Upadtes in qerjas Systems", "", ""),
		"joined":                  of("Planning of querhaupdates in querjasystems", "", ""),
		"cut off":                 of("Planning of querha Upd", "", ""),
		"another title by author": of("Ways to plan", "A. Quill", "1999"),
	} {
		if got := len(match.Candidates([]*match.Record{m.Normalise("s", "a", whole), m.Normalise("s", "b", other)})); got != 1 {
			t.Errorf("%s: no candidates", name)
		}
	}
	if got := len(match.Candidates([]*match.Record{m.Normalise("s", "a", whole), m.Normalise("s", "b", of("Ways to plan", "A. Quill", "1998"))})); got != 0 {
		t.Error("another title of another year is a candidate")
	}
}

// Names without a house number become candidates by their place and the first letters of the name, without spaces.
func TestNames_MeetAtAPlaceJoinedAndApart(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	of := func(key, name, address string) *match.Record {
		return m.Normalise("s", key, match.Attributes{"name": {name}, "address": {address}, "city": {"Oakland"}})
	}
	if got := len(match.Candidates([]*match.Record{of("a", "Snow Craft Motors", ""), of("b", "Snowcraft Motors", "")})); got != 1 {
		t.Error("no candidates without an address")
	}
	for _, key := range of("a", "Snow Craft Motors", "12 Elm St").BlockingKeys() {
		if _, text, _ := of("a", "Snow Craft Motors", "12 Elm St").BlockingKey(key.Hash); text == "snowcraftmot · oakland" {
			t.Error("a record with a house has the key of its beginning, too")
		}
	}
}

// A model number that one title writes as two words agrees, and is shown.
func TestTitles_ModelNumbersApart(t *testing.T) {
	t.Parallel()
	m := match.New(match.Product(), nil)
	a := m.Normalise("s", "a", match.Attributes{"title": {"Sony Turntable PSLX 350H"}})
	b := m.Normalise("s", "b", match.Attributes{"title": {"Sony PS-LX350H belt drive"}})
	e := m.Explain(a, b, m.Compare(a, b))
	if l, _ := line(e, "title residual"); l.Level != "rare model numbers agree" || !slices.Contains(l.A, "pslx350h") || !slices.Contains(l.B, "pslx350h") {
		t.Errorf("%+v", l)
	}
	if len(match.Candidates([]*match.Record{a, b})) != 1 {
		t.Error("no candidates")
	}
}

// Years alone are often one off, with the day unknown.
func TestDates_TheYearBeforeOrAfter(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, works), nil)
	for _, c := range []struct{ a, b, level string }{
		{"1999", "2000", "the year before or after"},
		{"2000", "1999-05-03", "the year before or after"},
		{"1999", "2001", "different"},
		{"1999", "1999", "same year"},
		{"1999-12-31", "2000-01-01", "different"},
	} {
		a := m.Normalise("s", "a", match.Attributes{"title": {"Harbour Lights"}, "year": {c.a}})
		b := m.Normalise("s", "b", match.Attributes{"title": {"Harbour Lights"}, "year": {c.b}})
		l, _ := line(m.Explain(a, b, m.Compare(a, b)), "date")
		if l.Level != c.level || !slices.Equal(l.A, []string{c.a}) || !slices.Equal(l.B, []string{c.b}) {
			t.Errorf("%s, %s: %+v", c.a, c.b, l)
		}
	}
}

// A name that hardly another person has identifies a person, unless the dates of birth differ.
func TestPersons_RareNamesInOneCity(t *testing.T) {
	t.Parallel()
	var all []match.Attributes
	for i := range 2000 {
		all = append(all, match.Attributes{"given_name": {fmt.Sprint("given", string(rune('a'+i%20)))}, "family_name": {fmt.Sprint("family", string(rune('a'+i%23)))}})
	}
	m := match.New(match.Person(), match.CountTerms(match.Person(), slices.Values(all)))
	weigh := func(given, family, born, other string) match.Outcome {
		of := func(key, born string) *match.Record {
			return m.Normalise("s", key, match.Attributes{"given_name": {given}, "family_name": {family}, "city": {"Oakland"}, "birth_date": {born}})
		}
		return m.Decide(m.Compare(of("a", born), of("b", other)))
	}
	for _, c := range []struct {
		given, family, born, other string
		want                       match.Outcome
	}{
		{"Zephyrine", "Quill", "", "", match.Same},
		{"Zephyrine", "Quill", "1970-01-02", "", match.Same},
		{"Zephyrine", "Quill", "1970-03-02", "1941-11-25", match.Different},
		{"Givena", "Familya", "", "", match.Possible},
	} {
		if got := weigh(c.given, c.family, c.born, c.other); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
