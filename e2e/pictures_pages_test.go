// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/sinks"
	"github.com/locus-db/locus/tokens"
)

// TestPictures_Pages takes the pictures of the pages that the others leave out, from fewer of the same data.
func TestPictures_Pages(t *testing.T) {
	picturesAreWanted(t)
	tab := openTab(t, startBrowser(t), 4)
	tab.counted("region")
	var batch []records.Input
	for r := range demo.New(1, 1000).All() {
		batch = append(batch, records.Input{Ref: entity.Ref{Source: r.Source, Key: r.Key}, Attributes: r.Attributes})
	}
	tab.put(batch...)
	tab.doubtful("7", "Zebra Lounge")
	tab.settle()
	tab.day("page /about")
	tab.hit("page /contact", 90, 26*time.Hour)
	if _, _, err := tab.svc.Sinks().Create(context.Background(), sinks.Definition{Name: "crm", To: "https://crm.example/events"}); err != nil {
		t.Fatal(err)
	}
	of := telling(t, tab.svc)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	chart := url.Values{"name": {"page /about"}, "from": {today.Format(time.DateOnly)},
		"to": {today.AddDate(0, 0, 1).Format(time.DateOnly)}, "zone": {"UTC"}, "before": {"1"}}
	for _, page := range []struct{ picture, path string }{
		{"entities.png", "/entities?q=pizza"},
		{"what-if.png", "/entities/" + of.ID.String() + "/what-if?apart=" + url.QueryEscape(of.Members[1].Ref.String())},
		{"rollups.png", "/rollups"}, {"define.png", "/define?rollup=places_by_category"}, {"metrics.png", "/counters"},
		{"chart.png", "/counters/chart?" + chart.Encode()},
		{"streams.png", "/streams"}, {"kinds.png", "/kinds"}, {"kinds-draft.png", "/kinds/draft?kind=place"},
		{"kinds-try.png", "/kinds/try?kind=place&a=" + url.QueryEscape(of.Members[0].Ref.String()) + "&b=" + url.QueryEscape(of.Members[1].Ref.String())},
		{"login.png", "/login"}, {"nothing.png", "/nothing"},
	} {
		tab.do(chromedp.EmulateViewport(1280, 1000, chromedp.EmulateScale(0.6)))
		tab.open(page.path)
		tab.await(`document.readyState === "complete" && [...document.images].every((i) => i.complete)`)
		// the page of kinds is long
		evaluate[bool](tab, `(document.querySelector("section:has(.evidence) h3")?.scrollIntoView(), true)`)
		tab.shoot(page.picture)
	}
	tab.open("/review")
	evaluate[bool](tab, `(() => {
		const form = document.querySelector(".answer");
		form.noValidate = true;
		form.requestSubmit(form.querySelector("[value=same]"));
		return true;
	})()`)
	tab.await(`document.title.startsWith("Your name")`)
	tab.shoot("name.png")
	tab.token("root", "administrator") // from now on people sign in
	tab.open("/login/cli?" + url.Values{"challenge": {tokens.Challenge(strings.Repeat("v", 43))}, "state": {"s"},
		"port": {"4242"}}.Encode())
	tab.await(`location.pathname === "/login"`)
	tab.enter(`[name=token]`, tab.token("ann", "reviewer")+"\r")
	tab.await(`location.pathname === "/login/cli"`)
	tab.shoot("login-cli.png")
	tab.forgive("404")
	tab.forgive("422")
}
