// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"testing"

	"github.com/locus-db/locus/match"
)

// TestVolumes compares two works of one maker whose titles differ in a number, with a kind of five lines.
func TestVolumes(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, songs), nil)
	const other = "another part, volume or edition"
	for _, c := range []struct {
		a, b  string
		year  string // of both
		level string
		words string // the words that each side shows
		want  match.Outcome
	}{
		{"Night Ferry", "Night Ferry II", "", other, "[] [2]", match.Different},
		{"Night Ferry", "Night Ferry 2", "", other, "[] [2]", match.Different},
		{"Night Ferry", "Night Ferry 2 (1991)", "1991", other, "[] [2]", match.Possible},
		{"Night Ferry II", "Night Ferry III", "", other, "[2] [3]", match.Different},
		{"Harbour Lights", "Harbour Lights Pt. 2", "", other, "[] [part 2]", match.Different},
		{"Harbour Lights", "Harbour Lights, Teil 2", "", other, "[] [part 2]", match.Different},
		{"Harbour Lights Vol. 1", "Harbour Lights Vol. 2", "", other, "[1] [2]", match.Different},
		{"Harbour Lights 2012", "Harbour Lights 2013", "", other, "[2012] [2013]", match.Different},
		{"Practical Sailing", "Practical Sailing, Second Edition", "", other, "[] [2 edition]", match.Different},
		{"Practical Sailing, 3rd ed.", "Practical Sailing, Second Edition", "", other, "[3] [2]", match.Different},
		{"Practical Sailing, 2nd ed.", "Practical Sailing, Second Edition", "", "nothing is left over", "[] []", match.Same},
		{"Harbour Lights, Part Two", "Harbour Lights Pt. II", "", "nothing is left over", "[] []", match.Same},
		{"Harbour Lights 2", "Harbour Lights Pt. 2", "", "one keeps a word", "[] [part]", match.Same},
		{"Harbour Lights", "Harbour Lights (1989)", "1989", "nothing is left over", "[] []", match.Same},
		{"Harbour Lights", "Harbour Lights (1989)", "", "one keeps a number", "[] [1989]", match.Same},
		{"Harbour Lights", "Harbour Lights Part 1", "", "one keeps a word", "[] [part 1]", match.Same},
		{"Harbour Lights Uncut", "Harbour Lights 2", "", "one keeps a number", "[] [2]", match.Same},
		{"Harbour Lights", "Harbour Lights Uncut", "", "one keeps a word", "[] [uncut]", match.Same},
		{"Harbour 2 Lights 500 ml", "Harbour Lights 500 ml", "", "one keeps a number", "[2] []", match.Same},
	} {
		record := func(key, title string) *match.Record {
			return m.Normalise("s", key, match.Attributes{"title": {title}, "artists": {"The Gulls"}, "year": {c.year}})
		}
		a, b := record("a", c.a), record("b", c.b)
		e := m.Explain(a, b, m.Compare(a, b))
		l, _ := line(e, "title residual")
		if got := fmt.Sprint(l.A, l.B); l.Level != c.level || c.words != "[] []" && got != c.words || e.Outcome != c.want {
			t.Errorf("%q, %q: %s %s, %v at %v, want %s %s, %v", c.a, c.b, l.Level, got, e.Outcome, e.Weight, c.level, c.words, c.want)
		}
		if back := m.Compare(b, a); back != m.Compare(a, b) {
			t.Errorf("%q, %q: %v one way, %v the other", c.a, c.b, m.Compare(a, b), back)
		}
	}
}

// A year in a title differs if the dates do, and not if one of them is missing.
func TestVolumes_Years(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, songs), nil)
	for _, c := range []struct{ a, yearA, b, yearB, level string }{
		{"Harbour Lights 2012", "2012", "Harbour Lights 2013", "2013", "another part, volume or edition"},
		{"Harbour Lights", "", "Harbour Lights (2013)", "2013", "nothing is left over"},
		{"Harbour Lights", "2013", "Harbour Lights (2013)", "", "nothing is left over"},
		{"Harbour Lights", "2012", "Harbour Lights (2013)", "2013", "one keeps a number"},
	} {
		a := m.Normalise("s", "a", match.Attributes{"title": {c.a}, "year": {c.yearA}})
		b := m.Normalise("s", "b", match.Attributes{"title": {c.b}, "year": {c.yearB}})
		if l, _ := line(m.Explain(a, b, m.Compare(a, b)), "title residual"); l.Level != c.level {
			t.Errorf("%+v: %s", c, l.Level)
		}
	}
}

// A level about words that only one name has shows them on its side.
func TestExplain_KeptWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind       *match.Schema
		a, b       match.Attributes
		line, want string
	}{
		{match.Place(), called("Zanzibar Grill"), called("Zanzibar"), "name residual", "one keeps a word [grill] []"},
		{match.Place(), called("Zanzibar Quixote"), called("Zanzibar Umbrage"), "name residual", "both keep words of their own [quixote] [umbrage]"},
		{match.Place(), called("Zanzibar 4"), called("Zanzibar 5"), "name residual", "numbers differ [4] [5]"},
		{match.Product(), title("Espresso machine"), title("Coffee maker, espresso machine"), "title residual", "one keeps a word [] [coffee maker]"},
		{match.Product(), title("Kettle 12 red"), title("Kettle 14 large pot"), "title residual", "numbers differ [12] [14]"},
	} {
		m := match.New(c.kind, nil)
		a, b := m.Normalise("s", "1", c.a), m.Normalise("s", "2", c.b)
		l, _ := line(m.Explain(a, b, m.Thorough().Compare(a, b)), c.line)
		if got := fmt.Sprint(l.Level, " ", l.A, " ", l.B); got != c.want {
			t.Errorf("%v, %v: %s, want %s", c.a, c.b, got, c.want)
		}
		back, _ := line(m.Explain(b, a, m.Thorough().Compare(b, a)), c.line)
		if fmt.Sprint(back) != fmt.Sprint(l) {
			t.Errorf("%v, %v: %v one way, %v the other", c.a, c.b, l, back)
		}
	}
}

// Different makers are evidence against one thing; words for the trade of a maker are not.
func TestPeople_Makers(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, "kind: beer\nversion: 1\nattributes:\n  name: { type: name, style: title }\n  brewery: { type: people }\n  strength: { type: number }\n"), nil)
	for _, c := range []struct {
		a, b string
		want match.Outcome
	}{
		{"North Coast Brewing Company", "Stone Bay Brewery", match.Possible},
		{"North Coast Brewing Company", "North Coast", match.Same},
		{"Old Mill Brewing Co., Inc.", "Old Mill Brewery", match.Same},
		{"Brauerei Altmann", "Altmann GmbH", match.Same},
		{"Brauerei Altmann", "Brauerei Neumann", match.Possible},
	} {
		beer := func(key, brewery string) *match.Record {
			return m.Normalise("s", key, match.Attributes{"name": {"Amber Ale"}, "brewery": {brewery}, "strength": {"5.1%"}})
		}
		a, b := beer("a", c.a), beer("b", c.b)
		if e := m.Explain(a, b, m.Compare(a, b)); e.Outcome != c.want {
			t.Errorf("%q, %q: %v at %v, want %v", c.a, c.b, e.Outcome, e.Weight, c.want)
		}
	}
}

// The people of a work are among the words of its text: without the right to see them, there is no text to see.
func TestHiding_PeopleInText(t *testing.T) {
	t.Parallel()
	kind := kindOf(t, "kind: work\nversion: 1\nattributes:\n  name: { type: name, style: title }\n  by: { type: people }\n  about: { type: text }\n")
	m := match.New(kind, nil)
	of := match.Attributes{"name": {"Harbour"}, "by": {"Ann Poe"}, "about": {"Boats and weather"}}
	a, b := m.Normalise("s", "1", of), m.Normalise("s", "2", of)
	e := kind.Hiding(m.Explain(a, b, m.Compare(a, b)), func(name string) bool { return name == "by" })
	for _, l := range e.Lines {
		if (l.Attribute == "text" || l.Attribute == "people") && (!l.Hidden || len(l.A) > 0) {
			t.Errorf("%+v", l)
		}
	}
}
