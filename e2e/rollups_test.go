// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// TestRollups tests the rollup pages in a real browser, over a server with rollups.
func TestRollups(t *testing.T) {
	t.Parallel()
	inTabs(t, map[string]func(*tab){
		"numbers follow while one looks":    rollupIsFollowed,
		"one group and what changed it":     rollupShowsAGroup,
		"what is counted is text":           rollupShowsText,
		"many groups are paged":             rollupIsPaged,
		"where there is none":               rollupsAreEmpty,
		"it needs no script":                rollupWithoutScript,
		"it is for the keyboard too":        rollupByKeyboard,
		"hundreds of cells and many digits": rollupsOfHundreds,
		"nothing is wider than a telephone": rollupsAreNarrow,
		"light and dark can be read":        rollupsCanBeRead,
	})
}

// counted defines a rollup of places by category and an attribute, and waits until it can be read.
func (tab *tab) counted(dimension string) {
	tab.Helper()
	ctx := context.Background()
	if _, _, err := tab.svc.Rollups().Define(ctx, rollup.Definition{
		Name: "places_by_category", Kind: "place", Group: []string{"category"}, Dimension: dimension,
		Where: []rollup.Condition{{Attribute: "name", Exists: true}}, // so that changes carry the name
		Measures: []rollup.Measure{{Name: "places", Func: rollup.Count},
			{Name: "codes", Func: rollup.Distinct, Attribute: "postcode"}},
	}); err != nil {
		tab.Fatal(err)
	}
	tab.settle()
}

// settle waits until everything that was put is counted.
func (tab *tab) settle() {
	tab.Helper()
	if _, err := tab.svc.Rollups().Query(context.Background(), "places_by_category", rollups.Query{Read: rollups.Read{Latest: true, Patience: patience}}); err != nil {
		tab.Fatal(err)
	}
}

// cafe returns a record of a place with a category, with or without a city.
func cafe(key, category, city string) records.Input {
	a := entity.Attributes{"name": {"Café " + key}, "category": {category}}
	if city != "" {
		a["city"] = []string{city}
	}
	return records.Input{Ref: entity.Ref{Source: "pos", Key: key}, Attributes: a}
}

// lineOf returns the expression for the text of a row of the groups, found by its first column.
func lineOf(group string) string {
	return `[...document.querySelectorAll("#groups tbody tr")].find(tr => tr.querySelector("th").textContent === ` + jsString(group) + `)?.innerText.split(/\s+/).join(" ")`
}

func rollupIsFollowed(tab *tab) {
	tab.counted("city")
	tab.put(cafe("Astoria", "bakery", "Springfield"), cafe("Bellevue", "bakery", "Shelbyville"),
		cafe("Corner", "diner", ""))
	tab.open("/rollups")
	tab.await(`document.querySelector("#rollups .facts")?.textContent.includes("Groups: 3 in 4 cells")`)
	tab.check(`document.querySelectorAll("#rollups .lamp.following").length === 4`, "not all cells follow")
	tab.check(`document.querySelector("header nav").textContent.includes("Rollups")`, "the pages are not linked")
	tab.click(`#rollups h2 a`)
	tab.await(`location.pathname === "/rollups/places_by_category" && ` + lineOf("bakery") + ` === "bakery 2 1 1 0"`)
	tab.check(`document.querySelector("#groups thead").innerText.trim().split(/\s+/).join(" ") === "category places Shelbyville Springfield no city"`, "the columns are others")
	tab.check(lineOf("diner")+` === "diner 1 0 0 1"`, "what has no city is not apart")
	evaluate[bool](tab, `window.before = true`)
	tab.note("marked", "#groups", `[...document.querySelectorAll("#groups .changed th")].map(th => th.textContent)`)
	tab.put(cafe("Dorothy", "diner", "Springfield"))
	tab.await(lineOf("diner") + ` === "diner 2 0 1 1"`)
	tab.await(`window.marked.length > 0`)
	tab.check(`[...new Set(window.marked)].join() === "diner"`, "the line that changed is not marked, or others are")
	tab.put(cafe("Corner", "diner", "Springfield"))
	tab.await(lineOf("diner") + ` === "diner 2 0 2"`) // nothing without a city any more
	tab.check(`window.before === true`, "the page was loaded again")
	tab.check(`document.querySelector("#facts code").textContent.startsWith("g0-0:")`, "the watermark is not shown")
	tab.stop()
	tab.await(`document.querySelector("#stream").checkVisibility() && document.querySelector("#again.stale")`)
	tab.check(`/Locus does not answer. These are the numbers of .* UTC/.test(document.querySelector("#stream").textContent)`, "it does not say what happened")
	tab.forgive("ERR_")
}

func rollupShowsAGroup(tab *tab) {
	tab.counted("city")
	tab.put(cafe("Astoria", "bakery", "Springfield"), cafe("Bellevue", "bakery", ""))
	tab.put(cafe("Astoria", "bakery", "Shelbyville"))
	tab.settle()
	tab.open("/rollups/places_by_category")
	tab.enter(`.search.group input`, "bakery\r")
	tab.await(`document.querySelector("h1 bdi")?.textContent === "bakery"`)
	tab.check(`document.querySelector("#group").innerText.split(/\s+/).join(" ") === "city places codes no city 1 0 Shelbyville 1 0 total 2 0"`, "the group is not divided")
	tab.check(`[...document.querySelectorAll("#effects li > span:first-child")].map(s => s.textContent).sort().join("; ") ===
		"Café Astoria added: Springfield; Café Astoria moved: Springfield → Shelbyville; Café Bellevue added: no city"`, "the changes are not told")
	tab.put(cafe("Corner", "bakery", "Springfield"))
	tab.await(`document.querySelector("#effects li").textContent.includes("Café Corner added: Springfield")`)
	tab.click(`#effects a`)
	tab.await(`location.pathname.startsWith("/entities/") && document.querySelector("h1 bdi").textContent === "Café Corner"`)
	tab.open("/rollups/places_by_category?g1=nothing")
	tab.check(`document.querySelector("#group").textContent.includes("The group is empty")`, "an empty group is not said")
	tab.put(cafe("New", "nothing", "Springfield")) // and becomes one
	tab.await(`document.querySelector("#group tfoot td")?.textContent === "1"`)
	if err := tab.svc.Rollups().Drop(context.Background(), "places_by_category"); err != nil {
		tab.Fatal(err)
	}
	tab.await(`document.querySelector("h1").textContent === "No such rollup"`)
	tab.open("/rollups/no_such")
	tab.check(`document.querySelector("h1").textContent === "No such rollup"`, "it is not said that there is none")
	tab.forgive("404")
}

func rollupShowsText(tab *tab) {
	tab.counted("city")
	var shown []string
	for i, s := range hostile {
		if !strings.ContainsRune(s, '\u202e') { // not allowed in a name
			shown = append(shown, s)
			tab.put(cafe(strconv.Itoa(i)+s, s, s))
		}
	}
	list := `[...document.querySelectorAll("#groups tbody th")].map(th => th.textContent)`
	tab.open("/rollups/places_by_category")
	tab.await(list + `.length === ` + strconv.Itoa(len(shown)))
	for _, s := range shown {
		tab.check(list+`.includes(`+jsString(s)+`)`, s+" is not shown as it is")
	}
	tab.put(cafe("later", hostile[0]+" later", hostile[0])) // through the module
	tab.await(list + `.includes(` + jsString(hostile[0]+" later") + `)`)
	tab.check(`!document.querySelector("img, iframe, script:not([src])")`, "something became an element")
	for _, s := range shown {
		tab.open("/rollups/places_by_category?g1=" + url.QueryEscape(s))
		tab.check(`document.querySelector("h1 bdi").textContent === `+jsString(s)+` && document.querySelector("#group tbody th").textContent === `+jsString(s), s+" is not shown as it is")
		tab.check(`document.querySelector("#effects li a").textContent.includes(`+jsString(s)+`)`,
			"a change of "+s+" is not told")
		tab.check(`!document.querySelector("img, iframe, script:not([src])")`, s+" became an element")
	}
}

func rollupIsPaged(tab *tab) {
	tab.counted("city")
	var puts []records.Input
	for i := range 120 {
		puts = append(puts, cafe(fmt.Sprintf("%03d", i), fmt.Sprintf("category %03d", i), "Springfield"))
	}
	tab.put(puts...)
	tab.put(cafe("another", "category 077", "Shelbyville"))
	tab.settle() // each page is a separate read: one cell may lag behind another
	tab.open("/rollups/places_by_category")
	tab.await(lineOf("category 077") + `?.startsWith("category 077 2 ")`)
	tab.check(`document.querySelector("#groups tbody th").textContent === "category 077"`, "the largest is not first")
	for _, way := range []string{"", "order=name"} {
		seen := map[string]bool{}
		tab.open("/rollups/places_by_category?" + way)
		pages := 1
		for ; pages < 10; pages++ {
			for _, g := range evaluate[[]string](tab, `[...document.querySelectorAll("#groups tbody th")].map(th => th.textContent)`) {
				seen[g] = true
			}
			next := evaluate[string](tab, `document.querySelector("#pager a[rel=next]")?.getAttribute("href") ?? ""`)
			if next == "" {
				break
			}
			tab.open(next)
		}
		if pages != 3 || len(seen) != 120 {
			tab.Errorf("%q: %d groups on %d pages", way, len(seen), pages)
		}
	}
	tab.check(`document.querySelector(".orders b").textContent === "name" && document.querySelector("#pager a").textContent === "First groups"`, "it is not said how it is ordered")
	tab.check(`document.querySelector("#groups thead").textContent.endsWith("codes")`,
		"what is kept beside the count is not shown by name")
}

func rollupsAreEmpty(tab *tab) {
	tab.open("/rollups")
	tab.check(`document.querySelector("pre").textContent.includes("group: category\ndimension: region\n")`,
		"it is not shown how to define one")
	tab.check(`document.querySelector("[data-copy]").dataset.copy === document.querySelector("pre").textContent`,
		"what is copied is not what is shown")
	tab.counted("city") // the open page changes to the list without a reload
	tab.await(`document.querySelector("#rollups h2 a")?.textContent === "places_by_category"`)
	tab.click("#rollups h2 a")
	tab.await(`document.querySelector("#groups")?.textContent.includes("No groups: no stored data matches the definition")`)
}

func rollupWithoutScript(tab *tab) {
	tab.withoutScript()
	tab.counted("city")
	tab.put(cafe("Astoria", "bakery", "Springfield"))
	tab.settle()
	tab.open("/rollups/places_by_category")
	tab.check(lineOf("bakery")+` === "bakery 1 1"`, "the group is not counted")
	tab.enter(`.search.group input`, "bakery\r")
	tab.await(`document.querySelector("h1 bdi")?.textContent === "bakery"`)
	tab.check(`document.querySelector("#effects li") && !document.querySelector(".copy:not([hidden])")`,
		"the changes are not told, or the script ran")
}

func rollupByKeyboard(tab *tab) {
	tab.counted("city")
	tab.put(cafe("Astoria", "bakery", "Springfield"))
	tab.open("/rollups/places_by_category")
	tab.await(`document.querySelector("#groups tbody a")`)
	tab.reach("#groups tbody a")
	tab.check(`document.activeElement.textContent === "bakery" && getComputedStyle(document.activeElement).outlineStyle === "solid"`, "it cannot be seen where the keyboard is")
	tab.do(chromedp.KeyEvent("\r"))
	tab.await(`document.querySelector("h1 bdi")?.textContent === "bakery"`)
}
