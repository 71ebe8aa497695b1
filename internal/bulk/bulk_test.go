// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// attributes of the kind that the tests import.
var attributes = []string{"name", "phones", "address", "city", "postcode"}

// testKind is a kind with these attributes; phones has many values.
func testKind() *match.Schema {
	kind := &match.Schema{Kind: "test", Version: 1}
	for _, name := range attributes {
		kind.Attributes = append(kind.Attributes, match.Attribute{Name: name, Type: match.TypeText, Many: name == "phones"})
	}
	return kind
}

// open opens a file without guesses.
func open(name string, stdin io.Reader, format bulk.Format, o *bulk.Options) (*bulk.Reader, error) {
	exact := *o
	exact.Format, exact.Exact = format, true
	plan, err := bulk.Recognise(name, stdin, []*match.Schema{testKind()}, &exact)
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	return plan.Open()
}

// drain reads everything: a line for each row and each rejection, and the final error.
func drain(t testing.TB, r *bulk.Reader) (got []string, end error) {
	t.Helper()
	defer r.Close()
	for {
		row, err := r.Next()
		var refused *bulk.RowError
		switch {
		case err == nil:
			got = append(got, fmt.Sprintf("%d %s:%s %v", row.Line, row.Source, row.Key, row.Attributes))
		case errors.As(err, &refused):
			got = append(got, fmt.Sprintf("%d refused %s %s", refused.Line, refused.Code, refused.Pointer))
		case err == io.EOF:
			return got, nil
		default:
			return got, err
		}
	}
}

func read(t testing.TB, text string, columns bulk.Options) (got []string, end error) {
	t.Helper()
	r, err := open(bulk.Stdin, strings.NewReader(text), bulk.Auto, &columns)
	if err != nil {
		return nil, err
	}
	return drain(t, r)
}

// wide returns a text in UTF-16, little-endian.
func wide(text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit), byte(unit>>8))
	}
	return string(b)
}

func TestCSV(t *testing.T) {
	t.Parallel()
	const header = "source,key,name\n"
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty file", "", nil},
		{"header only", header, nil},
		{"byte order mark", "\ufeff" + header + "x,1,a\n", []string{"2 x:1 map[name:[a]]"}},
		{"byte order mark before a quote", "\ufeff\"source\",key,name\nx,1,a\n", []string{"2 x:1 map[name:[a]]"}},
		{"mixed line ends", "source,key,name\r\nx,1,a\nx,2,b\r\n", []string{"2 x:1 map[name:[a]]", "3 x:2 map[name:[b]]"}},
		{"blank lines", header + "\n\r\nx,1,a\n\n", []string{"4 x:1 map[name:[a]]"}},
		{"quotes", header + `x,"1,2","say ""hi"""` + "\n", []string{`2 x:1,2 map[name:[say "hi"]]`}},
		{"quoted to the end of a line", header + `x,1,"a"` + "\n", []string{"2 x:1 map[name:[a]]"}},
		{"CR LF inside quotes is kept", header + "x,1,\"a\r\nb\"\r\nx,2,c\r\n", []string{"2 x:1 map[name:[a\r\nb]]", "4 x:2 map[name:[c]]"}},
		{"spaces are kept", header + "x, 1 , a \n", []string{"2 x: 1  map[name:[ a ]]"}},
		{"an empty field is not sent", header + "x,1,\nx,2,\"\"\n", []string{"2 x:1 map[]", "3 x:2 map[]"}},
		{"too few and too many columns", header + "x,1\nx,2,b,c\nx,3,d\n", []string{"2 refused malformed ", "3 refused malformed ", "4 x:3 map[name:[d]]"}},
		{"a quote in the middle is text", header + "x,1,a\"b\nx,2,c\n", []string{"2 x:1 map[name:[a\"b]]", "3 x:2 map[name:[c]]"}},
		{"a quote in the middle of a key", header + "x,1\"2,a\nx,2,c\n", []string{"2 refused malformed ", "3 x:2 map[name:[c]]"}},
		{"rows without a value", header + ",,\nx,1,a\n,,\r\n", []string{"3 x:1 map[name:[a]]"}},
		{"text after a quote", header + "x,1,\"a\"b\nx,2,c\n", []string{"2 refused malformed ", "3 x:2 map[name:[c]]"}},
		{"Windows-1252", header + "x,1,Caf\xe9 \x80\nx,2,\x9d\n", []string{"2 x:1 map[name:[Café €]]", "3 refused invalid_utf8 "}},
		{"UTF-8 with a damaged line", header + "x,1,Caf\xe9\nx,2,Café\n", []string{"2 refused invalid_utf8 ", "3 x:2 map[name:[Café]]"}},
		{"UTF-16", "\xff\xfe" + wide(header+"x,1,Café\n"), []string{"2 x:1 map[name:[Café]]"}},
		{"UTF-16 without a mark", wide(header + "x,1,Café\nx,2,\xed\xa0\x80a\n"), []string{"2 x:1 map[name:[Café]]", "3 refused invalid_utf8 "}},
		{"row too long", header + "x,1," + strings.Repeat("a", bulk.MaxRow) + "\nx,2,b\n", []string{"2 refused too_large ", "3 x:2 map[name:[b]]"}},
		{"row as long as may be", header + "x,1," + strings.Repeat("a", bulk.MaxRow-4) + "\n", []string{"2 x:1 map[name:[" + strings.Repeat("a", bulk.MaxRow-4) + "]]"}},
		{"formulas are text", header + "x,1,=1+1\n", []string{"2 x:1 map[name:[=1+1]]"}},
		{"a carriage return inside a line is the text's", header + "x,1,a\rb\n", []string{"2 x:1 map[name:[a\rb]]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, c.in, bulk.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%.2000s", diff)
			}
		})
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		columns  bulk.Options
		want     []string
	}{
		{"a source for the whole file", "key,name\n1,a\n", bulk.Options{Source: "x"}, []string{"2 x:1 map[name:[a]]"}},
		{"it wins over a column", "source,key,name\ny,1,a\n", bulk.Options{Source: "x"}, []string{"2 x:1 map[name:[a]]"}},
		{"the key has another name", "no,title,phone\n1,a,5\n", bulk.Options{Source: "x", Key: []string{"no"}, Set: []bulk.Assignment{{"name", "title"}, {"phones", "phone"}}}, []string{"2 x:1 map[name:[a] phones:[5]]"}},
		{"the key by renaming", "no,name\n1,a\n", bulk.Options{Source: "x", Set: []bulk.Assignment{{"key", "no"}}}, []string{"2 x:1 map[name:[a]]"}},
		{"two columns, one attribute", "key,p1,p2\n1,5,6\n2,,7\n", bulk.Options{Source: "x", Set: []bulk.Assignment{{"phones", "p1"}, {"phones", "p2"}}}, []string{"2 x:1 map[phones:[5 6]]", "3 x:2 map[phones:[7]]"}},
		{"unknown ones left out", "key,name,colour\n1,a,red\n", bulk.Options{Source: "x", IgnoreUnknown: true}, []string{"2 x:1 map[name:[a]]"}},
		{"the same of JSONL", `{"no":"1","title":"a","colour":true}`, bulk.Options{Source: "x", Key: []string{"no"}, Set: []bulk.Assignment{{"name", "title"}}, IgnoreUnknown: true}, []string{"1 x:1 map[name:[a]]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, c.in, c.columns)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestOpen_RefusesFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		columns  bulk.Options
		want     string // part of the reason or the hint
	}{
		{"column twice", "source,key,name,name\n", bulk.Options{}, "twice"},
		{"unknown column", "source,key,nmae\n", bulk.Options{}, "did you mean name?"},
		{"singular of a plural", "source,key,phone\n", bulk.Options{}, "did you mean phones?"},
		{"unknown target", "source,key,title\n", bulk.Options{Set: []bulk.Assignment{{"nam", "title"}}}, "did you mean name?"},
		{"set the wrong way round", "source,key,title\n", bulk.Options{IgnoreUnknown: true, Set: []bulk.Assignment{{"title", "name"}}}, "\"title\" is no attribute"},
		{"no key", "source,name\n", bulk.Options{}, "--key COLUMN"},
		{"no source", "key,name\n", bulk.Options{}, "--source NAME"},
		{"two columns, one value", "source,key,first,last\n", bulk.Options{Set: []bulk.Assignment{{"name", "first,last"}}}, "--set 'name={first} {last}'"},
		{"too many columns", strings.Repeat("c,", 4096) + "\n", bulk.Options{}, "4097 columns"},
		{"CR alone in the header", "source,key,name\rx,1,a\r\nx,2,b\n", bulk.Options{}, "CR alone"},
		{"zip", "PK\x03\x04....", bulk.Options{}, "zip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, c.in, c.columns)
			var broken *bulk.FileError
			if !errors.As(err, &broken) {
				t.Fatalf("got %v", err)
			}
			if text := broken.Error() + " " + broken.Hint; !strings.Contains(text, c.want) {
				t.Errorf("%q does not say %q", text, c.want)
			}
		})
	}
}

func TestJSONL(t *testing.T) {
	t.Parallel()
	long := `{"source":"x","key":"1","name":"a"` + strings.Repeat(" ", 66560) + "}"
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"strings, lists, numbers", `{"source":"x","key":"1","name":"a","phones":["5","6"],"postcode":94103}`, []string{"1 x:1 map[name:[a] phones:[5 6] postcode:[94103]]"}},
		{
			"a record that Locus printed, and the summary after it",
			`{"type":"result","source":"x","key":"1","kind":"place","puid":"5","version":2,"entity":"75ef294c-6194-b5de-17e3-01a204fa49fa","observed_at":"2026-11-22T20:37:21.493Z","attributes":{"name":["a"],"phones":["5","6"]}}` +
				"\n" + `{"type":"summary","count":1,"cursor":""}`,
			[]string{"1 x:1 map[name:[a] phones:[5 6]]"},
		},
		{"a printed record with an attribute of no kind", `{"source":"x","key":"1","attributes":{"nmae":["a"]}}`, []string{"1 refused unknown_field /attributes/nmae"}},
		{"a printed record without its key", `{"source":"x","attributes":{"name":["a"]}}`, []string{"1 refused invalid /key"}},
		{"a printed entity", `{"type":"result","id":"75ef294c-6194-b5de-17e3-01a204fa49fa","kind":"place","records":2,"stamp":"17"}`, []string{"1 refused invalid "}},
		{"a row that only looks like a summary", `{"type":"summary","count":1,"source":"x","key":"1"}`, []string{"1 refused unknown_field /type"}},
		{"a number keeps its text", `{"source":"x","key":"1","postcode":1.50e0}`, []string{"1 x:1 map[postcode:[1.50e0]]"}},
		{"blank lines, no end", "{\"source\":\"x\",\"key\":\"1\"}\n \r\n{\"source\":\"x\",\"key\":\"2\"}", []string{"1 x:1 map[]", "3 x:2 map[]"}},
		{"longer than a scanner's buffer", long, []string{"1 x:1 map[name:[a]]"}},
		{"too long", `{"source":"x","key":"1","name":"` + strings.Repeat("a", bulk.MaxRow) + "\"}\n" + `{"source":"x","key":"2"}`, []string{"1 refused too_large ", "2 x:2 map[]"}},
		{"name twice", `{"source":"x","key":"1","key":"2"}`, []string{"1 refused duplicate_key "}},
		{"name twice, escaped", `{"source":"x","key":"1","\u006bey":"2"}`, []string{"1 refused duplicate_key "}},
		{"cut", "{\"source\":\"x\",\"key\n{\"source\":\"x\",\"key\":\"2\"}", []string{"1 refused malformed ", "2 x:2 map[]"}},
		{"lone surrogate", `{"source":"x","key":"\ud800"}`, []string{"1 refused invalid_utf8 "}},
		{"not UTF-8", "{\"source\":\"ü\",\"key\":\"1\"}\n{\"source\":\"x\",\"key\":\"\xff\"}", []string{"1 ü:1 map[]", "2 refused invalid_utf8 "}},
		{"two on a line", `{"source":"x","key":"1"}` + "\n" + `{"source":"x","key":"2"}{"source":"x","key":"3"}`, []string{"1 x:1 map[]", "2 refused trailing_data "}},
		{"no line ends", `{"source":"x","key":"1"}{"source":"x","key":"2"} {"source":"x","key":"3"}`, []string{"1 x:1 map[]", "1 x:2 map[]", "1 x:3 map[]"}},
		{"no object", `{"source":"x","key":"1"}` + "\n[1]\n7", []string{"1 x:1 map[]", "2 refused malformed ", "3 refused malformed "}},
		{"nested", `{"source":"x","key":"1","name":{"en":"a"}}`, []string{"1 refused unknown_field /name/en"}},
		{"boolean", `{"source":"x","key":"1","name":true}`, []string{"1 x:1 map[name:[true]]"}},
		{"null", `{"source":"x","key":"1","name":null}`, []string{"1 x:1 map[]"}},
		{"list of numbers", `{"source":"x","key":"1","phones":[5,"6"]}`, []string{"1 x:1 map[phones:[5 6]]"}},
		{"list of lists", `{"source":"x","key":"1","phones":[["5"]]}`, []string{"1 refused unknown_field /phones"}},
		{"key as a number", `{"source":"x","key":1.0}`, []string{"1 x:1.0 map[]"}},
		{"key as a list", `{"source":"x","key":["1","2"]}`, []string{"1 refused invalid /key"}},
		{"no key", `{"source":"x","name":"a"}`, []string{"1 refused invalid /key"}},
		{"no source", `{"key":"1"}`, []string{"1 refused invalid /source"}},
		{"nothing", `{}`, []string{"1 refused invalid /source"}},
		{"unknown name", `{"source":"x","key":"1","nmae":"a"}`, []string{"1 refused unknown_field /nmae"}},
		{"other case", `{"source":"x","key":"1","Name":"a"}`, []string{"1 refused unknown_field /Name"}},
		{"a refused row, corrected", `{"line":7,"code":"invalid","pointer":"/name","reason":"no","row":{"source":"x","key":"1","name":"a"}}`, []string{"1 x:1 map[name:[a]]"}},
		{"a refused row, still text", `{"line":7,"code":"malformed","pointer":"","reason":"no","row":"x,1,\"a"}`, []string{"1 refused malformed /row"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, c.in, bulk.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%.2000s", diff)
			}
		})
	}
}

func TestRowError_KeepsTheRowToBeCorrected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"CSV, wrong width", "source,key,name\nx,1\n", `{"key":"1","source":"x"}`},
		{"CSV, cannot be taken apart", "source,key,name\nx,1,\"a\nx,2,b\n", `{"key":"1","name":"\"a","source":"x"}`},
		{"JSONL", `{"source":"x","key":"1","nmae":"a"}`, `{"source":"x","key":"1","nmae":"a"}`},
		{"JSONL, cut", `{"source":"x`, `"{\"source\":\"x"`},
		{"bytes that are no text", "source,key,name\nx,1,\xff\nü,1,ü\n", `{"key":"1","name":"` + "\ufffd" + `","source":"x"}`},
	} {
		r, err := open(bulk.Stdin, strings.NewReader(c.in), bulk.Auto, &bulk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Next()
		var refused *bulk.RowError
		if !errors.As(err, &refused) {
			t.Fatalf("%s: got %v", c.name, err)
		}
		if got := strings.ReplaceAll(string(refused.Row), `\ufffd`, "\ufffd"); got != c.want {
			t.Errorf("%s: row %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRow_FlatIsReadAgain(t *testing.T) {
	t.Parallel()
	in := "source,key,observed_at,name,phones\nx,\"1\u2028\",2026-01-02T03:04:05Z,\"<a>\r\n\",5\n"
	columns := &bulk.Options{}
	r, err := open(bulk.Stdin, strings.NewReader(in), bulk.CSV, columns)
	if err != nil {
		t.Fatal(err)
	}
	row, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	again, err := open(bulk.Stdin, bytes.NewReader(row.Flat()), bulk.JSONL, columns)
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Next()
	if err != nil {
		t.Fatal(err)
	}
	got.Line, got.Lines = row.Line, row.Lines
	if diff := cmp.Diff(row, got); diff != "" {
		t.Errorf("-sent +read:\n%s", diff)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"nmae", "name"}, {"Name", "name"}, {"phone", "phones"}, {"adress", "address"}, {"DATE", ""}, {"nam", "name"}, {"zip", ""}, {"", ""}, {strings.Repeat("x", 10000), ""},
	} {
		if got := bulk.Nearest(c.in, attributes); got != c.want {
			t.Errorf("Nearest(%.20q) = %q, want %q", c.in, got, c.want)
		}
	}
}
