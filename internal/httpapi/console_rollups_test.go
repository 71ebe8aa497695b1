// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// countedPlaces defines a rollup, puts places, and waits until they are counted.
func (f *fixture) countedPlaces(categories ...string) {
	f.Helper()
	if _, _, err := f.svc.Rollups().Define(f.Context(), rollup.Definition{
		Name: "places", Kind: "place", Group: []string{"category"}, Dimension: "city",
		Measures: []rollup.Measure{{Name: "places", Func: rollup.Count},
			{Name: "codes", Func: rollup.Distinct, Attribute: "postcode"}},
	}); err != nil {
		f.Fatal(err)
	}
	latest := func() {
		f.Helper()
		if _, err := f.svc.Rollups().Query(f.Context(), "places", rollups.Query{Read: rollups.Read{Latest: true, Patience: patience}}); err != nil {
			f.Fatal(err)
		}
	}
	latest() // from now on changes have the attributes to count by
	var puts []records.Input
	for i, category := range categories {
		p := records.Input{Attributes: map[string][]string{"name": {"Place " + category}, "category": {category},
			"city": {"Springfield"}}}
		p.Source, p.Key = "pos", string(rune('a'+i))
		puts = append(puts, p)
	}
	if _, err := f.svc.Records().Put(f.Context(), puts); len(puts) > 0 && err != nil {
		f.Fatal(err)
	}
	latest()
}

func TestConsole_Rollups(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.says(f.get("/rollups").page(200), "Nothing is counted yet", "group: category\ndimension: region", `href="/rollups"`)
	f = setup(t, nil)
	f.countedPlaces("bakery", "diner")
	f.says(f.get("/rollups").page(200), `href="/rollups/places"`, "locus rollup status places", "following",
		"Groups: <b>2 in 2 cells</b>")
}

func TestConsole_Rollup(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.countedPlaces("bakery", "<script>alert(1)</script>", "a/b", "-dash")
	const all = "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>"
	for query, wants := range map[string][]string{
		"": {all, "locus rollup get places --top 50 --by places",
			`href="/rollups/places?order=name"`},
		"?by=places&page=2":            {"No more groups.", "First groups"},
		"?page=-1":                     {all},
		"?page=99999999999999999999":   {all},
		"?by=codes":                    {all, "Groups cannot be ordered by codes: want one of places."},
		"?by=<b>":                      {all, "Groups cannot be ordered by &lt;b&gt;"},
		"?order=name":                  {all, "locus rollup get places<", "codes"},
		`?order=name&after=["bakery"]`: {"First groups"},
		`?order=name&after=["a","b"]`:  {all, "it cannot begin after"},
		`?order=name&after=x`:          {all, "it cannot begin after x."},
		"?g1=bakery": {"<bdi>bakery</bdi>", "Springfield", "added",
			"locus rollup explain places bakery"},
		"?g1=":                                  {all}, // a form with a field left empty
		"?g1=none":                              {"The group is empty.", "No changes of this group"},
		"?g1=-dash":                             {"locus rollup get places -- -dash"},
		"?g1=a/b":                               {"<bdi>a/b</bdi>", "added"},
		"?g2=x":                                 {all},
		"?g1=" + strings.Repeat("x", 5000) + "": {"The group is empty."},
		"?unknown=1":                            {all},
	} {
		target := "/rollups/places"
		if query != "" {
			name, value, _ := strings.Cut(query[strings.LastIndexAny(query, "?&")+1:], "=")
			target += query[:strings.LastIndexAny(query, "?&")+1] + name + "=" + url.QueryEscape(value)
		}
		f.says(f.get(target).page(200), wants...)
	}
	if body := f.get(`/rollups/places?order=name&after=` + url.QueryEscape(`["bakery"]`)).page(200); strings.Contains(body, ">bakery<") || strings.Contains(body, ">a/b<") {
		t.Error("the list does not begin where it was asked to")
	}
	f.says(f.get("/rollups/none").page(404), "No such rollup", "locus rollup list")
	f.says(f.get("/rollups/%3Cb%3E").page(404), "No such rollup", "<bdi>&lt;b&gt;</bdi>")
	for _, path := range []string{"/rollups", "/rollups/places"} {
		f.do(http.MethodPost, path, "{}").refused(http.StatusMethodNotAllowed, httpapi.CodeMethod)
	}
}

func TestConsole_RollupOfTwoAttributes(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.countedPlaces("bakery")
	if _, _, err := f.svc.Rollups().Define(f.Context(), rollup.Definition{Name: "two", Kind: "place", Group: []string{"category", "city"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.svc.Rollups().Query(f.Context(), "two", rollups.Query{Read: rollups.Read{Latest: true, Patience: patience}}); err != nil {
		t.Fatal(err)
	}
	f.says(f.get("/rollups/two").page(200), `href="/rollups/two?g1=bakery&amp;g2=Springfield"`, `name="g2"`)
	f.says(f.get("/rollups/two?g1=bakery&g2=Springfield").page(200), "Springfield")
	f.says(f.get("/rollups/two?g1=bakery").page(200), "A group has a value for each of category, city.",
		"<bdi>bakery</bdi>")
}
