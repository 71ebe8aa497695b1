// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/internal/login/logintest"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/tokens"
)

// withProvider is a server whose people sign in through an identity provider.
func withProvider(t *testing.T, claims map[string]any) (*fixture, *logintest.Provider) {
	t.Helper()
	idp := logintest.New(t, claims)
	f := setup(t, &httpapi.Options{Login: login.New(login.Config{
		Issuer: idp.URL, ClientID: logintest.ClientID, ClientSecret: secret.New(logintest.ClientSecret),
		PublicURL: "http://localhost:7070",
		Roles:     map[string][]string{"crm": {"reviewer"}},
	})})
	return f, idp
}

// atProvider begins a login and lets the provider confirm it. It returns the cookie, and the path that the browser
// comes back with.
func (f *fixture) atProvider() (cookie, back string) {
	f.Helper()
	a := f.do("GET", "/login/provider?to=%2Freview", "", browser...)
	address := a.leads()
	for _, c := range a.Result().Cookies() {
		cookie = c.Name + "=" + c.Value
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 600 {
			f.Errorf("%+v", c)
		}
	}
	r, err := http.NewRequestWithContext(f.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		f.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		f.Fatal(err)
	}
	defer answer.Body.Close()
	to, err := answer.Location()
	if err != nil {
		f.Fatal(err)
	}
	return cookie, to.RequestURI()
}

// TestP10_SignInAtAProvider signs in, decides, and then returns with a used code, from another browser, and without a
// group.
func TestP10_SignInAtAProvider(t *testing.T) {
	t.Parallel()
	f, idp := withProvider(t, map[string]any{"sub": "17", "name": "Ann", "groups": []string{"crm"}})
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections) //nolint:forcetypeassert // the standard library says so
	f.put([4]string{"a", "1", "Joes Pizza", ""}, [4]string{"a", "2", "Annas Bakery", ""})
	f.do("GET", "/login/provider", "", browser...).page(422) // open
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	f.says(f.do("GET", "/login?to=/review", "", browser...).page(200), `href="/login/provider?to=%2freview"`)
	planted := f.signIn(root)
	cookie, back := f.atProvider()
	f.do("GET", back, "", browser...).page(401) // another browser
	a := f.do("GET", back, "", append([]string{"Cookie", cookie + "; " + planted}, browser...)...)
	if a.leads() != "/review" {
		t.Errorf("leads to %s", a.leads())
	}
	var mine, ended bool
	session := ""
	for _, c := range a.Result().Cookies() {
		switch c.Name {
		case "locus":
			mine, session = true, "locus="+c.Value
		case "locus-login":
			ended = c.MaxAge < 0
		}
	}
	if !mine || !ended {
		t.Fatalf("%v", a.Header())
	}
	f.do("GET", "/entities", "", "Cookie", planted).refused(401, httpapi.CodeUnauthenticated)
	f.says(f.do("GET", "/entities", "", "Cookie", session).page(200), ">Ann<", "Sign out")
	f.submit("/decisions", append([]string{"Cookie", session}, ofPage...), "verdict", "different", "a", "a:1", "b", "a:2",
		"author", "bob").leads()
	if d := f.decided(); len(d) != 1 || d[0].Author != "Ann" || d[0].By != "oidc:17" {
		t.Errorf("%+v", d)
	}
	f.do("GET", "/v1/entities", "", "Cookie", session).refused(401, httpapi.CodeUnauthenticated)

	if b := decode[tokens.Block](f.do("PUT", "/v1/blocks/oidc:17", "", bearer(root)...)); b.Name != "oidc:17" || b.By != "root" {
		t.Errorf("%+v", b)
	}
	f.do("GET", "/entities", "", "Cookie", session).refused(401, httpapi.CodeUnauthenticated)
	other, again := f.atProvider()
	f.says(f.do("GET", again, "", append([]string{"Cookie", other}, browser...)...).page(403), "You are blocked here")
	decode[tokens.Block](f.do("DELETE", "/v1/blocks/oidc:17", "", bearer(root)...))
	f.do("DELETE", "/v1/blocks/oidc:17", "", bearer(root)...).refused(404, httpapi.CodeNotFound)
	f.says(f.do("GET", "/entities", "", "Cookie", session).page(200), ">Ann<")

	f.do("GET", back, "", append([]string{"Cookie", cookie}, browser...)...).page(401) // the code was used

	idp.Misbehave(logintest.Nonce)
	cookie, back = f.atProvider()
	a = f.do("GET", back, "", append([]string{"Cookie", cookie}, browser...)...)
	f.says(a.page(401), "did not confirm")
	idp.Close()
	f.says(f.do("GET", back, "", append([]string{"Cookie", cookie}, browser...)...).page(502), "cannot be reached")
}

func TestP10_PersonInNoGroup(t *testing.T) {
	t.Parallel()
	f, _ := withProvider(t, map[string]any{"sub": "18", "groups": []string{"sales"}})
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	cookie, back := f.atProvider()
	a := f.do("GET", back, "", append([]string{"Cookie", cookie}, browser...)...)
	f.says(a.page(403), "none of your groups has a role")
	for _, c := range a.Result().Cookies() {
		if c.Name == "locus" {
			t.Error("a session")
		}
	}
}

// TestP10_GrantToTheCommandLine follows a code from the page to a token, by a port and by pasting.
func TestP10_GrantToTheCommandLine(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	cookie := []string{"Cookie", f.signIn(f.token(tokens.Request{Name: "ann", Roles: []string{"reviewer"}}))}
	verifier := strings.Repeat("v", 43)
	ask := url.Values{"challenge": {tokens.Challenge(verifier)}, "port": {"4711"}, "state": {"s-1"}}
	if to := f.do("GET", "/login/cli?"+ask.Encode(), "", browser...).leads(); !strings.HasPrefix(to, "/login?to=%2Flogin%2Fcli%3Fchallenge") {
		t.Errorf("leads to %s", to)
	}
	a := f.do("GET", "/login/cli?"+ask.Encode(), "", append(cookie, browser...)...)
	f.says(a.page(200), "ann", `value="4711"`, "Allow")
	if policy := a.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self' http://127.0.0.1:4711;") {
		t.Error(policy)
	}
	if policy := f.do("GET", "/login/cli?challenge=x", "", append(cookie, browser...)...).Header().Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self';") {
		t.Error(policy)
	}
	for _, bad := range []string{"port=0&state=s", "port=70000&state=s", "port=1%3B%20x&state=s", "port=80&state=", "port=80&state=a%20b", "port=@evil.example&state=s"} {
		f.do("GET", "/login/cli?challenge=x&"+bad, "", append(cookie, browser...)...).page(422)
	}
	redeem := func(code, verifier string) answer {
		body, _ := json.Marshal(httpapi.LoginRequest{Code: code, Verifier: verifier})
		return f.do("POST", "/v1/login", string(body))
	}
	to, err := url.Parse(f.submit("/login/cli", append(cookie, ofPage...), "challenge", ask.Get("challenge"), "port",
		"4711", "state", "s-1").leads())
	if err != nil || to.Host != "127.0.0.1:4711" || to.Query().Get("state") != "s-1" {
		t.Fatalf("%v, %v", to, err)
	}
	got := redeem(to.Query().Get("code"), verifier)
	var made httpapi.TokenMade
	if err := json.Unmarshal(got.Body.Bytes(), &made); err != nil || got.Code != 201 || made.Name != "ann" {
		t.Fatalf("%d %s, %v", got.Code, got.Body, err)
	}
	redeem(to.Query().Get("code"), verifier).refused(401, httpapi.CodeUnauthenticated)
	f.do("GET", "/v1/entities", "", bearer(made.Secret)...).mustBe(200)
	page := f.submit("/login/cli", append(cookie, ofPage...), "challenge", ask.Get("challenge")).page(200)
	_, rest, _ := strings.Cut(page, `<code id="code">`)
	code, _, _ := strings.Cut(rest, "<")
	redeem(code, "w").refused(401, httpapi.CodeUnauthenticated)
	redeem(code, verifier).refused(401, httpapi.CodeUnauthenticated)
	// A token itself gets no code, which would outlast it.
	f.submit("/login/cli", append(bearer(made.Secret), ofPage...), "challenge", ask.Get("challenge")).mustBe(401)
	if r := decode[httpapi.LoggedOut](f.do("DELETE", "/v1/login", "", bearer(made.Secret)...)); !r.Ended {
		t.Error("it has not ended")
	}
	f.do("GET", "/v1/entities", "", bearer(made.Secret)...).refused(401, httpapi.CodeUnauthenticated)
}

// TestP10_ServicesWithJWTs sends JWTs of a configured issuer: to /v1, with a decision, and without a role for the
// route.
func TestP10_ServicesWithJWTs(t *testing.T) {
	t.Parallel()
	idp := logintest.New(t, nil)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections) //nolint:forcetypeassert // the standard library says so
	f := setup(t, &httpapi.Options{Bearers: login.NewBearers("https://locus.example", nil, login.Issuer{URL: idp.URL, Roles: map[string][]string{"repo:crm": {"reviewer"}}})})
	f.put([4]string{"a", "1", "Joes Pizza", ""}, [4]string{"a", "2", "Annas Bakery", ""})
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	now := time.Now()
	claims := map[string]any{"iss": idp.URL, "aud": "https://locus.example", "sub": "repo:crm", "iat": now.Unix(),
		"exp": now.Add(time.Minute).Unix()}
	jwt := idp.Sign(claims)
	if who := decode[httpapi.Whoami](f.do("GET", "/v1/whoami", "", bearer(jwt)...)); who.Name != "jwt:repo:crm" || strings.Join(who.Permissions, " ") != "schema read decide" {
		t.Errorf("%+v", who)
	}
	body := `{"decisions":[{"verdict":"different","a":"a:1","b":"a:2"}]}`
	if d := decode[httpapi.DecideResponse](f.do("POST", "/v1/decisions", body, bearer(jwt)...)).Results[0].Decision; d == nil || d.Author != "repo:crm" || d.By != "jwt:repo:crm" {
		t.Errorf("%+v", d)
	}
	decode[tokens.Block](f.do("PUT", "/v1/blocks/jwt:repo:crm", "", bearer(root)...))
	f.do("GET", "/v1/whoami", "", bearer(jwt)...).refused(401, httpapi.CodeUnauthenticated)
	decode[tokens.Block](f.do("DELETE", "/v1/blocks/jwt:repo%3Acrm", "", bearer(root)...))
	f.do("GET", "/v1/tokens", "", bearer(jwt)...).refused(403, httpapi.CodeForbidden)
	f.do("GET", "/v1/whoami", "", bearer(jwt+"x")...).refused(401, httpapi.CodeUnauthenticated)
	claims["exp"] = now.Add(-time.Minute).Unix()
	f.do("GET", "/v1/whoami", "", bearer(idp.Sign(claims))...).refused(401, httpapi.CodeUnauthenticated)
	f.do("GET", "/v1/whoami", "", "Cookie", "locus="+jwt).refused(401, httpapi.CodeUnauthenticated)
	away := logintest.New(t, nil)
	away.Close()
	f.server = httpapi.New(f.svc, &httpapi.Options{Bearers: login.NewBearers("https://locus.example", nil, login.Issuer{URL: away.URL, Roles: map[string][]string{"repo:crm": {"reviewer"}}})})
	claims["iss"] = away.URL
	f.do("GET", "/v1/whoami", "", bearer(away.Sign(claims))...).refused(503, httpapi.CodeUnavailable)
}

// TestP10_GuessesAtTheProvider comes back from the provider with codes that it did not give: they are counted, and each
// is a request to the provider only while few have failed.
func TestP10_GuessesAtTheProvider(t *testing.T) {
	t.Parallel()
	f, idp := withProvider(t, map[string]any{"sub": "17", "name": "Ann", "groups": []string{"crm"}})
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections) //nolint:forcetypeassert // the standard library says so
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	cookie, back := f.atProvider()
	state, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	limited := 0
	for range 40 {
		a := f.do("GET", "/login/callback?"+url.Values{"state": {state.Query().Get("state")}, "code": {"guess"}}.Encode(), "",
			append([]string{"Cookie", cookie}, browser...)...)
		if a.Code == http.StatusTooManyRequests {
			limited++
		} else if a.Code != http.StatusUnauthorized {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	// One more is room for each second that this takes, and the library tries each code in two ways.
	if n := idp.Exchanges(); limited < 10 || n > 2*(40-limited)+2 {
		t.Errorf("%d of 40 were refused for their number, and the provider was asked %d times", limited, n)
	}
	if a := f.do("GET", "/v1/whoami", "", bearer(root)...); a.Code != http.StatusOK {
		t.Errorf("a valid token from the same address: %d", a.Code)
	}
	f.server.Forget()
	if a := f.do("GET", back, "", append([]string{"Cookie", cookie}, browser...)...); a.leads() != "/review" {
		t.Errorf("the person: %d %s", a.Code, a.Body)
	}
	// Logins that fail are in the audit log.
	deadline := time.Now().Add(patience)
	for {
		list := f.do("GET", "/v1/audit?class=access", "", bearer(root)...).Body.String()
		if strings.Contains(list, "unauthenticated") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("refused logins are not in the audit log: %s", list)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// Ending a login that does not exist does not end the period without tokens, because then nothing would be admitted any
// more.
func TestLogin_NoneToEnd(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	if a := f.do("DELETE", "/v1/login", ""); a.Code != 200 || !strings.Contains(a.Body.String(), "false") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := f.get("/v1/status"); a.Code != 200 {
		t.Errorf("then: %d %s", a.Code, a.Body)
	}
}
