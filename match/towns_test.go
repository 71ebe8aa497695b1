// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// counted returns the term frequencies of firms, of whom one in twenty is a Golden something and one in thirty a bakery.
func counted(firms int) *match.TermFrequencies {
	var records []match.Attributes
	for i := range firms {
		first := fmt.Sprintf("Word%c%c", 'a'+i%26, 'a'+i/26%26)
		if i%20 == 0 {
			first = "Golden"
		}
		trade := []string{"Bakery", "Plumbing", "Books"}[i%3]
		if i%30 == 0 {
			trade = fmt.Sprintf("Dragon %c%c", 'a'+i/30%26, 'a'+i/780)
		}
		records = append(records, match.Attributes{"name": {first + " " + trade}, "city": {"Ulm"}})
	}
	return match.TermsOf(match.Place(), slices.Values(records))
}

// TestTowns compares firms of two towns. A name that thousands of records make likely twice is no evidence there, and neither
// are one house number, or one street.
func TestTowns(t *testing.T) {
	t.Parallel()
	place := func(name, address, city, postcode string) match.Attributes {
		a := match.Attributes{"name": {name}, "city": {city}}
		if address != "" {
			a["address"] = []string{address}
		}
		if postcode != "" {
			a["postcode"] = []string{postcode}
		}
		return a
	}
	few, many := counted(1200), counted(12_000)
	for _, c := range []struct {
		name  string
		terms *match.TermFrequencies
		a, b  match.Attributes
		want  match.Outcome
		line  string // attribute: level
	}{
		{"few words, not counted", nil, place("Zettelmeyer Metallbau", "", "Ulm", "89073"), place("Zettelmeyer Metallbau", "", "Bonn", "53111"),
			match.Possible, "name: alike"},
		{"a rare name among few", few, place("Wordkk Dragon qq", "", "Ulm", "89073"), place("Wordkk Dragon qq", "", "Bonn", ""),
			match.Same, "name: equal and rare"},
		{"a likely one among many", many, place("Wordbb Books", "", "Ulm", "89073"), place("Wordbb Books", "", "Bonn", "53111"),
			match.Possible, "name: alike"},
		{"in one town", many, place("Wordbb Books", "", "Ulm", "89073"), place("Wordbb Books", "", "Ulm", "89077"),
			match.Same, "name: equal and rare"},
		{"a house number", many, place("Golden Books", "47 Ripe St", "Ulm", "89073"), place("Golden Books", "47 Marnor Blvd", "Bonn", "53111"),
			match.Different, "address: different"},
		{"a street", many, place("Golden Books", "47 Ripe St", "Ulm", "89073"), place("Golden Books", "49 Ripe St", "Bonn", "53111"), match.Possible, ""},
		{"trades", many, place("Corner Dental", "", "Ulm", "89073"), place("Corner Nails", "", "Ulm", "89077"),
			match.Different, "name residual: both keep words of their own"},
	} {
		m := match.New(match.Place(), c.terms)
		x, y := m.Normalise("one", "1", c.a), m.Normalise("two", "2", c.b)
		e := m.Explain(x, y, m.Compare(x, y))
		said := c.line == ""
		for _, l := range e.Lines {
			said = said || l.Attribute+": "+l.Level == c.line
		}
		if e.Outcome != c.want || !said {
			t.Errorf("%s: %v, want %v and %q: %+v", c.name, e.Outcome, c.want, c.line, e.Lines)
		}
	}
}
