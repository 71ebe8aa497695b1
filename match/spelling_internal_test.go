// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strconv"
	"testing"
)

// everyTerms returns the tables to test keys with: the built-in one, and one in which the word Larkin is too common to be a key.
func everyTerms() map[string]*TermFrequencies {
	var all []Attributes
	for i := range 1000 {
		name := strconv.Itoa(i) + "x Trust"
		if i%25 == 0 {
			name = "Larkin " + name
		}
		all = append(all, Attributes{"name": {name}})
	}
	return map[string]*TermFrequencies{"built in": DefaultTermFrequencies(), "counted": TermsOf(Place(), slices.Values(all))}
}

// besideNames are what records of firms have besides their names, in the spellings of two lists.
var besideNames = [][2]Attributes{
	{{}, {}},
	{{"city": {"Köln"}}, {"city": {"Koeln"}}},
	{{"city": {"Fort Worth"}, "phones": {"212-555-0147"}}, {"city": {"Ft. Worth"}, "phones": {"212-555-0148"}}},
	{{"address": {"12 Schröderstraße"}, "postcode": {"50667"}}, {"address": {"Schroederstr. 12"}, "postcode": {"50668"}}},
}

// TestSpellings_Meet shows that whatever the comparison of names takes as equal gives a common blocking key.
func TestSpellings_Meet(t *testing.T) {
	t.Parallel()
	pairs := [][2]string{ // with the rules that no table has
		{"Larkin Consulting", "Larkin Consult."}, {"Larkin Pharmaceuticals", "Larkin Pharma"}, {"Larkin Packaging", "Larkin Pckg"},
		{"Müller Mühle", "Mueller Muehle"}, {"Jäger", "Jaeger"}, {"Sunflower Larkin", "Sun Flower Larkin"}, {"Larkin & Jones", "Larkin and Jones"},
		{"Larkin's Bar", "Larkins Bar"}, {"Larkin GmbH", "Larkin Gesellschaft mit beschränkter Haftung"}, {"Газпром Нефть", "Gazprom Neft"},
		{"Main St Larkin Cafe", "Main Street Larkin Cafe"}, {"St. Larkin Church", "Saint Larkin Church"}, {"L. Jones Larkin", "Lewis Jones Larkin"},
	}
	for other, word := range wordSpellings {
		pairs = append(pairs, [2]string{"Larkin " + word, "Larkin " + other}, [2]string{word + " Zantor Trust", other + " Zantor Trust"})
	}
	for name, terms := range everyTerms() {
		m := New(Place(), terms)
		for _, pair := range pairs {
			for _, beside := range besideNames {
				a, b := called(m, "1", pair[0], beside[0]), called(m, "2", pair[1], beside[1])
				if m.Decide(m.Compare(a, b)) == Same && !meet(a, b) {
					t.Errorf("%s: %q and %q are one thing beside %v, and share no blocking key", name, pair[0], pair[1], beside)
				}
			}
		}
	}
}

// TestSpellings_AreEqual shows that a name in any usual spelling is the same name.
func TestSpellings_AreEqual(t *testing.T) {
	t.Parallel()
	m := New(Place(), nil)
	for other, word := range wordSpellings {
		a, b := called(m, "1", "Larkin "+word+" Trust", nil), called(m, "2", "Larkin "+other+" Trust", nil)
		if a.name.compact != b.name.compact || wordSpellings[word] != "" {
			t.Errorf("%q is not %q", other, word)
		}
	}
	for name, want := range map[string]string{
		"St Mary": "saint mary", "Hotel St George": "hotel saint george", "Main St Cafe": "main street cafe", "High St": "high street", "Blue Queue": "blue queue",
		"F.lli Rossi": "fratelli rossi", "Garcia H.nos": "garcia hermanos", "Sol Nos": "sol nos",
	} {
		if got := spellWords(fold(name)); got != want {
			t.Errorf("%q is %q, not %q", name, got, want)
		}
	}
	if plainVowels("blue") != "blue" || plainVowels("mueller") != "muller" || plainVowels("joe") != "joe" {
		t.Error("vowels of common words are kept, those of others are plain")
	}
}

func called(m *Matcher, key, name string, beside Attributes) *Record {
	a := Attributes{"name": {name}}
	for k, v := range beside {
		a[k] = v
	}
	return m.Normalise("s", key, a)
}

func meet(a, b *Record) bool {
	return slices.ContainsFunc(a.keys, func(k BlockingKey) bool { return slices.Contains(b.keys, k) })
}
