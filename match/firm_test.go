// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/locus-db/locus/match"
)

// firms are two names, and whether they are of one firm.
type firms struct {
	a, b string
	same bool
}

// compareFirms compares names of firms without anything besides them. Those of one firm share a blocking key if keys
// is set.
func compareFirms(t *testing.T, keys bool, pairs []firms) {
	t.Helper()
	m := match.New(match.Place(), nil)
	for _, c := range pairs {
		t.Run(c.a+" "+c.b, func(t *testing.T) {
			t.Parallel()
			a, b := m.Normalise("s", "1", called(c.a)), m.Normalise("s", "2", called(c.b))
			v := m.Compare(a, b)
			if got := m.Decide(v) == match.Same; got != c.same {
				t.Errorf("same: %v\n%+v", got, m.Explain(a, b, v).Lines)
			}
			if keys && c.same {
				wantShared(t, a, b)
			}
		})
	}
}

// TestFirms compares names of firms without anything besides them.
func TestFirms(t *testing.T) {
	t.Parallel()
	compareFirms(t, false, []firms{
		{"Pereira Consulting Ltd", "Pereira Consult. Limited", true},
		{"Xecra Manufacturing Inc", "XECRA MFG INC", true},
		{"Braun International Services", "Braun Intl Svcs", true},
		{"Evans Brothers Plastics", "Evans Bros. Plastics", true},
		{"Garcia Hermanos", "Garcia Hnos", true},
		{"Rossi F.lli S.r.l.", "Fratelli Rossi srl", true},
		{"H.nos Garcia", "Garcia Hermanos", true},
		{"Tofirox GmbH", "Tofirox (Österreich) GmbH", false},
		{"Acme", "Acme Polska", false},
		{"Tofirox Deutschland GmbH", "Tofirox Germany", true},
		{"Kasex Properties United Kingdom Ltd", "KASEX PROPERTIES UK LIMITED", true},
		{"Tofirox Deutschland GmbH", "Tofirox France", false},
		{"Star Wood USA Inc", "Star Wood UK Inc", false},
		{"Vikion Ltd", "Vikion 2 Ltd", false},
		{"Braun Security Inc", "Braun Security Holding Inc", false},
		{"Golden Arrow Security", "Golden Arrow Security Sydney", false},
		{"Hartmann Logistik GmbH", "Hartmann Immobilien GmbH", false},
		{"Becker Bau GmbH", "Becker Beratung GmbH", false},
		{"Smith Services", "Smith Consulting", false},
	})
}

// TestFirms_Place shows that the city of a thing says nothing in its name, and that more than the name joins what a word separates.
func TestFirms_Place(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	at := func(name, city, phone string) match.Attributes {
		return match.Attributes{"name": {name}, "city": {city}, "phones": {phone}}
	}
	for _, c := range []struct {
		a, b  match.Attributes
		level string
	}{
		{at("Fitova Kiel", "Kiel", ""), at("Fitova", "Kiel", ""), "nothing is left over"},
		{at("Fitova Kiel", "Kiel", ""), at("Fitova Hamburg", "", ""), "both keep words of their own"},
		{at("Fitova Kiel", "Kiel", ""), at("Fitova Hamburg", "Hamburg", ""), "both keep words of their own"},
		{at("Fitova Polska", "Kielce", ""), at("Fitova", "Kielce", ""), "nothing is left over"},
		{at("Fitova Polska", "", "+48 41 5550123"), at("Fitova", "", "+48 41 5550123"), "nothing is left over"},
		{at("Fitova Polska", "", ""), at("Fitova", "", ""), "one keeps a word, and nothing besides the name"},
		{at("Fitova Holding", "Kiel", ""), at("Fitova", "Kiel", ""), "one keeps a word, and nothing besides the name"},
		{at("Fitova Holding", "", ""), at("Fitova", "", ""), "one keeps a word, and nothing besides the name"},
		{at("Fitova Holding", "", "+49 431 5550123"), at("Fitova", "", "+49 431 5550123"), "one keeps a word"},
	} {
		a, b := m.Normalise("s", "1", c.a), m.Normalise("s", "2", c.b)
		found := false
		for _, l := range m.Explain(a, b, m.Thorough().Compare(a, b)).Lines {
			found = found || l.Attribute == "name residual" && l.Level == c.level
		}
		if !found {
			t.Errorf("%v, %v: not %q\n%+v", c.a, c.b, c.level, m.Explain(a, b, m.Thorough().Compare(a, b)).Lines)
		}
	}
}

// TestFirms_Elsewhere shows that one name in two cities is a possible match, unless the name is rare or more agrees.
func TestFirms_Elsewhere(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	at := func(name, city, category, phone string) match.Attributes {
		return match.Attributes{"name": {name}, "city": {city}, "category": {category}, "phones": {phone}}
	}
	for _, c := range []struct {
		a, b match.Attributes
		want match.Outcome
	}{
		{at("Zanzibar Grill", "Kiel", "", ""), at("Zanzibar Grill", "Kiel", "", ""), match.Same},
		{at("Zanzibar Grill", "Kiel", "", ""), at("Zanzibar Grill", "", "", ""), match.Same},
		{at("Zanzibar Grill", "Kiel", "", ""), at("Zanzibar Grill", "Hamburg", "", ""), match.Possible},
		{at("Zanzibar Grill", "Kiel", "Bar", ""), at("Zanzibar Grill", "Hamburg", "Bar", ""), match.Possible},
		{at("Zanzibar Grill", "Kiel", "", "+49 431 5550123"), at("Zanzibar Grill", "Hamburg", "", "+49 431 5550123"), match.Same},
	} {
		a, b := m.Normalise("s", "1", c.a), m.Normalise("s", "2", c.b)
		v := m.Compare(a, b)
		if got := m.Decide(v); got != c.want {
			t.Errorf("%v, %v: %v, not %v\n%+v", c.a, c.b, got, c.want, m.Explain(a, b, v).Lines)
		}
		alone := c.want == match.Possible
		if slices.ContainsFunc(m.Explain(a, b, v).Lines, func(l match.Line) bool {
			return l.Attribute == "city" && l.Level == "different, and nothing besides the name"
		}) != alone {
			t.Errorf("%v, %v: nothing besides the name: not %v", c.a, c.b, alone)
		}
	}
}

// TestFirms_Meet shows that names without a location share a blocking key although a word is misspelt, joined or shortened.
func TestFirms_Meet(t *testing.T) {
	t.Parallel()
	var all []match.Attributes
	for i := range 600 {
		all = append(all, called("Kantor"+string(rune('a'+i%26))+strconv.Itoa(i)+" Logistics"))
	}
	all = append(all, called("Neumann Logistics"))
	m := match.New(match.Place(), match.TermsOf(match.Place(), slices.Values(all)))
	for _, c := range [][2]string{
		{"Neumann Ltd", "Neumacn Limited"}, {"Prahoweis Engineering", "Prahoweis Engneering"}, {"Nielsen", "Nielsen Ltd"},
		{"Wolfshield plc", "Wolf Shield PLC"}, {"Prahoweis Logistics Bristol", "Pahoweis Logistics Bristol"},
	} {
		a, b := m.Normalise("s", "1", called(c[0])), m.Normalise("s", "2", called(c[1]))
		if !slices.ContainsFunc(a.BlockingKeys(), func(k match.BlockingKey) bool { return slices.Contains(b.BlockingKeys(), k) }) {
			t.Errorf("%v have no common blocking key", c)
		}
	}
}
