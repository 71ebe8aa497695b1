// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// TestP10_Tenants serves two installations in one process, whose records differ in one word, and calls every route of
// each with the credentials of the other, and with its own after a call to the other. No response has the word of the
// other.
func TestP10_Tenants(t *testing.T) {
	t.Parallel()
	type tenant struct {
		*fixture
		word, id, token, session string
	}
	var all []*tenant
	for i, word := range []string{"tenantalpha", "tenantbeta"} {
		f := setupIn(t, blank.Dir(t, 1+i), nil, 0) // of one and of two cells: copies of one installation have the same id
		r := f.item(`{"source":"shop","key":"1","attributes":{"name":"Joes ` + word + `","city":"` + word + `"}}`)
		f.define("cities", "kind: place\ngroup: city\nmeasures:\n  places: count\n")
		one := &tenant{fixture: f, word: word, id: r.Entity.String(),
			token: f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})}
		one.session = f.signIn(one.token)
		all = append(all, one)
	}
	table, err := os.ReadFile(filepath.Join("testdata", "permissions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	refused, own := 0, 0
	for line := range strings.Lines(string(table)) {
		pattern, rule, _ := strings.Cut(line, "  ")
		method, path, found := strings.Cut(pattern, " ")
		if !found || path == "/events" || strings.TrimSpace(rule) == "public" {
			continue
		}
		for i, f := range all {
			other := all[1-i]
			fill := strings.NewReplacer("{source}/{key...}", "shop/1", "{id}", f.id, "{what}", "entities", "{kind}", "place",
				"{name}", "cities", "{group...}", f.word, "{$}", "", "{source}", "shop", "{principal}", "x")
			headers := [][]string{bearer(other.token), {"Cookie", other.session},
				append(bearer(other.token), "Cookie", f.session)}
			for _, foreign := range headers {
				f.server.Forget()
				a := f.do(method, fill.Replace(path), "{}", foreign...)
				if a.Code != http.StatusUnauthorized {
					t.Errorf("%s with a credential of another tenant: %d %s", pattern, a.Code, a.Body)
				}
				refused++
			}
			if method != http.MethodGet {
				continue
			}
			for _, mine := range [][]string{bearer(f.token), {"Cookie", f.session}} {
				f.server.Forget()
				text := f.do(method, fill.Replace(path), "", mine...).Body.String()
				if strings.Contains(text, other.word) {
					t.Errorf("%s shows what another tenant has: %s", pattern, text)
				}
				if strings.Contains(text, f.word) {
					own++
				}
			}
		}
	}
	if t.Logf("%d refused, %d with own values", refused, own); refused < 500 || own < 20 {
		t.Errorf("%d refused, %d with own values: the others prove nothing", refused, own)
	}
	// Nothing that one tenant gives out is known to the other: ids, cursors and codes.
	a, b := all[0], all[1]
	as := bearer(b.token)
	if got := b.do(http.MethodGet, "/v1/entities/"+a.id, "", as...); got.Code == http.StatusOK {
		t.Errorf("an id leads to %s", got.Body)
	}
	for i := range 3 {
		a.do(http.MethodPost, "/v1/records",
			one(`{"source":"shop","key":"k`+string(rune('0'+i))+`","attributes":{"name":"Place `+string(rune('a'+i))+`"}}`),
			bearer(a.token)...)
	}
	page := decode[httpapi.RecordList](a.do(http.MethodGet, "/v1/records?limit=1", "", bearer(a.token)...))
	if page.Cursor == "" {
		t.Fatal("no cursor")
	}
	decode[httpapi.RecordList](a.do(http.MethodGet, "/v1/records?limit=1&cursor="+page.Cursor, "", bearer(a.token)...))
	b.do(http.MethodGet, "/v1/records?limit=1&cursor="+page.Cursor, "", as...).refused(http.StatusUnprocessableEntity,
		httpapi.CodeInvalid)
	verifier := strings.Repeat("v", 43)
	who, err := a.svc.Tokens().CheckSession(t.Context(), strings.TrimPrefix(a.session, "locus="))
	if err != nil {
		t.Fatal(err)
	}
	code, err := a.svc.Tokens().Code(t.Context(), who, tokens.Challenge(verifier))
	if err != nil {
		t.Fatal(err)
	}
	b.do(http.MethodPost, "/v1/login", `{"code":"`+code+`","verifier":"`+verifier+`"}`).refused(http.StatusUnauthorized,
		httpapi.CodeUnauthenticated)
	with[httpapi.TokenMade](a.do(http.MethodPost, "/v1/login", `{"code":"`+code+`","verifier":"`+verifier+`"}`),
		http.StatusCreated)
	if _, err := b.svc.Tokens().Check(t.Context(), a.token); err == nil {
		t.Errorf("the token is known to the other: %v", err)
	}
}
