// SPDX-License-Identifier: Apache-2.0

package definition_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/definition"
	"github.com/locus-db/locus/internal/problem"
)

// thing has a field of every form.
type thing struct {
	Text   string
	List   []string
	Whole  int
	Number float64
	Truth  bool
	Inner  map[string]string
}

func read(text string) (*definition.Reader, thing) {
	r, all := definition.Read("thing", 200, []byte(text))
	var t thing
	all.Fields(
		definition.Text("text", &t.Text),
		definition.List("list", &t.List),
		definition.Whole("whole", &t.Whole),
		definition.Custom("number", func(v definition.Value) { t.Number = v.Number() }),
		definition.Truth("truth", &t.Truth),
		definition.Custom("inner", func(v definition.Value) {
			t.Inner = map[string]string{}
			v.Each(func(name string, v definition.Value) { t.Inner[name] = v.Text() })
		}),
	)
	return r, t
}

func TestRead(t *testing.T) {
	t.Parallel()
	want := thing{"a b", []string{"c", "010"}, 7, 0.5, true, map[string]string{"k": "v", "<<": "w"}}
	for name, text := range map[string]string{
		"YAML": "text: a b\nlist: [c, 010]\nwhole: 7\nnumber: 0.5\ntruth: true\ninner:\n  k: v\n  \"<<\": w\n",
		"JSON": `{"text":"a b","list":["c","010"],"whole":7,"number":5e-1,"truth":true,"inner":{"k":"v","<<":"w"}}`,
	} {
		r, got := read(text)
		if len(r.Problems) > 0 || r.Broken() || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, problems %v", name, got, r.Problems)
		}
	}
	if r, got := read("list: c"); len(r.Problems) > 0 || len(got.List) != 1 {
		t.Errorf("one value is a list of one: %v, %v", got.List, r.Problems)
	}
}

func TestRead_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       `thing: the text is empty: it begins with "thing: " and a name`,
		"# nothing":              `thing: the text is empty: it begins with "thing: " and a name`,
		strings.Repeat("a", 201): "thing: the text has 201 bytes, 200 are allowed",
		"text: [":                "line 1, thing: did not find expected node content",
		"text: a\n---\ntext: b":  "thing: the text has a second document: define one thing at a time",
		"- text":                 `line 1, thing: want fields with values such as "thing: name", not a list`,
		"text: a\n<<: {}":        "line 2, thing: want the name of a field, not a value",
		"? [a]\n: b":             "line 1, thing: want the name of a field, not a list",
		"text: a\ntext: b":       "line 2, text: is given twice, first in line 1: remove one of the two",
		"text:":                  "line 1, text: want one value, not nothing",
		"text: &a b\nlist: *a":   "line 2, list: want one value, not an alias",
		"list: [a, {b: c}]":      "line 1, list: want one value, not fields",
		"whole: 1.5":             `line 1, whole: want a whole number, not "1.5"`,
		"whole: []":              "line 1, whole: want one value, not a list",
		"number: .inf":           `line 1, number: want a number, not ".inf"`,
		"number: NaN":            `line 1, number: want a number, not "NaN"`,
		"truth: yes":             `line 1, truth: want true or false, not "yes"`,
		"inner: 3":               "line 1, inner: want fields with values, not a value",
		"inner:\n  k: a\n  k: b": "line 3, inner.k: is given twice, first in line 2: remove one of the two",
		"wole: 1":                `line 1, wole: no such word: there are text, list, whole, number, truth and inner; did you mean "whole"?`,
		"something: 1":           "line 1, something: no such word: there are text, list, whole, number, truth and inner",
		strings.Repeat("long", 20) + ":": "line 1, " + strings.Repeat("long",
			15) + "…: no such word: there are text, list, whole, number, truth and inner",
	} {
		r, _ := read(text)
		if got := problem.Join(r.Problems); got != want {
			t.Errorf("%.40q: %s\nwant %s", text, got, want)
		}
	}
}

func TestReader_KnowsWhereFieldsStand(t *testing.T) {
	t.Parallel()
	r, _ := read("text: a\ninner:\n  k: v\nwhole: x\n")
	for field, want := range map[string]int{"/text": 1, "/inner": 2, "/inner/k": 3, "/inner/k/below": 3, "/inner/l": 2, "/other": 0, "": 0} {
		if got := r.Line(field); got != want {
			t.Errorf("%s stands in line %d, want %d", field, got, want)
		}
	}
	if !r.Failed("/whole") || r.Failed("/text") {
		t.Errorf("problems %v, yet whole failed %t, text %t", r.Problems, r.Failed("/whole"), r.Failed("/text"))
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"name", "names", "postcode", "phone"}
	for word, want := range map[string]string{
		"name": "name", "Name": "name", "nmae": "name", "post_code": "postcode", "fone": "phone", "": "", "address": "",
		"phonenumber": "",
	} {
		if got := definition.Nearest(word, words); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// Any text is read or refused, and JSON keeps its meaning.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"text: a", "{\"text\": \"\\ud83d\\ude00 \\/\"}", "inner: {a: &b c, d: *b}", "a: [", "? a", "\x00", "text: \"\u2028\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, got := read(text)
		if r.Broken() && len(r.Problems) == 0 {
			t.Fatal("broken, and nothing is wrong")
		}
		var whole map[string]any
		if len(r.Problems) > 0 || json.Unmarshal([]byte(text), &whole) != nil {
			return
		}
		if s, ok := whole["text"].(string); ok && s != got.Text {
			t.Fatalf("read %q, JSON says %q", got.Text, s)
		}
	})
}
