// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	"github.com/locus-db/locus/match"
)

// TestTaxIDs shows how the numbers of a firm are compared, with the country before them and without, and that equal ones
// share a blocking key although nothing else agrees.
func TestTaxIDs(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	for _, c := range []struct{ a, b, level string }{
		{"DE136695976", "DE 136 695 976", "equal"},
		{"DE136695976", "136695976", "equal"},
		{"IT00743110157", "743110157", "equal"},
		{"EL094014201", "094014201", "equal"},
		{"ESB12345674", "esb12345674", "equal"},
		{"DE136695976", "136695978", "one sign off"},
		{"DE136695976", "DE136695967", "one sign off"},
		{"DE136695976", "DE813495425", "other"},
		{"DE136695976", "AT136695976", "other"},
		{"ZZ136695976", "136695976", "other"}, // no country
		{"DE1366", "1366", "other"},           // too short
		{"DE000000000", "DE136695976", ""},
		{"n/a", "DE136695976", ""},
	} {
		t.Run(c.a+" "+c.b, func(t *testing.T) {
			t.Parallel()
			a := m.Normalise("s", "1", match.Attributes{"name": {"Nordwind"}, "tax_id": {c.a}})
			b := m.Normalise("s", "2", match.Attributes{"name": {"Kestrel"}, "tax_id": {c.b}})
			level := ""
			for _, l := range m.Explain(a, b, m.Compare(a, b)).Lines {
				if l.Attribute == "id" {
					level = l.Level
				}
			}
			if level != c.level {
				t.Errorf("%q, not %q", level, c.level)
			}
			if level == "equal" {
				wantShared(t, a, b)
			}
		})
	}
}

// TestTaxIDs_Decide shows that one number joins two spellings of a firm, and two numbers keep apart two firms of one name.
func TestTaxIDs_Decide(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	firm := func(name, attribute, id string) match.Attributes {
		return match.Attributes{"name": {name}, attribute: {id}}
	}
	for _, attribute := range []string{"tax_id", "register_id", "duns", "lei"} {
		a := m.Normalise("s", "1", firm("Kestrel Media Ltd", attribute, "GB999999973"))
		b := m.Normalise("s", "2", firm("Kestrel Media Holdings", attribute, "999999973"))
		c := m.Normalise("s", "3", firm("Kestrel Media Limited", attribute, "GB481516232"))
		if got := m.Decide(m.Compare(a, b)); got != match.Same {
			t.Errorf("%s: one number: %v", attribute, got)
		}
		if got := m.Decide(m.Compare(a, c)); got != match.Possible {
			t.Errorf("%s: two numbers: %v", attribute, got)
		}
	}
}

// TestTaxIDs_Elsewhere shows that two branches of a firm, which have its number, are a possible match.
func TestTaxIDs_Elsewhere(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	at := func(key, address, city string) *match.Record {
		return m.Normalise("s", key, match.Attributes{"name": {"Kestrel Media"}, "address": {address}, "city": {city}, "tax_id": {"GB481516232"}})
	}
	a, b := at("1", "5 Mill Road", "Leeds"), at("2", "81 Station Street", "Hull")
	if got := m.Decide(m.Compare(a, b)); got != match.Possible {
		t.Errorf("%v\n%+v", got, m.Explain(a, b, m.Compare(a, b)).Lines)
	}
	if c := at("3", "5 Mill Road", "Leeds"); m.Decide(m.Compare(a, c)) != match.Same {
		t.Error("one number at one address is not the same")
	}
}
