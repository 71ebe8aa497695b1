// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

const listings = `kind: listing
version: 1
attributes:
  title:    { type: name, style: title }
  day:      { type: date }
  distance: { type: number }
  price:    { type: number }
`

// listed returns records of 60 titles with four records each. The values of each of them are its own, except that those of twins, so many
// of the four, have the date of the first.
func listed(titles, twins int) (all []match.Attributes) {
	for n := range titles {
		for i := range 4 {
			k := 7 * (n*4 + i)
			if i < twins {
				k = 7 * n * 4
			}
			all = append(all, match.Attributes{
				"title":    {fmt.Sprintf("Marten %c%c%c Tour", 'a'+n%26, 'b'+n/26, 'c'+n%7)},
				"day":      {fmt.Sprintf("%d-%02d-%02d", 1990+k%23, 1+k%12, 1+k%28)},
				"distance": {fmt.Sprint(1 + k*k%9973)},
				"price":    {fmt.Sprint(1 + k*k%8963)},
			})
		}
	}
	return all
}

// Where the records of one title have no date in common, they are of different things: nothing that is listed twice has two dates
// each time. Numbers that differ, too, are theirs; a price is not, since it differs for one thing.
func TestApart_DatesOfOneTitleAreNeverEqual(t *testing.T) {
	t.Parallel()
	const another = "another of one series"
	s := kindOf(t, listings)
	a := match.Attributes{"title": {"Quill Tour"}, "day": {"2004-03-07"}, "distance": {"100"}, "price": {"20"}}
	for _, c := range []struct {
		name           string
		titles, twins  int
		attribute, set string
		line, level    string
	}{
		{"another day", 60, 0, "day", "2004-03-08", "date", another},
		{"the same day", 60, 0, "day", "7 March 2004", "date", "equal"},
		{"another number", 60, 0, "distance", "170", "number", another},
		{"a number as good as equal", 60, 0, "distance", "101", "number", "close"},
		{"another price", 60, 0, "price", "90", "number", "far apart"},
		{"titles with duplicates", 60, 2, "day", "2004-03-08", "date", "one digit off"},
		{"numbers of titles with duplicates", 60, 2, "distance", "170", "number", "apart"},
		{"few titles", 15, 0, "day", "2004-03-08", "date", "one digit off"},
	} {
		m := match.New(s, match.CountTerms(s, slices.Values(listed(c.titles, c.twins))))
		b := match.Attributes{"title": a["title"], c.attribute: {c.set}}
		l, e := lineOf(m, a, b, c.line)
		if l.Level != c.level {
			t.Errorf("%s: %q, want %q", c.name, l.Level, c.level)
		}
		if c.level == another && e.Outcome != match.Different {
			t.Errorf("%s: %s at %s, want different", c.name, e.Outcome, e.Weight)
		}
	}
}

// stocked returns records of titles in up to four sizes, each of them once, or again and again.
func stocked(again bool) (all []match.Attributes) {
	sizes := []string{"small", "medium", "large", "huge"}
	for n := range 150 {
		for i := range 2 + n%3 {
			if again {
				i = i * n % 7
			}
			all = append(all, match.Attributes{"title": {fmt.Sprintf("Alba %c%c%c Dress", 'a'+n%26, 'b'+n/26, 'c'+n%7)}, "look": {sizes[(n+i)%4]}})
		}
	}
	return all
}

// Sizes of which no title has one twice tell its things apart, but so would the shops that list them: the table says which it is.
func TestApart_SizesOfOneTitleAreNeverEqual(t *testing.T) {
	t.Parallel()
	s := kindOf(t, shirts)
	look, _ := s.Attribute("look")
	for _, c := range []struct {
		name           string
		records        []match.Attributes
		tells, avoided bool
	}{
		{"once", stocked(false), true, true},
		{"again and again", stocked(true), false, false},
		{"recurring", clothes(false), true, false},
	} {
		table := match.CountTerms(s, slices.Values(c.records))
		if table.Tells(look) != c.tells || table.Avoided(look) != c.avoided {
			t.Errorf("%s: tells %v, avoided %v", c.name, table.Tells(look), table.Avoided(look))
		}
		l, _ := lineOf(match.New(s, table), match.Attributes{"title": {"Quill"}, "look": {"small"}}, match.Attributes{"title": {"Quill"}, "look": {"huge"}}, "variant")
		if (l.Level == "another of one series") != c.tells {
			t.Errorf("%s: %q", c.name, l.Level)
		}
	}
}
