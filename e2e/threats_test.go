// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/internal/login/logintest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/secret"
)

// TestP10_Browser attacks people who are signed in to the console, in a real browser.
func TestP10_Browser(t *testing.T) {
	t.Parallel()
	inTabs(t, map[string]func(*tab){
		"a stored script is text on every page":           storedScript,
		"a page of another origin does and reads nothing": otherOrigins,
	})
}

// scripts are scripts that would run, each with another way out of its place in a page.
var scripts = []string{
	`<script>window.ran=1</script>`, `"><iframe srcdoc="<script>window.ran=1</script>">`,
	`<img src=x onerror=window.ran=1>`, `<svg onload=window.ran=1>`, `' onmouseover=window.ran=1 x='`,
	`</title></style></textarea><script>window.ran=1</script>`, `javascript:window.ran=1`, `{{.}}${window.ran=1}`,
	`--><script>window.ran=1</script>`,
}

// storedScript stores scripts wherever text can come from outside, and opens every page as a person whose name is a
// script.
func storedScript(tab *tab) {
	idp := logintest.New(tab, map[string]any{"sub": "17", "name": scripts[0], "groups": []string{"crm"}})
	tab.stop()
	tab.login = func(public string) *login.Provider {
		return login.New(login.Config{
			Issuer: idp.URL, ClientID: logintest.ClientID, ClientSecret: secret.New(logintest.ClientSecret), PublicURL: public,
			Roles: map[string][]string{"crm": {"reviewer", "operator"}},
		})
	}
	tab.serve()
	tab.forgive("a request to " + idp.URL + "/authorize")
	ctx := context.Background()
	tab.counted("city")
	pages := []string{"/", "/entities", "/review", "/rollups", "/rollups/places_by_category", "/counters", "/streams",
		"/data", "/ring", "/kinds"}
	for i, s := range scripts[:longtest.Times(3, len(scripts))] {
		say := url.QueryEscape(s)
		hostile := func(key, phone string) records.Input {
			in := phoned("pos", key, s+" Pizza", phone)
			for _, name := range []string{"description", "category", "hours", "city", "address", "region", "postcode"} {
				in.Attributes[name] = []string{s}
			}
			return in
		}
		one := tab.put(hostile(s, fmt.Sprintf("+1415555230%d", i)), hostile(s+"2", fmt.Sprintf("+1415555230%d", i)))
		first, second := "pos:"+s, "pos:"+s+"2"
		made, err := tab.svc.Decisions().Decide(ctx, []decisions.Input{
			{Verdict: entity.VerdictSame, A: first, B: second, Author: s, Reason: s},
			{Verdict: entity.VerdictValue, A: first, Attribute: "name", Value: s, Author: s, Reason: s},
		})
		if err != nil || made[0].Err != nil || made[1].Err != nil {
			tab.Fatal(err, made)
		}
		if _, err := tab.svc.Counters().Add(ctx, counter.Batch{Hits: []counter.Hit{{Metric: counter.Metric(s), N: 1}}}); err != nil {
			tab.Fatal(err)
		}
		id := "/entities/" + one[0].Entity.String()
		pages = append(pages, id, id+"/json", id+"/what-if?without="+url.QueryEscape(first), id+"/what-if?merge="+say, id+"/what-if?apart="+url.QueryEscape(second), "/entities?q="+say, "/entities?attribute=city&value="+say,
			"/entities?kind="+say, "/entities?filter="+say, "/entities/"+say,
			"/review?a="+url.QueryEscape(first)+"&b="+url.QueryEscape(second),
			"/review?said="+url.QueryEscape(first)+"&of="+url.QueryEscape(second), "/review?a="+say+"&b="+say,
			"/rollups/"+say, "/rollups/places_by_category?g1="+say, "/counters?prefix="+say, "/counters/metric?name="+say, "/ring?address="+url.QueryEscape(first), "/login?to="+say, "/login/cli?challenge="+say+"&state="+say, "/"+say)
	}
	tab.settle()
	tab.doubtful("1", scripts[0])
	tab.token("root", "administrator")
	tab.open("/review")
	tab.await(`location.pathname === "/login"`)
	tab.click(`a.button`)
	tab.await(`location.pathname === "/review" && document.querySelector(".viewer")?.textContent.includes(` + jsString(scripts[0]) + `)`)
	shown := 0
	for _, path := range pages {
		tab.open(path)
		tab.check(`!window.ran && !document.querySelector("iframe, object, embed, script:not([src]), [onerror], [onload], [onmouseover], a[href^='javascript:' i], form[action^='javascript:' i], img:not([src^='/counters/picture'])")`, path+": a text became an element")
		if evaluate[bool](tab, `document.body.textContent.includes("window.ran=1")`) {
			shown++
		}
	}
	if tab.Logf("%d pages, %d of them with a script", len(pages), shown); shown < len(pages)/2 {
		tab.Errorf("%d of %d pages show a script: the others prove nothing", shown, len(pages))
	}
	tab.check(`(() => { try { document.createElement("div").innerHTML = "<b>"; } catch { return true; } })()`,
		"a script makes markup of a text")
	tab.forgive("TrustedHTML")
	for _, status := range []string{"400", "404", "422"} {
		tab.forgive("a status of " + status)
	}
}

// otherOrigins lets pages of other origins, one of them of the same site, act in a browser that is signed in.
func otherOrigins(tab *tab) {
	a, b := tab.doubtful("1", "Joe's Pizza")
	tab.token("root", "administrator")
	tab.open("/review")
	tab.await(`location.pathname === "/login"`)
	tab.enter(`[name=token]`, tab.token("ann", "reviewer")+"\r")
	tab.await(`location.pathname === "/review"`)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		target := "http://" + tab.addr
		if r.URL.Path == "/form" {
			fmt.Fprintf(w, `<form method=post action="%s/decisions"><input name=verdict value=same><input name=a value=pos:1><input name=b value=web:1></form><script>document.forms[0].submit()</script>`, target)
			return
		}
		fmt.Fprintf(w, `<iframe src="%[1]s/review"></iframe><img src="%[1]s/counters/picture?name=x"><script>
			window.read = [];
			const ask = (path, options) => fetch("%[1]s" + path, { credentials: "include", ...options }).then((r) => r.text()).then((text) => text && window.read.push(path), () => {});
			const body = new URLSearchParams({ verdict: "same", a: "pos:1", b: "web:1" });
			Promise.all([
				ask("/review"), ask("/entities/%[2]s/json"), ask("/v1/entities"), ask("/review", { mode: "no-cors" }),
				ask("/decisions", { method: "POST", body }), ask("/decisions", { method: "POST", body, mode: "no-cors" }),
				ask("/entities/%[2]s/merge", { method: "POST", mode: "no-cors", body: new URLSearchParams({ address: "%[3]s" }) }),
				ask("/v1/decisions", { method: "POST", mode: "no-cors", body: JSON.stringify({ decisions: [{ verdict: "same", a: "pos:1", b: "web:1" }] }) }),
				ask("/logout", { method: "POST", mode: "no-cors" }),
			]).then(() => { window.done = 1; });
		</script>`, target, a, b)
	}))
	defer evil.Close()
	local := strings.Replace(evil.URL, "127.0.0.1", "localhost", 1) // another site; the first is the same one
	for _, origin := range []string{evil.URL, local} {
		for _, words := range []string{"a request to " + origin, "in the console: "} {
			tab.forgive(words)
		}
		tab.do(chromedp.Navigate(origin))
		tab.await(`window.done`)
		if read := evaluate[[]string](tab, `window.read`); len(read) != 0 {
			tab.Errorf("%s reads %q", origin, read)
		}
		tab.do(chromedp.Navigate(origin + "/form"))
		tab.await(`location.pathname === "/decisions"`)
		if text := evaluate[string](tab, `document.body.textContent`); !strings.Contains(text, "another site") {
			tab.Errorf("a form of %s gets %q", origin, text)
		}
	}
	framed := false
	for deadline := time.Now().Add(patience); !framed && time.Now().Before(deadline); {
		tab.mu.Lock()
		for _, what := range tab.troubles {
			framed = framed || strings.Contains(what, "frame-ancestors")
		}
		tab.mu.Unlock()
		<-time.After(10 * time.Millisecond)
	}
	if !framed {
		tab.Error("the browser has not refused the frame")
	}
	if page, err := tab.svc.Decisions().List(context.Background(), decisions.Query{Withdrawn: true}); err != nil || len(page.Decisions) != 0 {
		tab.Errorf("%+v, %v", page, err)
	}
	tab.open("/review")
	tab.check(`location.pathname === "/review" && document.querySelector(".viewer")`, "the session has ended")
}
