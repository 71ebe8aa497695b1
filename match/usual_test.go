// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/match"
)

// born returns a person.
func born(given, family, date string) match.Attributes {
	a := person(given, family)
	a["birth_date"] = []string{date}
	return a
}

// lineOf returns a line of the explanation of two records.
func lineOf(m *match.Matcher, a, b match.Attributes, attribute string) (match.Line, match.Explanation) {
	x, y := m.Normalise("s", "1", a), m.Normalise("s", "2", b)
	e := m.Explain(x, y, m.Thorough().Compare(x, y))
	for _, l := range e.Lines {
		if l.Attribute == attribute {
			return l, e
		}
	}
	return match.Line{}, e
}

// residents returns n persons: nine in ten born on different days, and every tenth on the same day of some year.
func residents(n int, day string) []match.Attributes {
	all := make([]match.Attributes, n)
	for i := range all {
		date := fmt.Sprintf("%d-%02d-%02d", 1930+i%70, 1+i%12, 1+i*11%28)
		if day != "" && i%10 == 0 {
			date = fmt.Sprintf("%d-%s", 1930+i%70, day)
		}
		all[i] = born("Anna", fmt.Sprintf("Family%c%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676), date)
	}
	return all
}

func TestUsual_Days(t *testing.T) {
	t.Parallel()
	const usual = "equal, a day of many records"
	counted := func(day string) *match.TermFrequencies {
		return match.CountTerms(match.Person(), slices.Values(residents(1000, day)))
	}
	for _, c := range []struct {
		name  string
		terms *match.TermFrequencies
		date  string
		want  string
	}{
		{"without statistics", nil, "1984-01-01", usual},
		{"without statistics, another day", nil, "1984-06-15", "equal"},
		{"few are counted", match.CountTerms(match.Person(), slices.Values(residents(200, "06-15"))), "1984-01-01", usual},
		{"counted", counted("06-15"), "1984-06-15", usual},
		{"counted, of any year", counted("06-15"), "1901-06-15", usual},
		{"counted, and as rare as others", counted("06-15"), "1984-01-01", "equal"},
		{"only the year", nil, "1984", "same year"},
	} {
		m := match.New(match.Person(), c.terms)
		line, _ := lineOf(m, born("Anna", "Abelson", c.date), born("Anna", "Abelson", c.date), "date")
		if line.Level != c.want || !slices.Equal(line.A, []string{c.date}) || !slices.Equal(line.B, []string{c.date}) {
			t.Errorf("%s: %+v, want %q", c.name, line, c.want)
		}
	}
	whole := residents(1000, "")
	for i := range whole[:40] {
		whole[i]["birth_date"] = []string{"1955-05-05"}
	}
	m := match.New(match.Person(), match.CountTerms(match.Person(), slices.Values(whole)))
	if line, _ := lineOf(m, born("Anna", "Abelson", "1955-05-05"), born("Anna", "Abelson", "1955-05-05"), "date"); line.Level != usual {
		t.Errorf("one date of 40 in 1,000: %+v", line)
	}
}

// Of several dates the one that agrees least counts, and an equal usual day counts as an equal year.
func TestUsual_LeastOfSeveral(t *testing.T) {
	t.Parallel()
	kind, err := match.ParseSchema([]byte("kind: member\nversion: 1\nattributes:\n  name: { type: name, style: person }\n  born: { type: date }\n  joined: { type: date }\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := match.New(kind, nil)
	member := func(born, joined string) match.Attributes {
		return match.Attributes{"name": {"Anna Abelson"}, "born": {born}, "joined": {joined}}
	}
	for _, c := range []struct{ born, other, want string }{
		{"1950-03-11", "1950-03-11", "equal, a day of many records"},
		{"1950-03-11", "1950-03-12", "equal, a day of many records"},
		{"1950-03-11", "1960-08-22", "different"},
	} {
		if line, _ := lineOf(m, member(c.born, "1984-01-01"), member(c.other, "1984-01-01"), "date"); line.Level != c.want {
			t.Errorf("%+v: %+v", c, line)
		}
	}
}

// Each attribute has separate usual days.
func TestUsual_DaysOfAnAttribute(t *testing.T) {
	t.Parallel()
	kind, err := match.ParseSchema([]byte("kind: member\nversion: 1\nattributes:\n  name: { type: name, style: person }\n  born: { type: date }\n  joined: { type: date }\n"))
	if err != nil {
		t.Fatal(err)
	}
	all := residents(1000, "")
	for i, a := range all {
		all[i] = match.Attributes{"name": {"Anna " + a["family_name"][0]}, "born": a["birth_date"], "joined": {fmt.Sprintf("%d-03-15", 1990+i%20)}}
	}
	m := match.New(kind, match.CountTerms(kind, slices.Values(all)))
	for attribute, want := range map[string]string{"joined": "equal, a day of many records", "born": "equal"} {
		a := match.Attributes{"name": {"Anna Abelson"}, attribute: {"1999-03-15"}}
		if line, _ := lineOf(m, a, a, "date"); line.Level != want {
			t.Errorf("%s: %+v, want %q", attribute, line, want)
		}
	}
}

func TestUsual_Mailboxes(t *testing.T) {
	t.Parallel()
	const shared = "of a firm, or of many names"
	at := func(given, family, email string) match.Attributes {
		a := person(given, family)
		a["emails"] = []string{email}
		return a
	}
	m := match.New(match.Person(), nil)
	for _, c := range []struct {
		a, b match.Attributes
		line string
		want match.Outcome
	}{
		{at("Anna", "Abelson", "info@acme.com"), at("Boris", "Abelson", "info@acme.com"), shared, match.Different},
		{at("", "Abelson", "info@acme.com"), at("", "Abelson", "info@acme.com"), shared, match.Possible},
		{at("Anna", "Abelson", "info@acme.com"), at("Anna", "Brandt", "info@acme.com"), shared, match.Possible},
		{at("Anna", "Abelson", "anna@acme.com"), at("Ana", "Abelson", "anna@acme.com"), "", match.Same},
		// A mailbox of a family does not join its members.
		{at("Anna", "Abelson", "abelsons@acme.com"), at("Boris", "Abelson", "abelsons@acme.com"), "", match.Different},
	} {
		line, e := lineOf(m, c.a, c.b, "shared mailbox")
		if line.Level != c.line || e.Outcome != c.want {
			t.Errorf("%v, %v: %s, want %s: %+v", c.a, c.b, e.Outcome, c.want, e.Lines)
		}
		if c.line != "" && (!slices.Equal(line.A, c.a["emails"]) || !slices.Equal(line.B, c.b["emails"])) {
			t.Errorf("the line shows %v and %v", line.A, line.B)
		}
	}
	// Another mailbox that is not shared counts in full.
	both := at("Anna", "Abelson", "info@acme.com")
	both["emails"] = append(both["emails"], "anna@acme.com")
	if line, e := lineOf(m, both, both, "shared mailbox"); line.Level != "" || e.Outcome != match.Same {
		t.Errorf("%+v", e.Lines)
	}
	hidden := match.Person().Hiding(func() match.Explanation {
		_, e := lineOf(m, at("Anna", "Abelson", "info@acme.com"), at("Boris", "Abelson", "info@acme.com"), "")
		return e
	}(), func(name string) bool { return name == "emails" })
	for _, l := range hidden.Lines {
		if strings.Contains(fmt.Sprint(l.A, l.B), "@") {
			t.Errorf("%s shows %v", l.Attribute, l.A)
		}
	}
}

// The mailbox of an agency that many places name is little evidence for two of them.
func TestUsual_MailboxesOfMany(t *testing.T) {
	t.Parallel()
	place := func(name, email string) match.Attributes {
		return match.Attributes{"name": {name}, "emails": {email}}
	}
	var all []match.Attributes
	for i := range 40 {
		all = append(all, place(fmt.Sprintf("Hotel X%c%c", 'a'+i%26, 'a'+i/26), "stay@agency.com"), place(fmt.Sprintf("Inn Y%c%c", 'a'+i%26, 'a'+i/26), fmt.Sprintf("y%d@inn.com", i)))
	}
	m := match.New(match.Place(), match.CountTerms(match.Place(), slices.Values(all)))
	for email, want := range map[string]string{"stay@agency.com": "of a firm, or of many names", "y3@inn.com": "", "info@inn.com": ""} {
		if line, e := lineOf(m, place("Hotel Xab", email), place("Hotel Xac", email), "shared mailbox"); line.Level != want {
			t.Errorf("%s: %+v", email, e.Lines)
		}
	}
}
