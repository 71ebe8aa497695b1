// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/match"
)

func build(records []match.Attributes) *match.TermFrequencies {
	return match.CountTerms(match.Place(), slices.Values(records))
}

func TestTerms_IsAFunctionOfTheSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var records []match.Attributes
		for range rapid.IntRange(0, 20).Draw(t, "records") {
			records = append(records, attributes(t, "record"))
		}
		want := build(records).Hash()
		if got := build(rapid.Permutation(records).Draw(t, "order")).Hash(); got != want {
			t.Fatalf("another order, another term-frequency table: %016x and %016x", got, want)
		}
		if got := build(append(records, match.Attributes{"name": {"Quetzalcoatl"}})).Hash(); got == want {
			t.Fatal("one more record, the same pack")
		}
	})
}

// The hashes of term-frequency tables are part of a resolver's state.
func TestTerms_HashIsFrozen(t *testing.T) {
	t.Parallel()
	if got, want := fmt.Sprintf("%016x", match.DefaultTermFrequencies().Hash()), "0bf8892719969fd7"; got != want {
		t.Errorf("the built-in term-frequency table is %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%016x", build([]match.Attributes{{"name": {"Joes Pizza"}}, {"name": {"Zanzibar"}}}).Hash()), "a6dea28f93aa419b"; got != want {
		t.Errorf("a counted term-frequency table is %s, want %s", got, want)
	}
}

// TestTerms_RareWordsWeighMore checks that a shared rare word matches a pair and a common one hardly does.
func TestTerms_RareWordsWeighMore(t *testing.T) {
	t.Parallel()
	var records []match.Attributes
	for i := range 200 {
		records = append(records, match.Attributes{"name": {fmt.Sprintf("Harbour word%d", i)}})
	}
	m := match.New(match.Place(), build(records))
	weight := func(a, b string) match.Weight {
		return m.Sum(m.Compare(m.Normalise("s", "1", match.Attributes{"name": {a}}), m.Normalise("s", "2", match.Attributes{"name": {b}})))
	}
	if common, rare := weight("Harbour word1", "Harbour word2"), weight("Harbour word1", "Quay word1"); common >= rare {
		t.Errorf("a common word in common: %s, a rare one: %s", common, rare)
	}
}

func TestTerms_CountsAreOfNamesNotOfWords(t *testing.T) {
	t.Parallel()
	once, twice := build([]match.Attributes{{"name": {"Circus Bar"}}}), build([]match.Attributes{{"name": {"Circus Circus Bar"}}})
	m, n := match.New(match.Place(), once), match.New(match.Place(), twice)
	a := match.Attributes{"name": {"Circus"}}
	if x, y := m.Normalise("s", "k", a).BlockingKeys(), n.Normalise("s", "k", a).BlockingKeys(); !slices.Equal(x, y) {
		t.Errorf("a word said twice in one name counts twice: %v, %v", x, y)
	}
}

// TestTerms_PizzaPairIsOnePlaceUnderBoth is the acceptance case of the source text, also with counted
// statistics.
func TestTerms_PizzaPairIsOnePlaceUnderBoth(t *testing.T) {
	t.Parallel()
	records := []match.Attributes{{"name": {"Joes Pizza"}}, {"name": {"Joe's"}}}
	for i := range 500 {
		records = append(records, match.Attributes{"name": {fmt.Sprintf("Place%d Pizza", i)}})
	}
	for name, p := range map[string]*match.TermFrequencies{"built-in": nil, "empty": build(nil), "of the pair": build(records[:2]), "counted": build(records)} {
		m := match.New(match.Place(), p)
		a, b := pizza(m)
		if got := m.Decide(m.Compare(a, b)); got != match.Same {
			t.Errorf("%s term-frequency table: %s at %s", name, got, m.Sum(m.Compare(a, b)))
		}
	}
}
