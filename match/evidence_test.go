// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

// TestEvidence shows sizes, colours, legal forms and names in two scripts in an explanation, with the values.
func TestEvidence(t *testing.T) {
	t.Parallel()
	part, err := match.ParseSchema([]byte("kind: part\nversion: 1\nattributes:\n  name: { type: name, style: title }\n  volume: { type: number }\n"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]*match.Schema{"part": part, "place": match.Place(), "person": match.Person(), "product": match.Product()}
	for _, c := range []struct {
		kind string
		a, b match.Attributes
		want []string // lines that the explanation has, with their values
		none string   // a line that it does not have
	}{
		{"product", title("Olive oil 500ml"), title("Olive oil 0,5 l"), []string{"size: equal [500ml] [500ml]"}, ""},
		{"product", title("Olive oil 500ml"), title("Olive oil 0.75 l"), []string{"size: different [500ml] [750ml]"}, "title residual"},
		{"product", title("Chair, black"), title("Chair schwarz"), []string{"colour: equal [black] [schwarz]"}, ""},
		{"product", title("Chair, black"), title("Chair silver"), []string{"colour: different [black] [silver]", "title residual: nothing is left over [] []"}, ""},
		{"product", title("Black Chair"), title("Chair"), nil, "colour"},
		{"part", match.Attributes{"name": {"x"}, "volume": {"0.5 l"}}, match.Attributes{"name": {"y"}, "volume": {"500 ml"}}, []string{"number: equal [0.5 l] [500 ml]"}, ""},
		{"part", match.Attributes{"name": {"x"}, "volume": {"0.5"}}, match.Attributes{"name": {"y"}, "volume": {"500 ml"}}, []string{"number: far apart [0.5] [500 ml]"}, ""},
		{"place", called("Acme GmbH"), called("Acme Gesellschaft mit beschränkter Haftung"), []string{"name residual: nothing is left over [gmbh] [gmbh]"}, ""},
		{"place", called("Acme GmbH"), called("Acme AG"), []string{"name residual: legal forms differ [gmbh] [ag]"}, ""},
		{"place", called("Acme GmbH"), called("Acme Ltd"), []string{"name residual: nothing is left over [gmbh] [ltd]"}, ""},
		{"place", called("Acme Inc"), called("Acme LLC"), []string{"name residual: nothing is left over [inc] [llc]"}, ""},
		{"place", called("Ресторан Чайковский"), called("Restoran Tchaikovsky"), []string{"name: alike [Ресторан Чайковский] [Restoran Tchaikovsky]"}, ""},
		{"place", called("Ромашка"), called("Chamomile"), nil, "name"},
		{"place", called("Ромашка"), called("Берёзка"), []string{"name: different [Ромашка] [Берёзка]"}, ""},
		{"place", match.Attributes{"city": {"Москва"}}, match.Attributes{"city": {"Moscow"}}, nil, "city"},
		{"place", match.Attributes{"city": {"Самара"}}, match.Attributes{"city": {"Samara"}}, []string{"city: equal [Самара] [Samara]"}, ""},
		{"place", match.Attributes{"address": {"ул. Ленина 5"}}, match.Attributes{"address": {"ul. Lenina, 5"}}, []string{"address: street and number equal [ул. Ленина 5] [ul. Lenina, 5]"}, ""},
		{"place", match.Attributes{"address": {"Красная площадь 5"}}, match.Attributes{"address": {"Red Square 77"}}, nil, "address"},
		{"person", person("Γεώργιος", "Παπαδόπουλος"), person("Georgios", "Papadopoulos"), []string{"given name: equal [Γεώργιος] [Georgios]"}, ""},
	} {
		t.Run(fmt.Sprint(c.a, c.b), func(t *testing.T) {
			t.Parallel()
			m := match.New(kinds[c.kind], nil)
			a, b := m.Normalise("s", "1", c.a), m.Normalise("s", "2", c.b)
			e := m.Explain(a, b, m.Thorough().Compare(a, b))
			var lines []string
			for _, l := range e.Lines {
				lines = append(lines, fmt.Sprintf("%s: %s %v %v", l.Attribute, l.Level, l.A, l.B))
				if l.Attribute == c.none {
					t.Errorf("there is %s: %s", l.Attribute, l.Level)
				}
			}
			for _, want := range c.want {
				if !strings.Contains("\n"+strings.Join(lines, "\n")+"\n", "\n"+want+"\n") {
					t.Errorf("no line %q:\n%s", want, strings.Join(lines, "\n"))
				}
			}
			if back := m.Thorough().Compare(b, a); back != m.Thorough().Compare(a, b) {
				t.Error(cmp.Diff(e, m.Explain(b, a, back)))
			}
		})
	}
}

// TestEvidence_Hidden hides the words of sizes, colours and legal forms with the names that they come from.
func TestEvidence_Hidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   *match.Schema
		hidden string
		a, b   match.Attributes
	}{
		{match.Product(), "title", title("Chair, black, 5 kg"), title("Chair, white, 6 kg")},
		{match.Place(), "name", called("Acme GmbH"), called("Acme AG")},
	} {
		m := match.New(c.kind, nil)
		a, b := m.Normalise("s", "1", c.a), m.Normalise("s", "2", c.b)
		e := c.kind.Hiding(m.Explain(a, b, m.Compare(a, b)), func(name string) bool { return name == c.hidden })
		if len(e.Lines) < 2 {
			t.Errorf("%+v", e)
		}
		for _, l := range e.Lines {
			if len(l.A)+len(l.B) > 0 {
				t.Errorf("%s shows %v, %v", l.Attribute, l.A, l.B)
			}
		}
	}
}

func title(text string) match.Attributes { return match.Attributes{"title": {text}} }

func called(name string) match.Attributes { return match.Attributes{"name": {name}} }

func person(given, family string) match.Attributes {
	return match.Attributes{"given_name": {given}, "family_name": {family}}
}
