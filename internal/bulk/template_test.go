// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/bulk"
)

// people reads a text to its end and returns the values of each row's name, or the rejection, and the alternatives that
// the reader reports before the first row and at the end.
func people(t *testing.T, text string, format bulk.Format, columns bulk.Columns) (names []string, first, last []bulk.Alternative, err error) {
	t.Helper()
	columns.Source, columns.Attributes, columns.Many = "x", []string{"name", "city", "phones"}, []string{"phones"}
	r, err := bulk.Open(bulk.Stdin, strings.NewReader(text), format, &columns)
	if err != nil {
		return nil, nil, nil, err
	}
	defer r.Close()
	first = slices.Clone(r.Alternatives())
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names, first, r.Alternatives(), nil
		}
		if refused, ok := errors.AsType[*bulk.RowError](err); ok {
			names = append(names, refused.Error())
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprintf("%q", row.Attributes["name"]))
	}
}

func TestTemplate_ComposesOneValue(t *testing.T) {
	t.Parallel()
	const both = "{first} {last}"
	for name, c := range map[string]struct {
		template string
		csv      []string // first, middle, last
		want     string
	}{
		"two":                  {both, []string{"Anna", "", "Schmidt"}, `["Anna Schmidt"]`},
		"the first is empty":   {both, []string{"", "", "Schmidt"}, `["Schmidt"]`},
		"the last is empty":    {both, []string{"Anna", "", ""}, `["Anna"]`},
		"all are":              {both, []string{"", "", ""}, `[]`},
		"blanks are nothing":   {both, []string{"  ", "", " Schmidt "}, `["Schmidt"]`},
		"one in the middle":    {"{first} {middle} {last}", []string{"Anna", "", "Schmidt"}, `["Anna Schmidt"]`},
		"three":                {"{first} {middle} {last}", []string{"Anna", "B.", "Schmidt"}, `["Anna B. Schmidt"]`},
		"text between":         {"{last}, {first} {middle}", []string{"Anna", "B.", "Schmidt"}, `["Schmidt, Anna B."]`},
		"text before an empty": {"{last}, {first}", []string{"", "", "Schmidt"}, `["Schmidt"]`},
		"text after an empty":  {"{last}, {first}", []string{"Anna", "", ""}, `["Anna"]`},
		"text around":          {"Dr. {last} ({first})", []string{"Anna", "", "Schmidt"}, `["Dr. Schmidt (Anna)"]`},
		"text around an empty": {"Dr. {last} ({first})", []string{"", "", "Schmidt"}, `["Dr. Schmidt"]`},
		"no blank":             {"{first}{last}", []string{"Anna", "", "Schmidt"}, `["AnnaSchmidt"]`},
		"twice":                {"{first} {first}", []string{"Anna", "", ""}, `["Anna Anna"]`},
		"one alone":            {"{first}", []string{"Anna", "", "Schmidt"}, `["Anna"]`},
		"braces in a value":    {both, []string{"{last}", "", "Schmidt"}, `["{last} Schmidt"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			columns := bulk.Columns{Rename: map[string]string{c.template: "name"}, IgnoreUnknown: true}
			csv := "key,first,middle,last\n1," + strings.Join(c.csv, ",") + "\n"
			json := fmt.Sprintf(`{"key":"1","first":%q,"middle":%q,"last":%q}`, c.csv[0], c.csv[1], c.csv[2])
			for format, text := range map[bulk.Format]string{bulk.CSV: csv, bulk.JSONL: json} {
				names, _, said, err := people(t, text, format, columns)
				if err != nil || len(names) != 1 || names[0] != c.want || len(said) > 0 {
					t.Errorf("%s: %v, %v, alternatives %v, want %s", format, names, err, said, c.want)
				}
			}
		})
	}
}

// A column used by a template is not an error, and has no other meaning unless its name is another attribute.
func TestTemplate_TakesItsColumns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rename map[string]string
		text   string
		format bulk.Format
		want   string
	}{
		"CSV, a column has the attribute's name": {map[string]string{"{name} {last}": "name"}, "key,name,last\n1,Anna,Schmidt\n", bulk.CSV, `["Anna Schmidt"]`},
		"JSONL, the same":                        {map[string]string{"{name} {last}": "name"}, `{"key":"1","name":"Anna","last":"Schmidt"}`, bulk.JSONL, `["Anna Schmidt"]`},
		"a refused row, once more":               {map[string]string{"{name} {last}": "name"}, `{"key":"1","name":"Anna Schmidt"}`, bulk.JSONL, `["Anna Schmidt"]`},
		"the key":                                {map[string]string{"{name} {key}": "name"}, "key,name\n1,Anna\n", bulk.CSV, `["Anna 1"]`},
		"JSONL, the key":                         {map[string]string{"{name} {key}": "name"}, `{"key":"1","name":"Anna"}`, bulk.JSONL, `["Anna 1"]`},
		"another attribute":                      {map[string]string{"{name} of {city}": "name"}, "key,name,city\n1,Anna,Bonn\n", bulk.CSV, `["Anna of Bonn"]`},
		"a number":                               {map[string]string{"{name} {no}": "name"}, `{"key":"1","name":"Anna","no":7}`, bulk.JSONL, `["Anna 7"]`},
		"a list":                                 {map[string]string{"{name} {last}": "name"}, `{"key":"1","name":["a","b"],"last":"c"}`, bulk.JSONL, "line 1: /name: it is a list, and a value is composed of single ones"},
		"what Locus printed":                     {map[string]string{"{name} {city}": "name"}, `{"source":"x","key":"1","attributes":{"name":"Anna","city":"Bonn"}}`, bulk.JSONL, `["Anna Bonn"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names, _, said, err := people(t, c.text, c.format, bulk.Columns{Rename: c.rename})
			if err != nil || len(names) != 1 || names[0] != c.want || len(said) > 0 {
				t.Errorf("%v, %v, alternatives %v, want %s", names, err, said, c.want)
			}
		})
	}
	t.Run("a row that was refused leaves nothing", func(t *testing.T) {
		t.Parallel()
		names, _, _, err := people(t, `{"key":"1","first":"Anna","phones":null}`+"\n"+`{"key":"2","last":"Schmidt"}`, bulk.JSONL, bulk.Columns{Rename: map[string]string{"{first} {last}": "name"}})
		if err != nil || len(names) != 2 || names[1] != `["Schmidt"]` {
			t.Errorf("%v, %v", names, err)
		}
	})
}

func TestTemplate_RefusesWhatComposesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ template, attribute, want string }{
		"no column of that name": {"{frist} {last}", "name", `there is no column "frist", of which "{frist} {last}" is to be composed`},
		"no attribute":           {"{first} {last}", "nmae", "did you mean name?"},
		"the key":                {"{first} {last}", "key", `"{first} {last}" is mapped to "key", which is no attribute`},
		"open":                   {"{first {last}", "name", "want columns in braces"},
		"not opened":             {"first} {last}", "name", "want columns in braces"},
		"not closed":             {"{first} {last", "name", "want columns in braces"},
		"closed twice":           {"{first} last}", "name", "want columns in braces"},
		"empty":                  {"{} {last}", "name", "want columns in braces"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, _, err := people(t, "key,first,last\n", bulk.CSV, bulk.Columns{Rename: map[string]string{c.template: c.attribute}, IgnoreUnknown: true})
			if file, ok := errors.AsType[*bulk.FileError](err); !ok || !strings.Contains(err.Error(), c.want) || file.Hint == "" {
				t.Errorf("%v, want a hint and %q", err, c.want)
			}
		})
	}
}

// Several columns of an attribute with a single value are reported as alternatives.
func TestReader_TellsAlternatives(t *testing.T) {
	t.Parallel()
	both := map[string]string{"first": "name", "last": "name"}
	alike := []bulk.Alternative{{Attribute: "name", Columns: []string{"first", "last"}}}
	for name, c := range map[string]struct {
		rename      map[string]string
		text        string
		format      bulk.Format
		first, last []bulk.Alternative
		template    string
	}{
		"CSV, before the first row":     {both, "key,first,last\n1,Anna,Schmidt\n", bulk.CSV, alike, alike, "{first} {last}"},
		"JSONL, with the row":           {both, `{"key":"1","first":"Anna"}` + "\n" + `{"key":"2","first":"Anna","last":"Schmidt"}`, bulk.JSONL, nil, alike, "{first} {last}"},
		"JSONL, never in one row":       {both, `{"key":"1","first":"Anna"}` + "\n" + `{"key":"2","last":"Schmidt"}`, bulk.JSONL, nil, nil, ""},
		"with its own column":           {map[string]string{"last": "name"}, "key,name,last\n", bulk.CSV, []bulk.Alternative{{"name", []string{"name", "last"}}}, []bulk.Alternative{{"name", []string{"name", "last"}}}, "{name} {last}"},
		"of many values":                {map[string]string{"first": "phones", "last": "phones"}, "key,first,last\n1,5,6\n", bulk.CSV, nil, nil, ""},
		"a list of one field":           {nil, `{"key":"1","name":["Anna","Anne"]}`, bulk.JSONL, nil, nil, ""},
		"beside what is composed":       {map[string]string{"{first} {last}": "name"}, "key,first,last,name\n", bulk.CSV, []bulk.Alternative{{"name", []string{"name", "{first} {last}"}}}, []bulk.Alternative{{"name", []string{"name", "{first} {last}"}}}, "{name} {first} {last}"},
		"JSONL beside what is composed": {map[string]string{"{first} {last}": "name"}, `{"key":"1","first":"Anna","last":"S","name":"Anne"}`, bulk.JSONL, nil, []bulk.Alternative{{"name", []string{"name", "{first} {last}"}}}, "{name} {first} {last}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, first, last, err := people(t, c.text, c.format, bulk.Columns{Rename: c.rename})
			if err != nil || fmt.Sprint(first) != fmt.Sprint(c.first) || fmt.Sprint(last) != fmt.Sprint(c.last) {
				t.Errorf("%v, then %v, %v, want %v, then %v", first, last, err, c.first, c.last)
			}
			if len(last) == 1 && last[0].Template() != c.template {
				t.Errorf("composed by %q, want %q", last[0].Template(), c.template)
			}
		})
	}
}
