// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// phones returns titles with a model number that all colours of a phone have. The sizes of a shoe have its article
// number, as the model, if shared.
func phones(shared bool) (all []match.Attributes) {
	for n, line := range []string{"Onda Ray", "Onda Sol", "Tessa Fin", "Tessa Lux", "Vela Mar"} {
		for i, colour := range []string{"Midnight", "Dune", "Fern"} {
			for _, signs := range []string{" Sealed Unlocked", ""} {
				of := match.Attributes{"title": {fmt.Sprintf("%s QX%d Phone %s%s", line, 4100+n, colour, signs)}}
				of["model"] = []string{fmt.Sprintf("KB%d", 7001+n)}
				if !shared {
					of["model"] = []string{fmt.Sprintf("KB%d", 7001+10*n+i)}
				}
				all = append(all, of)
			}
		}
		for _, sign := range []string{"Sealed", "Unlocked", "Boxed"} {
			all = append(all, match.Attributes{"title": {line + " Phone Midnight " + sign}})
		}
	}
	return all
}

// Words that replace each other in several places, beside a third word, are two things even with one model number.
// Words that stand together in titles are not, and nor are two words alone.
func TestAlternatives_OfOneProperty(t *testing.T) {
	t.Parallel()
	terms := match.TermsOf(match.Product(), slices.Values(phones(false)))
	shuffled := phones(false)
	rand.New(rand.NewPCG(20, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if other := match.TermsOf(match.Product(), slices.Values(shuffled)); other.Hash() != terms.Hash() {
		t.Error("the order of the titles matters")
	}
	const apart = "words differ that tell things apart"
	m := match.New(match.Product(), match.CountTerms(match.Product(), slices.Values(phones(false))))
	for _, c := range []struct {
		a, b  string
		apart bool
	}{
		{"Onda Ray QX4999 Phone Midnight", "Phone Onda QX-4999 Dune", true},
		{"Onda Ray QX4999 Phone Midnight", "Onda QX4999 Phone", false},
		{"Onda Ray QX4999 Phone Midnight", "Onda QX4999 Phone Handset", false},
		{"Onda Ray QX4999 Phone Midnight Dune", "Onda QX4999 Phone Dune", false},
		{"Onda Ray QX4999 Phone Fern", "Onda QX4999 Phone Ferns", false},
		{"Onda Ray QX4999 Phone Midnight Sealed", "Onda QX4999 Phone Midnight Unlocked", false},
	} {
		x := m.Normalise("one", "1", match.Attributes{"title": {c.a}})
		y := m.Normalise("two", "1", match.Attributes{"title": {c.b}})
		if got := levelOf(m, m.Compare(x, y), "title residual"); (got == apart) != c.apart {
			t.Errorf("%s, %s: %q", c.a, c.b, got)
		}
	}
}

// Colours that the tables know are alternatives where a thing has two of them, also beside a rare model number. The text of the other record may name the
// colour, too.
func TestAlternatives_TwoColours(t *testing.T) {
	t.Parallel()
	var all []match.Attributes
	for n, line := range []string{"Onda Ray", "Onda Sol", "Tessa Fin"} {
		for _, colour := range []string{"Black", "Silver"} {
			all = append(all, match.Attributes{"title": {fmt.Sprintf("%s QX%d Camera %s", line, 4100+n, colour)}})
		}
		for _, noun := range []string{"Shoe", "Sneaker"} {
			all = append(all, match.Attributes{"title": {fmt.Sprintf("Mara %s Trail %s", line[5:], noun)}})
		}
	}
	m := match.New(match.Product(), match.CountTerms(match.Product(), slices.Values(all)))
	level := func(a, b, text string) string {
		x := m.Normalise("one", "1", match.Attributes{"title": {a}})
		y := m.Normalise("two", "1", match.Attributes{"title": {b}, "description": {text}})
		return levelOf(m, m.Compare(x, y), "title residual")
	}
	const apart = "words differ that tell things apart"
	if got := level("Onda Ray QX4100 Camera Black", "Onda Ray QX4100 Camera Silver", ""); got != apart {
		t.Errorf("two colours: %q", got)
	}
	if got := level("Onda Ray QX4100 Camera Black", "Onda Ray QX4100 Camera Silver", "also in black"); got == apart {
		t.Errorf("a colour of the text: %q", got)
	}
	if got := level("Mara Ray QX4100 Trail Shoe", "Mara Ray QX4100 Trail Sneaker", ""); got == apart {
		t.Errorf("two spellings: %q", got)
	}
}

// An article number that the colours of a thing share is not one of the thing.
func TestAlternatives_ShareAnID(t *testing.T) {
	t.Parallel()
	for shared, want := range map[bool]string{true: "equal, of many records", false: "equal"} {
		m := match.New(match.Product(), match.TermsOf(match.Product(), slices.Values(phones(shared))))
		x := m.Normalise("one", "1", match.Attributes{"title": {"Onda Ray Phone Dune"}, "model": {"KB7001"}})
		y := m.Normalise("two", "1", match.Attributes{"title": {"Onda Ray Phone"}, "model": {"KB7001"}})
		if got := levelOf(m, m.Compare(x, y), "id"); got != want {
			t.Errorf("shared %v: %q, want %q", shared, got, want)
		}
	}
}
