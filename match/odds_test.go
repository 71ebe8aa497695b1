// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// population returns a number of people, of whom the first few also have a second record. Every eightieth has the name of
// the first.
func population(people, duplicates int) (records []match.Attributes) {
	for i := range people {
		given := fmt.Sprintf("Given%c%c", 'a'+i%20, 'a'+i/20%26)
		family := fmt.Sprintf("Family%c%c%c", 'a'+i/520%26, 'a'+i/13520%26, 'a'+i%17)
		if i%80 == 0 {
			given, family = "John", "Smith"
		}
		born := fmt.Sprintf("%d-%02d-%02d", 1930+i*7%70, 1+i%12, 1+i*11%28)
		a := match.Attributes{"given_name": {given}, "family_name": {family}, "birth_date": {born}}
		records = append(records, a)
		if i < duplicates {
			records = append(records, match.Attributes{"given_name": {given}, "family_name": {family}, "birth_date": {born},
				"city": {"Ulm"}})
		}
	}
	return records
}

// TestOdds_OfManyPeople compares two namesakes among more and more people.
func TestOdds_OfManyPeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		people, duplicates int
		atLeast, atMost    match.Weight
	}{
		{"a few", 600, 0, 0, 0},
		{"thousands, each twice", 4000, 4000, 0, 0},
		{"thousands, few of them twice", 8000, 400, -75, -70}, // 8,300 records are 1.66 times as many as 50,000 · 0.1
		{"many", 20000, 0, -200, -195},
	} {
		terms := match.TermsOf(match.Person(), slices.Values(population(c.people, c.duplicates)))
		m := match.New(match.Person(), terms)
		if p := m.Prior(); p < c.atLeast || p > c.atMost {
			t.Errorf("%s: a prior of %v", c.name, p)
		}
		text, err := terms.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var read match.TermFrequencies
		if err := read.UnmarshalBinary(text); err != nil || match.New(match.Person(), &read).Prior() != m.Prior() {
			t.Errorf("%s: stored, %v, the prior is %v", c.name, err, match.New(match.Person(), &read).Prior())
		}
		a := m.Normalise("one", "1", match.Attributes{"name": {"John Smith"}, "birth_date": {"1950-03-04"}, "city": {"Ulm"}})
		b := m.Normalise("two", "2", match.Attributes{"name": {"John Smith"}, "birth_date": {"1950-03-09"}, "city": {"Bonn"}})
		e := m.Explain(a, b, m.Compare(a, b))
		if shown := e.Lines[0].Attribute == "prior"; shown != (m.Prior() != 0) || shown && e.Lines[0].Weight != m.Prior() {
			t.Errorf("%s: %+v", c.name, e.Lines)
		}
	}
	terms := match.TermsOf(match.Person(), slices.Values(population(8000, 0)))
	own := match.Person()
	own.Prior = -100
	if p := match.New(own, terms).Prior(); p != -100 {
		t.Errorf("the prior of a kind with one is %v", p)
	}
	if p := match.New(match.Place(), terms).Prior(); p != 0 {
		t.Errorf("the prior of places is %v", p)
	}
}

// TestMailbox_NumbersOfNamesakes compares mailboxes of persons that differ by little.
func TestMailbox_NumbersOfNamesakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, level string }{
		{"ann.smith2@example.org", "ann.smith31@example.org", "different"},
		{"ann.smith@example.org", "ann.smith2@example.org", "different"},
		{"ann.smith2@example.org", "ann.smth2@example.org", "alike"},
		{"ann.smith2@example.org", "ann.smith2@exmple.org", "alike"},
		{"ann.smith2@example.org", "ann.smith2@example2.org", "alike"},
		{"ann.smith2@example.org", "ann.smith2@example.org", "equal"},
	} {
		m := match.New(match.Person(), nil)
		x := m.Normalise("one", "1", match.Attributes{"name": {"Ann Smith"}, "emails": {c.a}})
		y := m.Normalise("two", "2", match.Attributes{"name": {"Ann Smith"}, "emails": {c.b}})
		for _, line := range m.Explain(x, y, m.Compare(x, y)).Lines {
			if line.Attribute == "email" && line.Level != c.level {
				t.Errorf("%s and %s are %s, want %s", c.a, c.b, line.Level, c.level)
			}
		}
	}
}
