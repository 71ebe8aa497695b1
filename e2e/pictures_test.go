// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/review"
)

// picturesAreWanted skips the test unless pictures are requested.
func picturesAreWanted(t *testing.T) {
	t.Helper()
	if os.Getenv("LOCUS_PICTURES") == "" {
		t.Skip("LOCUS_PICTURES is not set: the pictures of the documentation stay as they are")
	}
}

// TestPictures takes the pictures of the documentation again, from the data of the demo:
//
//	LOCUS_PICTURES=1 go test ./e2e -run TestPictures
func TestPictures(t *testing.T) {
	picturesAreWanted(t)
	tab := openTabOver(t, startBrowser(t), openService(t, 16, 0, &locus.Options{CountItself: true}))
	tab.day(locus.OwnMetrics + "hits")
	tab.do(chromedp.EmulateViewport(1280, 1160, chromedp.EmulateScale(0.8)))
	tab.open("/operations")
	tab.tell()
	tab.await(`document.querySelector("[data-text=records]").textContent === "20,000"`)
	tab.open("/operations") // which draws the minutes once
	tab.areDrawn(".drawn")
	tab.shoot("operations.png")
	tab.do(chromedp.EmulateViewport(1280, 1500, chromedp.EmulateScale(0.75)))
	tab.open("/")
	tab.areDrawn(".drawn")
	tab.shoot("console.png")
	tab.open("/entities/" + telling(t, tab.svc).ID.String())
	tab.do(chromedp.EmulateViewport(1280, 2170, chromedp.EmulateScale(0.75)))
	tab.shoot("entity.png")
}

// work answers some pairs as two people, one pair as both of them, and assigns others.
func work(t *testing.T, tab *tab) {
	t.Helper()
	ctx := context.Background()
	page, err := tab.svc.Review().List(ctx, review.Query{Limit: 12})
	if err != nil || len(page.Pairs) < 8 {
		t.Fatal(page, err)
	}
	var list []decisions.Input
	for i, p := range page.Pairs[:6] {
		first, second := entity.VerdictDifferent, entity.VerdictDifferent
		if i == 2 {
			second = entity.VerdictSame
		}
		list = append(list, decisions.Input{Verdict: first, A: p.A.String(), B: p.B.String(), Author: "Ada"},
			decisions.Input{Verdict: second, A: p.A.String(), B: p.B.String(), Author: "Ben"})
	}
	if _, err := tab.svc.Decisions().Decide(ctx, list); err != nil {
		t.Fatal(err)
	}
	if _, err := tab.svc.Review().Assign(ctx, page.Pairs[6:], "Ben", "Ada", 0); err != nil {
		t.Fatal(err)
	}
	some := &review.Selection{Pairs: []review.Chosen{{A: page.Pairs[6].A.String(), B: page.Pairs[6].B.String()},
		{A: page.Pairs[7].A.String(), B: page.Pairs[7].B.String()}}}
	if _, _, err := tab.svc.Review().DecideAll(ctx, some, "", entity.VerdictDifferent, decisions.By{Author: "Ada", Reason: "other branches of a chain"}); err != nil {
		t.Fatal(err)
	}
}

// TestPictures_Review takes the pictures of the review queue of the same data, and of the decisions about an entity.
func TestPictures_Review(t *testing.T) {
	picturesAreWanted(t)
	tab := openTab(t, startBrowser(t), 4)
	tab.tell()
	tab.do(chromedp.EmulateViewport(1280, 1360, chromedp.EmulateScale(0.75)))
	tab.open("/review")
	tab.shoot("review.png")
	tab.do(chromedp.EmulateViewport(1280, 900, chromedp.EmulateScale(0.75)))
	tab.open("/review/bulk?verdict=same&bits=4")
	tab.await(`document.querySelector("#chosen")`)
	tab.shoot("review-bulk.png")
	work(t, tab)
	tab.open("/review/team")
	tab.await(`document.querySelector(".agreement")`)
	tab.shoot("review-team.png")

	e := telling(t, tab.svc)
	last := e.Members[2].Ref.String()
	for _, d := range []decisions.Input{
		{Verdict: entity.VerdictSame, A: e.ID.String(), B: last, Author: "Ada",
			Reason: "both have the same sign in the window"},
		{Verdict: entity.VerdictValue, A: e.ID.String(), Attribute: "city", Value: e.View.First("city"), Author: "Ben"},
	} {
		if results, err := tab.svc.Decisions().Decide(context.Background(), []decisions.Input{d}); err != nil || results[0].Err != nil {
			t.Fatal(err, results)
		}
	}
	tab.open("/entities/" + e.ID.String())
	tab.do(chromedp.EmulateViewport(1280, 1360, chromedp.EmulateScale(0.75)))
	evaluate[bool](tab, `(document.querySelector("#how").closest("section").scrollIntoView(), true)`)
	tab.shoot("entity-how.png")
}

// TestPictures_Data takes the picture of a file that is about to be imported into the same data.
func TestPictures_Data(t *testing.T) {
	picturesAreWanted(t)
	tab := openTab(t, startBrowser(t), 4)
	tab.tell()
	e := telling(t, tab.svc)
	tab.do(chromedp.EmulateViewport(1280, 1500, chromedp.EmulateScale(0.75)))
	tab.open("/data")
	tab.await(`document.readyState === "complete"`)
	tab.drop("customers.csv", "no;company;town;tel\n1;"+e.View.First("name")+";"+e.View.First("city")+";"+e.View.First("phones")+"\n2;Quince & Daughters;"+e.View.First("city")+";\n")
	tab.await(`document.querySelector("#mapping")`)
	evaluate[bool](tab, `(() => {
		for (const [name, value] of Object.entries({ source: "customers", key: "no", "set.name": "company", "set.city": "town", "set.phones": "tel" })) document.querySelector('#mapping [name="' + name + '"]').value = value;
		document.querySelector("#mapping").dataset.old = "1";
		document.querySelector("#mapping [name=again]").click();
		return true;
	})()`)
	tab.await(`document.querySelector("#mapping:not([data-old])") && document.querySelector(".first-records")`)
	tab.shoot("data.png")
}

// TestPictures_Quality takes the picture of the quality of the same data.
func TestPictures_Quality(t *testing.T) {
	picturesAreWanted(t)
	tab := openTab(t, startBrowser(t), 4)
	tab.tell()
	tab.do(chromedp.EmulateViewport(1280, 2900, chromedp.EmulateScale(0.6)))
	tab.open("/quality")
	tab.shoot("quality.png")
}

// TestPictures_Ring takes the pictures of the ring: an installation that grew three times and is about to grow again,
// and the route of a key of its second generation.
func TestPictures_Ring(t *testing.T) {
	picturesAreWanted(t)
	tab := openTab(t, startBrowser(t), 4)
	in := grown(t, []uint64{4, 8, 16, 32, 64}, 3, 1, 20000)
	key := in.oldest(t)
	tab.exhibit(in)
	tab.do(chromedp.EmulateViewport(1280, 1010, chromedp.EmulateScale(0.67)))
	tab.open("/ring?address=" + url.QueryEscape(key))
	tab.shoot("ring.png")
	tab.do(chromedp.EmulateViewport(1280, 480, chromedp.EmulateScale(0.75)))
	evaluate[bool](tab, `(document.querySelector("#puids").closest("section").scrollIntoView(), true)`)
	tab.shoot("ring-puids.png")
}

// TestPictures_Rollups takes the picture of a rollup over the same data: places by category and region.
func TestPictures_Rollups(t *testing.T) {
	picturesAreWanted(t)
	tab := openTab(t, startBrowser(t), 4)
	tab.counted("region")
	tab.tell()
	tab.settle()
	tab.do(chromedp.EmulateViewport(1280, 860))
	tab.open("/rollups/places_by_category")
	tab.await(`document.querySelector("#again.running")`)
	tab.shoot("rollup.png")
}

// TestPictures_Counters takes the picture of a metric after a typical day.
func TestPictures_Counters(t *testing.T) {
	picturesAreWanted(t)
	tab := openTab(t, startBrowser(t), 4)
	tab.day("page /about")
	tab.do(chromedp.EmulateViewport(1280, 860))
	tab.open(metricPage("page /about"))
	tab.areDrawn("#day-picture")
	tab.shoot("counters.png")
}

// tell puts the data of the demo.
func (tab *tab) tell() {
	tab.Helper()
	var batch []records.Input
	for r := range demo.New(1, 20000).All() {
		batch = append(batch, records.Input{Ref: entity.Ref{Source: r.Source, Key: r.Key}, Attributes: r.Attributes})
		if len(batch) == 100 {
			tab.put(batch...)
			batch = batch[:0]
		}
	}
}

// day counts hits in every minute of the last two days: few at night, many in the afternoon.
func (tab *tab) day(metric counter.Metric) {
	tab.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	now := time.Now().UTC()
	var hits []counter.Hit
	for at := now.Truncate(24*time.Hour).AddDate(0, 0, -1); at.Before(now); at = at.Add(time.Minute) {
		minute := float64(at.Hour()*60 + at.Minute())
		busy := 60 - 50*math.Cos(2*math.Pi*(minute-120)/1440)
		hits = append(hits, counter.Hit{Metric: metric, At: at, N: max(1, int64(busy*(1+0.3*random.NormFloat64()))+1)})
	}
	for part := range slices.Chunk(hits, counter.MaxBatch) {
		tab.count(part...)
	}
}

// telling returns an entity whose records differ in many ways.
func telling(t *testing.T, svc *locus.DB) *entity.Entity {
	t.Helper()
	var best *entity.Entity
	most := 0
	for after := (entity.Place{}); ; {
		found, next, err := svc.Entities().Search(context.Background(), entities.Query{After: after, Limit: locus.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			sources, values := map[string]bool{}, 0
			for _, m := range e.Members {
				sources[m.Source] = true
			}
			for _, a := range e.View {
				values += len(a.Values)
				if a.Name == "city" && len(a.Values) > 1 {
					values = 0
					break
				}
			}
			if len(e.Members) == 3 && len(sources) == 3 && values > most {
				best, most = e, values
			}
		}
		if next == (entity.Place{}) {
			return best
		}
		after = next
	}
}

// shoot saves a picture of the tab to the documentation.
func (tab *tab) shoot(name string) {
	tab.Helper()
	call(tab, func(ctx context.Context) error {
		picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			return err
		}
		if picture, err = small(picture); err != nil {
			return err
		}
		if !slices.Contains(slices.Concat(slices.Collect(maps.Values(pictures))...), name) {
			tab.Errorf("%s is a picture of no page", name)
		}
		if len(picture) > 100_000 {
			tab.Errorf("%s has %d bytes", name, len(picture))
		}
		return os.WriteFile(filepath.Join("..", "docs", "images", name), picture, 0o644)
	})
}
