// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/match"
)

func schemaOf(t *testing.T, kind string) *match.Schema {
	t.Helper()
	for _, s := range match.Kinds() {
		if s.Kind == kind {
			return s
		}
	}
	t.Fatalf("no kind %s", kind)
	return nil
}

func TestGolden_Kinds(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"person", "product"} {
		m := match.New(schemaOf(t, kind), nil)
		golden(t, kind+".golden", func(line string) (string, error) {
			var p struct {
				A       map[string]string `json:"a"`
				B       map[string]string `json:"b"`
				Outcome match.Outcome     `json:"outcome"`
				Bits    match.Weight      `json:"match_weight"`
				Lines   []string          `json:"lines"`
			}
			var in struct{ A, B map[string]string }
			if err := json.Unmarshal([]byte(line), &in); err != nil {
				return "", err
			}
			p.A, p.B = in.A, in.B
			a, b := m.Normalise("s", "a", split(p.A)), m.Normalise("s", "b", split(p.B))
			e := m.Explain(a, b, m.Compare(a, b))
			p.Outcome, p.Bits, p.Lines = e.Outcome, e.Weight, []string{}
			for _, l := range e.Lines {
				p.Lines = append(p.Lines, fmt.Sprintf("%s %s: %s", l.Weight, l.Attribute, l.Level))
			}
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			err := enc.Encode(p)
			return strings.TrimRight(out.String(), "\n"), err
		})
	}
}

func TestGolden_KeyHashesOfKindsAreFrozen(t *testing.T) {
	t.Parallel()
	golden(t, "keys_kinds.golden", func(line string) (string, error) {
		var p struct {
			Kind     string            `json:"kind"`
			Record   map[string]string `json:"record"`
			Features []string          `json:"blocking_keys"`
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return "", err
		}
		r := match.New(schemaOf(t, p.Kind), nil).Normalise("s", "k", split(p.Record))
		p.Features = []string{}
		for _, f := range r.BlockingKeys() {
			kind, text, ok := r.BlockingKey(f.Hash)
			if !ok || kind != f.Kind {
				return "", fmt.Errorf("blocking key %016x is not explained", f.Hash)
			}
			p.Features = append(p.Features, fmt.Sprintf("%016x %s: %s", f.Hash, kind, text))
		}
		out, err := json.Marshal(p)
		return string(out), err
	})
}

func TestNormaliseValue_DatesAndNumbers(t *testing.T) {
	t.Parallel()
	s, err := match.ParseSchema([]byte("kind: x\nversion: 1\nattributes: {name: {type: name}, d: {type: date}, n: {type: number}, i: {type: id, scope: world}}"))
	if err != nil {
		t.Fatal(err)
	}
	m := match.New(s, nil)
	for _, tt := range []struct{ attribute, raw, want string }{
		{"d", "1969-07-20", "1969-07-20"},
		{"d", "1969-07-20T20:17:40Z", "1969-07-20"},
		{"d", "19690720", "1969-07-20"},
		{"d", "20.7.1969", "1969-07-20"},
		{"d", "7/20/1969", "1969-07-20"},
		{"d", "20/7/1969", "1969-07-20"},
		{"d", "7/8/1969", "1969-07-08"},
		{"d", "8.7.1969", "1969-07-08"},
		{"d", "20 July 1969", "1969-07-20"},
		{"d", "July 20th, 1969", "1969-07-20"},
		{"d", "1969-07", "1969-07"},
		{"d", "07/1969", "1969-07"},
		{"d", "Juli 1969", "1969-07"},
		{"d", "July 1969", "1969-07"},
		{"d", "1969", "1969"},
		{"d", "20.7.69", "1969-07-20"},
		{"d", "7/20/69", "1969-07-20"},
		{"d", "7/8/04", "2004-07-08"},
		{"d", "8.7.30", "1930-07-08"},
		{"d", "69-07-20", "1969-07-20"},
		{"d", "20 July 69", "1969-07-20"},
		{"d", "Sun, 20 Jul 1969, 8 pm", "1969-07-20"},
		{"d", "Sunday, July 20, 1969", "1969-07-20"},
		{"d", "mardi 20 mai 1969", "1969-05-20"},
		{"d", "Sonntag, 20. Juli 1969 um 20:17 Uhr", "1969-07-20"},
		{"d", "20 July 1969 or so", ""},
		{"d", "Apollo, 20 July 1969", ""},
		{"d", "Jul 20, '69", "1969-07-20"},
		{"d", "01/01/70", ""},
		{"d", "12-34-56", ""},
		{"d", "10:30:15", ""},
		{"d", "1.2.3", ""},
		{"d", "07/69", ""},
		{"d", "July 69", ""},
		{"d", "69", ""},
		{"d", "soon", ""},
		{"d", "1900-01-01", ""},
		{"d", "1970-01-01", ""},
		{"d", "0000-00-00", ""},
		{"d", "", ""},
		{"d", "31.13.1969", "1969-13-31"},
		{"n", "12", "12"},
		{"n", "$1,299.00", "1299"},
		{"n", "1.299,50 EUR", "1299.5"},
		{"n", "1,299", "1299"},
		{"n", "12,5", "12.5"},
		{"n", "-3.5", "-3.5"},
		{"n", "1.234.567", "1234567"},
		{"n", "19 in", "19"},
		{"n", "9.0%", "9"},
		{"n", "3:41", "221"},
		{"n", "0:03:41", "221"},
		{"n", "1:02:03", "3723"},
		{"n", "16:9", "16"},
		{"n", "3:75", "3"},
		{"n", "1:02:03:04", "1"},
		{"n", "none", ""},
		{"n", "", ""},
		{"i", "FR-9000 ", "fr9000"},
		{"i", "0012345678905", "12345678905"},
		{"i", "000000", ""},
		{"i", "n/a", ""},
		{"i", "999 999", ""},
	} {
		if got := m.NormaliseValue(tt.attribute, tt.raw); got != tt.want {
			t.Errorf("%s %q is %q, want %q", tt.attribute, tt.raw, got, tt.want)
		}
	}
}

// An override changes the weight, and the explanation shows it with the default.
func TestBits_OfAKindAreExplained(t *testing.T) {
	t.Parallel()
	s := match.Place()
	s.Weights = map[string]map[string]match.Weight{"phone": {"equal": 700}}
	pair := func(m *match.Matcher) (*match.Record, *match.Record) {
		return m.Normalise("s", "a", match.Attributes{"name": {"Joes Pizza"}, "phones": {"415-555-2300"}}),
			m.Normalise("s", "b", match.Attributes{"name": {"Joes Pizza"}, "phones": {"4155552300"}})
	}
	plain, own := match.New(match.Place(), nil), match.New(s, nil)
	a, b := pair(plain)
	x, y := pair(own)
	if before, after := plain.Sum(plain.Compare(a, b)), own.Sum(own.Compare(x, y)); before-after != 200 {
		t.Errorf("%v became %v", before, after)
	}
	e := own.Explain(x, y, own.Compare(x, y))
	i := slices.IndexFunc(e.Lines, func(l match.Line) bool { return l.Attribute == "phone" })
	if l := e.Lines[i]; l.Weight != 700 || l.DefaultWeight == nil || *l.DefaultWeight != 900 {
		t.Errorf("%+v", l)
	}
	for j, l := range e.Lines {
		if j != i && l.DefaultWeight != nil {
			t.Errorf("%s has a default: %v", l.Attribute, *l.DefaultWeight)
		}
	}
}

// Two kinds share no blocking keys, even for equal words.
func TestKeys_OfKindsDoNotMeet(t *testing.T) {
	t.Parallel()
	a := match.Attributes{"name": {"John Smith"}, "phones": {"415-555-2300"}, "emails": {"x@example.org"}, "vendor_id": {"7"}}
	place := match.New(match.Place(), nil).Normalise("s", "k", a).BlockingKeys()
	person := match.New(match.Person(), nil).Normalise("s", "k", a).BlockingKeys()
	if len(place) == 0 || len(person) == 0 {
		t.Fatal("no blocking keys")
	}
	for _, f := range person {
		if slices.ContainsFunc(place, func(g match.BlockingKey) bool { return g.Hash == f.Hash }) {
			t.Errorf("%s is a blocking key of both", f.Kind)
		}
	}
}

// All kinds obey the laws of a comparison: it is canonical, and its explanation sums to its weight.
func TestCompare_LawsOfKinds(t *testing.T) {
	t.Parallel()
	values := []string{"John", "Jon Smith", "Smith, Mary", "Sony DSC-W55", "500 GB drive", "1969-07-20", "20.7.1969", "12", "$12.50", "x@example.org", "", "n/a", "Ünï", "日本"}
	for _, s := range match.Kinds() {
		m := match.New(s, nil)
		rapid.Check(t, func(t *rapid.T) {
			record := func(key string) *match.Record {
				a := match.Attributes{}
				for _, attribute := range s.Attributes {
					if v := rapid.SampledFrom(values).Draw(t, attribute.Name); v != "" {
						a[attribute.Name] = []string{v}
					}
				}
				return m.Normalise("s", key, a)
			}
			a, b := record("a"), record("b")
			v := m.Compare(a, b)
			if w := m.Compare(b, a); v != w {
				t.Fatalf("%x one way, %x the other", v, w)
			}
			var sum match.Weight
			e := m.Explain(a, b, v)
			for _, l := range e.Lines {
				sum += l.Weight
			}
			if sum != e.Weight && e.Weight > -20000 {
				t.Fatalf("lines sum to %v, the score is %v", sum, e.Weight)
			}
		})
	}
}
