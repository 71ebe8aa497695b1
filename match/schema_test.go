// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

func TestKinds_AreWhatTheirFilesSay(t *testing.T) {
	t.Parallel()
	kinds := match.Kinds()
	for i, want := range []string{"place", "person", "product"} {
		if kinds[i].Kind != want {
			t.Errorf("kind %d is %s, want %s", i, kinds[i].Kind, want)
		}
		text, err := os.ReadFile(filepath.Join("kinds", want+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := match.ParseSchema(text)
		if err != nil {
			t.Fatal(err)
		}
		if s.Hash() != kinds[i].Hash() {
			t.Errorf("%s: the file is not the kind", want)
		}
	}
	kinds[0].Sources["crawl"] = match.Source{Trust: 0.4}
	if len(match.Place().Sources) > 0 {
		t.Error("a change of an answer changed the built-in kind")
	}
}

func TestSchema_YAMLIsReadBack(t *testing.T) {
	t.Parallel()
	s := match.Place()
	s.Attributes[1].Region, s.Attributes[1].HalfLife = "country", 365
	s.Sources["Chamber of Commerce: Bonn"] = match.Source{Trust: 0.9, Deduplicated: true, Attributes: map[string]float64{"phones": 1}}
	s.Sources["unsaid"] = match.Source{Trust: match.DefaultTrust}
	s.Weights = map[string]map[string]match.Weight{"address": {"same street, other number": -125}, "phone": {"equal": 700}}
	want := []string{
		"  phones: { type: phone, region: country, half_life: 365, many: true, aliases: [phone, telephone, ",
		"sources:\n  \"Chamber of Commerce: Bonn\": { trust: 0.9, attributes: { phones: 1 }, deduplicated: true }\nweights:\n",
		"  address: { \"same street, other number\": -1.25 }\n  phone: { equal: 7 }\n",
	}
	for _, part := range want {
		if !strings.Contains(string(s.YAML()), part) {
			t.Errorf("%s does not contain %s", s.YAML(), part)
		}
	}
	again, err := match.ParseSchema(s.YAML())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(s.YAML()), string(again.YAML())); diff != "" {
		t.Error(diff)
	}
}

// Two texts of one kind have the same hash; anything that affects results changes it.
func TestSchema_HashNamesTheKind(t *testing.T) {
	t.Parallel()
	const text = "kind: boat\nversion: 1\nattributes:\n  name: { type: name }\n  length: { type: number }\nsources: { a: { trust: 0.7 }, b: { trust: 0.2 } }\n"
	parse := func(text string) uint64 {
		t.Helper()
		s, err := match.ParseSchema([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s.Hash()
	}
	one := parse(text)
	for _, same := range []string{
		"version: 1\nkind: \"boat\"\n" + text[strings.Index(text, "attributes"):],
		strings.Replace(text, "{ a: { trust: 0.7 }, b: { trust: 0.2 } }", "{ b: { trust: 0.20 }, a: { trust: .7 }, c: { trust: 0.5 } }", 1),
		strings.Replace(text, "{ type: name }", "{ type: name, style: business, many: false }", 1),
	} {
		if parse(same) != one {
			t.Errorf("another hash:\n%s", same)
		}
	}
	for _, other := range []string{
		strings.Replace(text, "version: 1", "version: 2", 1),
		strings.Replace(text, "trust: 0.7", "trust: 0.71", 1),
		strings.Replace(text, "{ type: name }", "{ type: name, required: true }", 1),
		text + "weights: { number: { equal: 3 } }\n",
	} {
		if parse(other) == one {
			t.Errorf("the same hash:\n%s", other)
		}
	}
}

func TestParseSchema_SaysEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	attributes := "attributes:\n  name: { type: name }\n"
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{`kind: the text is empty: it begins with "kind: " and a name`}},
		{"no fields", "boat", []string{`line 1, kind: want fields with values such as "kind: name", not a value`}},
		{"no YAML", "kind: [", []string{"line 1, kind: did not find expected node content"}},
		{"two documents", "kind: a\n---\nkind: b\n", []string{"kind: the text has a second document: define one kind at a time"}},
		{
			"everything", "kind: Boat\nversion: x\nhull: 3\nattributes:\n  name: { type: nmae }\n  Länge: { type: number }\n  phone: { type: phone, region: contry, tpye: x }\n  country: { type: text }\n",
			[]string{
				`line 1, kind: want a name of a-z, 0-9 and _ that begins with a letter and has at most 64, not "Boat"`,
				`line 2, version: want a whole number, not "x"`,
				`line 3, hull: no such word: there are kind, version, attributes, sources, prior and weights`,
				`line 5, attributes.name.type: no such type "nmae": there are name, phone, address, geo, url, email, category, people, text, number, date, id; did you mean "name"?`,
				`line 6, attributes.Länge: want a name of a-z, 0-9 and _ that begins with a letter and has at most 64, not "Länge"`,
				`line 7, attributes.phone.region: there is no attribute "contry": name the one that holds the country; did you mean "country"?`,
				`line 7, attributes.phone.tpye: no such word: there are type, role, style, scope, region, half_life, many, required, tag, dimension and aliases; did you mean "type"?`,
			},
		},
		{
			"twice", "kind: boat\nversion: 1\nattributes:\n  name: { type: name }\n  name: { type: text }\n",
			[]string{"line 5, attributes.name: is given twice, first in line 4: remove one of the two"},
		},
		{
			"two names", "kind: boat\nversion: 1\n" + attributes + "  title: { type: name }\n",
			[]string{`line 5, attributes.title: "name" is the name already: a kind has one; declare other names as text`},
		},
		{
			"given names of a boat", "kind: boat\nversion: 1\n" + attributes + "  first: { type: name, role: given }\n",
			[]string{`line 5, attributes.first.role: only names of style person have the roles given and family: add "style: person"`},
		},
		{
			"roles", "kind: boat\nversion: 1\n" + attributes + "  a: { type: text, role: locality }\n  b: { type: text, role: locality }\n  c: { type: phone, role: region }\n  d: { type: geo, role: latitude }\n  e: { type: text, role: latitude }\n",
			[]string{
				`line 6, attributes.b.role: "a" is the locality already: a kind has one`,
				`line 7, attributes.c.role: an attribute of type phone has no role`,
				`line 8, attributes.d: latitude and longitude go together: declare both`,
				`line 9, attributes.e.role: no such role "latitude": there are locality, postcode, region, country, variant, note`,
			},
		},
		{
			"sources", "kind: boat\nversion: 1\n" + attributes + "sources:\n  a: { trust: 1.5 }\n  b: { trust: 0 }\n  c: { attributes: { nam: 0.5 } }\n  d: 3\n",
			[]string{
				"line 6, sources.a.trust: want a number above 0, up to 1",
				"line 7, sources.b.trust: want a number above 0, up to 1",
				`line 8, sources.c.attributes.nam: there is no such attribute; did you mean "name"?`,
				"line 9, sources.d: want fields with values, not a value",
			},
		},
		{
			"weights", "kind: boat\nversion: 1\n" + attributes + "weights:\n  phone: { equal: 70 }\n  phoney: { equal: 7 }\n  source: {}\n  email: { differents: 1 }\n",
			[]string{
				"line 6, weights.phone.equal: want bits from -20 to 20",
				`line 7, weights.phoney: no such line: there are name, name residual, phone, address, distance, postcode, city, region, category, web, email, id, date, number, text, people, size, colour, shared mailbox, variant; did you mean "phone"?`,
				`line 8, weights.source: no such line: there are name, name residual, phone, address, distance, postcode, city, region, category, web, email, id, date, number, text, people, size, colour, shared mailbox, variant`,
				`line 9, weights.email.differents: no such level: there are "equal", "alike", "different"; did you mean "different"?`,
			},
		},
		{
			"only for", "kind: boat\nversion: 1\n" + attributes + "  a: { type: text, style: person, scope: world, region: name, many: maybe }\n",
			[]string{
				`line 5, attributes.a.many: want true or false, not "maybe"`,
				"line 5, attributes.a.region: only an attribute of type phone has a region",
				"line 5, attributes.a.scope: only an attribute of type id has a scope",
				"line 5, attributes.a.style: only an attribute of type name has a style",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := match.ParseSchema([]byte(tt.text))
			var invalid *match.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("the error is %v", err)
			}
			var got []string
			for _, p := range invalid.Problems {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzParseSchema(f *testing.F) {
	for _, s := range match.Kinds() {
		f.Add(s.YAML())
	}
	f.Add([]byte("kind: a\nversion: 1\nattributes: {a: {type: id, scope: world}}\nsources: {\"x\\ny\": {trust: 1e-9}}\nweights: {id: {other: -1.005}}"))
	f.Add([]byte("a: &a [*a]\n? {}\n: <<\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := match.ParseSchema(text)
		if err != nil {
			var invalid *match.InvalidError
			if !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
				t.Fatalf("an error without problems: %v", err)
			}
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		again, err := match.ParseSchema(s.YAML())
		if err != nil {
			t.Fatalf("%v\n%s", err, s.YAML())
		}
		if !bytes.Equal(again.YAML(), s.YAML()) {
			t.Fatalf("%s becomes %s", s.YAML(), again.YAML())
		}
		match.New(s, nil).Normalise("a", "b", match.Attributes{})
	})
}
