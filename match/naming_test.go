// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	"github.com/locus-db/locus/match"
)

// Many things share an address. Two records match by something that identifies the thing, not by location
// alone.
func TestDecide_AnAddressNamesNothing(t *testing.T) {
	t.Parallel()
	spot := match.Attributes{
		"address": {"1000 Market Street"}, "city": {"San Francisco"}, "region": {"CA"}, "postcode": {"94103"},
		"latitude": {"37.7750"}, "longitude": {"-122.4183"}, "category": {"restaurant"},
	}
	with := func(attribute, value string) match.Attributes {
		a := match.Attributes{attribute: {value}}
		for name, values := range spot {
			a[name] = values
		}
		return a
	}
	addresses, err := match.ParseSchema([]byte("kind: parcel\nversion: 1\nattributes:\n  address: {type: address}\n  city: {type: text, role: locality}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		kind *match.Schema
		a, b match.Attributes
		same bool
	}{
		{"neither has a name", match.Place(), spot, spot, false},
		{"one has a name", match.Place(), spot, with("name", "Joe's Pizza"), false},
		{"both have the name", match.Place(), with("name", "Joe's Pizza"), with("name", "Joe's Pizza"), true},
		{"neither has a name, both the phone", match.Place(), with("phones", "415-555-2300"), with("phones", "(415) 555-2300"), true},
		{"neither has a name, both the site", match.Place(), with("websites", "http://joes.example/"), with("websites", "joes.example"), true},
		{
			"people of one house",
			match.Person(),
			match.Attributes{"address": {"1000 Market Street"}, "city": {"San Francisco"}, "postcode": {"94103"}},
			match.Attributes{"address": {"1000 Market Street"}, "city": {"San Francisco"}, "postcode": {"94103"}},
			false,
		},
		{
			"a kind that has nothing but addresses", addresses,
			match.Attributes{"address": {"1000 Market Street"}, "city": {"San Francisco"}},
			match.Attributes{"address": {"1000 Market St."}, "city": {"San Francisco"}},
			true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := match.New(c.kind, nil)
			a, b := m.Normalise("a", "1", c.a), m.Normalise("b", "2", c.b)
			v := m.Compare(a, b)
			why := m.Explain(a, b, v)
			if got := why.Outcome == match.Same; got != c.same {
				t.Errorf("%v with %v bits, want the same thing: %t\n%+v", why.Outcome, why.Weight, c.same, why.Lines)
			}
			var sum match.Weight
			for _, line := range why.Lines {
				sum += line.Weight
			}
			if sum != why.Weight {
				t.Errorf("the lines add up to %v, the score is %v", sum, why.Weight)
			}
		})
	}
}
