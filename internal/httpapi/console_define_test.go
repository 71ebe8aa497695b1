// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/tokens"
)

// TestConsole_DefinesRollups defines a rollup, changes it, counts it again and drops it.
func TestConsole_DefinesRollups(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	send := func(fields ...string) answer { return f.submit("/define", ofPage, fields...) }
	f.says(f.get("/define").page(200), "Define a rollup", "group: category", "Preview</button>")
	f.says(f.get("/rollups").page(200), `href="/define"`)

	text := "rollup: shops\r\nkind: place\r\ngroup: category\r\ndimension: city\r\n"
	read := send("do", "read", "definition", text).page(200)
	f.says(read, "Preview <small>", "<code>category</code>, divided by <code>city</code>", "It is new",
		"Define the rollup")
	if _, err := f.svc.Rollups().Get(f.Context(), "shops"); !errors.Is(err, rollup.ErrNotFound) {
		t.Fatalf("looking at it has defined it: %v", err)
	}
	f.says(send("do", "read", "definition", "rollup: shops\nkind: place\ngroup: beak\n").page(200), "problem", "beak")
	f.says(send("do", "define", "definition", "nonsense").page(200), "problem", "nonsense")
	f.submit("/define", []string{"Sec-Fetch-Site", "cross-site"}, "do", "define", "definition",
		text).refused(http.StatusForbidden, httpapi.CodeForbidden)
	if to := send("do", "define", "definition", text).leads(); to != "/rollups/shops" {
		t.Fatalf("a definition leads to %s", to)
	}

	f.says(f.get("/rollups/shops").page(200), `href="/define?rollup=shops"`)
	f.says(f.get("/define?rollup=shops").page(200), "Change shops", "dimension: city", "Drop the rollup")
	f.says(send("do", "read", "rollup", "shops", "definition", text).page(200), "nothing would change")
	changed := strings.Replace(text, "dimension: city", "dimension: region", 1)
	f.says(send("do", "read", "rollup", "shops", "definition", changed).page(200), "replaces it when every cell has it",
		"Change the rollup")
	f.says(send("do", "define", "rollup", "shops", "definition", strings.Replace(changed, "shops", "others", 1)).page(200),
		"problem")
	if to := send("do", "define", "rollup", "shops", "definition", changed).leads(); to != "/rollups/shops" {
		t.Fatalf("a change leads to %s", to)
	}
	f.says(f.get("/define?rollup=shops").page(200), "dimension: region")
	if to := send("do", "rebuild", "rollup", "shops").leads(); to != "/rollups/shops" {
		t.Fatalf("counting again leads to %s", to)
	}
	f.says(send("do", "drop", "rollup", "shops", "confirm", "shop").page(200), "nothing was dropped")
	if _, err := f.svc.Rollups().Get(f.Context(), "shops"); err != nil {
		t.Fatal(err)
	}
	if to := send("do", "drop", "rollup", "shops", "confirm", "shops").leads(); to != "/rollups" {
		t.Fatalf("dropping leads to %s", to)
	}
	if _, err := f.svc.Rollups().Get(f.Context(), "shops"); !errors.Is(err, rollup.ErrNotFound) {
		t.Errorf("it is not dropped: %v", err)
	}
	f.says(f.get("/define?rollup=shops").page(404), "No such rollup")
	send("do", "rebuild", "rollup", "shops").page(404)
}

// TestP10_DefineOnlyWhatIsSeen checks that readers see no button, and that people who do not see everything read no
// definition over hidden data.
func TestP10_DefineOnlyWhatIsSeen(t *testing.T) {
	t.Parallel()
	f := setupSecretive(t)
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	reader := append([]string{"Cookie", f.signIn(f.token(tokens.Request{Name: "reader", Roles: []string{"reader"}}))},
		browser...)
	if page := f.do(http.MethodGet, "/define?rollup=cities", "", reader...).page(200); strings.Contains(page, "<button name=\"do\"") || strings.Contains(page, "Drop the rollup") {
		t.Error("a reader gets buttons that are refused")
	}
	f.submit("/define", append(reader, ofPage...), "do", "drop", "rollup", "cities", "confirm",
		"cities").page(http.StatusForbidden)
	ann := append([]string{"Cookie", f.signIn(f.token(tokens.Request{Name: "ann", Roles: []string{"reader", "administrator"}, Restriction: hiding}))}, browser...)
	for _, path := range []string{"/define?rollup=cities", "/rollups/cities/csv"} {
		f.says(f.do(http.MethodGet, path, "", ann...).page(http.StatusForbidden), "may not see")
	}
	f.submit("/define", append(ann, ofPage...), "do", "drop", "rollup", "cities", "confirm",
		"cities").page(http.StatusForbidden)
	if _, err := f.svc.Rollups().Get(f.Context(), "cities"); err != nil {
		t.Error(err)
	}
}

// TestConsole_RollupFile reads the same groups in the file as on the page.
func TestConsole_RollupFile(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.countedPlaces("bakery", "=1+1", "a,b")
	for query, want := range map[string]string{
		"?order=name":               "category,places,Springfield,codes\n'=1+1,1,1,0\n\"a,b\",1,1,0\nbakery,1,1,0\n",
		"?g1=bakery":                "city,places,codes\nSpringfield,1,0\ntotal,1,0\n",
		`?order=name&after=["a,b"]`: "category,places,Springfield,codes\nbakery,1,1,0\n",
		"?by=places&page=2":         "category,places\n",
	} {
		of, _ := url.ParseQuery(query[1:])
		target := "/rollups/places?" + of.Encode()
		link := strings.Replace(target, "?", "/csv?", 1)
		f.says(f.get(target).page(200), `href="`+strings.ReplaceAll(link, "&", "&amp;")+`"`)
		got := f.get(link)
		if got.Code != 200 || got.Body.String() != want ||
			got.Header().Get("Content-Disposition") != "attachment; filename=places.csv" {
			t.Errorf("%s: %d %q, want %q\n%v", query, got.Code, got.Body, want, got.Header())
		}
	}
	f.get("/rollups/places/csv?by=codes").page(422)
	f.get("/rollups/none/csv").page(404)
}
