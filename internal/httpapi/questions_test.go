// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/quality"
	"github.com/locus-db/locus/review"
	"github.com/locus-db/locus/tokens"
)

// TestP10_QuestionsAreNarrowed asks in every order, and for the quality, as a reviewer of places who may not see two
// attributes.
func TestP10_QuestionsAreNarrowed(t *testing.T) {
	t.Parallel()
	f := setupSecretive(t)
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	ann := bearer(f.token(tokens.Request{Name: "ann", Roles: []string{"reviewer"}, Restriction: hiding}))
	for _, order := range review.Orders() {
		target := "/v1/review?order=" + string(order)
		whole, own := f.do(http.MethodGet, target, "", root...), f.do(http.MethodGet, target, "", ann...)
		all, seen := decode[httpapi.ReviewList](whole).Pairs, decode[httpapi.ReviewList](own).Pairs
		if !slices.ContainsFunc(all, func(p review.Pair) bool { return p.Kind != "place" }) || !strings.Contains(whole.Body.String(), canary) {
			t.Fatalf("%s: %+v", order, all)
		}
		if len(seen) == 0 || slices.ContainsFunc(seen, func(p review.Pair) bool { return p.Kind != "place" }) || strings.Contains(own.Body.String(), canary) {
			t.Errorf("%s: %s", order, own.Body)
		}
	}
	whole, own := f.do(http.MethodGet, "/v1/quality", "", root...), f.do(http.MethodGet, "/v1/quality", "", ann...)
	all, seen := decode[quality.Estimate](whole), decode[quality.Estimate](own)
	if len(all.Kinds) != 2 || len(seen.Kinds) != 1 || seen.Kinds[0].Kind != "place" || seen.Records >= all.Records {
		t.Errorf("%s, of all %s", own.Body, whole.Body)
	}
	whole, own = f.do(http.MethodGet, "/v1/quality/profile", "", root...), f.do(http.MethodGet, "/v1/quality/profile",
		"", ann...)
	if !strings.Contains(whole.Body.String(), canary) ||
		strings.Contains(whole.Body.String(), `"kind":"place"`) != strings.Contains(own.Body.String(), `"kind":"place"`) {
		t.Errorf("profiles: %s, of all %s", own.Body, whole.Body)
	}
	page := f.do(http.MethodGet, "/quality", "", append(ann, "Accept", "text/html")...).page(http.StatusOK)
	for _, seen := range []string{own.Body.String(), page} {
		if strings.Contains(seen, canary) || strings.Contains(seen, ghost) || strings.Contains(seen, "person") ||
			strings.Contains(seen, "websites") {
			t.Errorf("a reviewer of places sees %s", seen)
		}
	}
	for _, target := range []string{"/v1/quality/profile?kind=person", "/quality?kind=person"} {
		if answer := f.do(http.MethodGet, target, "", ann...); answer.Code != http.StatusUnprocessableEntity || strings.Contains(answer.Body.String(), ghost) {
			t.Errorf("%s: %d %s", target, answer.Code, answer.Body)
		}
	}
}

// TestQuality_Page checks that the page shows the data of the route, with the effect of another threshold.
func TestQuality_Page(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for i, phone := range []string{"212-555-0101", "212-555-0101", "646-555-7878"} {
		f.item(fmt.Sprintf(`{"source":"%c","key":"oak","attributes":{"name":"Brass Heron Antiques","phones":%q,"address":"12 Oak Ave","city":"Springfield"}}`, "aab"[i], phone))
	}
	f.item(`{"source":"b","key":"mill","attributes":{"name":"Brass Heron Antiques","phones":"646-555-7111","address":"99 Mill Lane","city":"Springfield"}}`)
	k := decode[quality.Profile](f.get("/v1/quality/profile?kind=place&threshold=0.5")).Kinds[0]
	if len(k.Thresholds) != 7 || k.Thresholds[0].Threshold != 50 || k.Thresholds[0].Merged != 1 || k.Records != 3 {
		t.Fatalf("%+v", k)
	}
	page := f.get("/quality?threshold=0.5").page(http.StatusOK)
	f.says(page, "<tr class=\"on\" aria-current=\"true\"><th scope=\"row\">&#43;0.50</th><td>-4.50</td><td>1</td>", `<svg class="histogram"`, "the counts are exact", `aria-current="page">Quality</a>`,
		"locus quality thresholds --kind place --threshold 0.5")
	f.says(f.get("/quality?threshold=abc").page(http.StatusOK), "is not a threshold")
	f.get("/v1/quality/profile?threshold=0").refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	f.get("/v1/quality/profile?threshold=NaN").refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	f.get("/v1/quality/profile?kind=ship").refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	f.says(f.get("/quality?kind=person").page(http.StatusOK), "There are no records of this kind yet.")
}

// TestReview_Orders follows an order over its pages and through the console.
func TestReview_Orders(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, r := range []string{
		`{"source":"a","key":"oak","attributes":{"name":"Brass Heron Antiques","phones":"212-555-0101","address":"12 Oak Ave","city":"Springfield"}}`,
		`{"source":"b","key":"mill","attributes":{"name":"Brass Heron Antiques","phones":"646-555-7878","address":"99 Mill Lane","city":"Springfield"}}`,
		`{"source":"a","key":"pine","attributes":{"name":"Gilded Otter Books","phones":"212-555-0999","address":"1 Pine St","city":"Springfield"}}`,
		`{"source":"b","key":"birch","attributes":{"name":"Gilded Otter Books","phones":"646-555-7111","address":"7 Birch Rd","city":"Springfield"}}`,
	} {
		f.item(r)
	}
	for _, order := range review.Orders() {
		target := "/v1/review?limit=1&order=" + string(order)
		first := decode[httpapi.ReviewList](f.get(target))
		if len(first.Pairs) != 1 || first.Cursor == "" || first.Pairs[0].Teaches <= 0 || first.Pairs[0].Joined {
			t.Fatalf("%s: %+v", order, first)
		}
		second := decode[httpapi.ReviewList](f.get(target + "&cursor=" + first.Cursor))
		if len(second.Pairs) != 1 || second.Pairs[0].A == first.Pairs[0].A {
			t.Errorf("%s: %+v after %+v", order, second, first)
		}
	}
	f.get("/v1/review?order=worst").refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	teaching := decode[httpapi.ReviewList](f.get("/v1/review?order=teaches"))
	if cursor := decode[httpapi.ReviewList](f.get("/v1/review?limit=1&order=teaches")).Cursor; cursor != "" {
		f.get("/v1/review?order=chance&cursor="+cursor).refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	}
	page := f.get("/review?order=teaches").page(http.StatusOK)
	f.says(page, `selected>most informative first</option>`, "/review?a=", "order=teaches", teaching.Pairs[0].A.String())
	if f.says(f.get("/review").page(http.StatusOK), `selected>best first</option>`, "Teaches"); strings.Contains(page, `selected>best first</option>`) {
		t.Error("two orders are shown")
	}
	// A page begins where the last one ended, though its pairs are decided.
	f.item(`{"source":"a","key":"elm","attributes":{"name":"Ivory Lynx Records","phones":"212-555-0888","address":"3 Elm St","city":"Springfield"}}`)
	f.item(`{"source":"b","key":"fir","attributes":{"name":"Ivory Lynx Records","phones":"646-555-7222","address":"60 Fir Rd","city":"Springfield"}}`)
	pages := decode[httpapi.ReviewList](f.get("/v1/review?limit=2&order=teaches"))
	for _, p := range pages.Pairs {
		f.post("/v1/decisions", fmt.Sprintf(`{"decisions":[{"verdict":"different","a":%q,"b":%q,"author":"ann"}]}`, p.A, p.B))
	}
	if last := decode[httpapi.ReviewList](f.get("/v1/review?limit=2&order=teaches&cursor=" + pages.Cursor)); len(pages.Pairs) != 2 || len(last.Pairs) != 1 {
		t.Errorf("%+v after %+v", last, pages)
	}
}
