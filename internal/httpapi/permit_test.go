// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// permissionsOf returns the permission of every operation of the OpenAPI document, by method and path.
func permissionsOf(f *fixture) map[string]string {
	f.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Permission string `json:"x-locus-permission"`
		}
	}
	_, raw := openAPI(f)
	if err := json.Unmarshal(raw, &doc); err != nil {
		f.Fatal(err)
	}
	rules := map[string]string{}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			rules[strings.ToUpper(method)+" "+path] = op.Permission
		}
	}
	return rules
}

// TestP10_EveryRouteHasARule compares the router, the OpenAPI document, and the reviewed table of permissions. Run it
// with -rewrite for a new route, and read the difference.
func TestP10_EveryRouteHasARule(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	documented, registered := permissionsOf(f), f.server.Rules()
	for operation, rule := range documented {
		pattern := operation
		for _, rest := range []string{"key", "group"} {
			pattern = strings.ReplaceAll(pattern, "{"+rest+"}", "{"+rest+"...}")
		}
		if of, _, _ := strings.Cut(registered[pattern], ", "); of != rule || rule == "" {
			t.Errorf("%s: documented as %q, registered as %q", operation, rule, registered[pattern])
		}
	}
	var table strings.Builder
	for _, pattern := range slices.Sorted(maps.Keys(registered)) {
		fmt.Fprintf(&table, "%-52s %s\n", pattern, registered[pattern])
	}
	path := filepath.Join("testdata", "permissions.txt")
	if *rewrite {
		if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(table.String(), "\n")); diff != "" {
		t.Errorf("who may do what has changed: review it, then run with -rewrite (-want +got):\n%s", diff)
	}
}

// caller is a client in the matrix: its headers, and its permissions, nil if the credential is invalid. A restricted
// caller is admitted where the table says "narrowed", or "masked" if it sees all kinds.
type caller struct {
	name    string
	headers []string
	may     []string
	less    bool
}

// token creates a token as the operator and returns its secret.
func (f *fixture) token(r tokens.Request) string {
	f.Helper()
	secret, _, err := f.svc.Tokens().Create(f.Context(), tokens.Operator(), r)
	if err != nil {
		f.Fatal(err)
	}
	return secret
}

func bearer(secret string) []string { return []string{"Authorization", "Bearer " + secret} }

// callers are all kinds of clients of a closed installation.
func callers(f *fixture) []caller {
	f.Helper()
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	revoked := f.token(tokens.Request{Name: "revoked", Roles: []string{"administrator"}})
	if _, err := f.svc.Tokens().Revoke(f.Context(), tokens.Operator(), "revoked"); err != nil {
		f.Fatal(err)
	}
	expired := f.token(tokens.Request{Name: "expired", Roles: []string{"administrator"}, Life: time.Nanosecond})
	unknown, _ := access.NewToken()
	other, id := access.NewToken()
	list := []caller{
		{"none", nil, nil, false},
		{"empty", bearer(""), nil, false},
		{"typing error", bearer(root[:len(root)-1] + "_"), nil, false},
		{"cut off", bearer(root[:40]), nil, false},
		{"unknown", bearer(unknown), nil, false},
		{"id of one, secret of another", bearer(strings.Replace(other, id, root[10:18], 1)), nil, false},
		{"revoked", bearer(revoked), nil, false},
		{"expired", bearer(expired), nil, false},
		{"two headers", append(bearer(root), bearer(root)...), nil, false},
		{"no scheme", []string{"Authorization", root}, nil, false},
		{"another header", []string{"X-Token", root, "Cookie", "locus=" + root}, nil, false},
	}
	for name, r := range map[string]tokens.Restriction{"without-phones": {Hide: []string{"phones"}}, "places-only": {Kinds: []string{"place"}}} {
		list = append(list, caller{name,
			bearer(f.token(tokens.Request{Name: name, Allow: access.Permissions(), Restriction: r})),
			access.Permissions(), true})
	}
	for _, role := range access.Roles() {
		set, err := access.Grant([]string{role}, nil)
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, caller{role, bearer(f.token(tokens.Request{Name: role, Roles: []string{role}})),
			set.Names(), false})
	}
	for _, permission := range access.Permissions() {
		list = append(list, caller{permission, bearer(f.token(tokens.Request{Name: permission, Allow: []string{permission}})),
			[]string{permission}, false})
	}
	return list
}

// admitted reports whether permissions satisfy a rule as it is written in the table.
func admitted(rule string, may []string) bool {
	if rule == "public" || rule == "any permission" {
		return rule == "public" || len(may) > 0
	}
	if one := strings.Split(rule, " or "); len(one) > 1 {
		return slices.ContainsFunc(one, func(p string) bool { return slices.Contains(may, p) })
	}
	return !slices.ContainsFunc(strings.Split(rule, " and "), func(p string) bool { return !slices.Contains(may, p) })
}

// TestP10_Matrix sends every caller to every route of the reviewed table, and compares the status with the rule. The
// queries and bodies are invalid, so that a request that is let through changes nothing.
func TestP10_Matrix(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	text, err := os.ReadFile(filepath.Join("testdata", "permissions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := callers(f)
	routes, admissions := 0, 0
	var alike string
	for line := range strings.Lines(string(text)) {
		pattern, rule, _ := strings.Cut(line, "  ")
		method, path, found := strings.Cut(pattern, " ")
		rule, limits, _ := strings.Cut(strings.TrimSpace(rule), ", ")
		if !found || path == "/events" && rule == "read" {
			continue // a pattern that only refuses; the feed of the pages does not end by itself
		}
		routes++
		target := regexp.MustCompile(`\{\w+(\.\.\.)?\}`).ReplaceAllString(strings.TrimSuffix(path, "{$}"), "x")
		for _, who := range all {
			f.server.Forget() // more credentials fail here than are answered with 401
			a := f.do(method, target+"?nonsense=1", "{", who.headers...)
			admissions++
			switch {
			case who.less && rule != "public" && limits != "narrowed" && (limits != "masked" || who.name == "places-only"):
				if p := a.refused(http.StatusForbidden, httpapi.CodeForbidden); !strings.Contains(p.Detail, "cannot hide") {
					t.Errorf("%s as one %s: %s", pattern, who.name, p.Detail)
				}
			case rule == "public" || admitted(rule, who.may):
				if a.Code == http.StatusUnauthorized || strings.Contains(a.Body.String(), "needs the permission") ||
					strings.Contains(a.Body.String(), "cannot hide") {
					t.Errorf("%s as %s: %d, though the rule is %s", pattern, who.name, a.Code, rule)
				}
			case who.may == nil:
				p := a.refused(http.StatusUnauthorized, httpapi.CodeUnauthenticated)
				if p.RequestID = ""; alike != "" && p.Detail != alike {
					t.Errorf("%s as %s: the refusals differ: %s", pattern, who.name, p.Detail)
				}
				alike = p.Detail
			default:
				if p := a.refused(http.StatusForbidden, httpapi.CodeForbidden); !strings.Contains(p.Detail, rule) {
					t.Errorf("%s as %s: %s does not name %s", pattern, who.name, p.Detail, rule)
				}
			}
		}
	}
	if routes < 90 || admissions < 90*25 {
		t.Errorf("%d routes, %d requests", routes, admissions)
	}
}

func TestP10_EraseIsNotWrite(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(joe)
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	writer := bearer(f.token(tokens.Request{Name: "w", Roles: []string{"writer"}}))
	eraser := bearer(f.token(tokens.Request{Name: "e", Allow: []string{"erase"}}))
	f.do("DELETE", "/v1/records/guide/1?erase=true", "", writer...).refused(403, httpapi.CodeForbidden)
	f.do("DELETE", "/v1/records/guide/1", "", eraser...).refused(403, httpapi.CodeForbidden)
	if a := f.do("DELETE", "/v1/records/guide/1?erase=true", "", eraser...); a.Code != http.StatusOK {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// TestP10_AuthorsAreProved sends decisions with authors of all kinds.
func TestP10_AuthorsAreProved(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"a", "1", "Joes Pizza", ""}, [4]string{"a", "2", "Annas Bakery", ""})
	id := f.item(joe).Entity.String()
	if d := decode[httpapi.DecideResponse](f.do("POST", "/v1/decisions", `{"decisions":[{"verdict":"different","a":"a:1","b":"a:2","author":"bob"}]}`)).Results[0].Decision; d == nil || d.By != "" {
		t.Errorf("open, and proved: %+v", d)
	}
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	ann := bearer(f.token(tokens.Request{Name: "ann", Roles: []string{"reviewer"}}))
	sync := bearer(f.token(tokens.Request{Name: "sync", Roles: []string{"reviewer"}, Allow: []string{"act_for"}}))
	decide := func(headers []string, author string) httpapi.DecideResult {
		t.Helper()
		body := fmt.Sprintf(`{"decisions":[{"verdict":"different","a":"a:1","b":"a:2","author":%q}]}`, author)
		return decode[httpapi.DecideResponse](f.do("POST", "/v1/decisions", body, headers...)).Results[0]
	}
	for _, test := range []struct {
		headers      []string
		author, want string
		by           string
	}{{ann, "", "ann", "ann"}, {ann, "ann", "ann", "ann"}, {ann, "bob", "", ""}, {sync, "bob", "bob", "sync"}, {sync, "", "sync", "sync"}} {
		r := decide(test.headers, test.author)
		switch {
		case test.want == "" && (r.Error == nil || r.Error.Code != httpapi.CodeInvalid || r.Error.Pointer != "/decisions/0/author"):
			t.Errorf("author %q: %+v", test.author, r.Error)
		case test.want != "" && (r.Error != nil || r.Decision.Author != test.want || r.Decision.By != test.by):
			t.Errorf("author %q: %+v, %+v", test.author, r.Decision, r.Error)
		}
	}
	f.do("POST", "/v1/entities/"+id+"/unmerge", `{"records":["guide:1"],"author":"bob"}`, ann...).refused(422,
		httpapi.CodeInvalid)
	// A form: typed text and cookies do not matter.
	a := f.do("POST", "/decisions", "verdict=same&a=a:1&b=a:2&author=bob", "Content-Type", "", "Content-Type", "application/x-www-form-urlencoded",
		"Sec-Fetch-Site", "same-origin", "Cookie", "locus-author=bob; "+f.signIn(ann[1][len("Bearer "):]))
	if a.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	list := decode[httpapi.DecisionList](f.do("GET", "/v1/decisions", "", ann...)).Decisions
	if i := slices.IndexFunc(list, func(d decisions.Decided) bool { return d.Verdict == entity.VerdictSame }); i < 0 || list[i].Author != "ann" || list[i].By != "ann" {
		t.Errorf("%+v", list)
	}
}

// TestP10_ProbesTellLittle checks that health needs no token, and that its details do.
func TestP10_ProbesTellLittle(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	if h := decode[httpapi.Health](f.get("/readyz")); len(h.Cells) == 0 {
		t.Error("an open server hides its cells")
	}
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	if a := f.get("/readyz"); a.Code != 200 || strings.TrimSpace(a.Body.String()) != `{"ready":true}` {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if h := decode[httpapi.Health](f.do("GET", "/readyz", "", bearer(root)...)); len(h.Cells) == 0 {
		t.Error("an operator does not see the cells")
	}
}

// TestTokens_OverHTTP makes, rotates and revokes tokens.
func TestTokens_OverHTTP(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	send := func(method, path, body, secret string) answer { return f.do(method, path, body, bearer(secret)...) }
	made := func(a answer) httpapi.TokenMade {
		t.Helper()
		var m httpapi.TokenMade
		if err := json.Unmarshal(a.Body.Bytes(), &m); err != nil || a.Code != 201 || !strings.HasPrefix(m.Secret, access.Prefix) {
			t.Fatalf("%d %s, %v", a.Code, a.Body, err)
		}
		return m
	}
	f.do("POST", "/v1/tokens", `{"name":"ci","roles":["writer"]}`).refused(422, httpapi.CodeInvalid)
	root := made(f.do("POST", "/v1/tokens", `{"name":"root","roles":["administrator"]}`)).Secret
	f.do("POST", "/v1/tokens", `{"name":"mine","roles":["administrator"]}`).refused(401, httpapi.CodeUnauthenticated)
	ci := made(send("POST", "/v1/tokens", `{"name":"ci","roles":["writer"],"allow":["erase"],"expires":"never"}`, root))
	if !ci.Expires.IsZero() || ci.By != "root" || strings.Join(ci.Permissions, " ") != "schema write count erase" {
		t.Errorf("%+v", ci)
	}
	for _, body := range []string{`{}`, `{"name":"x","roles":["root"]}`, `{"name":"x","roles":["reader"],"expires":"soon"}`, `{"name":"x","roles":["reader"],"expires":"99999h"}`, `{"name":"x"}`} {
		send("POST", "/v1/tokens", body, root).refused(422, httpapi.CodeInvalid)
	}
	send("POST", "/v1/tokens", `{"name":"ci","roles":["reader"]}`, root).refused(409, httpapi.CodeConflict)
	second := made(send("POST", "/v1/tokens/ci/rotate", `{"overlap":"1h"}`, root))
	if second.Secret == ci.Secret || second.ID == ci.ID {
		t.Error("it is the same token")
	}
	list := send("GET", "/v1/tokens", "", root)
	if all := decode[httpapi.TokenList](list).Tokens; len(all) != 3 || all[2].Name != "root" || strings.Contains(list.Body.String(), root[20:]) || strings.Contains(list.Body.String(), "hash") {
		t.Errorf("%s", list.Body)
	}
	if r := decode[httpapi.TokensRevoked](send("DELETE", "/v1/tokens/ci", "", root)); r.Revoked != 2 {
		t.Errorf("%+v", r)
	}
	send("DELETE", "/v1/tokens/ci", "", root).refused(404, httpapi.CodeNotFound)
	send("DELETE", "/v1/tokens/root", "", root).refused(409, httpapi.CodeConflict)
	send("GET", "/v1/tokens", "", ci.Secret).refused(401, httpapi.CodeUnauthenticated)
}

// TestP10_FirstTokenNeedsTheMachine checks that a stranger cannot take over a server that is open to the network.
func TestP10_FirstTokenNeedsTheMachine(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{Insecure: true})
	f.do("POST", "/v1/tokens", `{"name":"root","roles":["administrator"]}`).refused(403, httpapi.CodeForbidden)
}
