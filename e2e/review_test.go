// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/records"
)

// TestReview tests the pages for decisions in a real browser.
func TestReview(t *testing.T) {
	t.Parallel()
	inTabs(t, map[string]func(*tab){
		"the queue is answered by keys":      reviewByKeys,
		"a key decides for a named person":   keysNeedAName,
		"skipped, returned to and undone":    reviewSkipsAndReturns,
		"the next pair comes at once":        reviewIsQuick,
		"many pairs are decided, and undone": reviewInBulk,
		"the queue is answered by buttons":   reviewWithoutScript,
		"merge, then unmerge":                mergeThenUnmerge,
		"a pinned value shows":               pinShows,
		"another site decides nothing":       strangersDecideNothing,
		"what records say is text":           reviewShowsText,
		"nothing is wider than a telephone":  func(tab *tab) { tab.isNarrow(reviewPages(tab), "main > *, header > *, .panel > *, .deed") },
		"light and dark can be read":         func(tab *tab) { tab.canBeRead(reviewPages(tab), func(string) {}) },
	})
}

// doubtful puts two records that are a possible match: with the same name and town, and different telephones.
func (tab *tab) doubtful(key, name string) (a, b string) {
	tab.Helper()
	first := tab.put(phoned("pos", key, name, "+14155552300"))
	second := tab.put(phoned("web", key, name, "+14155559999"))
	return first[0].Entity.String(), second[0].Entity.String()
}

func phoned(source, key, name, phone string) records.Input {
	return records.Input{Ref: entity.Ref{Source: source, Key: key},
		Attributes: entity.Attributes{"name": {name}, "city": {"Springfield"}, "phones": {phone}}}
}

// thing returns the id of the entity of a record.
func (tab *tab) thing(address string) string {
	tab.Helper()
	e, err := tab.svc.Entities().Find(context.Background(), address)
	if err != nil {
		tab.Fatal(err)
	}
	return e.ID.String()
}

func reviewByKeys(tab *tab) {
	a, b := tab.doubtful("1", "Joe's Pizza")
	c, d := tab.doubtful("2", "Zebra Lounge")
	if a == b || c == d {
		tab.Fatal("nothing is left to decide")
	}
	tab.open("/operations")
	tab.await(`document.querySelector("[data-text=review]").textContent === "2 pairs to review"`)
	tab.click(`[data-text=review]`)
	tab.await(`document.querySelectorAll(".queue tbody tr").length === 2 && document.querySelector(".pairs")`)
	tab.check(`document.querySelector(".pairs .differs th").textContent === "phones"`, "the difference is not marked")
	first := evaluate[string](tab, `document.querySelector(".pairs .rkey").textContent`)
	second := map[string]string{"1": "2", "2": "1"}[first]
	at := func(key string) string {
		return `document.querySelector(".pairs .rkey")?.textContent === "` + key + `"`
	}

	tab.do(chromedp.KeyEvent("n"))
	tab.await(at(second))
	tab.open("/review")
	tab.enter(`.answer [name=author]`, "nds") // these keys are letters of a name here
	tab.enter(`.answer [name=reason]`, "seen")
	tab.check(at(first), "keys are taken while somebody is writing")
	evaluate[bool](tab, `(document.activeElement.blur(), true)`)
	tab.do(chromedp.KeyEvent("s"))
	tab.await(`document.querySelector("#answer")?.textContent.includes("the same thing") && ` + at(second))
	tab.check(`document.querySelector("#answer").textContent.includes("nds") && document.querySelector("#answer").textContent.includes("seen")`, "it is not said who decided, and why")
	tab.check(`document.querySelector(".answer [name=author]").value === "nds"`, "the name has to be typed again")
	if tab.thing("pos:"+first) != tab.thing("web:"+first) {
		tab.Error("they are not one entity")
	}
	tab.click(`#answer a`)
	tab.await(`document.querySelectorAll(".side thead th").length === 2 && document.querySelector(".tree .decided")`)
	tab.open("/review") // the browser remembers the name on every page
	tab.await(`document.querySelector("#waiting").textContent === "1 pair to review" && ` + at(second))
	tab.check(`document.querySelector(".answer [name=author]").value === "nds"`, "the name is not remembered")
	tab.do(chromedp.KeyEvent("d"))
	tab.await(`document.querySelector("#answer")?.textContent.includes("different things") && document.querySelector("#waiting").textContent === "nothing to review"`)
	tab.click(`#answer button`)
	tab.await(`document.querySelector("#answer")?.textContent.includes("Withdrawn") && document.querySelector("#waiting").textContent === "1 pair to review"`)
	if tab.thing("pos:"+second) == tab.thing("web:"+second) {
		tab.Error("what was withdrawn joined them")
	}
}

// keysNeedAName presses keys without a name, and Enter while a name is typed: neither decides.
func keysNeedAName(tab *tab) {
	a, b := tab.doubtful("1", "Joe's Pizza")
	tab.open("/review")
	tab.do(chromedp.KeyEvent("s"))
	tab.await(`document.activeElement.name === "author" && !document.activeElement.checkValidity()`)
	tab.enter(`.answer [name=author]`, "Ada\r")
	tab.await(`document.activeElement === document.body && location.pathname === "/review"`)
	if tab.thing("pos:1") != a || tab.thing("web:1") != b {
		tab.Fatal("a key decided without a name")
	}
	tab.do(chromedp.KeyEvent("s"))
	tab.await(`document.querySelector("#answer")?.textContent.includes("Ada")`)
	if tab.thing("pos:1") != tab.thing("web:1") {
		tab.Error("the key of a named person did not decide")
	}
}

// reviewInBulk marks a pair, views the effect of deciding it, decides it, and undoes it by keyboard; then it assigns
// the pair to another person, and the pair is no longer shown.
func reviewInBulk(tab *tab) {
	a, b := tab.doubtful("1", "Joe's Pizza")
	tab.doubtful("2", "Zebra Lounge")
	tab.open("/review")
	tab.await(`document.querySelectorAll(".queue [name=pair]").length === 2`)
	mark := `[...document.querySelectorAll(".queue [name=pair]")].find((box) => box.value.includes("%3A1"))`
	evaluate[bool](tab, `(`+mark+`.click(), true)`)
	tab.enter("#bulk button", "\r")
	tab.await(`document.querySelector("#chosen")?.textContent === "1 pair" && document.querySelector("#largest").textContent === "2 records"`)
	if tab.thing("pos:1") != a || tab.thing("web:1") != b {
		tab.Fatal("a preview has decided")
	}
	tab.enter(`form[action="/review/bulk"] [name=author]`, "Ada")
	tab.enter(`form[action="/review/bulk"] button`, "\r")
	tab.await(`document.querySelector("#made")?.textContent.includes("Ada") && document.querySelector("#waiting").textContent === "1 pair to review"`)
	if tab.thing("pos:1") != tab.thing("web:1") {
		tab.Error("the marked pair was not decided")
	}
	tab.open("/review/team")
	tab.enter(`form[action="/review/undo"] button`, "\r")
	tab.await(`!document.querySelector("form[action='/review/undo']") && document.querySelector("#waiting").textContent === "2 pairs to review"`)
	if tab.thing("pos:1") == tab.thing("web:1") {
		tab.Error("the batch was not undone")
	}
	tab.open("/review")
	tab.await(`document.querySelectorAll(".queue [name=pair]").length === 2`)
	evaluate[bool](tab, `(`+mark+`.click(), document.querySelector("#bulk button").click(), true)`)
	tab.await(`document.querySelector("form[action='/review/assign']")`)
	tab.enter(`form[action="/review/assign"] [name=to]`, "Ben")
	tab.enter(`form[action="/review/assign"] button`, "\r")
	tab.await(`document.querySelector("#assigned")?.textContent.includes("Ben: 1")`)
	tab.open("/review")
	tab.await(`document.querySelectorAll(".queue tbody tr").length === 1 && document.querySelector("#waiting").textContent === "2 pairs to review"`)
}

// press presses a key in a page whose script runs.
func (tab *tab) press(key string) {
	tab.Helper()
	tab.await(`document.readyState === "complete"`)
	tab.do(chromedp.KeyEvent(key))
}

// reviewSkipsAndReturns narrows the queue to a source, skips a pair, returns to it, answers it and takes the answer
// back, by keys alone.
func reviewSkipsAndReturns(tab *tab) {
	tab.doubtful("1", "Joe's Pizza")
	tab.doubtful("2", "Zebra Lounge")
	tab.put(phoned("crm", "3", "Quince Bakery", "+14155552300"), phoned("crm", "4", "Quince Bakery", "+14155559999"))
	tab.open("/review")
	tab.await(`document.querySelector("#waiting").textContent === "3 pairs to review"`)
	tab.reach(".filter select")
	tab.check(`document.activeElement.name === "source"`, "the filter is not reached with the tabulator")
	evaluate[string](tab, `document.querySelector(".filter [name=source]").value = "pos"`)
	tab.enter(".filter button", "\r")
	tab.await(`document.querySelector("#filtered")?.textContent === "2 of them are selected" && document.querySelectorAll(".queue tbody tr").length === 2`)
	shown := `document.querySelector(".pairs .rkey").textContent`
	first := evaluate[string](tab, shown)
	tab.press("n")
	tab.await(shown + ` !== "` + first + `" && document.querySelector("#skipped").textContent === "1 skipped"`)
	evaluate[bool](tab, `(document.querySelector(".answer [name=author]").value = "Ada", true)`)
	tab.press("d")
	tab.await(`document.querySelector("#answer") && document.querySelector("#waiting").textContent === "2 pairs to review" && document.querySelector("h2")`)
	tab.check(`!document.querySelector(".pairs")`, "the skipped pair comes back by itself")
	tab.press("r")
	tab.await(shown + ` === "` + first + `" && !document.querySelector("#skipped")`)
	tab.press("s")
	tab.await(`document.querySelector("#answer")?.textContent.includes("the same thing") && document.querySelector("#waiting").textContent === "1 pair to review"`)
	tab.press("u")
	tab.await(`document.querySelector("#answer")?.textContent.includes("Withdrawn") && document.querySelector("#waiting").textContent === "2 pairs to review" && ` + shown + ` === "` + first + `"`)
	if tab.thing("pos:"+first) == tab.thing("web:"+first) {
		tab.Error("the answer was not taken back")
	}
	tab.check(`location.search.includes("source=pos") && document.querySelector("#filtered").textContent === "1 of them is selected"`, "the filter is forgotten")
}

// reviewIsQuick measures the time from the key that answers to the next pair on the screen, which takes one page load.
// The time depends on other load of the machine, so it is only logged.
func reviewIsQuick(tab *tab) {
	given := []string{"Brass", "Otter", "Quince", "Violet", "Maple", "Zebra", "Alpha", "Kestrel"}
	trade := []string{"Antiques", "Plumbing", "Bakery", "Dental", "Optics", "Lounge", "Motors"}
	answers := longtest.Times(8, 50)
	for i := range answers + 1 {
		name := fmt.Sprint(given[i%8], "berg ", trade[i%7])
		a, b := phoned("pos", fmt.Sprint(i), name, fmt.Sprintf("+1415555%04d", 1000+i)), phoned("web", fmt.Sprint(i), name,
			fmt.Sprintf("+1628555%04d", 3000+7*i))
		a.Attributes["postcode"], b.Attributes["postcode"] = []string{fmt.Sprint(94100 + i)}, []string{fmt.Sprint(20500 + i)}
		tab.put(a, b)
	}
	tab.open("/review")
	evaluate[bool](tab, `(document.querySelector(".answer [name=author]").value = "Ada", true)`)
	var took, served []float64
	waiting := evaluate[int](tab, `parseInt(document.querySelector("#waiting").textContent)`)
	if waiting <= answers {
		tab.Fatalf("only %d pairs wait", waiting)
	}
	for left := waiting - 1; left >= waiting-answers; left-- {
		shown := evaluate[string](tab, `document.querySelector(".pairs thead").textContent`)
		evaluate[bool](tab, `(addEventListener("keydown", () => { sessionStorage.pressed = Date.now(); }), true)`)
		tab.press("d")
		tab.await(`document.querySelector("#answer") && document.querySelector(".pairs thead")?.textContent !== ` + jsString(shown))
		tab.check(fmt.Sprintf(`parseInt(document.querySelector("#waiting").textContent) === %d && performance.getEntriesByType("navigation")[0].redirectCount === 1`, left), "an answer does not lead to the next pair at once")
		took = append(took, evaluate[float64](tab, `performance.timeOrigin + performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd - Number(sessionStorage.pressed)`))
		served = append(served, evaluate[float64](tab,
			`(({ redirectStart, responseEnd }) => responseEnd - redirectStart)(performance.getEntriesByType("navigation")[0])`))
	}
	slices.Sort(took)
	slices.Sort(served)
	tab.Logf("from the key to the next pair, %d times: median %.0f ms, nine of ten within %.0f ms, slowest %.0f ms; of these the two requests %.0f ms in the median", len(took), took[len(took)/2], took[len(took)*9/10], took[len(took)-1], served[len(served)/2])
}

func reviewWithoutScript(tab *tab) {
	a, _ := tab.doubtful("1", "Joe's Pizza")
	tab.withoutScript()
	tab.open("/review")
	tab.enter(`.answer [name=author]`, "Ada")
	tab.click(`.answer [value=same]`)
	tab.await(`document.querySelector("#answer")?.textContent.includes("the same thing")`)
	if b := tab.thing("web:1"); b != a {
		tab.Errorf("the record is in %s, not in %s", b, a)
	}
	tab.click(`#answer button`)
	tab.await(`document.querySelector("#answer")?.textContent.includes("Withdrawn")`)
	tab.check(`document.querySelector("#waiting").textContent === "1 pair to review"`, "the pair does not wait again")
}

func mergeThenUnmerge(tab *tab) {
	a := tab.put(phoned("pos", "1", "Joe's Pizza", "+14155552300"))[0].Entity.String()
	b := tab.put(phoned("web", "1", "Bob's Burgers", "+14155559999"))[0].Entity.String()
	tab.open("/entities/" + a)
	tab.enter(`[name=merge]`, "web:1\r")
	tab.await(`document.querySelector(".preview h1")?.textContent.includes("web:1")`)
	tab.check(`document.querySelector("#after").parentElement.textContent.includes("2 records")`,
		"it is not shown what would be")
	if tab.thing("web:1") != b {
		tab.Fatal("a question merged them")
	}
	tab.enter(`.answer [name=author]`, "Ada")
	tab.click(`.answer button`)
	tab.await(`location.pathname === "/entities/` + a + `" && document.querySelectorAll(".side thead th").length === 2`)
	tab.check(`document.querySelector("#history").parentElement.querySelectorAll("tbody tr").length > 1`,
		"the history does not say that it merged")
	tab.open("/entities/" + b)
	tab.check(`document.querySelector(".moved").textContent.includes("`+b+`") && document.querySelectorAll(".side thead th").length === 2`, "the former id does not lead here")
	evaluate[bool](tab, `([...document.querySelectorAll(".side .meta a")].filter(a => a.textContent === "split it off")[1].click(), true)`)
	tab.await(`document.querySelector(".preview #after")`)
	tab.check(`document.querySelector("#after").parentElement.textContent.includes("`+b+`")`,
		"it is not shown that the id comes back")
	tab.click(`.answer button`)
	tab.await(`location.pathname === "/entities/` + a + `" && document.querySelectorAll(".side thead th").length === 1`)
	if tab.thing("pos:1") != a || tab.thing("web:1") != b {
		tab.Error("both entities are not back")
	}
}

func pinShows(tab *tab) {
	a := tab.put(place("pos", "1", "Joe's Pizza", "+14155552300"),
		place("web", "1", "Joes Pizza", "415-555-2300"))[0].Entity.String()
	tab.open("/entities/" + a)
	tab.check(`!document.querySelector(".pinned")`, "something is pinned before anybody did")
	evaluate[string](tab, `document.querySelector(".deed [name=pin]").value = "name"`)
	tab.enter(`.deed [name=value]`, "The Pizza of Joe\r")
	tab.await(`document.activeElement.matches(".preview") && document.querySelector(".preview #after").parentElement.textContent.includes("The Pizza of Joe")`)
	tab.check(`location.pathname === "/entities/`+a+`" && document.querySelector("h1 bdi").textContent !== "The Pizza of Joe" && document.querySelectorAll("h1").length === 2`, "the preview is not in place")
	tab.click(`.preview [data-close]`)
	tab.await(`!document.querySelector(".preview") && document.activeElement.matches(".deed button")`)
	tab.do(chromedp.KeyEvent("\r"))
	tab.await(`document.querySelector(".preview")`)
	tab.enter(`.preview [name=author]`, "Ada\r")
	tab.await(`document.querySelector("h1 bdi").textContent === "The Pizza of Joe" && document.querySelector(".pinned")`)
	evaluate[bool](tab, `([...document.querySelectorAll("#decided ~ .lines .withdraw button")][0].click(), true)`)
	tab.await(`document.querySelector("h1 bdi").textContent !== "The Pizza of Joe" && !document.querySelector(".pinned")`)
}

// strangersDecideNothing opens a page of another site that submits the form of the queue.
func strangersDecideNothing(tab *tab) {
	a, b := tab.doubtful("1", "Joe's Pizza")
	fields := url.Values{"verdict": {"same"}, "a": {"pos:1"}, "b": {"web:1"}}
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var inputs strings.Builder
		for name := range fields {
			inputs.WriteString(`<input name="` + name + `" value="` + fields.Get(name) + `">`)
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<form method="post" action="http://` + tab.addr + `/decisions">` + inputs.String() + `<button>Win</button></form>`))
	}))
	tab.Cleanup(stranger.Close)
	tab.do(chromedp.Navigate(stranger.URL))
	tab.click("button")
	tab.await(`location.host === "` + tab.addr + `" && document.body.textContent.includes("another site")`)
	if tab.thing("pos:1") != a || tab.thing("web:1") != b {
		tab.Error("another site joined two entities")
	}
	tab.forgive(stranger.URL)
	tab.forgive("403")
	tab.forgive("favicon")
}

// reviewPages fills a store and returns the pages for decisions.
func reviewPages(tab *tab) []string {
	long := strings.Repeat("Anoverlongwordwithoutanyspace", 4)
	a, _ := tab.doubtful(strings.Repeat("k", 150), "Joe's "+long)
	tab.doubtful("2", "Zebra Lounge")
	e := tab.put(place("pos", "3", "Bob's Burgers "+long, "+14155551111"),
		place("web", "3", "Bobs Burgers "+long, "415-555-1111"))[0].Entity.String()
	if _, err := tab.svc.Decisions().Decide(context.Background(), []decisions.Input{
		{Verdict: entity.VerdictSame, A: "pos:3", B: "web:3", Author: "Ada " + long, Reason: long},
		{Verdict: entity.VerdictValue, A: "pos:3", Attribute: "city", Value: long},
	}); err != nil {
		tab.Fatal(err)
	}
	return []string{
		"/review", "/review?said=pos:3&of=web:3", "/review?a=pos:3&b=web:3", "/review?a=x", "/entities/" + e, "/kinds",
		"/review/bulk?verdict=same", "/review/team",
		"/entities/" + e + "/what-if?apart=web:3", "/entities/" + e + "/what-if?without=web:3",
		"/entities/" + e + "/what-if?merge=" + a,
		"/entities/" + e + "/what-if?merge=" + long,
	}
}

func reviewShowsText(tab *tab) {
	for _, s := range hostile {
		if strings.ContainsRune(s, '\u202e') { // not allowed in an identifier
			continue
		}
		tab.put(phoned("pos", s, s, "+14155552300"))
		tab.put(phoned("web", s, s, "+14155559999"))
		results, err := tab.svc.Decisions().Decide(context.Background(), []decisions.Input{
			{Verdict: entity.VerdictDifferent, A: "pos:" + s, B: "web:" + s, Author: s, Reason: s},
			{Verdict: entity.VerdictValue, A: "pos:" + s, Attribute: "city", Value: s, Author: s},
		})
		if err != nil || results[0].Err != nil || results[1].Err != nil {
			tab.Fatal(err, results)
		}
		pair := url.Values{"a": {"pos:" + s}, "b": {"web:" + s}, "said": {"pos:" + s}, "of": {"web:" + s}}
		e := "/entities/" + tab.thing("pos:"+s)
		for _, page := range []string{"/review?" + pair.Encode(), e, e + "/what-if?" + url.Values{"merge": {"web:" + s}}.Encode()} {
			tab.open(page)
			tab.check(`document.querySelector("main").textContent.includes(`+jsString(s)+`)`, s+" is not shown as it is")
			tab.check(`!document.querySelector("img, iframe, script:not([src]), main svg:not([class])")`, s+" became an element")
		}
	}
}
