// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"bytes"
	"io"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
)

// pizza is the original pair of records, and a guide that partly agrees.
func pizza(t testing.TB) *explain.Explanation {
	t.Helper()
	w := &explain.Explanation{Requested: id(t, 1), Threshold: match.Threshold, Entity: &entity.Entity{ID: id(t, 1)}}
	for i, r := range []struct {
		ref        entity.Ref
		attributes entity.Attributes
	}{
		{entity.Ref{Source: "pos", Key: "1042"}, entity.Attributes{
			"name": {"Joes Pizza"}, "address": {"1000 Market Street"}, "phones": {"415-555-2300"}, "postcode": {"94103"},
		}},
		{entity.Ref{Source: "web", Key: "a/b c"}, entity.Attributes{
			"name": {"Joe's"}, "address": {"1000 Market St."}, "phones": {"(415) 555-2300", "415 555 2301"},
			"postcode": {"94102"},
		}},
		{entity.Ref{Source: "web", Key: "9"}, entity.Attributes{"name": {"Joes Pizza"}, "phones": {"N/A"}, "hours": {"-"}}},
	} {
		w.Entity.Members = append(w.Entity.Members, entity.Member{PUID: entity.PUID(i + 1), Ref: r.ref, Version: 1})
		w.Records = append(w.Records, &entity.Record{PUID: entity.PUID(i + 1), Ref: r.ref, Observed: noon,
			Attributes: r.attributes})
	}
	value := func(text string, members ...int) entity.MergedValue {
		return entity.MergedValue{Value: text, Members: members}
	}
	w.Entity.View = entity.View{
		{Name: "name", Values: []entity.MergedValue{value("Joes Pizza", 0, 2), value("Joe's", 1)}},
		{Name: "phones", Values: []entity.MergedValue{value("(415) 555-2300", 0, 1), value("415 555 2301", 1)}},
		{Name: "address", Values: []entity.MergedValue{value("1000 Market Street", 0, 1)}},
		{Name: "postcode", Values: []entity.MergedValue{value("94103", 0), value("94102", 1)}},
	}
	w.Supports = map[string][]entity.Support{"name": {{Weight: 2}, {Weight: 0.5}},
		"postcode": {{Weight: 0.5, Led: true}, {Weight: 1}}}
	w.Joins = []explain.Join{{
		A: w.Records[0].Ref, B: w.Records[1].Ref,
		Explanation: match.Explanation{
			Outcome: match.Same, Weight: 1970,
			Lines: []match.Line{
				{Attribute: "name", Level: "mostly alike", Weight: 450, A: []string{"Joes Pizza"}, B: []string{"Joe's"}},
				{Attribute: "name residual", Level: "one keeps a word", Weight: -30},
				{Attribute: "phone", Level: "equal", Weight: 900, A: []string{"415-555-2300"}, B: []string{"(415) 555-2300"}},
				{Attribute: "address", Level: "street and number equal", Weight: 650},
			},
			BlockingKeys: []match.SharedKey{{Kind: match.KeyPhone, Text: "155552300"}},
		},
	}}
	return w
}

// recordPath stands in for the function that the server passes.
func recordPath(source, key string) string {
	return "/v1/records/" + url.PathEscape(source) + "/" + url.PathEscape(key)
}

func renderEntity(w *explain.Explanation) func(io.Writer) error {
	return func(out io.Writer) error {
		return console.New("1.2.3").Entity(out,
			console.Entity{Why: w, Schema: match.Place(), Home: "g0-8", RecordPath: recordPath})
	}
}

// table reads the cells of the table with a class, as texts with single spaces.
func table(t testing.TB, root *html.Node, class string) [][]string {
	t.Helper()
	var rows [][]string
	elements(root, func(n *html.Node) {
		if c, _ := attribute(n, "class"); n.Data != "table" || c != class {
			return
		}
		elements(n, func(tr *html.Node) {
			if tr.Data != "tr" {
				return
			}
			var row []string
			for td := range tr.ChildNodes() {
				if td.Data == "td" || td.Data == "th" {
					row = append(row, strings.Join(strings.Fields(text(td)), " "))
				}
			}
			rows = append(rows, row)
		})
	})
	return rows
}

func find(t testing.TB, rows [][]string, first string) string {
	t.Helper()
	for _, r := range rows {
		if r[0] == first {
			return strings.Join(r[1:], " | ")
		}
	}
	t.Errorf("no row %q", first)
	return ""
}

func TestEntity_ShowsWhichRecordsSaySo(t *testing.T) {
	t.Parallel()
	rows := table(t, render(t, renderEntity(pizza(t))), "view")
	for attribute, want := range map[string]string{
		"name":     "Joes Pizza from record 1 pos 3 web also Joe's from record 2 web Leads because its weight is 2, that of the next one 0.50.",
		"phones":   "(415) 555-2300 from record 1 pos 2 web 415 555 2301 from record 2 web",
		"address":  "1000 Market Street from record 1 pos 2 web",
		"postcode": "94103 from record 1 pos also 94102 from record 2 web Leads because it belongs to the address with the most weight.",
	} {
		if got := find(t, rows, attribute); got != want {
			t.Errorf("%s: %q, want %q", attribute, got, want)
		}
	}
}

func TestEntity_MarksHowRecordsDiffer(t *testing.T) {
	t.Parallel()
	rows := table(t, render(t, renderEntity(pizza(t))), "side")
	for attribute, want := range map[string]string{
		"":         "1 pos1042 | 2 weba/b c | 3 web9",
		"name":     "Joes Pizza | Joe'sdiffers | Joes Pizza",
		"phones":   "415-555-2300spelled differently | (415) 555-2300415 555 2301 | N/Anot used",
		"address":  "1000 Market Street | 1000 Market St.spelled differently | no value–",
		"postcode": "94103 | 94102differs | no value–",
		"hours":    "no value– | no value– | -not used",
	} {
		if got := find(t, rows, attribute); got != want {
			t.Errorf("%s: %q, want %q", attribute, got, want)
		}
	}
}

func TestEntity_WaterfallAddsUp(t *testing.T) {
	t.Parallel()
	root := render(t, renderEntity(pizza(t)))
	rows := table(t, root, "fall")
	for line, want := range map[string]string{
		"name":          "mostly alikeJoes Pizza ↔ and Joe's | +4.50 |  | +4.50",
		"name residual": "one keeps a word | -0.30 |  | +4.20",
		"phone":         "equal415-555-2300 ↔ and (415) 555-2300 | +9.00 |  | +13.20",
		"address":       "street and number equal | +6.50 |  | +19.70",
		"sum":           " | +19.70 |  | +19.70",
	} {
		if got := find(t, rows, line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	var bars []string
	elements(root, func(n *html.Node) {
		if class, _ := attribute(n, "class"); n.Data == "rect" && !strings.HasPrefix(class, "line") {
			x, _ := attribute(n, "x")
			width, _ := attribute(n, "width")
			bars = append(bars, class+" "+x+" "+width)
		}
	})
	// Of 19.70 bits: 4.50 on, 0.30 back, 9.00 on, 6.50 on; then all of it.
	want := "for 0.00% 22.84%, against 21.32% 1.52%, for 21.32% 45.69%, for 67.01% 32.99%, total 0.00% 100.00%"
	if got := strings.Join(bars, ", "); got != want {
		t.Errorf("bars %s\nwant %s", got, want)
	}
	if s := text(byID(t, root, "main")); !strings.Contains(s, "852 thousand times likelier if both records are the same thing") {
		t.Errorf("the sum is not said in words")
	}
}

func TestEntity_RecordsStandInTheOrderOfTheirValues(t *testing.T) {
	t.Parallel()
	w := pizza(t)
	j := &w.Joins[0]
	j.Explanation.A, j.Explanation.B = match.NodeKey(j.A), match.NodeKey(j.B)
	j.A, j.B = j.B, j.A
	var b bytes.Buffer
	if err := renderEntity(w)(&b); err != nil {
		t.Fatal(err)
	}
	if want := "locus entity why pos:1042 &#39;web:a/b c&#39;"; !strings.Contains(b.String(), want) {
		t.Errorf("the page has no %s", want)
	}
}

func TestEntity_NoEvidenceStillHasAScale(t *testing.T) {
	t.Parallel()
	w := pizza(t)
	w.Threshold = 0
	w.Joins[0].Explanation = match.Explanation{}
	if s := text(render(t, renderEntity(w))); strings.Contains(s, "NaN") {
		t.Error("NaN on the page")
	}
}

func TestEntity_FormerIdIsSaid(t *testing.T) {
	t.Parallel()
	w := pizza(t)
	said := func() bool {
		return strings.Contains(text(render(t, renderEntity(w))), id(t, 2).String()+" is a former id of this entity")
	}
	if said() {
		t.Error("a redirect is said for the entity's own id")
	}
	w.Requested = id(t, 2)
	if !said() {
		t.Error("the redirect is not said")
	}
}

func TestEntity_OfOneRecord(t *testing.T) {
	t.Parallel()
	s := text(render(t, renderEntity(why(t, "Alone"))))
	for _, want := range []string{"1 record from 1 source", "There is only one record", "in cell g0-8"} {
		if !strings.Contains(s, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestEntity_LinksEscapeKeys(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := renderEntity(pizza(t))(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="/v1/records/web/a%2Fb%20c"`, "locus record get &#39;web:a/b c&#39;"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func TestEntity_OfManyRecords(t *testing.T) {
	t.Parallel()
	names := make([]string, 300)
	for i := range names {
		names[i] = "Chain " + console.Count(int64(i))
	}
	var b bytes.Buffer
	if err := renderEntity(why(t, names...))(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 2<<20 {
		t.Errorf("the page of 300 records has %d bytes", b.Len())
	}
}
