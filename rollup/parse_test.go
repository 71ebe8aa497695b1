// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/rollup"
)

const pets = `
rollup: pets_by_tag
kind: animal
where:
  status: active
  species: [dog, cat, dog]
  weight_g: { min: 1, max: 2.50 }
  born: { max: 2026-11-20 }
  chip: { exists: true }
  owner: { not: { exists: true } }
group: tags
dimension: location
measures:
  pets: count
  weight: { sum: weight_g, scale: 2 }
  mean: { avg: weight_g }
  light: { min: weight_g }
  heavy: { top: weight_g, k: 3 }
  breeds: { distinct: breed }
`

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := rollup.Parse([]byte(pets))
	if err != nil {
		t.Fatal(err)
	}
	want := &rollup.Definition{
		Name: "pets_by_tag", Kind: "animal", Over: rollup.Entities,
		Where: []rollup.Condition{
			{Attribute: "born", Max: "2026-11-20"},
			{Attribute: "chip", Exists: true},
			{Attribute: "owner", Not: true, Exists: true},
			{Attribute: "species", Values: []string{"cat", "dog"}},
			{Attribute: "status", Values: []string{"active"}},
			{Attribute: "weight_g", Min: "1", Max: "2.50"},
		},
		Group: []string{"tags"}, Dimension: "location",
		Measures: []rollup.Measure{
			{Name: "breeds", Func: rollup.Distinct, Attribute: "breed"},
			{Name: "heavy", Func: rollup.Top, Attribute: "weight_g", K: 3},
			{Name: "light", Func: rollup.Min, Attribute: "weight_g"},
			{Name: "mean", Func: rollup.Avg, Attribute: "weight_g"},
			{Name: "pets", Func: rollup.Count},
			{Name: "weight", Func: rollup.Sum, Attribute: "weight_g", Scale: 2},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	text, err := json.Marshal(got)
	const stored = `{"rollup":"pets_by_tag","kind":"animal","over":"entities","where":{"born":{"max":"2026-11-20"},"chip":{"exists":true},` +
		`"owner":{"not":{"exists":true}},"species":["cat","dog"],"status":"active","weight_g":{"max":"2.50","min":"1"}},"group":["tags"],"dimension":"location",` +
		`"measures":{"breeds":{"distinct":"breed"},"heavy":{"k":3,"top":"weight_g"},"light":{"min":"weight_g"},"mean":{"avg":"weight_g"},"pets":"count","weight":{"scale":2,"sum":"weight_g"}}}`
	if err != nil || string(text) != stored {
		t.Errorf("as JSON it is\n%s, %v\nwant, frozen since it is stored,\n%s", text, err, stored)
	}
}

func TestParse_YAMLAndJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"words": {"rollup: a\nkind: k\ngroup: g\n",
			`{"rollup":"a","kind":"k","group":["g"],"measures":{"count":"count"},"over":"entities"}`},
		"numbers": {"rollup: a\nkind: k\ngroup: g\nwhere: {n: 7, m: {min: 1}}\n",
			`{"rollup":"a","kind":"k","group":"g","where":{"m":{"min":1},"n":["7"]}}`},
		"truth": {"rollup: a\nkind: k\ngroup: g\nwhere: {n: true}\n",
			`{"rollup":"a","kind":"k","group":"g","where":{"n":true}}`},
		"surrogates": {"rollup: a\nkind: k\ngroup: g\nwhere: {n: \"🐈\"}\n",
			`{"rollup":"a","kind":"k","group":"g","where":{"n":"\ud83d\uDC08"}}`},
		"no pair": {"rollup: a\nkind: k\ngroup: g\nwhere: {n: '\\ud83d\\udc08'}\n",
			`{"rollup":"a","kind":"k","group":"g","where":{"n":"\\ud83d\\udc08"}}`},
		"line breaks": {"rollup: a\nkind: k\ngroup: g\nwhere: {n: \"a\\N\\L\\x7fb\"}\n",
			"{\"rollup\":\"a\",\"kind\":\"k\",\"group\":\"g\",\"where\":{\"n\":\"a\u0085\u2028\x7fb\"}}"},
		"slashes": {"rollup: a\nkind: k\ngroup: g\nwhere: {n: a/b<c}\n",
			"{\"rollup\":\"a\",\"kind\":\"k\",\n\t\"group\":\"g\",\"where\":{\"n\":\"a\\/b\\u003cc\"}}"},
		"nothing": {"rollup: a\nkind: k\ngroup: g\nwhere: {n: ''}\n",
			`{"rollup":"a","kind":"k","group":"g","where":{"n":[""]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, errA := rollup.Parse([]byte(c[0]))
			b, errB := rollup.Parse([]byte(c[1]))
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if diff := cmp.Diff(a, b); diff != "" || !a.Equal(*b) {
				t.Errorf("-YAML +JSON:\n%s", diff)
			}
		})
	}
}

func TestParse_SaysAllThatIsWrong(t *testing.T) {
	t.Parallel()
	const head = "rollup: a\nkind: k\ngroup: g\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":        {"", []string{`rollup: the text is empty: it begins with "rollup: " and a name`}},
		"only a comment": {"# a\n", []string{`rollup: the text is empty: it begins with "rollup: " and a name`}},
		"no YAML":        {"rollup: a\nkind: [", []string{"line 2, rollup: did not find expected node content"}},
		"too long":       {strings.Repeat("#", 70000), []string{"rollup: the text has 70000 bytes, 65536 are allowed"}},
		"two documents": {head + "---\n" + head,
			[]string{"rollup: the text has a second document: define one rollup at a time"}},
		"a broken second one": {head + "---\n[",
			[]string{"rollup: the text has a second document: define one rollup at a time"}},
		"a list": {"[a]",
			[]string{`line 1, rollup: want fields with values such as "rollup: name", not a list`}},
		"an unknown field": {head + "mode: sync\n",
			[]string{"line 4, mode: no such word: there are rollup, kind, over, where, group, dimension, measures and store"}},
		"a field twice": {head + "kind: b\n",
			[]string{"line 4, kind: is given twice, first in line 2: remove one of the two"}},
		"a merge key": {head + "<<: {}\n", []string{"line 4, rollup: want the name of a field, not a value"}},
		"an alias": {"rollup: &a b\nkind: *a\ngroup: g\n",
			[]string{"line 2, kind: want one value, not an alias"}},
		"nothing for a value": {"rollup: a\nkind:\ngroup: g\n", []string{"line 2, kind: want one value, not nothing"}},
		"a condition of none": {head + "where: { a: }\n", []string{"line 4, where.a: want one value, not nothing"}},
		"an empty list": {head + "where: { a: [] }\n",
			[]string{"line 4, where.a: want a value, a list of them, or min, max, exists, not"}},
		"an unknown word": {head + "where:\n  a: { like: b }\n",
			[]string{"line 5, where.a.like: no such word: there are min, max, exists and not"}},
		"exists beside others": {head + "where: { a: { exists: true, min: 1 } }\n",
			[]string{"line 4, where.a: not and exists cannot be combined; give other attributes fields of their own"}},
		"exists maybe": {head + "where: { a: { exists: maybe } }\n",
			[]string{`line 4, where.a.exists: want true or false, not "maybe"`}},
		"not not": {head + "where: { a: { not: { not: b } } }\n",
			[]string{"line 4, where.a.not: not takes one condition, and cannot be nested"}},
		"a scale of words": {head + "measures: { m: { sum: a, scale: two } }\n",
			[]string{`line 4, measures.m.scale: want a whole number, not "two"`}},
		"two functions": {head + "measures: { m: { sum: a, avg: b } }\n",
			[]string{"line 4, measures.m.avg: a measure has one function; this one has sum"}},
		"count of something": {head + "measures: { m: { count: a } }\n",
			[]string{"line 4, measures.m.count: no such word: there are sum, avg, min, max, top, distinct, scale and k"}},
		"everything at once": {
			"rollup: A\ngroup: [a, a, b, c]\ndimension: a\nwhere:\n  a.b: x\n  n: { min: one }\n  o: { min: 1, max: 2026-11-20 }\n  p: {}\n" +
				"measures:\n  M: count\n  s: { sum: a, scale: 10 }\n  t: { top: a }\n  u: { sum: a, k: 2 }\n  v: total\n  d: { distinct: a, scale: 1 }\n",
			[]string{
				"line 1, rollup: want a name of a-z, 0-9, _ and -, at most 63, that begins with a letter",
				"kind: want the kind of the things",
				"line 2, group: want 1 to 3 attributes",
				"line 2, group: attribute a is given twice",
				"line 3, dimension: attribute a is already a grouping attribute",
				`line 5, where.a.b: "a.b" is no name of an attribute`,
				`line 6, where.n: "one" is neither a decimal number nor a date like 2026-11-20`,
				"line 7, where.o: min and max are both numbers or both dates",
				"line 8, where.p: want one of: a value or a list of them, min and max, exists",
				"line 10, measures.M: want a name of a-z, 0-9 and _, at most 64, that begins with a letter",
				"line 11, measures.s.scale: want 0 to 9 digits after the point, of numbers only; sums of floats would depend on their order",
				"line 12, measures.t.k: want 1 to 100, for top only",
				"line 13, measures.u.k: want 1 to 100, for top only",
				"line 14, measures.v: want count, or sum, avg, min, max, top or distinct with an attribute",
				"line 15, measures.d.scale: want 0 to 9 digits after the point, of numbers only; sums of floats would depend on their order",
			},
		},
		"over": {head + "over: all\n", []string{"line 4, over: want entities or records"}},
		"outcome": {"rollup: a\nkind: k\ngroup: outcome\n",
			[]string{"line 3, group: only records have an outcome; say over: records"}},
		"sources": {head + "dimension: source\n",
			[]string{"line 4, dimension: attribute source has many values; a dimension divides a group, so it has one"}},
		"too long as JSON": {
			head + "where: { a: [" + many(200, strings.Repeat("<", 100)) + "] }\n",
			[]string{"rollup: as JSON the definition has 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rollup.Parse([]byte(c.text))
			invalid, ok := errors.AsType[*rollup.InvalidError](err)
			if !ok {
				t.Fatalf("the error is %v", err)
			}
			var got []string
			for _, p := range invalid.Problems {
				got = append(got, p.String())
			}
			if name == "too long as JSON" {
				got[0] = got[0][strings.Index(got[0], "rollup"):]
				got[0] = got[0][:len(c.want[0])]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// many returns a list of n different values.
func many(n int, value string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("'%d%s'", i, value)
	}
	return strings.Join(list, ",")
}

func TestDefinition_Check(t *testing.T) {
	t.Parallel()
	kind := rollup.Kind{Name: "animal", Many: map[string]bool{"tags": true, "city": false}}
	d := rollup.Definition{Name: "a", Kind: "animal", Group: []string{"tags"}, Dimension: "city"}
	whole, err := d.Check(kind)
	if err != nil || whole.Over != rollup.Entities || len(whole.Measures) != 1 {
		t.Errorf("Check = %+v, %v", whole, err)
	}
	if !whole.Equal(d) {
		t.Error("a definition is another one with its defaults")
	}
	d = rollup.Definition{
		Name: "a", Kind: "plant", Group: []string{"city", "color"}, Dimension: "tags",
		Where: []rollup.Condition{{Attribute: "city", Values: []string{"\xff"}},
			{Attribute: "city", Exists: true, Absent: true}},
		Measures: []rollup.Measure{{Name: "a", Func: rollup.Count, Attribute: "city"},
			{Name: "a", Func: rollup.Sum, Attribute: "size"}},
	}
	_, err = d.Check(kind)
	invalid, ok := errors.AsType[*rollup.InvalidError](err)
	if !ok {
		t.Fatalf("Check: %v", err)
	}
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, p.String())
	}
	want := []string{
		"kind: this installation has things of kind animal",
		"group: kind animal has no attribute color",
		"dimension: attribute tags has many values; a dimension divides a group, so it has one",
		"where.city: a value is not UTF-8",
		"where.city: an attribute has one condition",
		"where.city: want one of: a value or a list of them, min and max, exists",
		"measures.a: a count has no attribute",
		"measures.a: the measure is given twice",
		"measures.a.sum: kind animal has no attribute size",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// drawDefinition draws any valid definition.
func drawDefinition(t *rapid.T, attributes []string, values *rapid.Generator[string]) rollup.Definition {
	attribute := rapid.SampledFrom(attributes)
	list := func(name string, least, most int) []string {
		return rapid.SliceOfNDistinct(attribute, least, most, rapid.ID[string]).Draw(t, name)
	}
	d := rollup.Definition{Name: "drawn", Kind: rapid.SampledFrom([]string{"animal", "k"}).Draw(t, "kind"),
		Over: rollup.Entities}
	if rapid.Bool().Draw(t, "records") {
		d.Over = rollup.Records
	}
	funcs := []rollup.Func{rollup.Count, rollup.Sum, rollup.Avg, rollup.Min, rollup.Max, rollup.Top, rollup.Distinct}
	if rapid.Bool().Draw(t, "apart") {
		d.Store, funcs = rollup.InMongoDB, funcs[:3]
	}
	d.Group = list("group", 1, 3)
	if dimension := attribute.Draw(t, "dimension"); !slices.Contains(d.Group, dimension) && (dimension != "source" || d.Over == rollup.Records) {
		d.Dimension = dimension
	}
	bound := rapid.SampledFrom([]string{"", "0", "-1.5", "2", "007.10"})
	for i, name := range list("where", 0, 3) {
		c := rollup.Condition{Attribute: name, Not: rapid.Bool().Draw(t, "not")}
		switch rapid.IntRange(0, 3).Draw(t, fmt.Sprint("condition", i)) {
		case 0:
			c.Values = rapid.SliceOfN(values, 1, 3).Draw(t, "values")
		case 1:
			c.Min, c.Max = bound.Draw(t, "min"), bound.Draw(t, "max")
			if c.Min+c.Max == "" {
				c.Min = "2026-11-20"
			}
		case 2:
			c.Exists = true
		default:
			c.Absent = true
		}
		d.Where = append(d.Where, c)
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "measures") {
		m := rollup.Measure{Name: fmt.Sprint("m", i), Func: rapid.SampledFrom(funcs).Draw(t, "func")}
		if m.Func != rollup.Count {
			m.Attribute = attribute.Draw(t, "measured")
		}
		if m.Func != rollup.Count && m.Func != rollup.Distinct {
			m.Scale = rapid.IntRange(0, 2).Draw(t, "scale")
		}
		if m.Func == rollup.Top {
			m.K = rapid.IntRange(1, 3).Draw(t, "k")
		}
		d.Measures = append(d.Measures, m)
	}
	kind := rollup.Kind{Name: d.Kind, Many: map[string]bool{}}
	for _, name := range attributes {
		kind.Many[name] = false
	}
	d, err := d.Check(kind)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDefinition_SurvivesJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawDefinition(t, []string{"a", "b", "city", "source2", "tags", "x_1"}, rapid.String())
		text, err := json.Marshal(rollup.Version{Definition: want})
		if err != nil {
			t.Fatal(err)
		}
		var got rollup.Version
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if !want.Equal(got.Definition) {
			t.Fatalf("%s became %+v", text, got.Definition)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(pets))
	f.Add([]byte(`{"rollup":"a","kind":"k","group":["g"],"where":{"n":["\ud83d\udc08","a"]},"measures":{"n":{"top":"w","k":2,"scale":1}}}`))
	f.Add([]byte("rollup: a\nkind: \"\\x7f\"\ngroup: [g]\nwhere: {a: {not: [x, '']}, b: {exists: false}}"))
	f.Add([]byte("a: &b [*b]\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := rollup.Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*rollup.InvalidError](err); !ok {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		stored, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		again, err := rollup.Parse(stored)
		if err != nil || !again.Equal(*d) {
			t.Fatalf("%s\nis stored as\n%s, which is %+v, %v", text, stored, again, err)
		}
	})
}
