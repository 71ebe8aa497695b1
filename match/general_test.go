// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// Words that describe trades and addresses do not make names alike: two shops with different names and one phone are a
// possible match, not a match.
func TestCompare_WordsOfTradesAndAddressesNameNothing(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	outcome := func(a, b string) match.Outcome {
		of := func(key, name string) *match.Record {
			return m.Normalise("s", key, match.Attributes{"name": {name}, "phones": {"415-555-2300"}})
		}
		return m.Decide(m.Compare(of("1", a), of("2", b)))
	}
	for _, c := range []struct {
		a, b string
		want match.Outcome
	}{
		{"11th Street Coffee", "Rose Street Salon", match.Possible},
		{"Zanzibar Street Coffee", "Quill Street Coffee", match.Different}, // two rare words
		{"Maple Avenue Dental", "Rose Avenue Dental", match.Possible},
		{"Maple Plaza Hair Salon", "Rose Plaza Nail Salon", match.Possible},
		{"St Mary School", "St John School", match.Possible},
		{"11th Street Coffee", "11th Street Coffee House", match.Same},
		{"Rose Street Salon", "Rose Street Hair Salon", match.Same},
		{"Rose Street Salon", "Rose Str Salon", match.Same},
		{"Street Coffee", "Coffee Street Shop", match.Same}, // no distinctive words that could differ
	} {
		if got := outcome(c.a, c.b); got != c.want {
			t.Errorf("%s and %s with one phone are %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// The weight of a phone falls with its number of names; a thing with several names counts once.
func TestTerms_PhoneOfManyNames(t *testing.T) {
	t.Parallel()
	words := []string{"Zanzibar", "Quill", "Heron", "Velvet", "Bramble", "Cobalt", "Dahlia", "Ember", "Falcon", "Gable", "Hazel", "Indigo", "Juniper", "Kestrel", "Lantern"}
	named := func(n int, phone string) (list []match.Attributes) {
		for _, w := range words[:n] {
			list = append(list, match.Attributes{"name": {w + " Dental"}, "phones": {phone}})
		}
		return list
	}
	records := slices.Concat(
		named(match.PhoneNames, "212-555-0101"), named(match.PhoneNames+1, "212-555-0102"), named(match.PhoneCrowd+1, "212-555-0103"))
	for i := range 2 * match.PhoneCrowd {
		records = append(records, match.Attributes{"name": {"Osprey " + []string{"Dental", "Clinic", "Center", "Office", "Family Dental"}[i%5]}, "phones": {"212-555-0104"}, "address": {fmt.Sprint(i, " Oak Ave")}})
	}
	p := match.CountTerms(match.Place(), slices.Values(records))
	body, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var read match.TermFrequencies
	if err := read.UnmarshalBinary(body); err != nil {
		t.Fatal(err)
	}
	m := match.New(match.Place(), &read)
	for phone, want := range map[string]match.Weight{"212-555-0101": 900, "212-555-0102": 600, "212-555-0103": 300, "212-555-0104": 900, "+1 212 555 0103": 300} {
		var got match.Weight
		a, b := m.Normalise("s", "1", match.Attributes{"phones": {phone}}), m.Normalise("s", "2", match.Attributes{"phones": {phone}})
		for _, line := range m.Explain(a, b, m.Compare(a, b)).Lines {
			if line.Attribute == "phone" {
				got = line.Weight
			}
		}
		if got != want {
			t.Errorf("%s has %v bits, want %v", phone, got, want)
		}
	}
	// Of two shared numbers the one with fewer names decides.
	a, b := m.Normalise("s", "1", match.Attributes{"phones": {"212-555-0103", "212-555-0101"}}), m.Normalise("s", "2", match.Attributes{"phones": {"212-555-0103", "212-555-0101"}})
	if got := m.Sum(m.Compare(a, b)); got != 900 {
		t.Errorf("two numbers in common have %v bits", got)
	}
}

// Without statistics, too, a number is weighed by the names of its records. Records with the same name, records without
// a name, and members of one family add no names. The larger of the term-frequency table's and the live count applies.
func TestNames_OfALiveNumber(t *testing.T) {
	t.Parallel()
	place, person := match.New(match.Place(), nil), match.New(match.Person(), nil)
	words := []string{"Amber", "Basalt", "Copper", "Dahlia", "Ember", "Falcon", "Garnet", "Heron", "Indigo", "Juniper", "Kestrel", "Lantern", "Marble", "Nimbus"}
	named := func(n int) (all []match.Attributes) {
		for i := range n {
			all = append(all, match.Attributes{"name": {words[i] + " Cafe"}, "phones": {"212-555-0101"}})
		}
		return all
	}
	var one, none, family, strangers []match.Attributes
	for i := range 30 {
		one = append(one, match.Attributes{"name": {"Amber Cafe"}, "phones": {"212-555-0101"}, "address": {fmt.Sprint(i, " Oak Ave")}})
		none = append(none, match.Attributes{"phones": {"212-555-0101"}, "address": {fmt.Sprint(i, " Oak Ave")}})
	}
	for _, given := range words {
		family = append(family, match.Attributes{"given_name": {given}, "family_name": {"Smith"}, "phones": {"212-555-0101"}})
		strangers = append(strangers, match.Attributes{"given_name": {"John"}, "family_name": {given}, "phones": {"212-555-0101"}})
	}
	for _, c := range []struct {
		name    string
		m       *match.Matcher
		records []match.Attributes
		want    match.Weight
	}{
		{"a few names", place, named(match.PhoneNames), 900},
		{"several", place, named(match.PhoneNames + 1), 600},
		{"several", place, named(match.PhoneCrowd), 600},
		{"many", place, named(match.PhoneCrowd + 1), 300},
		{"one name, many records", place, one, 900},
		{"no name", place, none, 900},
		{"generic", place, append(append(slices.Clone(one), none...), named(10)...), 300},
		{"known to the pack", match.New(match.Place(), match.CountTerms(match.Place(), slices.Values(named(14)))), named(3), 300},
		{"more than the term-frequency table knows", match.New(match.Place(), match.CountTerms(match.Place(), slices.Values(named(3)))), named(14), 300},
		{"a family", person, family, 500},
		{"strangers", person, strangers, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			records := make([]*match.Record, len(c.records))
			for i, a := range c.records {
				records[i] = c.m.Normalise("s", fmt.Sprint(i), a)
			}
			m := c.m.Among(match.CountNames(records))
			for _, line := range m.Explain(records[0], records[1], m.Compare(records[0], records[1])).Lines {
				if line.Attribute == "phone" && line.Weight != c.want {
					t.Errorf("the number weighs %v bits, %q, want %v", line.Weight, line.Level, c.want)
				}
			}
		})
	}
}
