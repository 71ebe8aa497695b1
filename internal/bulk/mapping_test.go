// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

func TestParseMapping(t *testing.T) {
	t.Parallel()
	got, err := bulk.ParseMapping([]byte(`source: customers
kind: person
key: [tenant, customer_no]
ignore: note
format: { delimiter: ";", encoding: latin1, header: false, columns: [a, b], "null": ["NULL", "-"] }
set: { name: "{first} {last}", phones: [tel, mobile] }
observed_at: { column: updated, layout: "02.01.2006 15:04", zone: Europe/Berlin }
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &bulk.Options{
		Source: "customers", Kind: "person", Key: []string{"tenant", "customer_no"}, Ignore: []string{"note"}, Delimiter: ";",
		Encoding: bulk.Windows1252, NoHeader: true, Columns: []string{"a", "b"}, Null: []string{"NULL", "-"},
		Set:      []bulk.Assignment{{"name", "{first} {last}"}, {"phones", "tel"}, {"phones", "mobile"}},
		Observed: bulk.Observed{Column: "updated", Layout: "02.01.2006 15:04", Zone: "Europe/Berlin"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for text, says := range map[string]string{
		"sorce: x":                               `did you mean "source"`,
		"format: { encoding: utf-7 }":            "utf-7",
		"format: { delimiter: ab }":              "not one ASCII character",
		"observed_at: { column: a, zone: Mars }": "IANA",
		"set: [a]":                               "set",
	} {
		if _, err := bulk.ParseMapping([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v does not say %s", text, err, says)
		}
	}
}

// Keys, times, texts without a value and paths.
func TestRow_OfColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		o          bulk.Options
		want       []string
	}{
		{"a key of several columns", "a,b,name\nx,1/2,n\nx/1,2,n\nx,,n\n", bulk.Options{Source: "s", Key: []string{"a", "b"}}, []string{`2 s:x/1\/2 map[name:[n]]`, `3 s:x\/1/2 map[name:[n]]`, "4 refused invalid /key"}},
		{"escapes in a key", "a,b,name\na\\,b/c,n\na/b\\,c,n\n", bulk.Options{Source: "s", Key: []string{"a", "b"}}, []string{`2 s:a\\/b\/c map[name:[n]]`, `3 s:a\/b\\/c map[name:[n]]`}},
		{"a key that is an attribute too", "name,city\nBlue,Bonn\n", bulk.Options{Source: "s", Key: []string{"name"}}, []string{"2 s:Blue map[city:[Bonn] name:[Blue]]"}},
		{"no value", "key,name,city\n1,NULL,-\nNULL,b,c\n", bulk.Options{Source: "s", Null: []string{"NULL", "-"}}, []string{"2 s:1 map[]", "3 refused invalid /key"}},
		{"columns with commas and braces", "key,\"a,b\",{c}\n1,x,5\n", bulk.Options{Source: "s", Set: []bulk.Assignment{{"name", "a,b"}, {"phones", "{c}"}}}, []string{"2 s:1 map[name:[x] phones:[5]]"}},
		{"reserved names by columns", "no,prov,name\n1,s,x\n", bulk.Options{Set: []bulk.Assignment{{"key", "no"}, {"source", "prov"}}}, []string{"2 s:1 map[name:[x]]"}},
		{"an attribute that is set takes nothing else", "key,name,title\n1,a,b\n", bulk.Options{Source: "s", Set: []bulk.Assignment{{"name", "title"}}, IgnoreUnknown: true}, []string{"2 s:1 map[name:[b]]"}},
		{"paths", `{"key":1,"place":{"city":"Bonn"},"contacts":[{"tel":"5"},{"tel":"6","x":null},{}]}`, bulk.Options{Source: "s", Set: []bulk.Assignment{{"city", "place.city"}, {"phones", "contacts[].tel"}}}, []string{"1 s:1 map[city:[Bonn] phones:[5 6]]"}},
		{"a damaged element costs itself", `[{"key":"1"},{"key":2,},{"key":tru},{"key":"4"}]`, bulk.Options{Source: "s"}, []string{"1 s:1 map[]", "1 refused malformed ", "1 refused malformed ", "1 s:4 map[]"}},
		{"elements on lines", "[\n{\"key\":\"1\"},\n\n{\"key\":\n\"2\"}\n]\n", bulk.Options{Source: "s"}, []string{"2 s:1 map[]", "4 s:2 map[]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, c.text, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// An array that ends early, or that something follows, is an error of the file after its rows.
func TestJSON_ArrayThatIsDamaged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`[{"key":"1"},{"key":"2"}`, `[{"key":"1"}] x`} {
		got, err := read(t, text, bulk.Options{Source: "s"})
		if _, ok := errors.AsType[*bulk.FileError](err); !ok || len(got) == 0 {
			t.Errorf("%s: rows %v, error %v", text, got, err)
		}
	}
}

// The key of the content depends on the content, and on nothing else.
func TestRow_HashKey(t *testing.T) {
	t.Parallel()
	keys := map[string]string{}
	for _, text := range []string{"name,city\na,b\n", "city,name\nb,a\n", "name,city\na,c\n", "name,city\na b,\n", "name,city\n,a b\n"} {
		p := recognised(t, text, text, &bulk.Options{Source: "s", Key: []string{bulk.HashKey}})
		keys[text] = rows(t, p)[0].Key
	}
	if keys["name,city\na,b\n"] != keys["city,name\nb,a\n"] {
		t.Error("the order of the columns changes the key")
	}
	seen := map[string]bool{}
	for _, key := range keys {
		seen[key] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d keys of four contents: %v", len(seen), keys)
	}
}

// Two keys of several columns are equal only if their parts are.
func TestRow_KeysOfSeveralColumnsDiffer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringOfN(rapid.SampledFrom([]rune(`a/\`)), 1, 4, -1)
		a, b := []string{part.Draw(t, "a"), part.Draw(t, "a")}, []string{part.Draw(t, "b"), part.Draw(t, "b")}
		text := fmt.Sprintf("p|q\n%s|%s\n%s|%s\n", a[0], a[1], b[0], b[1])
		r, err := open(bulk.Stdin, strings.NewReader(text), bulk.CSV, &bulk.Options{Source: "s", Key: []string{"p", "q"}, Delimiter: "|"})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var keys []string
		for row, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, row.Key)
		}
		if equal := a[0] == b[0] && a[1] == b[1]; equal != (keys[0] == keys[1]) {
			t.Fatalf("%q and %q have the keys %q", a, b, keys)
		}
	})
}

// Times in another layout become RFC 3339.
func TestRow_Observed(t *testing.T) {
	t.Parallel()
	o := &bulk.Options{Source: "s", Observed: bulk.Observed{Column: "updated", Layout: "02.01.2006 15:04", Zone: "Europe/Berlin"}, Exact: true}
	p, err := bulk.Recognise(bulk.Stdin, strings.NewReader("key,name,updated\n1,a,02.07.2026 15:04\n2,b,2026\n"), []*match.Schema{testKind()}, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	row, err := r.Next()
	if err != nil || row.Observed != "2026-07-02T13:04:00Z" {
		t.Errorf("%+v, %v", row, err)
	}
	if _, err = r.Next(); err == nil || !strings.Contains(err.Error(), "observed_at") {
		t.Errorf("a time in another layout: %v", err)
	}
}
