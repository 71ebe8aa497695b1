// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"slices"
	"strings"
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

// A phone number without a country code says how the full number ends.
func TestSaid_Local(t *testing.T) {
	t.Parallel()
	person := match.Person()
	m := match.New(person, nil)
	phones, _ := person.Attribute("phones")
	for raw, full := range map[string]string{
		"030 1234567": "+49 30 1234567", "01 5126655": "+43 1 5126655", "06 1 234 5678": "+36 1 234 5678", "8 (495) 123-45-67": "+7 495 1234567",
		"06 12 34 56 78": "0033 6 12 34 56 78", "21234567": "+45 21 23 45 67", "06 1234 5678": "+39 06 1234 5678", "555-2300": "415-555-2300",
	} {
		of := func(raw string) match.Said {
			return m.Said(&phones, match.Attributes{"phones": {raw}}, 0)
		}
		if local := of(raw).Local; local == "" || !strings.HasSuffix(of(full).Normal, local) {
			t.Errorf("%s ends in %q, and %s is %q", raw, local, full, of(full).Normal)
		}
		if local := of(full).Local; local != "" {
			t.Errorf("%s is complete, and ends in %q", full, local)
		}
	}
}
