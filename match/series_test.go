// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

const shows = `kind: show
version: 1
attributes:
  title: { type: name, style: title }
  day: { type: date }
  price: { type: number }
`

func show(title, day, price string) match.Attributes {
	return match.Attributes{"title": {title}, "day": {day}, "price": {price}}
}

// evenings returns records of tours with three evenings each. Several records have the second evening, unless days are
// slips: then each record not of the first evening has a different day. Every record has a different price.
func evenings(slips bool) (all []match.Attributes) {
	for tour := range 120 {
		title := fmt.Sprintf("The %c%c%c Tour", 'a'+tour%26, 'b'+tour/26, 'c'+tour%7)
		for n, of := range []int{0, 0, 0, 1, 1, 2, 2} {
			day := fmt.Sprintf("%d-%02d-%02d", 2001+tour%9, 1+tour%12, 1+9*of)
			if slips && of > 0 {
				day = fmt.Sprintf("%d-%02d-%02d", 2001+n, 1+tour%12, 2+3*n)
			}
			all = append(all, show(title, day, fmt.Sprint(10+7*n+tour)))
		}
	}
	return all
}

// If values other than the commonest one recur among the records of one title, they distinguish things.
func TestSeries_AnotherDayIsAnotherThing(t *testing.T) {
	t.Parallel()
	const another = "another of one series"
	s := kindOf(t, shows)
	counted := match.New(s, match.CountTerms(s, slices.Values(evenings(false))))
	one := show("The Quill Tour", "2019-03-04", "20")
	for _, c := range []struct {
		name        string
		m           *match.Matcher
		day         string
		level       string
		priceDiffer string
	}{
		{"evenings", counted, "2019-05-17", another, "far apart"},
		{"one digit off", counted, "2019-03-05", another, "far apart"},
		{"day and month swapped", counted, "2019-04-03", "day and month swapped", "far apart"},
		{"equal", counted, "2019-03-04", "equal", "far apart"},
		{"slips", match.New(s, match.CountTerms(s, slices.Values(evenings(true)))), "2019-05-17", "same year, other day", "far apart"},
		{"few titles", match.New(s, match.CountTerms(s, slices.Values(evenings(false)[:14]))), "2019-05-17", "same year, other day", "far apart"},
		{"without statistics", match.New(s, nil), "2019-05-17", "same year, other day", "far apart"},
	} {
		other := show("The Quill Tour", c.day, "90")
		l, e := lineOf(c.m, one, other, "date")
		if l.Level != c.level || !slices.Equal(l.A, []string{"2019-03-04"}) || !slices.Equal(l.B, []string{c.day}) {
			t.Errorf("%s: %+v, want %q with both days", c.name, l, c.level)
		}
		if c.level == another && e.Outcome != match.Different {
			t.Errorf("%s: %s at %s, want different", c.name, e.Outcome, e.Weight)
		}
		if l, _ := lineOf(c.m, one, other, "number"); l.Level != c.priceDiffer {
			t.Errorf("%s: prices are %q, want %q: none recurs", c.name, l.Level, c.priceDiffer)
		}
	}
}

// Neighbouring years are counted separately, because a year is wrong by one more often than by ten. If only some of the
// values that are one off recur, they are slips of one thing.
func TestSeries_YearsInARow(t *testing.T) {
	t.Parallel()
	vintages := func(apart, slips int) (all []match.Attributes) {
		for wine := range 60 {
			for n, of := range []int{0, 0, 0, 1, 1} {
				if n == 3 && wine < slips {
					of = 0
				}
				all = append(all, show(fmt.Sprintf("Estate %c%c Riesling", 'a'+wine%26, 'b'+wine/26), fmt.Sprint(1960+wine/2+of*apart), fmt.Sprint(n+wine)))
			}
		}
		return all
	}
	s := kindOf(t, shows)
	for _, c := range []struct {
		apart, slips int
		want         string
	}{{1, 0, "another of one series"}, {4, 0, "the year before or after"}, {1, 30, "the year before or after"}} {
		m := match.New(s, match.CountTerms(s, slices.Values(vintages(c.apart, c.slips))))
		if l, _ := lineOf(m, show("Estate Quill", "1998", "1"), show("Estate Quill", "1999", "1"), "date"); l.Level != c.want {
			t.Errorf("counted %d years apart, %d slips: %q, want %q", c.apart, c.slips, l.Level, c.want)
		}
	}
}

// If there are only two prices in all, the second price of a title recurs by chance.
func TestSeries_FewValuesRecurByChance(t *testing.T) {
	t.Parallel()
	s := kindOf(t, shows)
	var all []match.Attributes
	for i, a := range evenings(false) {
		a["price"] = []string{[]string{"0.99", "1.29"}[i%7%2]}
		all = append(all, a)
	}
	m := match.New(s, match.CountTerms(s, slices.Values(all)))
	if l, _ := lineOf(m, show("The Quill Tour", "2019-03-04", "0.99"), show("The Quill Tour", "2019-03-04", "1.29"), "number"); l.Level != "near" {
		t.Errorf("%+v, want near", l)
	}
}

// A table that was stored and read again still contains a series.
func TestSeries_IsStored(t *testing.T) {
	t.Parallel()
	s := kindOf(t, shows)
	b, err := match.CountTerms(s, slices.Values(evenings(false))).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var read match.TermFrequencies
	if err := read.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if l, _ := lineOf(match.New(s, &read), show("Quill", "2019-03-04", "1"), show("Quill", "2018-05-06", "1"), "date"); l.Level != "another of one series" {
		t.Errorf("%+v", l)
	}
}
