// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// planOf recognises a text as a file of places.
func planOf(t *testing.T, name, text string, o bulk.Options) *bulk.Plan {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := bulk.Recognise(file, nil, []*match.Schema{match.Place()}, &o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rowsAndFields returns the rows as "source:key attributes", refused ones as their text, each with its fields.
func rowsAndFields(t *testing.T, p *bulk.Plan) (rows, fields []string) {
	t.Helper()
	r, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for row, err := range r.All() {
		switch refused, ok := err.(*bulk.RowError); { //nolint:errorlint // All returns it as it is
		case ok:
			rows = append(rows, "refused "+refused.Raw())
		case err != nil:
			t.Fatal(err)
		default:
			rows = append(rows, fmt.Sprintf("%s:%s %v", row.Source, row.Key, row.Attributes))
		}
		of, err := r.Fields()
		if err != nil {
			of = nil
		}
		fields = append(fields, fmt.Sprint(of))
	}
	return rows, fields
}

// Rows that are only compared need no source and no key, and columns without a meaning are left out, also those after
// the sample; Fields returns all of them.
func TestUnstored(t *testing.T) {
	t.Parallel()
	late := strings.Repeat(`{"name":"a"}`+"\n", 30_000) + `{"name":"b","later":"x"}`
	for _, c := range []struct {
		name, text   string
		o            bulk.Options
		rows, fields []string // the last ones
	}{
		{"a.csv", "name;tel;note\nx;415-555-2300;n\n\"y\" z;1\n", bulk.Options{}, []string{": map[name:[x] phones:[415-555-2300]]", `refused "y" z;1`}, []string{"[{name [x]} {tel [415-555-2300]} {note [n]}]", "[]"}},
		{"too-many.csv", "name;tel\nx;1;2;3\n", bulk.Options{Source: "s"}, []string{`refused {"column3":"2","column4":"3","name":"x","tel":"1"}`}, []string{"[{name [x]} {tel [1;2;3]}]"}},
		{"key.csv", "id,name\n7,x\n8,y\n", bulk.Options{Source: "s"}, []string{"s:7 map[name:[x]]", "s:8 map[name:[y]]"}, nil},
		{"elsewhere.csv", "name,phones\nx,415-555-2300\n", bulk.Options{Set: []bulk.Assignment{{"phones", "mobile"}}, Key: []string{"no"}}, []string{": map[name:[x] phones:[415-555-2300]]"}, nil},
		{"late.jsonl", late, bulk.Options{}, []string{": map[name:[b]]"}, []string{"[{name [b]} {later [x]}]"}},
		{"nested.jsonl", `{"name":["x","y"],"location":{"city":"Bonn"},"n":null,"l":[[1]],"no":7}`, bulk.Options{}, []string{":7 map[city:[Bonn] name:[x y]]"}, []string{`[{name [x y]} {location [{"city":"Bonn"}]} {n []} {l [[[1]]]} {no [7]}]`}},
		{"spread.json", "[{\"name\": \"x\",\n  \"shop\": {\n    \"floor\": 2\n  }}]", bulk.Options{}, []string{": map[name:[x]]"}, []string{`[{name [x]} {shop [{"floor":2}]}]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.o.Unstored = true
			rows, fields := rowsAndFields(t, planOf(t, c.name, c.text, c.o))
			if n := len(rows) - len(c.rows); n < 0 || !slices.Equal(rows[n:], c.rows) {
				t.Errorf("rows %q, want %q", rows[max(n, 0):], c.rows)
			}
			if n := len(fields) - len(c.fields); n < 0 || !slices.Equal(fields[n:], c.fields) {
				t.Errorf("fields %q, want %q", fields[max(n, 0):], c.fields)
			}
		})
	}
	p := planOf(t, "missing.csv", "name,phones\nx,415-555-2300\n", bulk.Options{Unstored: true, Set: []bulk.Assignment{{"phones", "mobile,phones"}, {"city", "town"}}})
	if want := []string{"mobile", "town"}; !slices.Equal(p.Missing, want) {
		t.Errorf("missing %q, want %q", p.Missing, want)
	}
}

// A CSV column phones[] has lists of phones, unless an option names it; a refused row keeps them.
func TestCSV_Lists(t *testing.T) {
	t.Parallel()
	const text = "source,key,name[],phones[],city\ns,1,a \\| b | c,1 | 2,x\n,2,d,3 | 4,x\ns,3,e | f,5\n"
	p := planOf(t, "a.csv", text, bulk.Options{})
	if p.Guessed() {
		t.Errorf("guessed %+v", p.Columns)
	}
	rows, _ := rowsAndFields(t, p)
	want := []string{
		"s:1 map[city:[x] name:[a | b c] phones:[1 2]]",
		`refused {"city":"x","key":"2","name":"d","phones":["3","4"],"source":""}`,
		`refused {"key":"3","name":["e","f"],"phones":["5"],"source":"s"}`,
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%q, want %q", rows, want)
	}
	rows, _ = rowsAndFields(t, planOf(t, "b.csv", text, bulk.Options{Source: "t", Set: []bulk.Assignment{{"phones", "phones[]"}}}))
	others, _ := rowsAndFields(t, planOf(t, "c.csv", text, bulk.Options{Unstored: true, Set: []bulk.Assignment{{"address", "phones[]"}}}))
	if others[0] != "s:1 map[address:[1 | 2] city:[x] name:[a | b c]]" {
		t.Errorf("%q", others)
	}
	if len(rows) != 3 || rows[0] != "t:1 map[city:[x] name:[a | b c] phones:[1 | 2]]" {
		t.Errorf("%q", rows)
	}
}
