// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"strings"
	"testing"

	"github.com/locus-db/locus/match"
)

func TestCompare_Relations(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	at := func(name, category, address, phone string) match.Attributes {
		return match.Attributes{"name": {name}, "category": {category}, "address": {address}, "phones": {phone}, "city": {"Bonn"}}
	}
	const here, phone = "12 Elm St", "415-555-2300"
	for _, c := range []struct {
		name        string
		part, whole match.Attributes // in this order if it is PartOf
		want        match.Outcome
	}{
		{"the ATM of a bank", at("Valley Bank ATM", "atms", here, ""), at("Valley Bank", "banks", here, ""), match.PartOf},
		{"the word in another language", at("Klinikum Parkhaus", "parking", here, phone), at("Klinikum", "hospital", here, phone), match.PartOf},
		{"a whole that keeps what it is", at("Walmart Photo", "", here, phone), at("Walmart Supercenter", "", here, phone), match.PartOf},
		{"a script without spaces", at("榛名神社バス停", "", here, ""), at("榛名神社", "", here, ""), match.PartOf},
		{"a restaurant in a hotel", at("Adler Restaurant", "restaurant", here, phone), at("Adler", "hotel", here, phone), match.PartOf},
		{"a restaurant and a name without a trade", at("Adler Restaurant", "restaurant", here, phone), at("Adler", "", here, phone), match.Same},
		{"two restaurants", at("Adler Café", "restaurant", here, phone), at("Adler", "restaurant", here, phone), match.Same},
		{"two that are one kind of thing", at("Joes Pizza", "church", here, phone), at("Joe's", "church", here, phone), match.Same},
		{"an ATM too", at("Bitcoin Depot ATM", "atms", here, phone), at("Bitcoin Depot", "atms", here, phone), match.Same},
		{"elsewhere", at("Valley Bank ATM", "atms", "99 Oak St", ""), at("Valley Bank", "banks", here, ""), match.Different},
		{"one phone of two branches", at("Valley Bank ATM", "atms", "99 Oak St", phone), at("Valley Bank", "banks", here, phone), match.Possible},
		{"no word in common", at("Zara Pharmacy", "", here, ""), at("Hotel", "", here, ""), match.Different},
		{"two parts", at("Petco Grooming", "", here, phone), at("Petco Parking", "", here, phone), match.CoLocated},
		{"two doctors of one house", at("Clinic - Robert Pesek, MD", "", here, phone), at("Clinic - Akilah Jefferson, MD", "", here, phone), match.CoLocated},
		{"two numbers", at("Profile 1", "", here, phone), at("Profile 7", "", here, phone), match.CoLocated},
		{"two letters", at("Fairview Building A", "", here, phone), at("Fairview Building E", "", here, phone), match.CoLocated},
	} {
		for _, keys := range [][2]string{{"1", "2"}, {"2", "1"}} {
			a, b := m.Normalise("s", keys[0], c.part), m.Normalise("s", keys[1], c.whole)
			v := m.Compare(a, b)
			if got := m.Decide(v); got != c.want {
				t.Errorf("%s: %s at %s, want %s", c.name, got, m.Sum(v), c.want)
				continue
			}
			if c.want.Relation() && m.Evidence(v) != match.AbsentPair {
				t.Errorf("%s: weighs %s", c.name, m.Evidence(v))
			}
			if c.want != match.PartOf {
				continue
			}
			if v.Part() != (keys[0] == "1") {
				t.Errorf("%s, keys %v: the wrong one is the part", c.name, keys)
			}
			lines := m.Explain(a, b, v).Lines
			last := lines[len(lines)-1]
			if want := `"` + c.part["name"][0] + `" is a part of "` + c.whole["name"][0] + `"`; last.Level != want || last.Weight != 0 {
				t.Errorf("%s: explained as %s %q, want %q", c.name, last.Weight, last.Level, want)
			}
		}
	}
}

func TestRecord_Value_TakesTheCountryOfTheRecord(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	for _, c := range []struct{ country, raw, want string }{
		{"DE", "06926495455", "+496926495455"},
		{"DE", "+49 69 26495455", "+496926495455"},
		{"IT", "0916255912", "+390916255912"},
		{"es", "912 345 678", "+34912345678"},
		{"IN", "914443666666", "+914443666666"},
		{"", "06926495455", "06926495455"},
		{"US", "212-555-0147", "+12125550147"},
		{"XX", "06926495455", "06926495455"},
		{"DE", "110", ""},
		{"DE", "2649545", "2649545"},
	} {
		r := m.Normalise("s", "k", match.Attributes{"phones": {c.raw}, "country": {c.country}})
		if got := r.Value("phones", 0); got != c.want {
			t.Errorf("%s in %q: %q, want %q", c.raw, c.country, got, c.want)
		}
	}
}

func TestRecord_Worth(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	r := m.Normalise("s", "k", match.Attributes{
		"name": {"Joe's", "Joe's Pizza Downtown"}, "address": {strings.Repeat("a ", 20)},
		"websites": {"joes.example", "facebook.com/joes"}, "category": {"pizza", "food"}, "hours": {"always"},
	})
	for _, c := range []struct {
		attribute string
		i, want   int
	}{{"name", 0, 12}, {"name", 1, 37}, {"address", 0, 100}, {"websites", 0, 100}, {"websites", 1, 50}, {"category", 0, 100}, {"category", 1, 30}, {"hours", 0, 100}} {
		if got := r.Worth(c.attribute, c.i); got != c.want {
			t.Errorf("%s %d: %d, want %d", c.attribute, c.i, got, c.want)
		}
	}
}
