// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/counter"
)

// countHits counts n hits of each metric now.
func (f *fixture) countHits(n int64, metrics ...counter.Metric) {
	f.Helper()
	batch := make([]counter.Hit, 0, len(metrics))
	for _, m := range metrics {
		batch = append(batch, counter.Hit{Metric: m, N: n})
	}
	results, err := f.svc.Counters().Recorder().Add(f.Context(), batch)
	if err != nil {
		f.Fatal(err)
	}
	for i, err := range results {
		if err != nil {
			f.Fatalf("%s: %v", metrics[i], err)
		}
	}
}

// evil is a name that changes in a path and in HTML unless escaped.
const evil = `..//<script>alert(1)</script>?a=b&c,d`

func TestConsole_Counters(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.says(f.get("/counters").page(200), "Nothing is counted yet", "locus metric hit &#39;page /about&#39;",
		`href="/counters"`)
	f = setup(t, nil)
	f.countHits(4711, evil)
	f.countHits(1, "page /", "page /about")
	body := f.get("/counters").page(200)
	f.says(body, "<bdi>..//&lt;script&gt;", "4,711", "<bdi>page /about</bdi>", "locus metric top")
	if strings.Contains(body, "<script>alert") {
		t.Error("a name runs")
	}
	f.says(f.get("/counters?prefix=page").page(200), "locus metric list page", "<bdi>page /</bdi>")
	f.says(f.get("/counters?prefix=none").page(200), "No metric has a name that starts with this.", "No hits today.")
	f.says(f.get("/counters?prefix="+strings.Repeat("x", 300)).page(200), `role="alert"`)
}

func TestConsole_Metric(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.countHits(4711, evil)
	name := url.QueryEscape(evil)
	f.says(f.get("/counters/metric?name="+name).page(200),
		"4,711 hits", "by minute", "by hour", "by day", "view=year", "theme=dark", "locus metric plot --from", time.Now().UTC().Format("January 2006"))
	f.says(f.get("/counters/metric?name="+name+"&day=2020-02-30").page(200), "2020-02-30 is not a day")
	f.says(f.get("/counters/metric?name="+name+"&day=2020-02-29").page(200), "2020-02-29", "February 2020", "Next day")
	f.says(f.get("/counters/metric?name=none").page(404), "No such metric", "locus metric list")
	f.says(f.get("/counters/metric?name=locus.splits").page(200), "Nothing counted yet", "locus metric list locus.")
}

// A picture cannot run scripts: it is served under the policy of pages.
func TestConsole_Picture(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.countHits(4711, evil)
	if results, err := f.svc.Counters().Recorder().Add(t.Context(), []counter.Hit{{Metric: "temp", Kind: counter.Gauge, N: -7}}); err != nil || results[0] != nil {
		t.Fatal(results, err)
	}
	day := time.Now().UTC().Format(time.DateOnly)
	for _, metric := range []string{evil, "temp"} {
		seen := map[string]bool{}
		for _, query := range []string{"view=day", "view=day&theme=dark", "view=day&size=narrow", "view=month", "view=year"} {
			a := f.get("/counters/picture?day=" + day + "&at=1&" + query + "&name=" + url.QueryEscape(metric))
			body := a.Body.String()
			if a.Code != 200 || a.Header().Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(body, "<svg ") ||
				seen[body] {
				t.Errorf("%s of %s: %d %.200s", query, metric, a.Code, body)
			}
			if strings.Contains(body, "<script") || strings.Contains(body, "<style") ||
				!strings.Contains(a.Header().Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s of %s: %.300s", query, metric, body)
			}
			seen[body] = true
		}
	}
	for query, status := range map[string]int{
		"name=none&view=day&day=" + day: 404, "name=temp&view=week&day=" + day: 422,
		"name=temp&view=day&day=today": 422, "": 422,
	} {
		if a := f.get("/counters/picture?" + query); a.Code != status {
			t.Errorf("%q: %d, want %d", query, a.Code, status)
		}
	}
}

func TestConsole_OperationsShowHits(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.says(f.get("/operations").page(200), "No hits yet.", "Hits a minute", `href="/counters"`)
	f = setup(t, nil)
	f.countHits(4711, "locus.hits")
	f.says(f.get("/operations").page(200), "4,711 today", "/counters/picture?at=", "name=locus.hits")
}
