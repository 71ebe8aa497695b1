// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	pointer "github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/rollup"
)

// TestDefine defines, changes and drops a rollup in a real browser, and looks closely at a metric.
func TestDefine(t *testing.T) {
	t.Parallel()
	inTabs(t, map[string]func(*tab){
		"a rollup from its first line to its end": rollupIsDefined,
		"a chart is zoomed and compared":          chartIsZoomed,
		"a chart without script":                  chartWithoutScript,
	})
}

func rollupIsDefined(tab *tab) {
	tab.put(cafe("Astoria", "bakery", "Springfield"))
	tab.open("/rollups")
	tab.click(`main a[href="/define"]`)
	tab.await(`document.querySelector("[name=definition]")?.value.startsWith("rollup: place_by_category")`)
	evaluate[bool](tab, `(document.querySelector("[name=definition]").value = "rollup: shops\nkind: place\ngroup: beak\n", true)`)
	tab.click(`[value=read]`)
	tab.await(`document.querySelector("#problem")?.textContent.includes("beak") && document.querySelector("[name=definition]").value.includes("beak")`)
	evaluate[bool](tab, `(document.querySelector("[name=definition]").value = "rollup: shops\nkind: place\ngroup: category\n", true)`)
	tab.click(`[value=read]`)
	tab.await(`document.querySelector(".counting")?.textContent.includes("by category")`)
	tab.click(`[value=define]`)
	tab.await(`location.pathname === "/rollups/shops" && ` + lineOf("bakery") + ` === "bakery 1"`)
	tab.click(`main a[href="/define?rollup=shops"]`)
	tab.await(`document.querySelector("h1")?.textContent === "Change shops"`)
	evaluate[bool](tab, `(document.querySelector("[name=definition]").value += "dimension: city\n", true)`)
	tab.click(`[value=read]`)
	tab.await(`document.querySelector("[value=define]")?.textContent === "Change the rollup"`)
	tab.click(`[value=define]`)
	tab.await(`location.pathname === "/rollups/shops" && ` + lineOf("bakery") + ` === "bakery 1 1"`)
	tab.open("/define?rollup=shops")
	tab.enter(`[name=confirm]`, "shops\r")
	tab.await(`location.pathname === "/rollups"`)
	if _, err := tab.svc.Rollups().Get(context.Background(), "shops"); !errors.Is(err, rollup.ErrNotFound) {
		tab.Errorf("it is not dropped: %v", err)
	}
}

// charted returns the chart of a metric of yesterday, which has hits in its second and twentieth hour, and of the day
// before.
func (tab *tab) charted() string {
	tab.Helper()
	today := time.Now().UTC().Truncate(24 * time.Hour)
	late := func(at time.Duration) time.Duration { return time.Since(today.Add(at)) }
	tab.hit("page /", 40, late(-23*time.Hour))
	tab.hit("page /", 2, late(-4*time.Hour))
	tab.hit("page /", 21, late(-47*time.Hour))
	tab.hit("shop", 7, late(-4*time.Hour))
	return "/counters/chart?" + url.Values{"name": {"page /"}, "from": {today.AddDate(0, 0, -1).Format(time.DateOnly)},
		"to": {today.Format(time.DateOnly)}}.Encode()
}

func chartIsZoomed(tab *tab) {
	tab.inZone("Etc/GMT-5")
	tab.open(tab.charted())
	tab.areDrawn("#chart")
	tab.check(`document.querySelector("#totals").textContent === "page /: 42 hits"`, "the range is another")
	tab.do(chromedp.Click(chromedp.CSS(`[name=before]`)))
	tab.enter(`[name=with]`, "shop\r")
	tab.await(`document.querySelector("#totals")?.textContent === "page /: 42 hitsshop: 7 hits; page / has +500.0 %the period before: 21 hits; page / has +100.0 %"`)
	tab.areDrawn("#chart")
	tab.check(`document.querySelector("[name=before]").checked && document.querySelector("[name=with]").value === "shop"`,
		"the form forgets what it shows")

	// Dragging over the last third shows only that part, and keeps the comparison.
	box := evaluate[[]float64](tab, `(() => { const r = document.querySelector("#chart img").getBoundingClientRect(); return [r.left, r.width, r.top + r.height / 2]; })()`)
	mouse := func(what pointer.DispatchMouseEventType, share float64) {
		call(tab, func(ctx context.Context) error {
			_, err := chromedp.Call(ctx, pointer.DispatchMouseEvent, pointer.DispatchMouseEventParams{Type: what, X: box[0] + share*box[1], Y: box[2], Button: pointer.MouseButtonLeft, ClickCount: 1})
			return err
		})
	}
	mouse(pointer.DispatchMouseEventTypeMousePressed, 0.7)
	mouse(pointer.DispatchMouseEventTypeMouseMoved, 0.9)
	tab.check(`document.querySelector(".shade").getBoundingClientRect().width > 100`, "it cannot be seen what is chosen")
	mouse(pointer.DispatchMouseEventTypeMouseMoved, 0.995)
	mouse(pointer.DispatchMouseEventTypeMouseReleased, 0.995)
	tab.await(`document.querySelector("#totals")?.textContent.startsWith("page /: 2 hitsshop: 7 hits")`)
	tab.check(`/from=\d{4}-\d\d-\d\dT1[67]/.test(location.search) && location.search.includes("zone=UTC")`,
		"another part is shown")
	shown := evaluate[string](tab, `location.search`)
	evaluate[bool](tab, `([...document.querySelectorAll("nav[aria-label=Ranges] a")].find((a) => a.textContent === "Zoom out").click(), true)`)
	tab.await(`document.querySelector("#totals") && location.search !== ` + jsString(shown))
	tab.await(`document.querySelector("#own-zone") && !document.querySelector("#own-zone").hidden`)
	tab.click(`#own-zone`)
	tab.await(`document.querySelector("[name=zone]")?.value === "Etc/GMT-5"`)
	shown = evaluate[string](tab, `location.search`)
	evaluate[bool](tab, `(document.querySelector("#chart-rows a").click(), true)`)
	tab.await(`location.search !== ` + jsString(shown) + ` && document.querySelector("h2 small")?.textContent.includes("Etc/GMT-5") && document.querySelector("#chart-title").textContent.startsWith("By minute")`)
	file := evaluate[string](tab, `(() => { const r = new XMLHttpRequest(); r.open("GET", [...document.querySelectorAll("main a")].find((a) => a.textContent.startsWith("CSV")).href, false); r.send(); return r.responseText; })()`)
	if want := "time,page /,shop,the period before\n"; len(file) < len(want) || file[:len(want)] != want {
		tab.Errorf("the file begins with %.100q", file)
	}
}

func chartWithoutScript(tab *tab) {
	tab.withoutScript()
	tab.open(tab.charted())
	tab.check(`document.querySelector("#own-zone").hidden`, "the script ran")
	rows := evaluate[int](tab, `document.querySelectorAll("#chart-rows tr").length`)
	evaluate[bool](tab, `([...document.querySelectorAll("#chart-rows a")].at(-1).click(), true)`)
	tab.await(fmt.Sprintf(`document.querySelectorAll("#chart-rows tr").length < %d && document.querySelectorAll("#chart-rows tr").length > 0`, rows))
}
