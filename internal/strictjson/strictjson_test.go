// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/strictjson"
)

func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"a%d":0`, i)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func TestParse_RefusesWhatIsNotOneDocument(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, doc string
		want      error
	}{
		{"empty", "", strictjson.ErrSyntax},
		{"white space", " \n", strictjson.ErrSyntax},
		{"byte order mark", "\ufeff{}", strictjson.ErrSyntax},
		{"form feed is no white space", "\f{}", strictjson.ErrSyntax},
		{"two documents", `{"a":1}{"b":2}`, strictjson.ErrTrailing},
		{"garbage behind", `{"a":1}xyz`, strictjson.ErrTrailing},
		{"number, then letters", `12x`, strictjson.ErrTrailing},
		{"twice", `{"a":1,"a":2}`, strictjson.ErrDuplicate},
		{"twice, one escaped", `{"key":1,"\u006bey":2}`, strictjson.ErrDuplicate},
		{"twice, deep", `[{"x":{"a":1,"b":[],"a":2}}]`, strictjson.ErrDuplicate},
		{"twice among many", strings.Replace(names(200), `"a199"`, `"a3"`, 1), strictjson.ErrDuplicate},
		{"twice at the seventeenth", strings.Replace(names(17), `"a16"`, `"a0"`, 1), strictjson.ErrDuplicate},
		{"trailing comma in an object", `{"a":1,}`, strictjson.ErrSyntax},
		{"trailing comma in an array", `[1,]`, strictjson.ErrSyntax},
		{"comma only", `[,]`, strictjson.ErrSyntax},
		{"no comma", `[1 2]`, strictjson.ErrSyntax},
		{"no colon", `{"a" 1}`, strictjson.ErrSyntax},
		{"unclosed", `{"a":`, strictjson.ErrSyntax},
		{"unclosed array", `[`, strictjson.ErrSyntax},
		{"unclosed string", `"abc`, strictjson.ErrSyntax},
		{"closed by an escape", `"abc\`, strictjson.ErrSyntax},
		{"wrong bracket", `[1}`, strictjson.ErrSyntax},
		{"comment", `{/*x*/"a":1}`, strictjson.ErrSyntax},
		{"single quotes", `{'a':'b'}`, strictjson.ErrSyntax},
		{"name without quotes", `{a:1}`, strictjson.ErrSyntax},
		{"NaN", `NaN`, strictjson.ErrSyntax},
		{"Infinity", `-Infinity`, strictjson.ErrSyntax},
		{"True", `True`, strictjson.ErrSyntax},
		{"nul", `nul`, strictjson.ErrSyntax},
		{"leading zero", `00012`, strictjson.ErrTrailing},
		{"hex", `0x10`, strictjson.ErrTrailing},
		{"plus", `+1`, strictjson.ErrSyntax},
		{"no digit before the point", `.5`, strictjson.ErrSyntax},
		{"no digit behind the point", `1.`, strictjson.ErrSyntax},
		{"no digit in the exponent", `1e`, strictjson.ErrSyntax},
		{"minus alone", `-`, strictjson.ErrSyntax},
		{"long number", strings.Repeat("1", strictjson.MaxNumber+1), strictjson.ErrSyntax},
		{"raw control character", "\"a\nb\"", strictjson.ErrSyntax},
		{"unknown escape", `"\x41"`, strictjson.ErrSyntax},
		{"short escape", `"\u12"`, strictjson.ErrSyntax},
		{"bad byte", "\"a\xff\"", strictjson.ErrUTF8},
		{"cut rune", "\"\xe2\x82\"", strictjson.ErrUTF8},
		{"surrogate in bytes", "\"\xed\xa0\x80\"", strictjson.ErrUTF8},
		{"UTF-16", "\xff\xfe{\x00}\x00", strictjson.ErrUTF8},
		{"high surrogate alone", `"\ud800"`, strictjson.ErrUTF8},
		{"high surrogate, then a letter", `"\ud800a"`, strictjson.ErrUTF8},
		{"high surrogate twice", `"\ud800\ud800"`, strictjson.ErrUTF8},
		{"low surrogate alone", `"\udc00"`, strictjson.ErrUTF8},
		{"surrogate in a name", `{"\ud800":1}`, strictjson.ErrUTF8},
		{"too deep", strings.Repeat("[", 33) + strings.Repeat("]", 33), strictjson.ErrDepth},
		{"far too deep, unclosed", strings.Repeat(`{"a":`, 100_000), strictjson.ErrDepth},
		{"too many names", names(strictjson.MaxNames + 1), strictjson.ErrSyntax},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := strictjson.Parse([]byte(test.doc))
			if !errors.Is(err, test.want) {
				t.Errorf("Parse(%.80q) = %v, want %v", test.doc, err, test.want)
			}
		})
	}
}

func TestParse_TakesTheLimits(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		" {} ", "null", "true", "false", `""`, "0", "-0", "-0.5e+10", "1E400",
		strings.Repeat("1", strictjson.MaxNumber),
		strings.Repeat("[", 32) + strings.Repeat("]", 32),
		names(strictjson.MaxNames),
		`{"a":1,"A":2,"":3," ":4}`,
		`[{"a":1},{"a":1}]`, `{"a":{"a":{"a":1}}}`,
		`"\ud83d\ude00 \u0000 \" \\ \/ \b\f\n\r\t \uFFFD"`,
	} {
		if _, err := strictjson.Parse([]byte(doc)); err != nil {
			t.Errorf("Parse(%.80q) = %v", doc, err)
		}
	}
}

func TestValue_ReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	doc, err := strictjson.Parse([]byte(" {\"s\" : \"a\\u00e9\\ud83d\\ude00\\n\\\"]}\", \"n\":-1.50, \"l\": [ 1,\"x\" ,[ ], {}] ,\"o\":{\"k\":null},\"b\":true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(doc.Raw()[:4]); got != `{"s"` {
		t.Errorf("Raw begins with %q", got)
	}
	var got []string
	for name, v := range doc.Members() {
		got = append(got, fmt.Sprintf("%s=%v text %q number %q", name, v.Kind(), v.Text(), v.Number()))
		for i, item := range v.Items() {
			got = append(got, fmt.Sprintf("%s[%d]=%v %s", name, i, item.Kind(), item.Raw()))
		}
		for inner, item := range v.Members() {
			got = append(got, fmt.Sprintf("%s.%s=%v", name, inner, item.Kind()))
		}
	}
	want := []string{
		`s=a string text "aé😀\n\"]}" number ""`,
		`n=a number text "" number "-1.50"`,
		`l=an array text "" number ""`,
		`l[0]=a number 1`, `l[1]=a string "x"`, `l[2]=an array [ ]`, `l[3]=an object {}`,
		`o=an object text "" number ""`, `o.k=null`,
		`b=a boolean text "" number ""`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if k := (strictjson.Value{}).Kind(); k != strictjson.Missing {
		t.Errorf("the zero value is %v", k)
	}
}

func TestValue_IterationCanStop(t *testing.T) {
	t.Parallel()
	doc, err := strictjson.Parse([]byte(`{"a":[1,2,3],"b":2}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range doc.Members() {
		if name != "a" {
			t.Errorf("went on to %q", name)
		}
		for i := range v.Items() {
			if i > 0 {
				t.Errorf("went on to %d", i)
			}
			break
		}
		break
	}
}

// plain converts a value to the form of encoding/json with UseNumber.
func plain(v strictjson.Value) any {
	switch v.Kind() {
	case strictjson.Object:
		m := map[string]any{}
		for name, item := range v.Members() {
			m[name] = plain(item)
		}
		return m
	case strictjson.Array:
		l := []any{}
		for _, item := range v.Items() {
			l = append(l, plain(item))
		}
		return l
	case strictjson.String:
		return v.Text()
	case strictjson.Number:
		return json.Number(v.Number())
	case strictjson.Bool:
		return string(v.Raw()) == "true"
	}
	return nil
}

func standard(data []byte) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func TestParse_AgreesWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	leaf := rapid.OneOf(rapid.Just[any](nil), rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "b") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Int64().Draw(t, "n") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "s") }))
	var any3 func(depth int) *rapid.Generator[any]
	any3 = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf,
			rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(any3(depth-1), 0, 5).Draw(t, "l") }),
			rapid.Custom(func(t *rapid.T) any {
				return rapid.MapOfN(rapid.String(), any3(depth-1), 0, 40).Draw(t, "o")
			}))
	}
	rapid.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(any3(3).Draw(t, "document"))
		if err != nil {
			t.Skip(err)
		}
		v, err := strictjson.Parse(data)
		if err != nil {
			t.Fatalf("Parse(%s) = %v", data, err)
		}
		want, _ := standard(data)
		if got := plain(v); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Fatalf("got %#v, want %#v", got, want)
		}
	})
}

// FuzzParse compares Parse with encoding/json: everything accepted here is accepted there, with the same content.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x",null]}`, `{"a":1,"a":2}`, `"\ud83d\ude00"`, `"\ud800"`, "[[[", `-0.0e-0`, "\xff", `{"\u0061":{},"b":[]} `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := strictjson.Parse(data)
		if err != nil {
			for _, sentinel := range []error{strictjson.ErrSyntax, strictjson.ErrUTF8, strictjson.ErrDuplicate, strictjson.ErrTrailing, strictjson.ErrDepth} {
				if errors.Is(err, sentinel) {
					return
				}
			}
			t.Fatalf("an error of nobody: %v", err)
		}
		want, err := standard(data)
		if err != nil {
			t.Fatalf("accepted, but %v", err)
		}
		if got := plain(v); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Fatalf("got %#v, want %#v", got, want)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	doc := []byte(`{"records":[` + strings.TrimSuffix(strings.Repeat(`{"source":"guide","key":"0001","attributes":{"name":"Joe's Pizza","phones":["+1 415 555 0100"],"address":"12 Main St","city":"San Francisco","postcode":"94103","latitude":37.77,"longitude":-122.41}},`, 1000), ",") + `]}`)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strictjson.Parse(doc); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseEscaped parses a document of strings with escapes, most of which are never read.
func BenchmarkParseEscaped(b *testing.B) {
	doc := []byte("[" + strings.Repeat(`{"name":"Joe\u2019s \"Pizza\"","address":"12 Main St\n2nd floor","website":"http:\/\/joes.example\/a"},`, 1000) + "0]")
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strictjson.Parse(doc); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseWide parses the most expensive document: objects with the maximum number of names.
func BenchmarkParseWide(b *testing.B) {
	object := names(strictjson.MaxNames)
	doc := []byte("[" + strings.TrimSuffix(strings.Repeat(object+",", 1<<20/len(object)), ",") + "]")
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := strictjson.Parse(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func Example() {
	doc, err := strictjson.Parse([]byte(`{"name":"Joe's Pizza","phones":["555-0100"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, v := range doc.Members() {
		fmt.Println(name, "is", v.Kind())
	}
	_, err = strictjson.Parse([]byte(`{"key":"1","\u006bey":"2"}`))
	fmt.Println(err)
	// Output:
	// name is a string
	// phones is an array
	// duplicate name "key" at byte 11
}
