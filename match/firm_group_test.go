// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	"github.com/locus-db/locus/match"
)

// A word of trades names no firm, and without counts a name of two words is not rare enough for two cities.
func TestFirms_GenericNames(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	for _, c := range []struct {
		name, city, otherCity, address string
		want                           match.Outcome
	}{
		{"Services", "Leeds", "Leeds", "", match.Possible},
		{"Account", "Leeds", "Leeds", "", match.Possible},
		{"Services", "Leeds", "Leeds", "1 High Street", match.Same},
		{"Zorvinex", "Leeds", "Leeds", "", match.Same},
		{"Zorvinex Quillfeather", "Leeds", "Leeds", "", match.Same},
		{"Zorvinex Quillfeather", "Leeds", "York", "", match.Possible},
	} {
		firm := func(key, city string) *match.Record {
			return m.Normalise("s", key, match.Attributes{"name": {c.name}, "city": {city}, "address": {c.address}})
		}
		v := m.Compare(firm("1", c.city), firm("2", c.otherCity))
		if got := m.Decide(v); got != c.want {
			t.Errorf("%+v: %v at %v", c, got, m.Sum(v))
		}
	}
}

// A word that one name lacks and another tax number are two firms of one group, also at one address.
func TestFirms_Sisters(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	firm := func(key, name, vat string) *match.Record {
		return m.Normalise("s", key, match.Attributes{"name": {name}, "address": {"5 Mill Road"}, "city": {"York"}, "tax_id": {vat}})
	}
	for _, sister := range []string{"Zorvinex Polska", "Zorvinex Logistics"} {
		v := m.Compare(firm("1", "Zorvinex", "DE136695976"), firm("2", sister, "DE811569869"))
		if m.Decide(v) == match.Same {
			t.Errorf("%s: one firm, at %v", sister, m.Sum(v))
		}
	}
}

// In full names a word for a trade means another firm of a group, also at one address.
func TestFirms_FullNames(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	residual := func(a, b string) string {
		x, y := m.Normalise("s", "1", match.Attributes{"name": {a}, "address": {"5 Mill Road"}}), m.Normalise("s", "2", match.Attributes{"name": {b}, "address": {"5 Mill Road"}})
		return levelOf(m, m.Compare(x, y), "name residual")
	}
	if got := residual("Zorvinex Energy Ltd", "Zorvinex Foods Ltd"); got != "both keep words of their own" {
		t.Error("with legal forms:", got)
	}
	if got := residual("Zorvinex Grill", "Zorvinex Restaurant"); got == "both keep words of their own" {
		t.Error("without legal forms:", got)
	}
}
