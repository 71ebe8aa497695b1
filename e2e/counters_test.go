// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/counter"
)

// TestCounters looks at the pages of counters in a real browser.
func TestCounters(t *testing.T) {
	t.Parallel()
	inTabs(t, map[string]func(*tab){
		"numbers follow while one looks":    countersAreFollowed,
		"names are text":                    countersShowText,
		"it needs no script":                countersWithoutScript,
		"it is for the keyboard too":        countersByKeyboard,
		"nothing is wider than a telephone": func(tab *tab) { tab.isNarrow(tab.exhibitCounters(), "#again > *, .panel, .drawn img, pre") },
		"light and dark can be read":        func(tab *tab) { tab.canBeRead(tab.exhibitCounters(), func(string) {}) },
	})
}

// count counts hits, and fails unless all are counted.
func (tab *tab) count(hits ...counter.Hit) {
	tab.Helper()
	results, err := tab.svc.Counters().Recorder().Add(context.Background(), hits)
	if err = errors.Join(append(results, err)...); err != nil {
		tab.Fatal(err)
	}
}

// hit counts n hits of a metric at a time before now.
func (tab *tab) hit(metric string, n int64, late time.Duration) {
	tab.Helper()
	tab.count(counter.Hit{Metric: counter.Metric(metric), N: n, At: time.Now().Add(-late)})
}

// areDrawn waits for the pictures in an element.
func (tab *tab) areDrawn(selector string) {
	tab.Helper()
	tab.await(`[...document.querySelectorAll(` + jsString(selector+" img") + `)].every(i => i.complete && i.naturalWidth > 0)`)
}

func metricPage(metric string) string { return "/counters/metric?name=" + url.QueryEscape(metric) }

// exhibitCounters counts hits and returns the pages that show them.
func (tab *tab) exhibitCounters() []string {
	tab.Helper()
	long := strings.Repeat("a very long name /of.something ", 6)
	for i := range 30 {
		tab.hit(fmt.Sprint("page /", i, ".html"), int64(i*i+1), 0)
	}
	tab.hit(strings.TrimSpace(long), 1_000_000, 0)
	tab.hit("page /1.html", 5, 26*time.Hour)
	tab.count(counter.Hit{Metric: "hall", Kind: counter.Gauge, N: -294150})
	tab.forgive("404")
	return []string{"/counters", "/counters?prefix=page", metricPage("page /1.html"), metricPage(strings.TrimSpace(long)),
		metricPage("hall"), metricPage("no such"), "/"}
}

func countersAreFollowed(tab *tab) {
	tab.open("/counters")
	tab.check(`document.querySelector("#next").textContent === "Nothing is counted yet"`,
		"it is not said that there is nothing")
	tab.hit("page /about", 3, 0)
	tab.hit("page /", 1, 0)
	tab.open("/counters")
	tab.await(`[...document.querySelectorAll("#top tbody tr")].map(tr => tr.innerText.trim().split(/\s+/).join(" ")).join("; ") === "page /about 3; page / 1"`)
	tab.hit("page /", 1000, 0)
	tab.await(`document.querySelector("#top tbody tr").innerText.trim().split(/\s+/).join(" ") === "page / 1,001"`)
	tab.click(`#top tbody a`)
	tab.await(`document.querySelector("h1 bdi").textContent === "page /" && document.querySelector("#day-total").textContent === "1,001 hits"`)
	tab.areDrawn("#day-picture")
	evaluate[bool](tab, `window.before = true`)
	tab.hit("page /", 1, 0)
	tab.await(`document.querySelector("#day-total").textContent === "1,002 hits"`)
	tab.check(`window.before === true`, "the page was loaded again")
	tab.open(metricPage("no such"))
	tab.check(`/[Nn]othing|[Nn]o such/.test(document.querySelector("main").textContent)`,
		"it is not said that there is none")
	tab.forgive("404")
}

func countersShowText(tab *tab) {
	var shown []string
	for _, s := range hostile {
		if !strings.ContainsRune(s, '\u202e') { // not allowed in a name
			shown = append(shown, s)
			tab.hit(s, 1, 0)
		}
	}
	tab.open("/counters")
	for _, s := range shown {
		tab.check(`[...document.querySelectorAll("#metrics tbody th")].some(th => th.textContent === `+jsString(s)+`)`,
			s+" is not shown as it is")
	}
	for _, s := range shown {
		tab.open(metricPage(s))
		tab.check(`document.querySelector("h1").textContent === `+jsString(s), s+" is not the head of its page")
	}
}

func countersWithoutScript(tab *tab) {
	tab.withoutScript()
	tab.hit("page /", 7, 0)
	tab.open("/counters")
	tab.click(`#top tbody a`)
	tab.await(`document.querySelector("#day-total")?.textContent === "7 hits"`)
	tab.check(`!document.querySelector(".copy:not([hidden])")`, "the script ran")
}

func countersByKeyboard(tab *tab) {
	tab.hit("page /", 7, 0)
	tab.open("/counters")
	tab.reach("#top tbody a")
	tab.check(`document.activeElement.textContent === "page /" && getComputedStyle(document.activeElement).outlineStyle === "solid"`, "it cannot be seen where the keyboard is")
	tab.do(chromedp.KeyEvent("\r"))
	tab.await(`document.querySelector("h1 bdi")?.textContent === "page /"`)
}
