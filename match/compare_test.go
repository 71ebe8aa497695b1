// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/match"
)

// values are raw values of every attribute, chosen so that drawn records often agree in part.
var values = map[string][]string{
	"name": {
		"Joes Pizza", "Joe's", "joes pizza & pasta", "Zanzibar Grill", "Zanzibar", "Zanzibr Gril", "The Zanzibar Inc.", "Grill 1",
		"Grill 2", "Zanzibar Pharmacy", "東京タワー", "J. Smith", "John Smith", "null", "Walmart",
	},
	"phones":    {"415-555-2300", "(415) 555-2300", "555-2300", "415-555-2301", "510 555 2300", "000-000-0000", "+44 20 7946 0958", "n/a"},
	"address":   {"1000 Market Street", "1000 Market St.", "1004 Market St", "2000 Market", "Market St", "77 Folsom", "Hauptstr. 12", "5 1st Ave", "5 2nd Ave", "N/A"},
	"city":      {"San Francisco", "san francisco", "South San Francisco", "Oakland", "null"},
	"postcode":  {"94103", "94103-1234", "94110", "10115", "00000"},
	"latitude":  {"37.7749", "37.7751", "37.7790", "38.5", "0"},
	"longitude": {"-122.4194", "-122.4190", "0"},
	"websites":  {"zanzibar.example", "http://www.zanzibar.example/menu", "facebook.com/zanzibar", "joes.example", "null"},
	"emails":    {"info@zanzibar.example", "info@joes.example", "none"},
	"category":  {"pizza", "grill", "Food > Pizza", "church"},
	"vendor_id": {"A-1", "A-2"},
}

func attributes(t *rapid.T, label string) match.Attributes {
	a := match.Attributes{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if n := rapid.IntRange(0, 2).Draw(t, label+" "+name); n > 0 {
			a[name] = rapid.SliceOfN(rapid.SampledFrom(values[name]), 1, n).Draw(t, label+" values of "+name)
		}
	}
	return a
}

// matcher returns a matcher with one deduplicated source.
func matcher() *match.Matcher {
	s := match.Place()
	s.Sources["once"] = match.Source{Trust: 0.9, Deduplicated: true}
	return match.New(s, nil)
}

func record(t *rapid.T, m *match.Matcher, label string) *match.Record {
	source := rapid.SampledFrom([]string{"a", "b", "once"}).Draw(t, label+" source")
	key := rapid.StringMatching(`[a-d]`).Draw(t, label+" key")
	return m.Normalise(source, key, attributes(t, label))
}

func TestCompare_IsSymmetric(t *testing.T) {
	t.Parallel()
	m := matcher()
	rapid.Check(t, func(t *rapid.T) {
		a, b := record(t, m, "a"), record(t, m, "b")
		if a.Source() == b.Source() && a.Key() == b.Key() {
			t.Skip("one record")
		}
		v, w := m.Compare(a, b), m.Compare(b, a)
		if v != w {
			t.Fatalf("%016x one way, %016x the other", v, w)
		}
		if diff := gocmp.Diff(m.Explain(a, b, v), m.Explain(b, a, v)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestExplain_SumsToTheWeight(t *testing.T) {
	t.Parallel()
	m := matcher()
	rapid.Check(t, func(t *rapid.T) {
		a, b := record(t, m, "a"), record(t, m, "b")
		v := m.Compare(a, b)
		e := m.Explain(a, b, v)
		var sum match.Weight
		for _, l := range e.Lines {
			sum += l.Weight
			if l.Level == "" || l.Attribute == "" {
				t.Fatalf("a line without words: %+v", l)
			}
		}
		if sum != m.Sum(v) || e.Weight != sum || e.Outcome != m.Decide(v) {
			t.Fatalf("lines sum to %s, the score is %s, the explanation says %s, %s", sum, m.Sum(v), e.Weight, e.Outcome)
		}
		for _, f := range e.BlockingKeys {
			for _, r := range []*match.Record{a, b} {
				if kind, text, ok := r.BlockingKey(f.Hash); !ok || kind != f.Kind || text != f.Text {
					t.Fatalf("blocking key %016x: %v %q %v, explained as %+v", f.Hash, kind, text, ok, f)
				}
			}
		}
	})
}

// TestCompare_EqualAttributeNeverCosts adds an equal value to two records that lack the attribute: that
// must not lower the weight.
func TestCompare_EqualAttributeNeverCosts(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	rapid.Check(t, func(t *rapid.T) {
		a, b := attributes(t, "a"), attributes(t, "b")
		name := rapid.SampledFrom([]string{"phones", "address", "city", "postcode", "websites", "emails", "category", "vendor_id"}).Draw(t, "attribute")
		value := rapid.SampledFrom(values[name]).Draw(t, "value")
		delete(a, name)
		delete(b, name)
		weight := func() match.Weight {
			return m.Sum(m.Compare(m.Normalise("s", "a", maps.Clone(a)), m.Normalise("s", "b", maps.Clone(b))))
		}
		before := weight()
		a[name], b[name] = []string{value}, []string{value}
		if after := weight(); after < before {
			t.Fatalf("%s %q on both sides: %s before, %s after", name, value, before, after)
		}
	})
}

func TestCompare_DoesNotAllocate(t *testing.T) {
	m := matcher()
	a, b := pizza(m)
	c := m.Normalise("x", "c", match.Attributes{
		"name": {"東京タワー Zanzibar Grill"}, "address": {"5 Elm St"}, "phones": {"212-555-0100"},
		"websites": {"a.example", "b.example"}, "category": {"x > y"}, "latitude": {"1"}, "longitude": {"1"},
	})
	for _, pair := range [][2]*match.Record{{a, b}, {a, c}, {c, c}} {
		if n := testing.AllocsPerRun(100, func() { m.Sum(m.Compare(pair[0], pair[1])) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func TestCompare_SourceThatListsNothingTwice(t *testing.T) {
	t.Parallel()
	m := matcher()
	a := match.Attributes{"name": {"Zanzibar Grill"}, "phones": {"415-555-2300"}}
	for _, c := range []struct {
		sources [2]string
		want    match.Outcome
	}{{[2]string{"once", "once"}, match.Different}, {[2]string{"once", "a"}, match.Same}, {[2]string{"a", "a"}, match.Same}} {
		v := m.Compare(m.Normalise(c.sources[0], "1", a), m.Normalise(c.sources[1], "2", a))
		weight := m.Sum(v)
		if got := m.Decide(v); got != c.want {
			t.Errorf("%v: %s at %s, want %s", c.sources, got, weight, c.want)
		}
		if c.want == match.Different && weight > match.CannotLink {
			t.Errorf("%v: %s does not forbid the link", c.sources, weight)
		}
	}
}

func TestCompare_ChainNeedsTheSpot(t *testing.T) {
	t.Parallel()
	var shops []match.Attributes
	for _, city := range []string{"Oslo", "Bergen", "Paris", "Lyon", "Rome", "Turin", "Bonn", "Kiel", "York", "Bath"} {
		shops = append(shops, match.Attributes{"name": {"Bolt Coffee"}, "city": {city}}, match.Attributes{"name": {"Only " + city}, "city": {city}})
	}
	m := match.New(match.Place(), match.CountTerms(match.Place(), slices.Values(shops)))
	compare := func(a, b match.Attributes) match.Vector {
		return m.Compare(m.Normalise("s", "1", a), m.Normalise("s", "2", b))
	}
	with := func(name, attribute, value string) match.Attributes {
		return match.Attributes{"name": {name}, "city": {"Oslo"}, "postcode": {"0150"}, "category": {"cafe"}, attribute: {value}}
	}
	for _, c := range []struct {
		name string
		a, b match.Attributes
		want match.Outcome
	}{
		{"name and city alone", with("Bolt Coffee", "hours", "x"), with("Bolt Coffee", "hours", "x"), match.Different},
		{"the same domain too", with("Bolt Coffee", "websites", "bolt.example/a"), with("Bolt Coffee", "websites", "bolt.example/b"), match.Possible},
		{"the same house", with("Bolt Coffee", "address", "5 Elm St"), with("Bolt Coffee", "address", "5 Elm Street"), match.Same},
		{"the same phone", with("Bolt Coffee", "phones", "415-555-2300"), with("Bolt Coffee", "phones", "4155552300"), match.Same},
		{"no chain", with("Only Oslo", "hours", "x"), with("Only Oslo", "hours", "x"), match.Same},
	} {
		if v := compare(c.a, c.b); m.Decide(v) != c.want {
			t.Errorf("%s: %s, want %s", c.name, m.Sum(v), c.want)
		}
	}
}

func TestWeight_JSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := match.Weight(rapid.Int16().Draw(t, "score"))
		text, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back match.Weight
		if err := back.UnmarshalJSON(text); err != nil || back != s {
			t.Fatalf("%d is written as %s and read as %d, %v", s, text, back, err)
		}
	})
}
