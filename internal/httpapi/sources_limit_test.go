// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// A token with sources to write puts, deletes and erases no record of others, on whatever way.
func TestP10_WriteSources(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"shop", "1", "Joes Pizza", ""})
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	crm := bearer(f.token(tokens.Request{Name: "crm", Roles: []string{"writer", "reader"}, Allow: []string{"erase", "define"}, WriteSources: []string{"crm", "vendor-*"}}))

	if p := f.do(http.MethodPost, "/v1/tokens", `{"name":"all","roles":["writer"],"write_sources":[]}`, root...).refused(http.StatusUnprocessableEntity, httpapi.CodeInvalid); !strings.Contains(p.Detail+fmt.Sprint(p.Errors), "empty") {
		t.Errorf("a token for no source: %+v", p)
	}
	put := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", `{"records":[
		{"source":"crm","key":"1","attributes":{"name":"Annas Bakery"}},
		{"source":"shop","key":"1","attributes":{"name":"Joes Other Pizza"}},
		{"source":"vendor-7","key":"1","attributes":{"name":"Zephyr Trampolines"}}]}`, crm...))
	if put.Results[0].Error != nil || put.Results[2].Error != nil {
		t.Errorf("its own sources: %+v, %+v", put.Results[0].Error, put.Results[2].Error)
	}
	if e := put.Results[1].Error; e == nil || e.Code != httpapi.CodeForbidden || e.Pointer != "/records/1/source" || !strings.Contains(e.Detail, "crm, vendor-*") {
		t.Errorf("another source: %+v", e)
	}
	deleted := decode[httpapi.DeleteResponse](f.do(http.MethodPost, "/v1/records/delete",
		`{"records":[{"source":"shop","key":"1"},{"source":"vendor-7","key":"1"}]}`, crm...))
	if e := deleted.Results[0].Error; e == nil || e.Code != httpapi.CodeForbidden || deleted.Results[1].Error != nil {
		t.Errorf("%+v", deleted)
	}
	for _, target := range []string{"/v1/records/shop/1", "/v1/records/shop/1?erase=true", "/v1/sources/shop"} {
		f.do(http.MethodDelete, target, "", crm...).refused(http.StatusForbidden, httpapi.CodeForbidden)
	}
	f.do(http.MethodPut, "/v1/sources/shop", `{}`,
		append([]string{"Content-Type", "application/json"}, crm...)...).refused(http.StatusForbidden, httpapi.CodeForbidden)
	if a := f.do(http.MethodDelete, "/v1/records/crm/1?erase=true", "", crm...); a.Code != http.StatusOK {
		t.Errorf("erase its own: %d %s", a.Code, a.Body)
	}
	if got := decode[httpapi.Record](f.do(http.MethodGet, "/v1/records/shop/1", "", crm...)); got.Version != 1 {
		t.Errorf("the record of another source is at version %d", got.Version)
	}
	if who := decode[httpapi.Whoami](f.do(http.MethodGet, "/v1/whoami", "", crm...)); len(who.Sources) != 2 {
		t.Errorf("%+v", who)
	}
}

// TestP10_LimitedTokensAreRefused calls every operation of the OpenAPI document with a token that has every permission
// and one source. The result is what the document states about the route, and every route that might write records
// states something.
func TestP10_LimitedTokensAreRefused(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var doc struct {
		Paths map[string]map[string]struct {
			Permission string `json:"x-locus-permission"`
			Sources    string `json:"x-locus-write-sources"`
		}
	}
	_, raw := openAPI(f)
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	limited := bearer(f.token(tokens.Request{Name: "limited", Allow: access.Permissions(), WriteSources: []string{"crm"}}))
	writes := regexp.MustCompile(`write|erase|define|operate|access|act_for`)
	refused, applied := 0, 0
	for path, operations := range doc.Paths {
		for method, op := range operations {
			a := f.do(strings.ToUpper(method), regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "x")+"?nonsense=1",
				"{", limited...)
			switch op.Sources {
			case "refused":
				refused++
				if p := a.refused(http.StatusForbidden, httpapi.CodeForbidden); !strings.Contains(p.Detail, "not about a source") {
					t.Errorf("%s %s: %s", method, path, p.Detail)
				}
			case "applied":
				if applied++; strings.Contains(path, "{source}") {
					a.refused(http.StatusForbidden, httpapi.CodeForbidden)
				}
			case "irrelevant":
				if a.Code == http.StatusForbidden || method != "get" && writes.MatchString(op.Permission) &&
					op.Permission != "any permission" {
					t.Errorf("%s %s, which takes %s, says that it writes no record: %d", method, path, op.Permission, a.Code)
				}
			default:
				t.Errorf("%s %s says nothing of sources", method, path)
			}
			f.server.Forget()
		}
	}
	if refused < 30 || applied != 10 {
		t.Errorf("%d operations refuse, %d apply the limit", refused, applied)
	}
}
