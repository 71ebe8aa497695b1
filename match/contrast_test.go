// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// catalogue returns the creams of a shop in some scents and sizes, and another shop's words for some of them.
func catalogue() (all []match.Attributes) {
	add := func(title string) { all = append(all, match.Attributes{"title": {title}}) }
	for _, line := range []string{"Alba Soft Cream", "Alba Day Cream", "Alba Hand Balm"} {
		for _, scent := range []string{"Aloe", "Cocoa Butter", "Roses", "Rosse", "Vanilla"} {
			add(fmt.Sprintf("%s %s 200 ml", line, scent))
		}
		add(line + " Tester")
	}
	for _, noun := range []string{"Shoe", "Sneaker"} {
		add("Alba Trail " + noun + " Grey")
	}
	return all
}

// What stands in one place of three titles tells things apart, in a file of any size; two words in one place may be one
// thing.
func TestContrast_WordsTellTitlesApart(t *testing.T) {
	t.Parallel()
	terms := match.TermsOf(match.Product(), slices.Values(catalogue()))
	shuffled := catalogue()
	rand.New(rand.NewPCG(18, 0)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if other := match.TermsOf(match.Product(), slices.Values(shuffled)); other.Hash() != terms.Hash() {
		t.Error("the order of the titles matters")
	}
	if terms.Records() != 0 {
		t.Fatal("frequencies of words are counted in a small file")
	}
	m := match.New(match.Product(), terms)
	for _, c := range []struct{ a, b, level string }{
		{"Alba Soft Cream Aloe 200 ml", "Alba Soft Cream Vanilla 200ml", "words differ that tell things apart"},
		{"Alba Soft Cream Aloe 200 ml", "Soft Cream by Alba, Cocoa Butter, 200 ml", "words differ that tell things apart"},
		{"Alba Soft Cream Aloe 200 ml", "Alba Soft Cream 200 ml", "one keeps a word that tells things apart"},
		{"Alba Soft Cream Aloe 200 ml", "Alba Soft Cream Alloe 200 ml", "nothing is left over"},
		{"Alba Soft Cream Aloe 200 ml", "Alba Soft Cream Aloe 200 ml Jar", "one keeps a word"},
		{"Alba Trail Shoe Grey", "Alba Trail Sneaker Grey", "both keep words of their own"},
		{"Alba Trail Shoe Men's Grey", "Alba Trail Shoe Women's Grey", "words differ that tell things apart"},
		{"Alba Trail Shoe Kids Grey", "Alba Trail Shoe Boys Grey", "both keep words of their own"},
	} {
		x := m.Normalise("one", "1", match.Attributes{"title": {c.a}})
		y := m.Normalise("two", "1", match.Attributes{"title": {c.b}})
		if got := levelOf(m, m.Compare(x, y), "title residual"); got != c.level {
			t.Errorf("%s, %s: %q, want %q", c.a, c.b, got, c.level)
		}
	}
}

// A common model number agrees with a neighbour in the catalogue, too, so other numbers of the title decide.
func TestContrast_NumbersBesideAModel(t *testing.T) {
	t.Parallel()
	m := match.New(match.Product(), nil)
	x := m.Normalise("one", "1", match.Attributes{"title": {"New Run 990v5 Grey 40"}})
	y := m.Normalise("two", "1", match.Attributes{"title": {"New Run 990v5 Grey 42"}})
	if got := levelOf(m, m.Compare(x, y), "title residual"); got != "numbers differ" {
		t.Error(got)
	}
}

func levelOf(m *match.Matcher, v match.Vector, line string) string {
	for n, f := range m.Fields() {
		if f.Name == line {
			return f.Levels[v.Level(n)].Text
		}
	}
	return ""
}

// Where titles recur with a word and without it, they are two things. A word that one of two catalogues leaves out is
// none.
func TestContrast_TitlesWithoutAWord(t *testing.T) {
	t.Parallel()
	var all []match.Attributes
	add := func(title, price string) {
		all = append(all, match.Attributes{"title": {title}, "price": {price}})
	}
	for _, model := range []string{"Onda Ray", "Onda Sol", "Onda Mar", "Tessa Fin", "Tessa Lux"} {
		for price, shop := range []string{"", " Phone"} { // each shop has both
			add(model+" 128GB Black"+shop, fmt.Sprint(price))
			add(model+" 128GB Black Phone", fmt.Sprint(price+2))
			add(model+" Turbo 128GB Black Phone", fmt.Sprint(price+4))
		}
	}
	terms := match.TermsOf(match.Product(), slices.Values(all))
	m := match.New(match.Product(), terms)
	level := func(a, b string) string {
		x, y := m.Normalise("s", "1", match.Attributes{"title": {a}}), m.Normalise("s", "2", match.Attributes{"title": {b}})
		return levelOf(m, m.Compare(x, y), "title residual")
	}
	if got := level("Onda Ray 128GB Black Phone", "Onda Ray Turbo 128GB Black Phone"); got != "words differ that tell things apart" {
		t.Errorf("Turbo: %s", got)
	}
	if got := level("Onda Ray 128GB Black", "Onda Ray 128GB Black Phone"); got == "words differ that tell things apart" {
		t.Errorf("Phone: %s", got)
	}
}
