// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/internal/httpapi"
)

// ofPage is the header a browser sends with a form of this server's page.
var ofPage = []string{"Sec-Fetch-Site", "same-origin"}

// submit sends a form; fields are alternating names and values.
func (f *fixture) submit(path string, from []string, fields ...string) answer {
	f.Helper()
	form := url.Values{"author": {"Ada"}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return f.do(http.MethodPost, path, form.Encode(),
		append([]string{"Content-Type", "", "Content-Type", "application/x-www-form-urlencoded"}, from...)...)
}

// leads returns where a form redirects.
func (a answer) leads() string {
	a.Helper()
	if a.Code != http.StatusSeeOther {
		a.Fatalf("answered %d: %.500s", a.Code, a.Body)
	}
	return a.Header().Get("Location")
}

// decided returns the decisions in force.
func (f *fixture) decided() []decisions.Decided {
	f.Helper()
	page, err := f.svc.Decisions().List(f.Context(), decisions.Query{})
	if err != nil {
		f.Fatal(err)
	}
	return page.Decisions
}

// entityOf returns the current entity id of a record.
func (f *fixture) entityOf(address string) string {
	f.Helper()
	e, err := f.svc.Entities().Find(f.Context(), address)
	if err != nil {
		f.Fatal(err)
	}
	return e.ID.String()
}

func TestForms_AreTakenFromPagesOfThisServerOnly(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{Hosts: []string{"locus.example"}})
	f.put([4]string{"pos", "1", "Joe's Pizza", ""})
	f.put([4]string{"web", "1", "Bob's Burgers", ""})
	id := f.entityOf("pos:1")
	decide := []string{"verdict", "same", "a", "pos:1", "b", "web:1"}
	routes := map[string][]string{
		"/decisions": decide, "/entities/" + id + "/merge": {"address", "web:1"},
		"/entities/" + id + "/unmerge": {"address", "pos:1"},
	}
	for path, fields := range routes {
		for _, from := range [][]string{
			nil, // programs do not send this header, and neither do old browsers
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site"},
			{"Sec-Fetch-Site", "none"},
			{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "cross-site", "Origin", "http://localhost:7070"},
			{"Origin", "http://evil.example"},
			{"Origin", "http://localhost:8080"},
			{"Origin", "http://localhost"},
			{"Origin", "null"},
			{"Origin", "file://localhost:7070"},
			{"Origin", "http://localhost:7070", "Origin", "http://evil.example"},
			{"Origin", "http://evil.example", "Host", "evil.example", "Sec-Fetch-Site", "same-origin"},
			{"Origin", "http://localhost:7070", "Host", "locus.example"},
		} {
			if a := f.submit(path, from, fields...); a.Code != http.StatusForbidden && a.Code != http.StatusMisdirectedRequest {
				t.Errorf("%s from %v: %d, Location %q", path, from, a.Code, a.Header().Get("Location"))
			}
		}
		for _, target := range []string{path + "?" + url.Values{"verdict": {"same"}, "a": {"pos:1"}, "b": {"web:1"}, "address": {"web:1"}}.Encode(), path} {
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete} {
				if a := f.do(method, target, "", ofPage...); a.Code != http.StatusMethodNotAllowed {
					t.Errorf("%s %s: %d", method, target, a.Code)
				}
			}
		}
		for _, media := range []string{"", "application/json", "multipart/form-data; boundary=x", "text/plain"} {
			headers := append([]string{"Content-Type", ""}, ofPage...)
			if media != "" {
				headers = append(headers, "Content-Type", media)
			}
			f.do(http.MethodPost, path, "verdict=same&a=pos%3A1&b=web%3A1&address=web%3A1",
				headers...).page(http.StatusUnsupportedMediaType)
		}
	}
	if d := f.decided(); len(d) != 0 {
		t.Fatalf("what was refused was done: %+v", d)
	}
	for _, from := range [][]string{ofPage, {"Origin", "http://localhost:7070"}, {"Origin", "https://locus.example", "Host", "locus.example"}} {
		f.submit("/decisions", from, decide...).leads()
	}
	if f.entityOf("web:1") != id {
		t.Error("a form of a page was not taken")
	}
}

// A form without an author is answered with a page that asks for the name and keeps the form's fields; nothing is
// decided. The browser remembers the name.
func TestForms_NeedTheNameOfAPerson(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.put([4]string{"pos", "1", "Joe's <Pizza>", ""})[0].Entity.String()
	f.put([4]string{"web", "1", "Bob's Burgers", ""})
	for path, fields := range map[string][]string{
		"/decisions":                  {"verdict", "same", "a", "pos:1", "b", "web:1", "back", "/review", "reason", `"<b>`},
		"/entities/" + a + "/merge":   {"address", "web:1"},
		"/entities/" + a + "/unmerge": {"address", "pos:1"},
	} {
		for _, name := range []string{"", " \t\u00a0"} {
			page := f.submit(path, ofPage, append(fields, "author", name)...).page(422)
			f.says(page, `action="`+path+`"`, "Your name")
			for i := 0; i < len(fields); i += 2 {
				f.says(page, `name="`+fields[i]+`" value="`+html.EscapeString(fields[i+1])+`"`)
			}
		}
	}
	if decided := f.decided(); len(decided) > 0 {
		t.Fatalf("a form without a name decided %+v", decided)
	}
	answered := f.submit("/decisions", ofPage, "verdict", "same", "a", "pos:1", "b", "web:1", "author", " Åda; & Söhne ")
	answered.leads()
	cookies := answered.Result().Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].Path != "/" {
		t.Fatalf("cookies %+v", cookies)
	}
	remembered := []string{"Cookie", cookies[0].Name + "=" + cookies[0].Value}
	f.says(f.do(http.MethodGet, "/entities/"+a+"/what-if?anchor=web%3A1", "", remembered...).page(200),
		`name="author" value="Åda; &amp; Söhne"`)
	f.submit("/decisions", append(remembered, ofPage...), "verdict", "different", "a", "pos:1", "b", "web:1",
		"author", "").leads()
	if decided := f.decided(); len(decided) != 1 || decided[0].Author != "Åda; & Söhne" || decided[0].Verdict != "different" {
		t.Errorf("decided %+v", decided)
	}
	for _, forged := range []string{"%zz", "%ff", strings.Repeat("x", 256), "%20"} {
		f.submit("/decisions", append([]string{"Cookie", cookies[0].Name + "=" + forged}, ofPage...), "verdict", "same", "a",
			"pos:1", "b", "web:1", "author", "").page(422)
	}
}

func TestForms_LeadOnlyToPagesOfThisServer(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"pos", "1", "Joe's Pizza", ""})
	f.put([4]string{"web", "1", "Bob's Burgers", ""})
	for back, want := range map[string]string{
		"":                             "/review",
		"/review?a=x%3A1&b=y":          "/review?a=x%3A1&b=y&of=web%3A1&said=pos%3A1",
		"/entities/1":                  "/entities/1",
		"//evil.example/review":        "/review",
		"http://evil.example/review":   "/review?of=web%3A1&said=pos%3A1",
		"/\\evil.example":              "/review",
		"/v1/records":                  "/review",
		"/review\r\nX-Header: 1":       "/review",
		"javascript:alert(1)":          "/review",
		"https:/entities/x@evil:1/%zz": "/review",
	} {
		to := f.submit("/decisions", ofPage, "verdict", "same", "a", "pos:1", "b", "web:1", "author", "A&b", "back",
			back).leads()
		bare := strings.NewReplacer("&of=web%3A1&said=pos%3A1", "", "?of=web%3A1&said=pos%3A1", "").Replace
		if to, want = bare(to), bare(want); to != want {
			t.Errorf("%q leads to %q, want %q", back, to, want)
		}
	}
}

func TestConsole_ReviewJoinsAndWithdraws(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"pos", "1", "Joe's Pizza", ""})
	f.put([4]string{"web", "1", "Bob's Burgers", ""})
	a, b := f.entityOf("pos:1"), f.entityOf("web:1")
	pair := "/review?a=pos%3A1&b=web%3A1"
	f.says(f.get(pair).page(200), "Are these two records the same thing?", "become one of <b>2 records</b>",
		"locus review answer pos:1 web:1 --same")
	to := f.submit("/decisions", ofPage, "verdict", "same", "a", "pos:1", "b", "web:1", "author", "Ada", "reason",
		"the owner <said> so", "back", pair).leads()
	f.says(f.get(to).page(200), "are <b>the same thing</b>", "<bdi>Ada</bdi>", "the owner &lt;said&gt; so",
		"Both are in <b>one entity</b> of 2 records")
	f.says(f.get("/entities/"+b).page(200), "<code>"+b+"</code> is a former id", "<b>the same thing</b>", "Withdraw",
		"decided by <bdi>Ada</bdi>: <bdi>the owner")
	to = f.submit("/decisions", ofPage, "verdict", "same", "a", "pos:1", "b", "web:1", "withdraw", "1", "back",
		pair).leads()
	f.says(f.get(to).page(200), "Withdrawn.", "become one of")
	if f.entityOf("pos:1") != a || f.entityOf("web:1") != b {
		t.Error("both entities are not back")
	}
	f.says(f.get("/review").page(200), "to review")
	f.says(f.get("/review?a=pos%3A1&b=nonsense").page(200), "Nothing to review", "an address is an entity id")
	f.says(f.get("/review?a=pos%3A1&b=pos%3A1").page(200), "are the same record")
	f.says(f.get("/review?said=pos%3A1&of=web%3A2").page(200), "to review") // no such decision exists
	if body := f.get("/review?said=pos%3A1&of=web%3A2").page(200); strings.Contains(body, `id="answer"`) {
		t.Error("the page says what nobody said")
	}
}

func TestConsole_WhatIfThenMergeAndUnmerge(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"pos", "1", "Joe's Pizza", ""})
	f.put([4]string{"web", "1", "Bob's Burgers", ""})
	a, b := f.entityOf("pos:1"), f.entityOf("web:1")
	f.says(f.get("/entities/"+a+"/what-if?merge=web%3A1").page(200), "were the same thing", "Nothing has been changed",
		"2 records", `action="/entities/`+a+`/merge"`)
	f.says(f.get("/entities/"+a+"/what-if?merge=%3Cb%3E").page(200), "If <bdi>&lt;b&gt;</bdi> were", `role="alert"`)
	f.says(f.get("/entities/"+a+"/what-if?merge="+url.QueryEscape(a)).page(200), "the same")
	if to := f.get("/entities/" + a + "/what-if").Header().Get("Location"); to != "/entities/"+a {
		t.Errorf("no question leads to %q", to)
	}
	if len(f.decided()) != 0 || f.entityOf("web:1") != b {
		t.Fatal("a question did something")
	}
	if to := f.submit("/entities/"+b+"/merge", ofPage, "address", "pos:1", "author", "Ada").leads(); to != "/entities/"+b {
		t.Errorf("merged, and led to %q", to)
	}
	f.says(f.get("/entities/"+b).page(200), "2 records from 2 sources", "split it off")
	f.says(f.get("/entities/"+a+"/what-if?without=pos%3A1").page(200), "were deleted",
		"Records cannot be deleted in the console")
	f.says(f.get("/entities/"+a+"/what-if?apart=web%3A1").page(200), "were a different thing", "<code>"+b+"</code>",
		"only here")
	f.submit("/entities/"+a+"/unmerge", ofPage, "address", "web:1").leads()
	if f.entityOf("pos:1") != a || f.entityOf("web:1") != b {
		t.Error("both entities are not back")
	}
	f.says(f.submit("/entities/"+a+"/unmerge", ofPage, "address", "web:1").page(422), "web:1")
	f.says(f.submit("/entities/"+a+"/merge", ofPage, "address", "nonsense").page(422), "an address is")
	f.submit("/entities/20be0ffc-314a-bd53-7a50-013a65ca76d2/merge", ofPage, "address", "web:1").page(404)
}

func TestConsole_Pins(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"pos", "1", "Joe's Pizza", "+14155552300"}, [4]string{"web", "1", "Joes Pizza", "415-555-2300"})
	a := f.entityOf("pos:1")
	pin := func(fields ...string) answer {
		return f.submit("/decisions", ofPage, append(fields, "back", "/entities/"+a)...)
	}
	f.says(f.get(pin("verdict", "value", "a", a, "attribute", "name", "value", "Joe <& Sons>", "author", "Ada").leads()).page(200),
		`<bdi>Joe &lt;&amp; Sons&gt;</bdi> <span class="badge pinned">pinned</span>`, "pinned to")
	other := f.put([4]string{"web", "1", "Joes Pizza", "415-555-2300"})[0]
	f.get(pin("verdict", "anchor", "a", "web:1").leads()).page(200)
	if got := f.entityOf("pos:1"); got == a {
		t.Errorf("the id stayed %s; that of the record is %s", got, other.Entity)
	}
	f.says(f.get("/entities/"+a).page(200), "is a former id", "<b>is the anchor</b>")
	f.says(pin("verdict", "value", "a", a, "attribute", "colour", "value", "red").page(422), "colour")
	f.says(pin("verdict", "maybe", "a", a).page(422), "verdict")
}

func TestConsole_Kinds(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.put([4]string{"pos", "1", "Joe's Pizza", ""})
	f.says(f.get("/kinds").page(200), "place", "phone", `href="/entities?kind=place"`)
	f.says(f.get("/entities?kind=place").page(200), "Joe&#39;s Pizza", "locus entity list --kind place")
	f.says(f.get("/entities?kind=%3Cb%3E").page(200), "No such kind")
	f.says(f.get("/").page(200), `href="/review"`, "to review")
}
