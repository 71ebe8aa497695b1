// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/match"
)

const shirts = `kind: shirt
version: 1
attributes:
  title: { type: name, style: title }
  look: { type: text, role: variant }
`

// clothes returns records of titles with two looks each; two records have the second look. If looks are spelled in two
// ways, the same two looks occur together in all titles.
func clothes(spelled bool) (all []match.Attributes) {
	looks := []string{"plain", "striped", "checked", "dotted", "faded", "washed"}
	for n := range 120 {
		pair := [2]string{looks[n%6], looks[(n+1+n/6%5)%6]}
		if spelled {
			pair = [2]string{looks[n%6], looks[n%6^1]}
		}
		title := fmt.Sprintf("Alba %c%c%c Dress", 'a'+n%26, 'b'+n/26, 'c'+n%7)
		for i, of := range []int{0, 0, 0, 1, 1} {
			record := match.Attributes{"title": {title}, "look": {pair[of]}}
			if i%2 == 1 {
				record["title"] = []string{title + " " + pair[of]}
			}
			all = append(all, record)
		}
	}
	return all
}

// Looks that recur among the records of one title distinguish things, if other titles have other combinations of looks.
func TestVariant_AnotherLookIsAnotherThing(t *testing.T) {
	t.Parallel()
	const another = "another of one series"
	s := kindOf(t, shirts)
	table := match.CountTerms(s, slices.Values(clothes(false)))
	counted := match.New(s, table)
	for _, c := range []struct {
		name, a, b, level string
		m                 *match.Matcher
	}{
		{"another", "striped", "dotted", another, counted},
		{"one of two words", "light blue", "dark blue", another, counted},
		{"another number", "v2.40", "v2.4.1", another, counted},
		{"sizes", "XL", "XXL", another, counted},
		{"equal", "Striped", "striped", "", counted},
		{"with a sign, shorter", "v2.0", "2", "", counted},
		{"leading zeros", "S01", "1", "", counted},
		{"one word more", "blue", "navy blue", "", counted},
		{"abbreviated", "wht", "white", "", counted},
		{"initials", "EU", "European Union", "", counted},
		{"mistyped", "stripde", "striped", "", counted},
		{"a colour in another language", "schwarz", "black", "", counted},
		{"not known", "", "striped", "", counted},
		{"two words for one look", "striped", "dotted", "", match.New(s, match.CountTerms(s, slices.Values(clothes(true))))},
		{"without statistics", "striped", "dotted", "", match.New(s, nil)},
	} {
		one := match.Attributes{"title": {"Quill Dress"}, "look": {c.a}}
		other := match.Attributes{"title": {"Quill Dress"}, "look": {c.b}}
		l, e := lineOf(c.m, one, other, "variant")
		if l.Level != c.level || (e.Outcome == match.Different) != (c.level == another) {
			t.Errorf("%s: %+v, %s at %s, want %q", c.name, l, e.Outcome, e.Weight, c.level)
		}
	}
	a, _ := s.Attribute("look")
	if title, _ := s.Attribute("title"); !table.Tells(a) || table.Tells(title) {
		t.Error("the look tells things apart, and not the title")
	}
}

// The flats of one house have its name and address.
func TestVariant_OfOneNameAndPlace(t *testing.T) {
	t.Parallel()
	s := kindOf(t, `kind: flat
version: 1
attributes:
  house: { type: name }
  address: { type: address }
  unit: { type: text, role: variant }
`)
	var all []match.Attributes
	for n := range 100 {
		for _, unit := range []int{n, n, n, n + 7, n + 7} {
			all = append(all, match.Attributes{"house": {"Quill Court"}, "address": {fmt.Sprintf("%d Main Street", n+1)}, "unit": {fmt.Sprint(unit)}})
		}
	}
	m := match.New(s, match.CountTerms(s, slices.Values(all)))
	if l, e := lineOf(m, all[0], all[3], "variant"); l.Weight != -3000 || e.Outcome != match.Different {
		t.Errorf("%+v, %s", l, e.Outcome)
	}
}

// Two spellings of one value recur like that value.
func TestVariant_SpellingsRecurTogether(t *testing.T) {
	t.Parallel()
	s := kindOf(t, shirts)
	all := clothes(false)
	vowels := strings.NewReplacer("a", "", "e", "", "i", "", "o", "")
	for i := 4; i < len(all); i += 5 { // the second of the two records with the second look
		all[i]["look"] = []string{vowels.Replace(all[i]["look"][0])}
	}
	a, _ := s.Attribute("look")
	if !match.CountTerms(s, slices.Values(all)).Tells(a) {
		t.Error("looks with a short form in each title tell nothing apart")
	}
}
