// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/internal/login/logintest"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/tokens"
)

// TestLogin signs in to the console in a real browser.
func TestLogin(t *testing.T) {
	t.Parallel()
	inTabs(t, map[string]func(*tab){
		"a token is exchanged for a session":        loginWithAToken,
		"a session that ends leads to the login":    loginAgain,
		"people sign in at their identity provider": loginAtAProvider,
		"the command line is allowed to act":        loginAllows,
		"the login page can be read anywhere":       loginLooks,
	})
}

// token creates a token.
func (tab *tab) token(name, role string) (secret string) {
	tab.Helper()
	secret, _, err := tab.svc.Tokens().Create(context.Background(), tokens.Operator(),
		tokens.Request{Name: name, Roles: []string{role}})
	if err != nil {
		tab.Fatal(err)
	}
	return secret
}

// decided returns the only decision.
func (tab *tab) decided() decisions.Decided {
	tab.Helper()
	page, err := tab.svc.Decisions().List(context.Background(), decisions.Query{})
	if err != nil || len(page.Decisions) != 1 {
		tab.Fatalf("%+v, %v", page, err)
	}
	return page.Decisions[0]
}

// decides answers the pair on the review page as a person, then signs out.
func (tab *tab) decides(person string) {
	tab.Helper()
	tab.await(`location.pathname === "/review" && document.querySelector(".viewer")?.textContent.includes(` + jsString(person) + `)`)
	tab.check(`!document.querySelector(".answer [name=author]")`, "it asks for a name that it knows")
	tab.click(`.answer button[value=same]`)
	tab.await(`document.querySelector("#answer")?.textContent.includes("the same thing")`)
	tab.check(`document.querySelector("#answer").textContent.includes(`+jsString(person)+`) && !document.querySelector("#answer").textContent.includes("unverified")`, "it does not say who decided")
	tab.check(`document.cookie === ""`, "a script reads the cookie")
	tab.click(`.viewer button`)
	tab.await(`location.pathname === "/login"`)
	tab.open("/review")
	tab.await(`location.pathname === "/login"`)
}

func loginWithAToken(tab *tab) {
	tab.doubtful("1", "Joe's Pizza")
	tab.token("root", "administrator")
	secret := tab.token("ann", "reviewer")
	tab.open("/review")
	tab.await(`location.pathname === "/login"`)
	tab.enter(`[name=token]`, secret[:60]+"\r")
	tab.await(`document.querySelector("[role=alert].problem")?.textContent.includes("not valid")`)
	tab.forgive("401")
	tab.enter(`[name=token]`, secret+"\r")
	tab.decides("ann")
	if d := tab.decided(); d.By != "ann" || d.Author != "ann" {
		tab.Errorf("%+v", d)
	}
	if list, err := tab.svc.Tokens().Sessions(context.Background()); err != nil || len(list) != 0 {
		tab.Errorf("%+v, %v", list, err)
	}
}

func loginAgain(tab *tab) {
	tab.token("root", "administrator")
	secret := tab.token("ann", "reviewer")
	tab.open("/operations")
	tab.await(`location.pathname === "/login"`)
	tab.enter(`[name=token]`, secret+"\r")
	tab.await(`document.querySelector("#live.running")`)
	if _, err := tab.svc.Tokens().Revoke(context.Background(), tokens.Operator(), "ann"); err != nil {
		tab.Fatal(err)
	}
	tab.await(`location.pathname === "/login"`) // by itself
	tab.forgive("401")
	tab.forgive("ERR_")
}

func loginAtAProvider(tab *tab) {
	idp := logintest.New(tab, map[string]any{"sub": "17", "email": "ann@example.com", "email_verified": true,
		"groups": []string{"crm"}})
	tab.stop()
	tab.login = func(public string) *login.Provider {
		return login.New(login.Config{
			Issuer: idp.URL, ClientID: logintest.ClientID, ClientSecret: secret.New(logintest.ClientSecret), PublicURL: public,
			Roles: map[string][]string{"crm": {"reviewer"}},
		})
	}
	tab.serve()
	tab.forgive("a request to " + idp.URL + "/authorize")
	tab.doubtful("1", "Joe's Pizza")
	tab.token("root", "administrator")
	tab.open("/review")
	tab.await(`location.pathname === "/login"`)
	tab.click(`a.button`)
	tab.decides("ann@example.com")
	if d := tab.decided(); d.By != "oidc:17" || d.Author != "ann@example.com" {
		tab.Errorf("%+v", d)
	}
	idp.Misbehave(logintest.Nonce)
	tab.click(`a.button`)
	tab.await(`document.querySelector("[role=alert].problem")?.textContent.includes("did not confirm")`)
	tab.forgive("401")
}

// loginAllows follows the browser to the port at which locus login waits, which the policy of the page has to allow.
func loginAllows(tab *tab) {
	came := make(chan string, 1)
	waits := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			came <- r.URL.Query().Get("code")
		}
		w.Header().Set("Content-Type", "text/plain")
	}))
	defer waits.Close()
	tab.forgive("a request to " + waits.URL)
	tab.forgive("404") // of the icon
	tab.token("root", "administrator")
	secret := tab.token("ann", "reviewer")
	verifier := strings.Repeat("v", 43)
	ask := url.Values{"challenge": {tokens.Challenge(verifier)}, "state": {"s"},
		"port": {waits.URL[strings.LastIndex(waits.URL, ":")+1:]}}
	tab.open("/login/cli?" + ask.Encode())
	tab.await(`location.pathname === "/login"`)
	tab.enter(`[name=token]`, secret+"\r")
	tab.await(`location.pathname === "/login/cli"`)
	tab.click(`main form button`)
	select {
	case code := <-came:
		if _, made, err := tab.svc.Tokens().Redeem(context.Background(), code, verifier); err != nil || made.Name != "ann" {
			tab.Errorf("%+v, %v", made, err)
		}
	case <-time.After(patience):
		tab.Error("the browser did not come")
	}
}

func loginLooks(tab *tab) {
	tab.token("root", "administrator")
	tab.login = func(public string) *login.Provider {
		return login.New(login.Config{Issuer: "http://127.0.0.1:1", PublicURL: public})
	}
	tab.stop()
	tab.serve()
	tab.canBeRead([]string{"/login?to=/review"}, func(string) {})
	tab.isNarrow([]string{"/login?to=/review"}, "form, .problem, .command")
}
