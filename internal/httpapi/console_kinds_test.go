// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/match"
)

// TestKinds_Pages shows the evidence of a kind, tries two records, and takes a draft from the dry run to the switch.
func TestKinds_Pages(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, r := range []string{
		`{"source":"a","key":"oak","attributes":{"name":"Brass Heron Antiques","phones":"212-555-0101","address":"12 Oak Ave","city":"Springfield"}}`,
		`{"source":"b","key":"mill","attributes":{"name":"Brass Heron Antiques","phones":"646-555-7878","address":"99 Mill Lane","city":"Springfield"}}`,
		`{"source":"b","key":"oak","attributes":{"name":"Brass Heron Antiques","phones":"212-555-0101","address":"12 Oak Ave","city":"Springfield"}}`,
	} {
		f.item(r)
	}
	f.post("/v1/decisions", `{"decisions":[{"verdict":"same","a":"a:oak","b":"b:oak","author":"ann"}]}`)
	f.says(f.get("/kinds").page(http.StatusOK),
		`<td class="words"><bdi>street and number equal</bdi></td><td>&#43;6.50</td><td>1</td><td>0</td><td>1</td><td>0</td>`,
		"locus quality keys --kind place", "/kinds/draft?kind=place")

	try := func(a, b string) string {
		return f.get("/kinds/try?" + url.Values{"kind": {"place"}, "a": {a}, "b": {b}}.Encode()).page(http.StatusOK)
	}
	f.says(try("name: Brass Heron Antiques\nphones: 212-555-0101", "a:oak"), "outcome: same", "Brass Heron Antiques")
	f.says(try("a:oak", "b:mill"), "outcome: possible")
	f.says(try("a:none", "b:mill"), "neither the address of a record")
	f.says(try("name: x\nbeak: y", "b:mill"), "not a line like")
	f.says(try("name: x", ""), "give both records")
	if page := f.get("/kinds/try?kind=place").page(http.StatusOK); strings.Contains(page, "problem") || strings.Contains(page, "What was compared") {
		t.Error("nothing was asked, and is answered")
	}

	now := f.svc.Kinds().Schema("place")
	schema := *now
	schema.Version++
	schema.Weights = map[string]map[string]match.Weight{"phone": {"different": 300}} // the possible match becomes one
	draft := strings.ReplaceAll(string(schema.YAML()), "\n", "\r\n")                 // as browsers send it
	send := func(do, schema string) answer {
		return f.submit("/kinds/draft", ofPage, "kind", "place", "do", do, "schema", schema)
	}
	tried := send("try", draft).page(http.StatusOK)
	f.says(tried, `<th scope="row">entities now</th><td>2</td>`, `<th scope="row">merged of several</th><td>1</td>`,
		"1 of 1", "Switch to the draft", "b:mill")
	if got := f.svc.Kinds().Schema("place"); got.Hash() != now.Hash() {
		t.Fatal("a dry run has changed the kind")
	}
	f.says(send("try", "kind: person\nversion: 9\nattributes: {}\n").page(http.StatusOK), "problem")
	f.says(send("switch", "nonsense").page(http.StatusOK), "problem")
	f.submit("/kinds/draft", []string{"Sec-Fetch-Site", "cross-site"}, "kind", "place", "do", "switch", "schema",
		draft).refused(http.StatusForbidden, httpapi.CodeForbidden)
	if answer := send("switch", draft); answer.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	if got := f.svc.Kinds().Schema("place"); got.Hash() != schema.Hash() {
		t.Errorf("version %d is in force, not the draft", got.Version)
	}
}
