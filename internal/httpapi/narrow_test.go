// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// canary is the value of a hidden attribute, and ghost that of a record of a kind that is not seen.
const (
	canary = "canaryvalue"
	ghost  = "ghostvalue"
)

// bodiesOf are bodies with which routes that read respond with values.
func bodiesOf(id string) map[string]string {
	return map[string]string{
		"POST /v1/match":   `{"records":[{"attributes":{"name":"Joes Pizza","websites":"https://` + canary + `.example"}}]}`,
		"POST /v1/what-if": `{"without":["shop:1"],"of":["` + id + `"]}`,
		"POST /v1/ids":     `{"ids":["` + id + `"]}`,
	}
}

// TestP10_Hidden calls every route of the router, pages too, as a token with every permission that may not see an attribute and a
// kind. No response has the values, and those of an administrator show that the routes have them.
func TestP10_Hidden(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	put := func(source, key, kind, name, site string) string {
		body := fmt.Sprintf(`{"records":[{"source":%q,"key":%q,"kind":%q,"attributes":{"name":%q,"websites":%q}}]}`, source, key, kind, name, site)
		if kind != "place" {
			body = fmt.Sprintf(`{"records":[{"source":%q,"key":%q,"kind":%q,"attributes":{"name":%q}}]}`, source, key, kind, name)
		}
		r := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", body)).Results[0]
		if r.Error != nil {
			t.Fatal(r.Error)
		}
		return r.Entity.String()
	}
	site := "https://" + canary + ".example"
	id := put("shop", "1", "place", "Joes Pizza", site)
	put("shop", "2", "place", "Joes Pizza", site)
	other := put("crm", "1", "person", ghost+" Miller", "")
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	all := bearer(f.token(tokens.Request{Name: "all", Roles: []string{"reader", "operator"}, Allow: []string{"audit"}}))
	narrow := bearer(f.token(tokens.Request{Name: "narrow", Allow: access.Permissions(), Restriction: tokens.Restriction{Kinds: []string{"place"}, Hide: []string{"websites"}}}))

	table, err := os.ReadFile(filepath.Join("testdata", "permissions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.NewReplacer("{source}/{key...}", "shop/1", "{id}", id, "{what}", "entities", "{kind}", "place", "{$}", "")
	shown, asked := 0, 0
	bodies := bodiesOf(id)
	for line := range strings.Lines(string(table)) {
		pattern, rule, _ := strings.Cut(line, "  ")
		method, path, found := strings.Cut(pattern, " ")
		if _, reads := bodies[pattern]; !found || method != http.MethodGet && !reads || path == "/events" {
			continue
		}
		targets := []string{rows.Replace(path), strings.NewReplacer(id, other, "shop/1", "crm/1").Replace(rows.Replace(path))}
		if strings.Contains(path, "/v1/find") {
			targets = []string{path + "?address=shop:1", path + "?address=crm:1"}
		}
		if path == "/v1/why-not" {
			targets = []string{path + "?a=shop:1&b=shop:2"}
		}
		for _, target := range targets {
			if strings.Contains(path, "what-if") && method == http.MethodGet {
				target += "?without=shop:1"
			}
			seen := func(headers []string) bool {
				f.server.Forget()
				a := f.do(method, target, bodies[pattern], headers...)
				text := strings.ToLower(a.Body.String() + fmt.Sprint(a.Header()))
				return strings.Contains(text, canary) || strings.Contains(text, ghost)
			}
			if asked++; seen(all) {
				shown++
			}
			if seen(narrow) {
				t.Errorf("%s, whose rule is %s, shows what is hidden: %s", pattern, strings.TrimSpace(rule), target)
			}
		}
	}
	if t.Logf("%d requests, %d with values", asked, shown); asked < 80 || shown < 14 {
		t.Errorf("%d requests, %d with values: the others prove nothing", asked, shown)
	}
}

// TestP10_HiddenIsSaid checks what is left of a record and an entity, and that no value can be tried.
func TestP10_HiddenIsSaid(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	id := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", `{"records":[{"source":"shop","key":"1","attributes":{"name":"Joes Pizza","websites":"https://joes.example"}}]}`)).Results[0].Entity.String()
	person := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", `{"records":[{"source":"crm","key":"1","kind":"person","attributes":{"name":"Ann Miller"}}]}`)).Results[0].Entity.String()
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	made := f.do(http.MethodPost, "/v1/tokens", `{"name":"ann","roles":["administrator"],"kinds":["place"],"hide":["websites"]}`, root...)
	var token httpapi.TokenMade
	if err := json.Unmarshal(made.Body.Bytes(), &token); err != nil || made.Code != http.StatusCreated || len(token.Hide) != 1 {
		t.Fatalf("%d %s", made.Code, made.Body)
	}
	ann := bearer(token.Secret)

	r := decode[httpapi.Record](f.do(http.MethodGet, "/v1/records/shop/1", "", ann...))
	if len(r.Attributes) != 1 || strings.Join(r.Hidden, " ") != "websites" {
		t.Errorf("record: %+v", r)
	}
	e := decode[httpapi.Entity](f.do(http.MethodGet, "/v1/entities/"+id, "", ann...))
	if e.View.Get("name") == nil || e.View.Get("websites") != nil || strings.Join(e.Hidden, " ") != "websites" || e.Stamp != "" {
		t.Errorf("entity: %+v", e)
	}
	if l := decode[httpapi.RecordList](f.do(http.MethodGet, "/v1/records", "", ann...)); len(l.Records) != 1 || l.Records[0].Hidden == nil {
		t.Errorf("records: %+v", l)
	}
	if l := decode[httpapi.EntityList](f.do(http.MethodGet, "/v1/entities", "", ann...)); len(l.Entities) != 1 || l.Entities[0].Hidden == nil {
		t.Errorf("entities: %+v", l)
	}
	for _, query := range []string{"q=joes", "filter=websites:https://joes.example", "has=websites", "without=websites", "order=best"} {
		f.do(http.MethodGet, "/v1/entities?"+query, "", ann...).refused(http.StatusForbidden, httpapi.CodeForbidden)
	}
	alike := func(hidden, missing string) {
		t.Helper()
		a := f.do(http.MethodGet, hidden, "", ann...)
		b := f.do(http.MethodGet, missing, "", ann...)
		p, q := a.refused(b.Code, httpapi.Code(decodeCode(b))), b.refused(b.Code, httpapi.Code(decodeCode(b)))
		if p.RequestID, q.RequestID = "", ""; p.Detail != q.Detail || p.Title != q.Title || a.Header().Get("Content-Location") != "" {
			t.Errorf("%s: %+v, but %s: %+v", hidden, p, missing, q)
		}
	}
	alike("/v1/records/crm/1", "/v1/records/crm/2")
	alike("/v1/find?address=crm:1", "/v1/find?address=crm:2")
	alike("/v1/records?kind=person", "/v1/records?kind=nothing")
	alike("/v1/entities?kind=person", "/v1/entities?kind=nothing")
	if a := f.do(http.MethodGet, "/v1/entities/"+person, "", ann...); a.Code != http.StatusNotFound {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	// It writes nothing, makes no token, and has no pages.
	f.do(http.MethodPost, "/v1/records", `{"records":[]}`, ann...).refused(http.StatusForbidden, httpapi.CodeForbidden)
	f.do(http.MethodPost, "/v1/tokens", `{"name":"x","roles":["reader"]}`, ann...).refused(http.StatusForbidden, httpapi.CodeForbidden)
	if who := decode[httpapi.Whoami](f.do(http.MethodGet, "/v1/whoami", "", ann...)); len(who.Kinds) != 1 || len(who.Hide) != 1 {
		t.Errorf("%+v", who)
	}
}

func decodeCode(a answer) string {
	var p struct{ Code string }
	_ = json.Unmarshal(a.Body.Bytes(), &p)
	return p.Code
}
