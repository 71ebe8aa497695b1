// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/internal/login/logintest"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/tokens"
)

// lineOf returns the line of an explanation.
func lineOf(e match.Explanation, attribute string) match.Line {
	for _, l := range e.Lines {
		if l.Attribute == attribute {
			return l
		}
	}
	return match.Line{}
}

// TestP10_ReviewWithoutSensitiveFields decides about a pair whose city the reviewer may not see: the page shows what is
// equal and its weight but not the value, and the value cannot be found by trying.
func TestP10_ReviewWithoutSensitiveFields(t *testing.T) {
	t.Parallel()
	f := setupSecretive(t)
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	ann := bearer(f.token(tokens.Request{Name: "ann", Roles: []string{"reviewer"}, Restriction: hiding}))
	get := func(target string, who []string) answer { return f.do(http.MethodGet, target, "", who...) }
	post := func(target, body string) answer { return f.do(http.MethodPost, target, body, ann...) }

	whole, own := decode[httpapi.ReviewList](get("/v1/review", root)), decode[httpapi.ReviewList](get("/v1/review", ann))
	if len(own.Pairs) != 1 {
		t.Fatalf("%+v", own)
	}
	pair, full := own.Pairs[0].Explanation, whole.Pairs[0].Explanation
	line, was := lineOf(pair, "city"), lineOf(full, "city")
	if !line.Hidden || line.A != nil || line.Level != was.Level || line.Weight != was.Weight || len(was.A) == 0 ||
		pair.Weight != full.Weight {
		t.Errorf("%+v, want %+v without values", line, was)
	}
	if name := lineOf(pair, "name"); len(name.A) != 1 || name.Hidden {
		t.Errorf("the name is hidden too: %+v", name)
	}
	why := decode[httpapi.Why](get("/v1/entities/"+f.place+"/why", ann))
	if len(why.Joins) != 1 || !lineOf(why.Joins[0].Explanation, "web").Hidden ||
		strings.Join(why.Records[0].Hidden, " ") != "city websites" {
		t.Errorf("%+v", why)
	}
	for _, d := range decode[httpapi.DecisionList](get("/v1/decisions", ann)).Decisions {
		if d.Kind != "place" || !d.Hidden || d.Value != "" {
			t.Errorf("%+v", d)
		}
	}

	decided := func(item string) httpapi.DecideResult {
		t.Helper()
		return decode[httpapi.DecideResponse](post("/v1/decisions", `{"decisions":[`+item+`]}`)).Results[0]
	}
	if r := decided(`{"verdict":"value","a":"shop:1","attribute":"city","value":"x"}`); r.Error == nil || r.Error.Code != httpapi.CodeForbidden {
		t.Errorf("a hidden attribute is pinned: %+v", r)
	}
	hidden, missing := decided(`{"verdict":"same","a":"crm:1","b":"crm:2"}`), decided(`{"verdict":"same","a":"crm:8","b":"crm:9"}`)
	if hidden.Error == nil || missing.Error == nil || hidden.Error.Detail != missing.Error.Detail ||
		hidden.Error.Code != missing.Error.Code {
		t.Errorf("a decision about what does not exist for ann: %+v, %+v", hidden.Error, missing.Error)
	}
	for attributes, code := range map[string]httpapi.Code{
		`"name":"Joes Pizza"`: "", `"city":"Springfield"`: httpapi.CodeForbidden,
		`"name":"x","postcode":"94105"`: httpapi.CodeForbidden, `"emails":"a@b.example"`: httpapi.CodeForbidden,
	} {
		r := decode[httpapi.MatchResponse](post("/v1/match",
			`{"probes":[{"attributes":{`+attributes+`}}],"why":true}`)).Results[0]
		switch {
		case code == "" && (r.Error != nil || len(r.Entities) == 0 || len(r.Entities[0].Hidden) != 2):
			t.Errorf("%s: %+v", attributes, r)
		case code != "" && (r.Error == nil || r.Error.Code != code):
			t.Errorf("%s can be tried: %+v", attributes, r)
		}
	}
	if r := decode[httpapi.MatchResponse](post("/v1/match", `{"probes":[{"kind":"person","attributes":{"name":"Ann"}}]}`)).Results[0]; r.Error == nil || r.Error.Code != httpapi.CodeInvalid {
		t.Errorf("another kind is matched: %+v", r)
	}
	post("/v1/what-if", `{"of":"crm:1"}`).refused(http.StatusNotFound, httpapi.CodeNotFound)
	post("/v1/what-if", `{"of":"shop:1","decide":[{"verdict":"value","a":"shop:1","attribute":"city","value":"x"}]}`).refused(http.StatusForbidden, httpapi.CodeForbidden)
	table := get("/v1/export/records", ann)
	if text := table.Body.String(); table.Code != http.StatusOK || !strings.Contains(text, "Brass Heron") || strings.Contains(text, "city") || strings.Contains(text, "crm") {
		t.Errorf("export: %d %s", table.Code, text)
	}
	get("/v1/export/records?kind=person", ann).refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid)

	if r := decided(fmt.Sprintf(`{"verdict":"different","a":%q,"b":%q}`, own.Pairs[0].A, own.Pairs[0].B)); r.Error != nil || r.Decision.Author != "ann" || r.Decision.By != "ann" {
		t.Fatalf("%+v", r)
	}
	if left := decode[httpapi.ReviewList](get("/v1/review", root)); len(left.Pairs) != 1 || left.Pairs[0].Kind == "place" {
		t.Errorf("the pair is still in the queue: %+v", left)
	}
}

// TestP10_PagesOfThoseWhoDoNotSeeAll reviews in the console as a person without sensitive fields. A page about the
// whole installation says why it is refused, and no page links to it.
func TestP10_PagesOfThoseWhoDoNotSeeAll(t *testing.T) {
	t.Parallel()
	f := setupSecretive(t)
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	cookie := append([]string{"Cookie",
		f.signIn(f.token(tokens.Request{Name: "ann", Roles: []string{"reviewer"}, Restriction: hiding}))}, browser...)
	if to := f.do(http.MethodGet, "/", "", cookie...).leads(); to != "/entities" {
		t.Errorf("the home page leads to %s", to)
	}
	list := f.do(http.MethodGet, "/entities", "", cookie...).page(http.StatusOK)
	f.says(list, "Joes Pizza", "Brass Heron", "hidden from you", "/review")
	for _, not := range []string{`name="q" value="" maxlength="256" autocomplete`, "/ring", "/counters", "/metrics", "/data", "/operations"} {
		if strings.Contains(list, not) {
			t.Errorf("the list has %s", not)
		}
	}
	f.says(f.do(http.MethodGet, "/entities?q=joes", "", cookie...).page(http.StatusOK), "not search or filter")
	f.says(f.do(http.MethodGet, "/entities/"+f.place, "", cookie...).page(http.StatusOK), "Hidden from you",
		"<bdi>websites</bdi>", "same page", "a hidden value")
	f.says(f.do(http.MethodGet, "/entities/"+f.person, "", cookie...).page(http.StatusNotFound), "No record or entity")
	review := f.do(http.MethodGet, "/review", "", cookie...).page(http.StatusOK)
	f.says(review, "Are these two records the same thing?", "a:oak", "1 pair to review")
	for _, path := range []string{"/ring", "/rollups/cities", "/counters", "/data", "/operations", "/events"} {
		f.says(f.do(http.MethodGet, path, "", cookie...).page(http.StatusForbidden),
			map[bool]string{true: "may not see", false: "cannot hide the others"}[path == "/rollups/cities"])
	}
	kinds := f.do(http.MethodGet, "/kinds", "", cookie...).page(http.StatusOK)
	if f.says(kinds, ">place<", `href="/streams"`); strings.Contains(kinds, "person") {
		t.Error("the page has a kind that is not seen")
	}
	if streams := f.do(http.MethodGet, "/streams", "", cookie...).page(http.StatusOK); strings.Contains(streams, `id="sinks"`) {
		t.Error("the page has a sink of all kinds")
	}
	hiding := append([]string{"Cookie", f.signIn(f.token(tokens.Request{Name: "operations", Roles: []string{"reader", "writer"}, Restriction: tokens.Restriction{Hide: []string{"name"}}}))}, browser...)
	for path, says := range map[string]string{"/ring": "ring", "/operations": "Latest matches", "/data": "shop", "/streams": "hook", "/kinds": "person"} {
		page := f.do(http.MethodGet, path, "", hiding...).page(http.StatusOK)
		if f.says(page, says, `href="/data"`, `href="/operations"`); strings.Contains(page, "Joes Pizza") || strings.Contains(page, "multipart") {
			t.Errorf("%s shows names to one that may not see them, or takes files", path)
		}
	}
	rollups := f.do(http.MethodGet, "/rollups", "", cookie...).page(http.StatusOK)
	if f.says(rollups, "/rollups/names"); strings.Contains(rollups, "/rollups/cities") || strings.Contains(rollups, "/rollups/people") {
		t.Error("the page lists rollups over what is hidden")
	}
	f.do(http.MethodGet, "/rollups/people", "", cookie...).page(http.StatusNotFound)
	f.says(f.do(http.MethodGet, "/rollups/names", "", cookie...).page(http.StatusOK), "Joes Pizza")
	form := append(append([]string{}, cookie...), ofPage...)
	if a := f.submit("/decisions", form, "verdict", "value", "a", "shop:1", "attribute", "city", "value", "x"); a.Code != http.StatusForbidden {
		t.Errorf("a hidden attribute is pinned: %d %s", a.Code, a.Body)
	}
	for path, fields := range map[string][]string{
		"/decisions":                         {"verdict", "same", "a", "crm:1", "b", "crm:2"},
		"/entities/" + f.place + "/merge":    {"address", "crm:1"},
		"/entities/" + f.person + "/unmerge": {"address", "crm:1"},
	} {
		if a := f.submit(path, form, fields...); a.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
	}
	if to := f.submit("/decisions", form, "verdict", "different", "a", "a:oak", "b", "b:mill", "back", "/review").leads(); !strings.HasPrefix(to, "/review?") {
		t.Errorf("the decision leads to %s", to)
	}
	f.says(f.do(http.MethodGet, "/review", "", cookie...).page(http.StatusOK), "nothing to review")
}

// TestP10_LimitsOfOthers gives limits to principals without a token: the subject of a JWT, and a person of two groups,
// one of which has limits.
func TestP10_LimitsOfOthers(t *testing.T) {
	t.Parallel()
	idp := logintest.New(t, map[string]any{"sub": "17", "name": "Ann", "groups": []string{"crm", "contractors"}})
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections) //nolint:forcetypeassert // the standard library says so
	limited := []string{"reviewer", "writer", "kind:place", "hide:websites", "hide:city", "source:shop"}
	f := setup(t, &httpapi.Options{
		PublicURL: "http://localhost:7070", Bearers: login.NewBearers("http://localhost:7070", nil, login.Issuer{URL: idp.URL, Roles: map[string][]string{"ci": limited}}),
		Login: login.New(login.Config{
			Issuer: idp.URL, ClientID: logintest.ClientID, ClientSecret: secret.New(logintest.ClientSecret),
			PublicURL: "http://localhost:7070",
			Roles:     map[string][]string{"crm": {"reviewer"}, "contractors": limited[2:]},
		}),
	})
	f.item(`{"source":"shop","key":"1","attributes":{"name":"Joes Pizza","city":"` + canary + `"}}`)
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	now := time.Now()
	jwt := bearer(idp.Sign(map[string]any{"iss": idp.URL, "aud": "http://localhost:7070", "sub": "ci", "iat": now.Unix(), "exp": now.Add(time.Minute).Unix()}))
	who := decode[httpapi.Whoami](f.do(http.MethodGet, "/v1/whoami", "", jwt...))
	if strings.Join(who.Kinds, " ") != "place" || strings.Join(who.Hide, " ") != "websites city" ||
		strings.Join(who.Sources, " ") != "shop" {
		t.Errorf("%+v", who)
	}
	if a := f.do(http.MethodGet, "/v1/records/shop/1", "", jwt...); a.Code != http.StatusOK || strings.Contains(a.Body.String(), canary) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	f.do(http.MethodGet, "/v1/changes", "", jwt...).refused(http.StatusForbidden, httpapi.CodeForbidden)

	cookie, back := f.atProvider()
	session := f.do(http.MethodGet, back, "", append([]string{"Cookie", cookie}, browser...)...).session()
	as := append([]string{"Cookie", session.Name + "=" + session.Value}, browser...)
	page := f.do(http.MethodGet, "/entities", "", as...).page(http.StatusOK)
	if f.says(page, "Joes Pizza", ">Ann<"); strings.Contains(page, canary) {
		t.Error("the page has the hidden value")
	}
	f.do(http.MethodGet, "/ring", "", as...).page(http.StatusForbidden)
}
