// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	"github.com/locus-db/locus/match"
)

// These values distinguish two things of one name: sizes and durations in separate attributes, other recordings,
// countries, second given names.
func TestCompare_WhatTellsNamesakesApart(t *testing.T) {
	t.Parallel()
	product := match.New(kindOf(t, "kind: cream\nversion: 1\nattributes:\n  title: { type: name, style: title }\n  size: { type: text }\n  dose: { type: number }\n"), nil)
	song := match.New(kindOf(t, "kind: song\nversion: 1\nattributes:\n  title: { type: name, style: title }\n  length: { type: number }\n  country: { type: text, role: country }\n"), nil)
	place, person := match.New(match.Place(), nil), match.New(match.Person(), nil)
	of := func(pairs ...string) match.Attributes {
		a := match.Attributes{}
		for i := 0; i < len(pairs); i += 2 {
			a[pairs[i]] = []string{pairs[i+1]}
		}
		return a
	}
	for _, c := range []struct {
		m           *match.Matcher
		a, b        match.Attributes
		line, level string
	}{
		{product, of("title", "Blue Door Day Cream", "size", "200 ml"), of("title", "Blue Door Day Cream 50ml"), "size", "different"},
		{product, of("title", "Blue Door Day Cream", "size", "0.2 l"), of("title", "Blue Door Day Cream 200ml"), "size", "equal"},
		{product, of("title", "Blue Door Day Cream", "size", "rich, of 200 ml"), of("title", "Blue Door Day Cream 50ml"), "size", ""},
		{product, of("title", "Nopaine tablets", "dose", "25 mg"), of("title", "Nopaine 20 MG tablets"), "size", "different"},
		{product, of("title", "Nopaine tablets 500 mcg"), of("title", "Nopaine 0.5 mg tablets"), "size", "equal"},
		{song, of("title", "Moonlight Ride", "length", "3m 41s"), of("title", "Moonlight Ride", "length", "3:41"), "number", "equal"},
		{song, of("title", "Moonlight Ride", "length", "1h 05 min"), of("title", "Moonlight Ride", "length", "65"), "number", "equal"},
		{song, of("title", "Moonlight Ride (Live)"), of("title", "Moonlight Ride"), "title residual", "another part, volume or edition"},
		{song, of("title", "Moonlight Ride (Live)"), of("title", "Moonlight Ride - live"), "title residual", "nothing is left over"},
		{song, of("title", "Live Wire"), of("title", "Wire"), "title residual", "one keeps a word"},
		{song, of("title", "Moonlight Ride", "country", "DE"), of("title", "Moonlight Ride", "country", "France"), "region", ""},
		{place, of("name", "Acme Trading", "country", "Deutschland"), of("name", "Acme Trading", "country", "FRA"), "region", "different"},
		{place, of("name", "Acme Trading", "country", "Deutschland"), of("name", "Acme Trading", "country", "DE"), "region", ""},
		{place, of("name", "Acme Trading", "country", "Freedonia"), of("name", "Acme Trading", "country", "DE"), "region", ""},
		{person, of("name", "Thomas Henry Clifford"), of("name", "Thomas William Clifford"), "given name", "the first equal, the second different"},
	} {
		a, b := c.m.Normalise("s", "a", c.a), c.m.Normalise("s", "b", c.b)
		l, _ := line(c.m.Explain(a, b, c.m.Compare(a, b)), c.line)
		if l.Level != c.level {
			t.Errorf("%v, %v: %s is %q, want %q", c.a, c.b, c.line, l.Level, c.level)
		}
	}
}

// Of things without names, the flats of a house are several.
func TestCompare_FlatsOfThingsWithoutNames(t *testing.T) {
	t.Parallel()
	home := match.New(kindOf(t, "kind: home\nversion: 1\nattributes:\n  address: { type: address }\n  city: { type: text, role: locality }\n"), nil)
	for _, c := range []struct {
		a, b string
		want match.Outcome
	}{
		{"12 Quince Road Apt 4", "12 Quince Rd #4", match.Same},
		{"12 Quince Road Apt 4", "12 Quince Road", match.Same},
		{"12 Quince Road Apt 4", "12 Quince Road, Unit 5", match.Different},
	} {
		of := func(key, address string) *match.Record {
			return home.Normalise("s", key, match.Attributes{"address": {address}, "city": {"Springfield"}})
		}
		if got := home.Decide(home.Compare(of("a", c.a), of("b", c.b))); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}
