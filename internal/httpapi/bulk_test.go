// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/review"
	"github.com/locus-db/locus/tokens"
)

var tag = regexp.MustCompile(`name="(stamp|batch)" value="([^"]*)"`)

// TestBulk_Pages previews the marked pairs and all of a filter, decides these, undoes that, and assigns a pair.
func TestBulk_Pages(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.doubtful("Joe's Pizza", "Zebra Lounge", "Quince Bakery")
	page := f.get("/review").page(200)
	f.says(page, `form="bulk"`, `Marked pairs, or all 3`)
	mark := regexp.MustCompile(`name="pair" value="([^"]+)"`).FindStringSubmatch(page)[1]
	one := f.get("/review/bulk?verdict=different&pair=" + url.QueryEscape(mark)).page(200)
	f.says(one, `<b id="chosen">1 pair</b>`, "No entity changes", mark)
	f.says(f.get("/review/bulk?verdict=same&pair=nonsense").page(200), "names no pair")
	all := f.get("/review/bulk?verdict=same&source=web").page(200)
	f.says(all, `<b id="chosen">3 pairs</b>`, "6 entities would be merged", `<b id="largest">2 records</b>`)
	stamp := tag.FindStringSubmatch(all)[2]

	to := f.submit("/review/bulk", ofPage, "verdict", "same", "source", "web", "stamp", stamp, "reason",
		"one sign").leads()
	team := f.get(to).page(200)
	f.says(team, `id="made"`, "<b>3 pairs</b> same", "one sign", "nothing to review")
	f.submit("/review/undo", ofPage, "batch", tag.FindStringSubmatch(team)[2]).leads()
	if left := listed(f.get("/review").page(200)); len(left) != 3 {
		t.Errorf("undone, and %q are left", left)
	}
	if f.submit("/review/bulk", ofPage, "verdict", "same", "source", "web").Code < 400 {
		t.Error("pairs were decided that no preview showed")
	}

	to = f.submit("/review/assign", ofPage, "pair", mark, "to", "somebody else", "days", "3").leads()
	f.says(f.get(to).page(200), "Assigned to somebody else: 1", "somebody else")
	if left := listed(f.get("/review").page(200)); len(left) != 2 {
		t.Errorf("the pair of another person is shown: %q", left)
	}
	page = f.get("/review?assigned=all").page(200)
	f.says(page, "for <bdi>somebody else</bdi>", "to somebody else (1)")
	if len(listed(page)) != 3 {
		t.Errorf("all pairs are %q", listed(page))
	}
	f.submit("/review/assign", ofPage, "pair", mark, "to", "").leads()
	if left := listed(f.get("/review").page(200)); len(left) != 3 {
		t.Errorf("a released pair is not free: %q", left)
	}
}

// TestTeam_Pages answers a pair as two people, and settles it.
func TestTeam_Pages(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.doubtful("Joe's Pizza")
	answer := func(author, verdict string) {
		t.Helper()
		if r := decode[httpapi.DecideResponse](f.post("/v1/decisions", fmt.Sprintf(`{"decisions":[{"verdict":%q,"a":"pos:0","b":"web:0","author":%q}]}`, verdict, author))).Results[0]; r.Error != nil {
			t.Fatal(r.Error)
		}
	}
	answer("ben", "same")
	page := f.get("/review?order=second").page(200)
	f.says(page, "selected>answered by others", "pos:0")
	answer("lea", "different")
	page = f.get("/review/team").page(200)
	f.says(page, "<bdi>ben</bdi> and <bdi>lea</bdi>", "0 %", "<bdi>ben</bdi> says same", "Settle: same")
	if to := f.submit("/decisions", ofPage, "verdict", "same", "a", "pos:0", "b", "web:0", "settles", "1", "back", "/review/team").leads(); to != "/review/team" {
		t.Errorf("leads to %s", to)
	}
	if page = f.get("/review/team").page(200); strings.Contains(page, `id="unsettled"`) {
		t.Error("a settled pair is to be settled")
	}
}

// TestBulk_Narrowed chooses, decides and counts as a person who sees places without their city.
func TestBulk_Narrowed(t *testing.T) {
	t.Parallel()
	f := setupSecretive(t)
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	ann := bearer(f.token(tokens.Request{Name: "ann", Roles: []string{"reviewer"}, Restriction: hiding}))
	whole := decode[review.Effect](f.do(http.MethodPost, "/v1/decisions/preview", `{"verdict":"different"}`, root...))
	own := f.do(http.MethodPost, "/v1/decisions/preview", `{"verdict":"different"}`, ann...)
	effect := decode[review.Effect](own)
	if len(whole.Pairs) < 2 || len(effect.Pairs) != 1 || effect.Pairs[0].Kind != "place" ||
		strings.Contains(own.Body.String(), canary) {
		t.Fatalf("%s of %+v", own.Body, whole)
	}
	f.do(http.MethodPost, "/v1/decisions/preview", `{"verdict":"same","filter":{"attribute":"city"}}`,
		ann...).refused(http.StatusForbidden, httpapi.CodeForbidden)
	f.do(http.MethodGet, "/v1/review?attribute=city", "", ann...).refused(http.StatusForbidden, httpapi.CodeForbidden)
	var hidden review.Pair
	for _, p := range whole.Pairs {
		if p.Kind != "place" {
			hidden = p
		}
	}
	f.do(http.MethodPost, "/v1/decisions/bulk",
		fmt.Sprintf(`{"verdict":"same","pairs":[{"a":%q,"b":%q}]}`, hidden.A, hidden.B),
		ann...).refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)
	f.do(http.MethodPost, "/v1/decisions/bulk", fmt.Sprintf(`{"verdict":"different","filter":{},"stamp":%q}`, whole.Stamp),
		ann...).refused(http.StatusConflict, httpapi.CodeConflict)

	made := decode[httpapi.BulkResponse](f.do(http.MethodPost, "/v1/decisions/bulk",
		fmt.Sprintf(`{"verdict":"different","filter":{},"stamp":%q}`, whole.Stamp), root...))
	if len(made.Results) != len(whole.Pairs) {
		t.Fatalf("%+v", made)
	}
	for _, r := range made.Results {
		if r.Error != nil || r.Decision.Author != "root" || r.Decision.By != "root" {
			t.Errorf("%+v", r)
		}
	}
	of := func(who []string) review.Team {
		t.Helper()
		return decode[review.Team](f.do(http.MethodGet, "/v1/review/team", "", who...))
	}
	if all, seen := of(root), of(ann); len(all.Batches) != 1 || all.Batches[0].Stands != len(whole.Pairs) || len(seen.Batches) != 1 || seen.Batches[0].Stands != 1 {
		t.Errorf("%+v, of all %+v", seen.Batches, all.Batches)
	}
	undone := decode[httpapi.DecideResponse](f.do(http.MethodPost, "/v1/decisions/bulk/"+made.Batch+"/undo", `{}`, ann...))
	if left := of(root); len(undone.Results) != 1 || len(left.Batches) != 1 || left.Batches[0].Stands != len(whole.Pairs)-1 {
		t.Errorf("%+v undone, left %+v", undone, left.Batches)
	}
	// An assigned pair belongs to the person by name.
	decode[httpapi.AssignResponse](f.do(http.MethodPost, "/v1/review/assign", `{"to":"root","filter":{}}`, ann...))
	mine, open := decode[httpapi.ReviewList](f.do(http.MethodGet, "/v1/review?assigned=mine", "",
		root...)), decode[httpapi.ReviewList](f.do(http.MethodGet, "/v1/review?assigned=open", "", ann...))
	if len(mine.Pairs) != 1 || mine.Pairs[0].Assigned == nil || mine.Pairs[0].Assigned.By != "ann" ||
		len(open.Pairs) != 0 {
		t.Errorf("%+v, %+v", mine, open)
	}
}

// TestDecisions_NoneIsAnonymousOnceThereAreAccounts decides in every way, without a name: each decision has one, or is
// refused.
func TestDecisions_NoneIsAnonymousOnceThereAreAccounts(t *testing.T) {
	t.Parallel()
	f := setupSecretive(t)
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	pair := decode[httpapi.ReviewList](f.do(http.MethodGet, "/v1/review?kind=place", "", root...)).Pairs[0]
	bulk := fmt.Sprintf(`{"verdict":"different","pairs":[{"a":%q,"b":%q}],"author":%%q}`, pair.A, pair.B)
	single := fmt.Sprintf(`{"decisions":[{"verdict":"same","a":%q,"b":%q,"author":%%q}]}`, pair.A, pair.B)
	unmerge := `{"records":["shop:2"],"author":%q}`

	local := &fixture{t, f.svc, httpapi.New(f.svc, &httpapi.Options{Local: true})}
	for _, author := range []string{"", "  "} {
		for path, body := range map[string]string{"/v1/decisions/bulk": bulk, "/v1/entities/" + f.place + "/unmerge": unmerge, "/v1/decisions/bulk/x/undo": `{"author":%q}`} {
			local.do(http.MethodPost, path, fmt.Sprintf(body, author)).refused(http.StatusUnprocessableEntity,
				httpapi.CodeInvalid)
		}
		if r := decode[httpapi.DecideResponse](local.do(http.MethodPost, "/v1/decisions", fmt.Sprintf(single, author))).Results[0]; r.Error == nil || r.Error.Code != httpapi.CodeInvalid {
			t.Errorf("the operator decides without a name: %+v", r)
		}
		if r := decode[httpapi.DecideResponse](f.do(http.MethodPost, "/v1/decisions", fmt.Sprintf(single, author), root...)).Results[0]; r.Error != nil || r.Decision.Author != "root" || r.Decision.By != "root" {
			t.Errorf("%+v", r)
		}
		f.do(http.MethodPost, "/v1/decisions", fmt.Sprintf(single, author)).refused(http.StatusUnauthorized,
			httpapi.CodeUnauthenticated)
	}
	page, err := f.svc.Decisions().List(t.Context(), decisions.Query{Withdrawn: true})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, d := range page.Decisions {
		// the values were pinned before there were accounts
		if d.Verdict != entity.VerdictValue && d.Author != "" && d.By != "" {
			named++
		} else if d.Verdict != entity.VerdictValue {
			t.Errorf("an anonymous decision: %+v", d)
		}
	}
	if named == 0 {
		t.Fatal("nothing was decided")
	}
}
