// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/records"
	_ "github.com/locus-db/locus/sink/webhook"
	"github.com/locus-db/locus/sinks"
)

// crowded fills a store with an entity of 40 records and with words longer than a line, and returns the pages of the
// console.
func crowded(tab *tab) []string {
	tab.Helper()
	long := strings.Repeat("Anoverlongwordwithoutanyspace", 4)
	var puts []records.Input
	for i := range 40 {
		p := place("directory"+fmt.Sprint(i%9), fmt.Sprint("key-", i), "Joe's Wonderful Pizzeria and Trattoria",
			"+14155552300")
		p.Attributes["description"] = []string{"An unremarkable description of a restaurant in the middle of the town"}
		if i == 7 {
			p.Ref.Key, p.Attributes["description"], p.Attributes["hours"] = strings.Repeat("k",
				150), []string{long}, []string{long}
		}
		puts = append(puts, p)
	}
	of := tab.put(puts...)[39].Entity
	e, err := tab.svc.Entities().Get(context.Background(), of)
	if err != nil || len(e.Members) < 40 {
		tab.Fatalf("the entity has %d records, %v", len(e.Members), err)
	}
	tab.doubtful("2", "Zebra Lounge")
	if _, err := tab.svc.Counters().Add(context.Background(), counter.Batch{Hits: []counter.Hit{{Metric: "page /" + counter.Metric(long), N: 7}}}); err != nil {
		tab.Fatal(err)
	}
	if _, _, err := tab.svc.Sinks().Create(context.Background(), sinks.Definition{Name: strings.Repeat("golden", 10), To: "https://crm.example/" + long}); err != nil {
		tab.Fatal(err)
	}
	id := "/entities/" + of.String()
	return []string{
		"/", "/operations", "/entities", "/entities?q=joe", id, id + "/what-if?apart=" + puts[3].Ref.String(), "/review",
		"/counters",
		"/counters/metric?name=page+/" + long,
		"/counters/chart?before=1&from=2026-01-01&to=2040-01-01&with=locus.records&name=page+/" + long,
		"/define", "/review/bulk?verdict=same", "/review/team", "/ring?address=" + of.String(), "/rollups", "/streams",
		"/data", "/quality", "/kinds", "/kinds/draft?kind=place",
		"/kinds/try?kind=place&a=name:+" + long + "&b=name:+" + long, "/entities?q=web:" + long, "/" + long,
	}
}

// layout checks that no page scrolls sideways on a desktop or a phone, that words are not broken if there is room, and
// that the numbers of a score are visible.
func layout(tab *tab) {
	pages := crowded(tab)
	for _, width := range []int64{1280, 390} {
		tab.do(chromedp.EmulateViewport(width, 844))
		for _, page := range pages {
			tab.open(page)
			if wide := evaluate[int64](tab, `document.documentElement.scrollWidth`); wide > evaluate[int64](tab, `document.documentElement.clientWidth`) {
				tab.Errorf("%.60s is %d wide at %d", page, wide, width)
			}
			tab.check(`[...document.querySelectorAll(".view th, .fall tbody .bits, .fall tfoot .bits, .fall .running, .num")].every(e => {
				const lines = document.createRange();
				lines.selectNodeContents(e);
				return new Set([...lines.getClientRects()].map(r => r.top)).size <= 1;
			})`, fmt.Sprintf("at %d a word or a number is broken", width))
			tab.check(`[...document.querySelectorAll(".fall .bits, .fall .running")].every(e => {
				const { left, right } = e.getBoundingClientRect();
				return left >= 0 && right <= document.documentElement.clientWidth;
			})`, fmt.Sprintf("at %d a number of a score is off the screen", width))
		}
	}
	tab.check(`document.querySelector("h1") && document.querySelector("main a[href='/']")`,
		"an unknown address leads nowhere")
	tab.forgive("404")
}

func TestLayout(t *testing.T) {
	t.Parallel()
	longtest.Gate(t, "tests of single pages look at the width of a telephone")
	inTabs(t, map[string]func(*tab){"nothing is wider than its screen": layout})
}
