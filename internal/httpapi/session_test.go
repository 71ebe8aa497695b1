// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"context"
	"crypto/tls"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/tokens"
)

// signIn exchanges a token for a session and returns the Cookie header for it.
func (f *fixture) signIn(token string, headers ...string) string {
	f.Helper()
	a := f.submit("/login", append(headers, ofPage...), "token", token)
	a.leads()
	return a.session().Name + "=" + a.session().Value
}

// session returns the cookie that an answer sets for a session.
func (a answer) session() *http.Cookie {
	a.Helper()
	for _, c := range a.Result().Cookies() {
		if strings.HasSuffix(c.Name, "locus") {
			return c
		}
	}
	a.Fatalf("no session: %d, %v", a.Code, a.Header())
	return nil
}

var browser = []string{"Accept", "text/html,application/xhtml+xml"}

// TestP10_SignInAndOut follows a person from the page that was asked for, through the login, to it and out again.
func TestP10_SignInAndOut(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	if to := f.do("GET", "/login?to=/review", "", browser...).leads(); to != "/review" {
		t.Errorf("the login of an open server leads to %s", to)
	}
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	to := f.do("GET", "/entities?q=joe+%26co", "", browser...).leads()
	if to != "/login?to=%2Fentities%3Fq%3Djoe%2B%2526co" {
		t.Errorf("leads to %s", to)
	}
	page := f.do("GET", to, "", browser...).page(200)
	f.says(page, `action="/login"`, `name="to" value="/entities?q=joe&#43;%26co"`, `type="password"`)
	if strings.Contains(page, "<nav") || strings.Contains(page, "/metrics") {
		t.Error("the login page has links that lead back to it")
	}
	wrong := f.submit("/login", ofPage, "token", root[:67]+"_", "to", "/review")
	f.says(wrong.page(401), "not valid", `value="/review"`)
	if strings.Contains(wrong.Body.String(), root[20:40]) || len(wrong.Result().Cookies()) != 0 {
		t.Error("the page repeats the token, or there is a session")
	}
	a := f.submit("/login", ofPage, "token", " "+root+"\n", "to", "/entities?q=joe+%26co")
	if a.leads() != "/entities?q=joe+%26co" {
		t.Errorf("leads to %s", a.leads())
	}
	c := a.session()
	if c.Name != "locus" || c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" ||
		c.Domain != "" || c.MaxAge != 0 {
		t.Errorf("%+v", c)
	}
	cookie := []string{"Cookie", c.Name + "=" + c.Value}
	f.says(f.do("GET", "/", "", append(cookie, browser...)...).page(200), `action="/logout"`, "root", "Sign out")
	if to := f.do("GET", "/login?to=/ring", "", append(cookie, browser...)...).leads(); to != "/ring" {
		t.Errorf("the login page of a session leads to %s", to)
	}
	f.submit("/logout", []string{"Cookie", cookie[1]}).page(403)
	f.do("GET", "/entities", "", cookie...).mustBe(200)
	out := f.submit("/logout", append(cookie, ofPage...))
	if out.leads() != "/login" || !strings.Contains(out.Header().Get("Clear-Site-Data"), `"cookies"`) ||
		out.session().MaxAge >= 0 {
		t.Errorf("%v", out.Header())
	}
	f.do("GET", "/entities", "", cookie...).refused(401, httpapi.CodeUnauthenticated)
	if to := f.do("GET", "/entities", "", append(cookie, browser...)...).leads(); !strings.HasPrefix(to, "/login") {
		t.Errorf("leads to %s", to)
	}
	// A form of a page that has outlived the session leads to the login, and changes nothing.
	if to := f.submit("/decisions", append(append(cookie, browser...), ofPage...), "verdict", "same").leads(); to != "/login" {
		t.Errorf("leads to %s", to)
	}
}

func (a answer) mustBe(status int) {
	a.Helper()
	if a.Code != status {
		a.Errorf("answered %d, want %d: %.300s", a.Code, status, a.Body)
	}
}

// TestP10_Fixation plants a session in a browser before its user signs in.
func TestP10_Fixation(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	eve := f.token(tokens.Request{Name: "eve", Roles: []string{"reader"}})
	planted := f.signIn(eve)
	mine := f.signIn(root, "Cookie", planted)
	if mine == planted {
		t.Fatal("the login keeps the session")
	}
	f.do("GET", "/entities", "", "Cookie", planted).refused(401, httpapi.CodeUnauthenticated)
	secret, _ := access.NewSession()
	mine = f.signIn(root, "Cookie", "locus="+secret)
	f.do("GET", "/entities", "", "Cookie", "locus="+secret).refused(401, httpapi.CodeUnauthenticated)
	f.do("GET", "/entities", "", "Cookie", mine).mustBe(200)
	f.do("GET", "/entities", "", "Cookie", mine+"; locus="+secret).refused(401, httpapi.CodeUnauthenticated)
}

// TestP10_CookiesAreForPages sends a session to every route for programs, and to the routes that the pages link to
// instead.
func TestP10_CookiesAreForPages(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	id := f.item(joe).Entity.String()
	f.countHits(3, "page")
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	cookie := []string{"Cookie", f.signIn(root)}
	sent := 0
	for pattern, rule := range f.server.Rules() {
		method, path, _ := strings.Cut(pattern, " ")
		if rule == "public" || !strings.HasPrefix(path, "/v1/") && path != "/mcp" {
			continue
		}
		sent++
		target := regexp.MustCompile(`\{\w+(\.\.\.)?\}`).ReplaceAllString(path, "x")
		f.do(method, target, "{", cookie...).refused(401, httpapi.CodeUnauthenticated)
		f.do(method, target, "{", append(cookie, browser...)...).refused(401, httpapi.CodeUnauthenticated)
	}
	if sent < 80 {
		t.Errorf("%d routes", sent)
	}
	page := f.do("GET", "/entities/"+id, "", cookie...).page(200) + f.do("GET", "/counters/metric?name=page", "",
		cookie...).page(200) + f.do("GET", "/", "", cookie...).page(200)
	links := 0
	for _, link := range regexp.MustCompile(`href="(/[^"#]*)"`).FindAllStringSubmatch(page, -1) {
		links++
		if a := f.do("GET", html.UnescapeString(link[1]), "", cookie...); a.Code != http.StatusOK && a.Code != http.StatusNotFound { // there are no self-metrics here
			t.Errorf("%s: %d", link[1], a.Code)
		}
	}
	if links < 20 {
		t.Errorf("%d links", links)
	}
	// a header wins
	f.do("GET", "/entities", "", append(cookie, bearer("")...)...).refused(401, httpapi.CodeUnauthenticated)
}

// TestP10_SessionsAreListedAndEnded ends the session of another, and a token with its sessions.
func TestP10_SessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	ann := f.token(tokens.Request{Name: "ann", Roles: []string{"reviewer"}})
	first, second := f.signIn(ann), f.signIn(ann)
	list := decode[httpapi.SessionList](f.do("GET", "/v1/sessions", "", bearer(root)...)).Sessions
	if len(list) != 2 || list[0].Name != "ann" || !strings.Contains(first, list[0].ID) {
		t.Fatalf("%+v", list)
	}
	decode[tokens.Session](f.do("DELETE", "/v1/sessions/"+list[0].ID, "", bearer(root)...))
	f.do("DELETE", "/v1/sessions/"+list[0].ID, "", bearer(root)...).refused(404, httpapi.CodeNotFound)
	f.do("GET", "/entities", "", "Cookie", first).refused(401, httpapi.CodeUnauthenticated)
	f.do("GET", "/entities", "", "Cookie", second).mustBe(200)
	f.do("DELETE", "/v1/tokens/ann", "", bearer(root)...).mustBe(200)
	f.do("GET", "/entities", "", "Cookie", second).refused(401, httpapi.CodeUnauthenticated)
	who := decode[httpapi.Whoami](f.do("GET", "/v1/whoami", "", bearer(root)...))
	if who.Name != "root" || who.ID == "" || len(who.Permissions) != len(access.Permissions()) {
		t.Errorf("%+v", who)
	}
}

// TestP10_CookieBehindAProxy signs in through a proxy that sends its own name as Host.
func TestP10_CookieBehindAProxy(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{PublicURL: "https://locus.example",
		Proxies: listen.Proxies{netip.MustParsePrefix("192.0.2.0/24")}})
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	a := f.do("POST", "/login", url.Values{"token": {root}}.Encode(), "Content-Type", "", "Content-Type",
		"application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	if c := a.session(); c.Name != "__Host-locus" || !c.Secure {
		t.Errorf("%+v", c)
	}
}

// TestP10_CookieOverTLS checks the name and the attributes of the cookie for each way to the server.
func TestP10_CookieOverTLS(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{PublicURL: "https://locus.example", Hosts: []string{"locus.example"}})
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	send := func(method, target, host string, over bool, local string, headers ...string) answer {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, target,
			strings.NewReader(url.Values{"token": {root}}.Encode()))
		r.Host = host
		r.TLS = nil
		if over {
			r.TLS = &tls.ConnectionState{}
		}
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		ctx := context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(local), Port: 7070})
		rec := httptest.NewRecorder()
		f.server.ServeHTTP(rec, r.WithContext(ctx))
		return answer{f, rec}
	}
	for _, test := range []struct {
		host  string
		over  bool
		local string
		want  string // the cookie, "" if signing in is refused
	}{
		{"localhost:7070", false, "127.0.0.1", "locus"},
		{"localhost:7070", true, "127.0.0.1", "__Host-locus"},
		{"locus.example", false, "10.0.0.1", "__Host-locus"}, // the proxy of the public URL
		{"locus.example", true, "10.0.0.1", "__Host-locus"},
		{"locus.example:7070", false, "10.0.0.1", ""},
	} {
		a := send("POST", "/login", test.host, test.over, test.local)
		if test.want == "" {
			if a.Code != http.StatusForbidden || len(a.Result().Cookies()) > 0 {
				t.Errorf("%+v: %d %v", test, a.Code, a.Header())
			}
			continue
		}
		c := a.session()
		if c.Name != test.want || c.Secure != (test.want == "__Host-locus") || !c.HttpOnly || c.Path != "/" ||
			c.Domain != "" {
			t.Errorf("%+v: %+v", test, c)
		}
		send("GET", "/entities", test.host, test.over, test.local, "Cookie", c.Name+"="+c.Value).mustBe(200)
		other := map[string]string{"locus": "__Host-locus", "__Host-locus": "locus"}[c.Name]
		send("GET", "/entities", test.host, test.over, test.local, "Cookie", other+"="+c.Value).mustBe(401)
	}
}

// TestP10_LoginLeadsToThisServer tries to have a login lead to another.
func TestP10_LoginLeadsToThisServer(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	for to, want := range map[string]string{
		"/review?a=x%26y": "/review?a=x%26y", "/entities/a%2Fb": "/entities/a%2Fb", "": "/", "/": "/",
		"https://evil.example/": "/", "//evil.example/": "/", "/\\evil.example": "/", "/%5Cevil.example": "/",
		"///evil.example": "/", "\\\\evil": "/", "/%2F/evil.example": "/",
		"/x\r\nSet-Cookie:a=b": "/", "javascript:alert(1)": "/", "evil": "/", "/login?to=/x": "/", "/logout": "/",
		"/\t/evil.example": "/", "/%09/evil.example": "/",
	} {
		if got := f.submit("/login", ofPage, "token", root, "to", to).leads(); got != want {
			t.Errorf("%q leads to %q", to, got)
		}
	}
}

// TestP10_FormsOfOtherSites sends every form of the console from other origins, with a session.
func TestP10_FormsOfOtherSites(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	cookie := []string{"Cookie", f.signIn(root)}
	forms := 0
	for pattern := range f.server.Rules() {
		method, path, _ := strings.Cut(pattern, " ")
		if method != http.MethodPost || strings.HasPrefix(path, "/v1/") || path == "/mcp" {
			continue
		}
		forms++
		for _, from := range [][]string{
			nil, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "none"},
			{"Origin", "null"}, {"Origin", "http://evil.example"}, {"Origin", "http://localhost:7071"},
		} {
			target := strings.ReplaceAll(path, "{id}", "x")
			if a := f.submit(target, append(from, cookie...), "token", root); a.Code != http.StatusForbidden || len(a.Result().Cookies()) > 0 {
				t.Errorf("%s from %v: %d", pattern, from, a.Code)
			}
		}
	}
	if forms < 5 {
		t.Errorf("%d forms", forms)
	}
	f.do("GET", "/entities", "", cookie...).mustBe(200)
}

// FuzzCookie sends headers of any form: only the session's own secret is accepted.
func FuzzCookie(f *testing.F) {
	for _, seed := range []string{"locus=%s", "locus=%s; locus=x", `locus="%s"`, "locus = %s", "a=b;locus=%s;c", "LOCUS=%s", "locus=%s\x00", ";;;=%s", "locus=%s,locus=%s"} {
		f.Add(seed)
	}
	svc := openService(f, f.TempDir(), 0)
	f.Cleanup(func() { _ = svc.Close() })
	root, _, err := svc.Tokens().Create(f.Context(), tokens.Operator(),
		tokens.Request{Name: "root", Roles: []string{"administrator"}})
	if err != nil {
		f.Fatal(err)
	}
	secret, _, err := svc.Tokens().SignIn(f.Context(), root, "")
	if err != nil {
		f.Fatal(err)
	}
	server := httpapi.New(svc, nil)
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/kinds", http.NoBody)
		r.Host = "localhost"
		r.Header["Cookie"] = []string{strings.ReplaceAll(header, "%s", secret)}
		rec := httptest.NewRecorder()
		server.ServeHTTP(rec, r)
		found := r.CookiesNamed("locus")
		if want := len(found) == 1 && found[0].Value == secret; (rec.Code == http.StatusOK) != want || !want && rec.Code != http.StatusUnauthorized {
			t.Errorf("%q: %d", header, rec.Code)
		}
	})
}
