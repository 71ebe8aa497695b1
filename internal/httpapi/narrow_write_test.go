// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// putAs puts one record as a principal and returns its result.
func (f *fixture) putAs(who []string, source, key, kind, attributes string) httpapi.PutResult {
	f.Helper()
	if kind != "" {
		kind = `"kind":"` + kind + `",`
	}
	a := f.do(http.MethodPost, "/v1/records",
		fmt.Sprintf(`{"records":[{"source":%q,"key":%q,%s"attributes":{%s}}]}`, source, key, kind, attributes), who...)
	return decode[httpapi.PutResponse](a).Results[0]
}

func (f *fixture) stored(who []string, ref string) httpapi.Record {
	f.Helper()
	return decode[httpapi.Record](f.do(http.MethodGet, "/v1/records/"+ref, "", who...))
}

// TestP10_WritesOfOneKind writes with a token for one source and one kind: other kinds and their records stay as they
// are.
func TestP10_WritesOfOneKind(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	if r := f.putAs(root, "crm", "ann", "person", `"name":"Ann Miller"`); r.Error != nil {
		t.Fatal(r.Error)
	}
	crm := bearer(f.token(tokens.Request{
		Name: "crm", Roles: []string{"writer"}, Allow: []string{"erase"}, WriteSources: []string{"crm"},
		Restriction: tokens.Restriction{Kinds: []string{"place"}},
	}))
	for _, c := range []struct {
		source, key, kind string
		code              httpapi.Code
		pointer           string
	}{
		{"crm", "1", "place", "", ""},
		{"crm", "2", "", "", ""}, // the only kind
		{"crm", "3", "person", httpapi.CodeInvalid, "/records/0/kind"},
		{"crm", "3", "nothing", httpapi.CodeInvalid, "/records/0/kind"},
		{"shop", "1", "place", httpapi.CodeForbidden, "/records/0/source"},
		{"crm", "ann", "place", httpapi.CodeForbidden, "/records/0/key"},
	} {
		r := f.putAs(crm, c.source, c.key, c.kind, `"name":"Joes Pizza"`)
		switch {
		case c.code == "" && r.Error != nil:
			t.Errorf("%+v: %+v", c, r.Error)
		case c.code != "" && (r.Error == nil || r.Error.Code != c.code || r.Error.Pointer != c.pointer):
			t.Errorf("%+v: %+v", c, r)
		}
	}
	other, none := f.putAs(crm, "crm", "3", "person", `"name":"x"`).Error, f.putAs(crm, "crm", "3", "nothing",
		`"name":"x"`).Error
	if other.Detail != none.Detail {
		t.Errorf("a kind that is not seen differs from none: %q, %q", other.Detail, none.Detail)
	}
	if got := f.stored(root, "crm/2"); got.Kind != "place" {
		t.Errorf("%+v", got)
	}
	// A record that the principal may not see cannot be deleted, and the response is the same as for a missing record.
	for _, target := range []string{"", "?erase=true"} {
		hidden, missing := f.do(http.MethodDelete, "/v1/records/crm/ann"+target, "", crm...), f.do(http.MethodDelete,
			"/v1/records/crm/none"+target, "", crm...)
		a, b := hidden.refused(http.StatusNotFound, httpapi.CodeNotFound), missing.refused(http.StatusNotFound,
			httpapi.CodeNotFound)
		if a.Detail != b.Detail {
			t.Errorf("%q and %q", a.Detail, b.Detail)
		}
	}
	deleted := decode[httpapi.DeleteResponse](f.do(http.MethodPost, "/v1/records/delete",
		`{"records":[{"source":"crm","key":"ann"},{"source":"crm","key":"none"},{"source":"crm","key":"1"}]}`, crm...))
	if e, none := deleted.Results[0].Error, deleted.Results[1].Error; e == nil || none == nil || e.Code != httpapi.CodeNotFound || e.Detail != none.Detail || deleted.Results[2].Error != nil {
		t.Errorf("%+v", deleted)
	}
	if got := f.stored(root, "crm/ann"); got.Version != 1 || got.Kind != "person" {
		t.Errorf("the record of another kind: %+v", got)
	}
	// The token counts hits, and reads nothing.
	if r := decode[httpapi.HitResponse](f.do(http.MethodPost, "/v1/hits", `{"hits":[{"metric":"imports"}]}`, crm...)); r.Results[0].Error != nil {
		t.Errorf("%+v", r)
	}
	f.do(http.MethodGet, "/v1/records/crm/2", "", crm...).refused(http.StatusForbidden, httpapi.CodeForbidden)
}

// TestP10_WritesWithoutHiddenAttributes writes with a token that does not see an attribute: it can neither set it, nor
// try its values, nor lose them by replacing a record.
func TestP10_WritesWithoutHiddenAttributes(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	if r := f.putAs(root, "crm", "1", "place", `"name":"Joes Pizza","city":"`+canary+`"`); r.Error != nil {
		t.Fatal(r.Error)
	}
	crm := bearer(f.token(tokens.Request{Name: "crm", Roles: []string{"writer", "reader"}, Restriction: tokens.Restriction{Hide: []string{"city"}}}))
	for attributes, pointer := range map[string]string{
		`"name":"Annas Bakery"`: "", `"name":"x","city":"Oakland"`: "/records/0/attributes/city",
		`"name":"x","postcode":"94105"`: "/records/0/attributes/postcode",
	} {
		r := f.putAs(crm, "crm", "2", "", attributes)
		if pointer == "" && r.Error != nil || pointer != "" &&
			(r.Error == nil || r.Error.Code != httpapi.CodeForbidden || r.Error.Pointer != pointer) {
			t.Errorf("%s: %+v", attributes, r)
		}
	}
	if r := f.putAs(crm, "crm", "1", "", `"name":"Joes Pizza"`); r.Error == nil || r.Error.Code != httpapi.CodeForbidden || strings.Contains(r.Error.Detail, canary) {
		t.Errorf("a record with hidden values is replaced: %+v", r)
	}
	if got := f.stored(root, "crm/1"); got.Attributes["city"] == nil {
		t.Errorf("a hidden value is lost: %+v", got)
	}
	if r := f.putAs(crm, "crm", "2", "", `"name":"Annas Bakery and Cafe"`); r.Error != nil || r.Version != 2 {
		t.Errorf("%+v", r)
	}
	if a := f.do(http.MethodDelete, "/v1/records/crm/1", "", crm...); a.Code != http.StatusOK {
		t.Errorf("a record of its kind cannot be deleted: %d %s", a.Code, a.Body)
	}
}

// TestP10_RolesOfKinds signs in people whose groups have different roles for different kinds and sources. A permission
// of one group does not extend to the kinds and sources of another.
func TestP10_RolesOfKinds(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	for _, r := range [][3]string{{"shop", "1", "place"}, {"shop", "2", "place"}, {"hr", "1", "person"}, {"hr", "2", "person"}, {"tax", "1", "product"}} {
		if r := f.putAs(root, r[0], r[1], r[2], map[bool]string{true: `"title"`, false: `"name"`}[r[2] == "product"]+`:"Joes `+r[1]+`"`); r.Error != nil {
			t.Fatal(r.Error)
		}
	}
	// as signs a person in, as the identity provider does, and then the command line of that person.
	as := func(name string, groups ...string) []string {
		t.Helper()
		secret, s, err := f.svc.Tokens().Admit(t.Context(),
			tokens.Person{Name: "oidc:" + name, Author: name, Roles: groups}, "")
		if err != nil {
			t.Fatal(err)
		}
		who, err := f.svc.Tokens().CheckSession(t.Context(), secret)
		if err != nil || s.Name != who.Name {
			t.Fatal(err)
		}
		const verifier = "a verifier"
		code, err := f.svc.Tokens().Code(t.Context(), who, tokens.Challenge(verifier))
		if err != nil {
			t.Fatal(err)
		}
		token, _, err := f.svc.Tokens().Redeem(t.Context(), code, verifier)
		if err != nil {
			t.Fatal(err)
		}
		return bearer(token)
	}
	decide := func(who []string, a, b string) (code httpapi.Code) {
		t.Helper()
		answer := f.do(http.MethodPost, "/v1/decisions",
			`{"decisions":[{"verdict":"different","a":"`+a+`","b":"`+b+`"}]}`, who...)
		if answer.Code != http.StatusOK {
			return httpapi.Code(decodeCode(answer))
		}
		if r := decode[httpapi.DecideResponse](answer).Results[0]; r.Error != nil {
			return r.Error.Code
		}
		return ""
	}

	ann := as("ann", "reviewer,kind:place", "reader,kind:person", "hide:emails")
	if code := decide(ann, "shop:1", "shop:2"); code != "" {
		t.Errorf("a reviewer of places decides about places: %s", code)
	}
	if code := decide(ann, "hr:1", "hr:2"); code != httpapi.CodeForbidden {
		t.Errorf("a reader of persons decides about persons: %q", code)
	}
	if code := decide(ann, "tax:1", "shop:1"); code != httpapi.CodeNotFound {
		t.Errorf("a decision about what neither group sees: %q", code)
	}
	for ref, status := range map[string]int{"shop/1": 200, "hr/1": 200, "tax/1": 404} {
		if a := f.do(http.MethodGet, "/v1/records/"+ref, "", ann...); a.Code != status {
			t.Errorf("%s: %d %s", ref, a.Code, a.Body)
		}
	}
	if who := decode[httpapi.Whoami](f.do(http.MethodGet, "/v1/whoami", "", ann...)); len(who.Shares) != 2 || len(who.Kinds) != 2 || len(who.Hide) != 1 || strings.Join(who.Permissions, " ") != "schema read decide" {
		t.Errorf("%+v", who)
	}

	bob := as("bob", "writer,kind:place,source:shop", "writer,kind:person,source:hr", "reader,kind:place")
	for _, c := range []struct {
		source, kind string
		code         httpapi.Code
	}{{"shop", "place", ""}, {"hr", "person", ""}, {"shop", "person", httpapi.CodeForbidden}, {"hr", "place", httpapi.CodeForbidden}, {"tax", "product", httpapi.CodeForbidden}} {
		if r := f.putAs(bob, c.source, "9", c.kind, `"name":"Nine"`); (r.Error == nil) != (c.code == "") || r.Error != nil && r.Error.Code != c.code {
			t.Errorf("%+v: %+v", c, r.Error)
		}
	}
	// The key of a person in the source of the persons cannot become a place, though places are written elsewhere.
	if r := f.putAs(bob, "hr", "1", "place", `"name":"Nine"`); r.Error == nil {
		t.Error("a person became a place")
	}
	if a := f.do(http.MethodGet, "/v1/records/hr/9", "", bob...); a.Code != http.StatusNotFound {
		t.Errorf("a writer of persons reads them: %d", a.Code)
	}
	if p := f.do(http.MethodDelete, "/v1/records/shop/9?erase=true", "", bob...).refused(http.StatusForbidden, httpapi.CodeForbidden); !strings.Contains(p.Detail, "erase") {
		t.Errorf("%+v", p)
	}
	if a := f.do(http.MethodDelete, "/v1/records/shop/9", "", bob...); a.Code != http.StatusOK {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// TestP10_FollowersWithoutHiddenAttributes reads rollups, logs and ids with tokens that do not see everything: what
// they may see is returned.
func TestP10_FollowersWithoutHiddenAttributes(t *testing.T) {
	t.Parallel()
	f := setupSecretive(t)
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	hide := bearer(f.token(tokens.Request{Name: "hide", Roles: []string{"reader"}, Restriction: tokens.Restriction{Hide: hiding.Hide}}))
	kinds := bearer(f.token(tokens.Request{Name: "kinds", Roles: []string{"reader"}, Restriction: tokens.Restriction{Kinds: hiding.Kinds}}))
	both := bearer(f.token(tokens.Request{Name: "both", Roles: []string{"reader"}, Restriction: hiding}))
	get := func(who []string, target string) answer { return f.do(http.MethodGet, target, "", who...) }
	names := func(who []string) (list []string) {
		t.Helper()
		for _, r := range decode[httpapi.RollupList](get(who, "/v1/rollups")).Rollups {
			list = append(list, r.Name)
		}
		return list
	}
	for want, who := range map[string][]string{"names people": hide, "cities names": kinds, "names": both} {
		if got := strings.Join(names(who), " "); got != want {
			t.Errorf("rollups %s, want %s", got, want)
		}
	}
	get(both, "/v1/rollups/cities/groups").refused(http.StatusForbidden, httpapi.CodeForbidden)
	hidden, missing := get(both, "/v1/rollups/people/groups").refused(http.StatusNotFound, httpapi.CodeNotFound), get(both,
		"/v1/rollups/nothing/groups").refused(http.StatusNotFound, httpapi.CodeNotFound)
	if strings.ReplaceAll(hidden.Detail, "people", "") != strings.ReplaceAll(missing.Detail, "nothing", "") {
		t.Errorf("%q and %q", hidden.Detail, missing.Detail)
	}
	if g := decode[httpapi.RollupOne](get(both, "/v1/rollups/names/groups/Joes%20Pizza?latest=true")); len(g.Group) != 1 {
		t.Errorf("%+v", g)
	}
	seen := false
	for _, c := range decode[httpapi.ChangeList](get(hide, "/v1/changes")).Changes {
		seen = seen || c.Is != nil && c.Is.Attributes["name"] != nil && c.Is.Attributes["city"] == nil
	}
	if !seen {
		t.Error("no change has what may be seen")
	}
	for _, target := range []string{"/v1/changes", "/v1/ids?cell=g0-0", "/v1/series?metric=x", "/v1/metrics", "/v1/status"} {
		if p := get(kinds, target).refused(http.StatusForbidden, httpapi.CodeForbidden); !strings.Contains(p.Detail, "cannot hide") {
			t.Errorf("%s: %s", target, p.Detail)
		}
	}
	if l := decode[httpapi.SourceList](get(kinds, "/v1/sources")); len(l.Sources) != 3 { // shop, a and b, not crm
		t.Errorf("%+v", l)
	}
	get(kinds, "/v1/sources/crm").refused(http.StatusNotFound, httpapi.CodeNotFound)
	if r := get(kinds, "/v1/route?address=crm:1").Body.String(); !strings.Contains(r, `"found":false`) || strings.Contains(r, `"entity"`) {
		t.Errorf("%s", r)
	}
}
