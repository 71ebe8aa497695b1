// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/match"
)

// TestSaid_IsWhatEachValueSays compares the values stored in a normalised record with each value normalised separately.
func TestSaid_IsWhatEachValueSays(t *testing.T) {
	t.Parallel()
	two := match.Place()
	two.Attributes = append(slices.Clone(two.Attributes), match.Attribute{Name: "post", Type: match.TypeAddress})
	matchers := []*match.Matcher{match.New(match.Place(), nil), match.New(two, nil)}
	texts := []string{"", "N/A", "-", "12 Main St., Suite 5", "12 main street suite 5", "Hauptstraße 7", "The Blue Door Books & Co.", "the",
		"facebook.com/blue", "https://bluedoor.example/a", "415-555-0101", "+1 415 555 0101", "Food > Bakery", "94103-1234", "7.5", "!!!"}
	rapid.Check(t, func(t *rapid.T) {
		m := matchers[rapid.IntRange(0, 1).Draw(t, "schema")]
		attributes := match.Attributes{}
		for _, a := range m.Schema().Attributes {
			if values := rapid.SliceOfN(rapid.SampledFrom(texts), 0, 3).Draw(t, a.Name); len(values) > 0 {
				attributes[a.Name] = values
			}
		}
		r := m.Normalise("x", "1", attributes)
		for i := range m.Schema().Attributes {
			a := &m.Schema().Attributes[i]
			for n, raw := range attributes[a.Name] {
				said, want := r.Said(a, n), m.NormaliseValue(a.Name, raw)
				if said.Alone != want || said.Normal != want && a.Type != match.TypePhone {
					t.Errorf("%s %q: %q, %q, want %q", a.Name, raw, said.Alone, said.Normal, want)
				}
				if other := m.Said(a, attributes, n); other != said {
					t.Errorf("%s %q: by itself %+v, in a record %+v", a.Name, raw, other, said)
				}
				if got, want := said.Words(), match.NameTokens(raw); !slices.Equal(got, want) {
					t.Errorf("%s %q: words %q, want %q", a.Name, raw, got, want)
				}
			}
		}
	})
}
