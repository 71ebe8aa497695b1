// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestParsePeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw  []string
		want people
	}{
		{[]string{"Gottfried Vossen, Mathias Weske"}, people{{"vossen", "gottfried"}, {"weske", "mathias"}}},
		{[]string{"G. Vossen and M. Weske"}, people{{"vossen", "g"}, {"weske", "m"}}},
		{[]string{"Vossen, Gottfried; Weske, Mathias"}, people{{"vossen", "gottfried"}, {"weske", "mathias"}}},
		{[]string{"Vossen, Gottfried and Weske, Mathias"}, people{{"vossen", "gottfried"}, {"weske", "mathias"}}},
		{[]string{"Vossen, G., Weske, M."}, people{{"vossen", "g"}, {"weske", "m"}}},
		{[]string{"Vossen G, Weske MA"}, people{{"vossen", "g"}, {"weske", "ma"}}},
		{[]string{"Vossen, Gottfried"}, people{{"vossen", "gottfried"}}},
		{[]string{"van den Bussche, Jan"}, people{{"vandenbussche", "jan"}}},
		{[]string{"Alon Y. Levy, Divesh Srivastava, and Rakesh Agrawal"}, people{{"levy", "alon"}, {"srivastava", "divesh"}, {"agrawal", "rakesh"}}},
		{[]string{"D. Kossmann et al."}, people{{"kossmann", "d"}}},
		{[]string{"Michael J. Carey 0001"}, people{{"carey", "michael"}}},
		{[]string{"Daniel Barbar&aacute; &amp; Tomasz Imielinski"}, people{{"barbara", "daniel"}, {"imielinski", "tomasz"}}},
		{[]string{"Gottfried Vossen", "Mathias Weske", "Gottfried Vossen"}, people{{"vossen", "gottfried"}, {"weske", "mathias"}}},
		{[]string{"The Beatles"}, people{{"beatles", ""}}},
		{[]string{"Rolling Stones, The"}, people{{"stones", "rolling"}}},
		{[]string{"Queen feat. David Bowie"}, people{{"queen", ""}, {"bowie", "david"}}},
		{[]string{"", "n/a", ";", " , ", "et al."}, nil},
	} {
		if got := parsePeople(nil, c.raw); !slices.Equal(got, c.want) {
			t.Errorf("parsePeople(%q) = %v, want %v", c.raw, got, c.want)
		}
	}
	many := parsePeople(nil, strings.Fields(strings.Repeat("a b c d e f g h i j k l m n o p ", 4)+"aa bb cc dd ee ff gg hh ii jj kk"))
	if len(many) != maxPeople {
		t.Errorf("a list of %d people, want %d", len(many), maxPeople)
	}
}

func TestComparePeople(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want level
	}{
		{"Gottfried Vossen, Mathias Weske", "Weske, M.; Vossen, G.", peopleAll},
		{"Gottfried Vossen, Mathias Weske", "G. Vossen, M. Weske, H. Wittkowski", peopleAll},
		{"Gottfried Vossen", "Vossen, G.", peopleOne},
		{"Gottfried Vossen", "G. Vossen, M. Weske", peopleOneOf},
		{"G. Vossen, M. Weske", "Mathias Weske, Anna Ek", peopleMost},
		{"A. Ek, B. Ek, C. Ek", "A. Ek, D. Ek, E. Ek", peopleFew},
		{"Gottfried Vossen", "Mathias Weske", peopleDifferent},
		{"Gottfried Vossen", "Georgina Vossen", peopleDifferent},
		{"Robert Smith", "Bob Smith", peopleOne},
		{"Jan van den Bussche", "Bussche, Jan van den", peopleOne},
		{"Weske Mathias", "Mathias Weske", peopleOne},
		{"The Beatles", "Beatles", peopleOne},
		{"The Rolling Stones", "Rolling Stones", peopleOne},
		{"Beatles, The", "the beatles", peopleOne},
		{"Stone Beer Co.", "Stone", peopleOne},
		{"North Coast Brewing Company", "North Coast Beer Co", peopleOne},
		{"Gillian Beer", "G. Beer", peopleOne},
		{"J. Smith, J. Smith Jr", "J. Smith", peopleOne}, // one person is written twice
		{"Gottfried Vossen", "", levelNone},
	} {
		a, b := parsePeople(nil, []string{c.a}), parsePeople(nil, []string{c.b})
		if got := comparePeople(a, b); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, table[fieldPeople][got].word, table[fieldPeople][c.want].word)
		}
	}
}

// A person in one list matches at most one person in the other.
func TestComparePeople_TakesEachOnce(t *testing.T) {
	t.Parallel()
	a, b := people{{"ek", "a"}, {"ek", "anna"}, {"ek", "alma"}}, people{{"ek", "anna"}, {"ray", "bo"}, {"lee", "cy"}}
	if got := comparePeople(a, b); got != peopleFew {
		t.Errorf("%q, want %q", table[fieldPeople][got].word, table[fieldPeople][peopleFew].word)
	}
}

// The order of a list has no meaning, in any notation.
func TestParsePeople_Notations(t *testing.T) {
	t.Parallel()
	names := [][2]string{{"Ada", "Byron"}, {"Alan", "Turing"}, {"Grace", "Hopper"}, {"Edsger", "Dijkstra"}, {"Barbara", "Liskov"}}
	write := func(of [][2]string, name func(given, family string) string, between string) string {
		var list []string
		for _, n := range of {
			list = append(list, name(n[0], n[1]))
		}
		return strings.Join(list, between)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := 2; n <= len(names); n++ {
		plain := parsePeople(nil, []string{write(names[:n], func(g, f string) string { return g + " " + f }, ", ")})
		r.Shuffle(n, func(i, j int) { names[i], names[j] = names[j], names[i] })
		for between, name := range map[string]func(g, f string) string{
			"; ":    func(g, f string) string { return f + ", " + g },
			" and ": func(g, f string) string { return f + ", " + g },
			" & ":   func(g, f string) string { return g + " " + f },
			", ":    func(g, f string) string { return f + " " + g[:1] },
			" | ":   func(g, f string) string { return g[:1] + ". " + f },
		} {
			text := write(names[:n], name, between)
			other := parsePeople(nil, []string{text})
			if len(other) != n || comparePeople(plain, other) != peopleAll && n == len(plain) && sameNames(plain, other) {
				t.Errorf("%q is read as %v, beside %v", text, other, plain)
			}
		}
	}
}

func sameNames(a, b people) bool {
	return !slices.ContainsFunc(a, func(c credit) bool {
		return !slices.ContainsFunc(b, func(d credit) bool { return c.family == d.family })
	})
}

func FuzzParsePeople(f *testing.F) {
	for _, s := range []string{"Smith, John and Jones, Mary", "J. Smith; M. Jones", "A & B feat. C", "&#225;;", ",,,", "et al", "\xff, \x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		list := parsePeople(nil, []string{raw})
		if len(list) > maxPeople {
			t.Fatalf("%d people", len(list))
		}
		if len(list) > 0 && comparePeople(list, list) < peopleOne {
			t.Fatalf("%q is not equal to itself: %v", raw, list)
		}
	})
}
