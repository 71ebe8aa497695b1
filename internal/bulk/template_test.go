// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/bulk"
)

// people reads a text to its end and returns the values of each row's name, or the rejection.
func people(t *testing.T, text string, format bulk.Format, o bulk.Options) (names []string, err error) {
	t.Helper()
	o.Source = "x"
	r, err := open(bulk.Stdin, strings.NewReader(text), format, &o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for row, err := range r.All() {
		refused, ok := errors.AsType[*bulk.RowError](err)
		switch {
		case ok:
			names = append(names, refused.Error())
		case err != nil:
			t.Fatal(err)
		default:
			names = append(names, fmt.Sprintf("%q", row.Attributes["name"]))
		}
	}
	return names, nil
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
			columns := bulk.Options{Set: []bulk.Assignment{{"name", c.template}}, IgnoreUnknown: true}
			csv := "key,first,middle,last\n1," + strings.Join(c.csv, ",") + "\n"
			json := fmt.Sprintf(`{"key":"1","first":%q,"middle":%q,"last":%q}`, c.csv[0], c.csv[1], c.csv[2])
			for format, text := range map[bulk.Format]string{bulk.CSV: csv, bulk.JSONL: json} {
				names, err := people(t, text, format, columns)
				if err != nil || len(names) != 1 || names[0] != c.want {
					t.Errorf("%s: %v, %v, want %s", format, names, err, c.want)
				}
			}
		})
	}
}

// A column used by a template is not an error, and has no other meaning unless its name is another attribute.
func TestTemplate_TakesItsColumns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    []bulk.Assignment
		text   string
		format bulk.Format
		want   string
	}{
		"CSV, a column has the attribute's name": {[]bulk.Assignment{{"name", "{name} {last}"}}, "key,name,last\n1,Anna,Schmidt\n", bulk.CSV, `["Anna Schmidt"]`},
		"JSONL, the same":                        {[]bulk.Assignment{{"name", "{name} {last}"}}, `{"key":"1","name":"Anna","last":"Schmidt"}`, bulk.JSONL, `["Anna Schmidt"]`},
		"a refused row, once more":               {[]bulk.Assignment{{"name", "{name} {last}"}}, `{"key":"1","name":"Anna Schmidt"}`, bulk.JSONL, `["Anna Schmidt"]`},
		"the key":                                {[]bulk.Assignment{{"name", "{name} {key}"}}, "key,name\n1,Anna\n", bulk.CSV, `["Anna 1"]`},
		"JSONL, the key":                         {[]bulk.Assignment{{"name", "{name} {key}"}}, `{"key":"1","name":"Anna"}`, bulk.JSONL, `["Anna 1"]`},
		"another attribute":                      {[]bulk.Assignment{{"name", "{name} of {city}"}}, "key,name,city\n1,Anna,Bonn\n", bulk.CSV, `["Anna of Bonn"]`},
		"a number":                               {[]bulk.Assignment{{"name", "{name} {no}"}}, `{"key":"1","name":"Anna","no":7}`, bulk.JSONL, `["Anna 7"]`},
		"a list":                                 {[]bulk.Assignment{{"name", "{name} {last}"}}, `{"key":"1","name":["a","b"],"last":"c"}`, bulk.JSONL, "line 1: /name: it is a list, and a value is composed of single ones"},
		"what Locus printed":                     {[]bulk.Assignment{{"name", "{name} {city}"}}, `{"source":"x","key":"1","attributes":{"name":"Anna","city":"Bonn"}}`, bulk.JSONL, `["Anna Bonn"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names, err := people(t, c.text, c.format, bulk.Options{Set: c.set})
			if err != nil || len(names) != 1 || names[0] != c.want {
				t.Errorf("%v, %v, want %s", names, err, c.want)
			}
		})
	}
	t.Run("a row that was refused leaves nothing", func(t *testing.T) {
		t.Parallel()
		names, err := people(t, `{"key":"1","first":"Anna","phones":null}`+"\n"+`{"key":"2","last":"Schmidt"}`, bulk.JSONL, bulk.Options{Set: []bulk.Assignment{{"name", "{first} {last}"}}})
		if err != nil || len(names) != 2 || names[1] != `["Schmidt"]` {
			t.Errorf("%v, %v", names, err)
		}
	})
}

func TestTemplate_RefusesWhatComposesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ template, attribute, want string }{
		"no column of that name": {"{frist} {last}", "name", `there is no column "frist"`},
		"no attribute":           {"{first} {last}", "nmae", "did you mean name?"},
		"the key":                {"{first} {last}", "key", "the key is a column, not a composition"},
		"two columns":            {"first,last", "name", "name has one value, and 2 columns are set to it"},
		"open":                   {"{first {last}", "name", "want columns in braces"},
		"not opened":             {"first} {last}", "name", "want columns in braces"},
		"not closed":             {"{first} {last", "name", "want columns in braces"},
		"closed twice":           {"{first} last}", "name", "want columns in braces"},
		"empty":                  {"{} {last}", "name", "want columns in braces"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := people(t, "key,first,last\n", bulk.CSV, bulk.Options{Set: []bulk.Assignment{{c.attribute, c.template}}, IgnoreUnknown: true})
			if _, ok := errors.AsType[*bulk.FileError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
