// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// countedIn returns a matcher with the counts of 2,000 people: 40 given names, 200 family names, and towns of 20 records or one town.
func countedIn(town func(i int) string) *match.Matcher {
	var all []match.Attributes
	for i := range 2000 {
		all = append(all, match.Attributes{
			"given_name": {fmt.Sprintf("%s Lee", letters("giv", i%40))}, "family_name": {letters("fam", i%200)}, "city": {town(i)},
		})
	}
	return match.New(match.Person(), match.CountTerms(match.Person(), slices.Values(all)))
}

// letters returns a word for a number.
func letters(prefix string, n int) string {
	return prefix + string(rune('a'+n/26)) + string(rune('a'+n%26))
}

// The rarer a name and the city, the more two records with both are one person; what all share says nothing.
func TestPersons_HardlyAnotherHasTheName(t *testing.T) {
	t.Parallel()
	towns := countedIn(func(i int) string { return letters("town", i%100) })
	one := countedIn(func(int) string { return "Townaa" })
	type person struct{ given, family, city, born string }
	for name, c := range map[string]struct {
		m    *match.Matcher
		a, b person
		want bool
	}{
		"a common name in one of many towns": {towns, person{"Givac", "Famaa", "Townaa", ""}, person{"Givac", "Famaa", "Townaa", ""}, true},
		"the same without a town":            {towns, person{"Givac", "Famaa", "", ""}, person{"Givac", "Famaa", "", ""}, false},
		"the same in two towns":              {towns, person{"Givac", "Famaa", "Townaa", ""}, person{"Givac", "Famaa", "Elsewhere", ""}, false},
		"the same where all are of one town": {one, person{"Givac", "Famaa", "Townaa", ""}, person{"Givac", "Famaa", "Townaa", ""}, false},
		"a town that was not counted":        {towns, person{"Givac", "Famaa", "Elsewhere", ""}, person{"Givac", "Famaa", "Elsewhere", ""}, false},
		"a misspelt town":                    {towns, person{"Givac", "Famaa", "Townaa", ""}, person{"Givac", "Famaa", "Twonaa", ""}, true},
		"a second given name":                {towns, person{"Givac Zoltan", "Famaa", "", ""}, person{"Givac Zoltan", "Famaa", "", ""}, true},
		"a slip in the given name":           {towns, person{"Givac", "Famaa", "Townaa", ""}, person{"Gvac", "Famaa", "Townaa", ""}, true},
		"an initial":                         {towns, person{"Givac", "Famaa", "Townaa", ""}, person{"G", "Famaa", "Townaa", ""}, true},
		"father and son":                     {towns, person{"Givac", "Famaa", "Townaa", "1950-02-03"}, person{"Givac", "Famaa", "Townaa", "1978-11-21"}, false},
		"years of birth from ages":           {towns, person{"Givac", "Famaa", "Townaa", "1950"}, person{"Givac", "Famaa", "Townaa", "1953"}, true},
		"years of birth far apart":           {towns, person{"Givac", "Famaa", "Townaa", "1950"}, person{"Givac", "Famaa", "Townaa", "1954"}, false},
		"a day and a year near it":           {towns, person{"Givac", "Famaa", "Townaa", "1950-02-03"}, person{"Givac", "Famaa", "Townaa", "1948"}, true},
		"two days":                           {towns, person{"Givac", "Famaa", "Townaa", "1950-02-03"}, person{"Givac", "Famaa", "Townaa", "1951-11-24"}, false},
		"no given name":                      {towns, person{"", "Famaa", "Townaa", ""}, person{"Givac", "Famaa", "Townaa", ""}, false},
	} {
		of := func(key string, p person) *match.Record {
			return c.m.Normalise("s", key, match.Attributes{"given_name": {p.given}, "family_name": {p.family}, "city": {p.city}, "birth_date": {p.born}})
		}
		a, b := of("a", c.a), of("b", c.b)
		if v := c.m.Compare(a, b); (c.m.Decide(v) == match.Same) != c.want {
			t.Errorf("%s: same %v, want %v: %+v", name, !c.want, c.want, c.m.Explain(a, b, v).Lines)
		}
	}
}

// Given names are exchanged or called by the second one, and second names that differ are those of two people.
func TestPersons_SecondGivenNames(t *testing.T) {
	t.Parallel()
	m := match.New(match.Person(), nil)
	for _, c := range []struct{ a, b, want string }{
		{"Daniel Anthony", "Anthony Daniel", "alike"},
		{"Daniel Anthony", "Anthony D", "alike"},
		{"D Anthony", "Anthony D", "alike"},
		{"W G", "G W", "different"}, // initials may be anyone's
		{"Steven Daniel", "Logan Steven", "different"},
		{"Karen Mary", "Mary Marie", "different"},
		{"Daniel Anthony", "Anthony David", "different"},
		{"Michael", "Gregory Michael", "alike"},
		{"Daniel Peter", "Danniel Victor", "different"},
		{"Daniel Peter", "Danniel P", "alike"},
		{"R James", "Robert Lee", "different"},
		{"R James", "Robert J", "an initial"},
		{"Mary", "Ryan", "different"},
		{"Sarah", "Srah", "sounds alike"},
	} {
		of := func(key, given string) *match.Record {
			return m.Normalise("s", key, match.Attributes{"given_name": {given}, "family_name": {"Quill"}, "birth_date": {"1970-05-06"}})
		}
		a, b := of("a", c.a), of("b", c.b)
		if l, _ := line(m.Explain(a, b, m.Compare(a, b)), "given name"); l.Level != c.want {
			t.Errorf("%s, %s: %q, want %q", c.a, c.b, l.Level, c.want)
		}
	}
}

// People meet although a letter of each name is wrong, or half of the mailbox.
func TestPersons_MeetWithSlips(t *testing.T) {
	t.Parallel()
	m := match.New(match.Person(), nil)
	for kind, pair := range map[match.KeyKind][2]match.Attributes{
		match.KeyInitials: {
			{"given_name": {"Donald"}, "family_name": {"Merow"}, "city": {"Denham"}, "postcode": {"27398"}},
			{"given_name": {"Dondald"}, "family_name": {"Mkerow"}, "city": {"Denham"}},
		},
		match.KeyEmail: {
			{"given_name": {"Ada"}, "emails": {"ada.l@example.org"}},
			{"family_name": {"Lovelace"}, "emails": {"ada.l@exampel.org"}},
		},
	} {
		a, b := m.Normalise("s", "a", pair[0]), m.Normalise("s", "b", pair[1])
		keys := m.Explain(a, b, m.Compare(a, b)).BlockingKeys
		if !slices.ContainsFunc(keys, func(k match.SharedKey) bool { return k.Kind == kind }) {
			t.Errorf("no common key of %v: %+v", kind, keys)
		}
	}
}
