// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	"github.com/locus-db/locus/match"
)

// pizza returns the pair of the source text: two spellings of one restaurant.
func pizza(m *match.Matcher) (a, b *match.Record) {
	a = m.Normalise("1", "a", match.Attributes{"name": {"Joes Pizza"}, "address": {"1000 Market Street"}, "phones": {"415-555-2300"}})
	b = m.Normalise("2", "b", match.Attributes{"name": {"Joe's"}, "address": {"1000 Market St."}, "phones": {"(415) 555-2300"}})
	return a, b
}

func TestCompare_PizzaPairIsOnePlace(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), match.DefaultTermFrequencies())
	a, b := pizza(m)
	v := m.Compare(a, b)
	if got := m.Sum(v); got != 1970 {
		t.Errorf("score %s, want +19.70: %+v", got, m.Explain(a, b, v))
	}
	if got := m.Decide(v); got != match.Same {
		t.Errorf("outcome %s, want same", got)
	}
	if m.Compare(b, a) != v {
		t.Error("the comparison depends on the order of the pair")
	}
}

func TestNormalise_NothingIsNoKeyAndNoEvidence(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	bare := m.Normalise("s", "0", match.Attributes{"name": {"Zanzibar"}})
	for _, code := range []string{"00000", "null", "NA", "N/A", "", "  ", "0", "none", "99999", "00000-0000", "unknown", "TBD"} {
		r := m.Normalise("s", "1", match.Attributes{"name": {"Zanzibar"}, "postcode": {code}, "city": {"N/A"}, "phones": {"000-000-0000"}})
		if len(r.BlockingKeys()) != len(bare.BlockingKeys()) {
			t.Errorf("postcode %q makes a blocking key", code)
		}
		if v := m.Compare(bare, r); v != m.Compare(bare, bare) {
			t.Errorf("postcode %q is evidence", code)
		}
		if got := r.Value("postcode", 0); got != "" {
			t.Errorf("postcode %q has the normal form %q", code, got)
		}
	}
}
