// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/match"
)

// TestHiding compares two records that have a different value in every attribute of each kind, and hides one attribute
// at a time: its value is nowhere in the explanation, and level and weight of every line are unchanged.
func TestHiding(t *testing.T) {
	t.Parallel()
	for _, schema := range match.Kinds() {
		m := match.New(schema, nil)
		of := match.Attributes{}
		for i, a := range schema.Attributes {
			of[a.Name] = []string{sample(a, i)}
		}
		a, b := m.Normalise("s", "1", of), m.Normalise("s", "2", of)
		full := m.Explain(a, b, m.Compare(a, b))
		shown := 0
		for _, hidden := range schema.Attributes {
			value := strings.ToLower(of[hidden.Name][0])
			hides := func(name string) bool { return name == hidden.Name }
			text := func(e match.Explanation) string {
				b, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				return strings.ToLower(string(b))
			}
			if strings.Contains(text(full), value) {
				shown++
			}
			e := schema.Hiding(full, hides)
			if strings.Contains(text(e), value) {
				t.Errorf("%s of a %s is shown: %s", hidden.Name, schema.Kind, text(e))
			}
			same := func(x, y match.Line) bool {
				return x.Attribute == y.Attribute && x.Level == y.Level && x.Weight == y.Weight
			}
			if e.Weight != full.Weight || !slices.EqualFunc(e.Lines, full.Lines, same) {
				t.Errorf("without %s: %+v, want the levels of %+v", hidden.Name, e.Lines, full.Lines)
			}
			if !schema.Near(hidden.Name, hides) {
				t.Errorf("%s is not near itself", hidden.Name)
			}
		}
		if shown < 3 {
			t.Errorf("%s: %d values are in the explanation: the others prove nothing", schema.Kind, shown)
		}
	}
}

// sample returns a value for an attribute that no other attribute has.
func sample(a match.Attribute, i int) string {
	word := []string{"alpaca", "bison", "camel", "donkey", "eland", "falcon", "gnu", "heron", "ibis", "jackal", "koala", "lemur", "moose", "newt", "okapi", "panda", "quail", "raven", "seal", "tapir"}[i%20]
	switch a.Type {
	case match.TypePhone:
		return "+14155552301"
	case match.TypeGeo:
		return []string{"37.7751", "-22.4191"}[i%2]
	case match.TypeURL:
		return "https://" + word + ".example"
	case match.TypeEmail:
		return word + "@mail.example"
	case match.TypeDate:
		return "1987-06-15"
	case match.TypeNumber:
		return "4711"
	case match.TypeAddress:
		return "123 " + word + " street"
	case match.TypeID:
		return "978-3-16-148410-0"
	}
	return word
}

// TestHiding_NamesOfAPart hides the names in the level that names the part and the whole.
func TestHiding_NamesOfAPart(t *testing.T) {
	t.Parallel()
	place := match.Place()
	m := match.New(place, nil)
	at := func(key, name, category string) *match.Record {
		return m.Normalise("s", key, match.Attributes{"name": {name}, "category": {category}, "latitude": {"37.7751"}, "longitude": {"-122.4191"}})
	}
	a, b := at("1", "Valley Bank ATM", "atms"), at("2", "Valley Bank", "banks")
	e := m.Explain(a, b, m.Compare(a, b))
	text := func(e match.Explanation) string {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ToLower(string(b))
	}
	if e.Outcome != match.PartOf || !strings.Contains(text(e), "is a part of") {
		t.Fatalf("%+v", e)
	}
	if left := place.Hiding(e, func(name string) bool { return name == "name" }); strings.Contains(text(left), "valley") || !strings.Contains(text(left), "one is a part of the other") {
		t.Error(text(left))
	}
}

// TestNear checks which values a reader could guess by trying.
func TestNear(t *testing.T) {
	t.Parallel()
	place := match.Place()
	hides := func(name string) func(string) bool { return func(a string) bool { return a == name } }
	for _, c := range []struct {
		tried, hidden string
		near          bool
	}{
		{"city", "address", true}, {"postcode", "latitude", true}, {"emails", "websites", true}, {"name", "category", true},
		{"name", "phones", false}, {"phones", "websites", false}, {"unknown", "phones", false}, {"name", "unknown", false},
	} {
		if got := place.Near(c.tried, hides(c.hidden)); got != c.near {
			t.Errorf("%s near %s: %v", c.tried, c.hidden, got)
		}
	}
}
