// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"testing"

	"github.com/locus-db/locus/match"
)

// manyPersons returns a matcher for people with counts of 3,000 of them, whose names are frequent.
func manyPersons() *match.Matcher {
	schema := match.Person()
	return match.New(schema, match.TermsOf(schema, func(yield func(match.Attributes) bool) {
		given := []string{"James", "Mary", "Linda", "Virginia", "Jason", "John", "Robert"}
		family := []string{"Taylor", "Murray", "Perez", "Cook", "Ross", "Johnson", "Harris", "Ward"}
		for i := range 3000 {
			if !yield(match.Attributes{"given_name": {given[i%7]}, "family_name": {family[i%8]}, "city": {fmt.Sprint("town ", i)}}) {
				return
			}
		}
	}))
}

func TestPersons_OfManyAreTwo(t *testing.T) {
	t.Parallel()
	m := manyPersons()
	person := func(key, given, family, born, city, address, postcode string) *match.Record {
		return m.Normalise("s", key, match.Attributes{"given_name": {given}, "family_name": {family}, "birth_date": {born}, "city": {city}, "address": {address}, "postcode": {postcode}})
	}
	for name, c := range map[string]struct {
		a, b *match.Record
		same bool
		line string
		want string // the level, "" if any
	}{
		"another family name, born on one day": {
			person("a", "James", "Murray", "1977-05-18", "", "", ""), person("b", "James", "Perez", "1977-05-18", "", "", ""), false, "family name", "different, and little besides",
		},
		"another given name, born on one day": {
			person("a", "Virginia", "Taylor", "1944-08-20", "", "", ""), person("b", "Linda", "Taylor", "1944-08-20", "", "", ""), false, "given name", "different, and little besides",
		},
		"the same in one city": {
			person("a", "Virginia", "Taylor", "1944-08-20", "Ulm", "", ""), person("b", "Linda", "Taylor", "1944-08-20", "Ulm", "", ""), true, "given name", "different",
		},
		"another given name, born in one year in one city": {
			person("a", "John", "Harris", "1935", "Ulm", "", ""), person("b", "Robert", "Harris", "1935", "Ulm", "", ""), false, "given name", "different, and little besides",
		},
		"one name, born in one year in two cities": {
			person("a", "James", "Murray", "1934", "Ulm", "", ""), person("b", "James", "Murray", "1934", "Bonn", "", ""), false, "family name", "alike, and nothing besides the name",
		},
		"sisters in one house": {
			person("a", "Mary", "Cook", "1973-07-22", "Ulm", "100 Oak St", "35818"), person("b", "Marilyn", "Cook", "1961-06-28", "Ulm", "100 Oak St", "35818"), false, "given name", "different, in one household",
		},
		"a slip in a name and another date": {
			person("a", "Mary", "Cook", "1973-07-22", "Ulm", "100 Oak St", "35818"), person("b", "Maryy", "Cook", "1961-06-28", "Ulm", "100 Oak St", "35818"), true, "", "",
		},
		"neighbours of one given name": {
			person("a", "Mary", "Cook", "", "Ulm", "100 Oak St", "35818"), person("b", "Mary", "Ross", "", "Ulm", "100 Oak St", "35818"), false, "family name", "different, and little besides",
		},
		"a family name that changed, and the date of birth": {
			person("a", "Mary", "Cook", "1973-07-22", "Ulm", "100 Oak St", "35818"), person("b", "Mary", "Ross", "1973-07-22", "Ulm", "100 Oak St", "35818"), true, "family name", "different",
		},
		"two flats of a house": {
			person("a", "Mary", "Cook", "", "Ulm", "100 Oak St Apt 3", "35818"), person("b", "John", "Cook", "", "Ulm", "100 Oak St Apt 4", "35818"), false, "address", "same street, other number",
		},
		"a postcode with a digit too few": {
			person("a", "James", "Murray", "", "Ulm", "", "10617"), person("b", "James", "Murray", "", "Ulm", "", "1067"), true, "postcode", "one digit off",
		},
		"postcodes of neighbours": {
			person("a", "James", "Murray", "", "Ulm", "", "10617"), person("b", "James", "Murray", "", "Ulm", "", "10613"), false, "postcode", "first three equal",
		},
	} {
		v := m.Compare(c.a, c.b)
		got := m.Explain(c.a, c.b, v)
		if same := m.Decide(v) == match.Same; same != c.same {
			t.Errorf("%s: same %v, want %v: %+v", name, same, c.same, got)
		}
		if l, ok := line(got, c.line); c.want != "" && (!ok || l.Level != c.want) {
			t.Errorf("%s: the line %s is %+v, want %q", name, c.line, l, c.want)
		}
	}
}

// Beside a column with given names or family names, a column called name has the other part of a person's name.
func TestPersons_NameBesideAPart(t *testing.T) {
	t.Parallel()
	m := manyPersons()
	whole := m.Normalise("s", "a", match.Attributes{"given_name": {"Jonas"}, "family_name": {"Weber"}, "birth_date": {"1980-02-29"}})
	for _, a := range []match.Attributes{
		{"given_name": {"Jonas"}, "name": {"Weber"}, "birth_date": {"1980-02-29"}},
		{"family_name": {"Weber"}, "name": {"Jonas"}, "birth_date": {"1980-02-29"}},
		{"given_name": {"Jonas"}, "name": {"J. Weber"}, "birth_date": {"1980-02-29"}},
		{"family_name": {"Weber"}, "name": {"Jonas Weber"}, "birth_date": {"1980-02-29"}},
	} {
		b := m.Normalise("s", "b", a)
		for name, want := range map[string]string{"family name": "equal and rare", "given name": "hardly another has the whole name"} {
			if l, ok := line(m.Explain(whole, b, m.Compare(whole, b)), name); !ok || l.Level != want {
				t.Errorf("%v: the line %s is %+v", a, name, l)
			}
		}
	}
}

// In a list without dates of birth, one family name and one postcode are those of relatives.
func TestPersons_RelativesWithoutDates(t *testing.T) {
	t.Parallel()
	m := manyPersons()
	person := func(key, given string) *match.Record {
		return m.Normalise("s", key, match.Attributes{"given_name": {given}, "family_name": {"Quillfeather"}, "city": {"York"}, "postcode": {"YO1 7EP"}})
	}
	v := m.Compare(person("1", "Jason"), person("2", "Mary"))
	if m.Decide(v) == match.Same {
		t.Errorf("one person, at %v", m.Sum(v))
	}
}
