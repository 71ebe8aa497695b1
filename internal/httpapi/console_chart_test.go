// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/counter"
)

// chartOf returns the address of a chart.
func chartOf(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return "/counters/chart" + path + "?" + q.Encode()
}

// TestConsole_Chart compares a metric with another one and with the day before, in the page, the picture and the file.
func TestConsole_Chart(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	yesterday := today.AddDate(0, 0, -1)
	hit := func(m counter.Metric, n int64, at time.Time) {
		t.Helper()
		kind := counter.Counter
		if m == "hall" {
			kind = counter.Gauge
		}
		if results, err := f.svc.Counters().Recorder().Add(f.Context(), []counter.Hit{{Metric: m, Kind: kind, N: n, At: at}}); err != nil || results[0] != nil {
			t.Fatal(results, err)
		}
	}
	hit("page", 30, yesterday.Add(90*time.Minute))
	hit("page", 10, yesterday.Add(-24*time.Hour+90*time.Minute))
	hit("page", 2, yesterday.Add(95*time.Minute))
	hit("<b>", 5, yesterday.Add(3*time.Hour))
	hit("hall", 4, yesterday.Add(time.Hour))
	hit("hall", 7, yesterday.Add(time.Hour))

	if to := f.do(http.MethodGet, chartOf("", "name", "page"), "", browser...).leads(); !strings.Contains(to, "from="+today.Format(time.DateOnly)+"&") {
		t.Errorf("a chart without a range leads to %s", to)
	}
	day := []string{"name", "page", "from", yesterday.Format(time.DateOnly), "to", today.Format(time.DateOnly),
		"step", "hour"}
	page := f.get(chartOf("", append(day, "with", "<b>", "before", "1")...)).page(200)
	f.says(page, "<bdi>page</bdi>: <b>32 hits</b>", "<bdi>&lt;b&gt;</bdi>: <b>5 hits</b>; <bdi>page</bdi> has &#43;540.0 %", "<bdi>the period before</bdi>: <b>10 hits</b>; <bdi>page</bdi> has &#43;220.0 %",
		"<td>32</td><td>5</td><td>10</td>", "locus metric plot --from "+yesterday.Format(time.DateOnly)+" --to "+today.Format(time.DateOnly)+" --step hour -- page &#39;&lt;b&gt;&#39;", "Zoom in", "CSV of this chart")
	for _, link := range []string{"/csv", "/picture"} {
		_, after, _ := strings.Cut(page, `"/counters/chart`+link+"?")
		address, _, _ := strings.Cut(after, `"`)
		a := f.get("/counters/chart" + link + "?" + html.UnescapeString(address))
		if body := a.Body.String(); link == "/picture" {
			if a.Code != 200 || a.Header().Get("Content-Type") != "image/svg+xml" || strings.Contains(body, "<b>") ||
				!strings.Contains(body, "the period before") {
				t.Errorf("%d %.300s", a.Code, body)
			}
		} else if lines := strings.Split(body, "\n"); len(lines) != 26 || lines[0] != "time,page,<b>,the period before" || lines[2] != yesterday.Add(time.Hour).Format(time.RFC3339)+",32,0,10" {
			t.Errorf("%d lines: %.300s", len(lines), body)
		}
	}
	zoomed := f.get(chartOf("", "name", "page", "from", yesterday.Format(time.DateOnly)+"T01:30", "to",
		yesterday.Format(time.DateOnly)+"T01:33")).page(200)
	f.says(zoomed, "By minute", "<b>30 hits</b>")
	f.says(f.get(chartOf("", append(day, "zone", "Asia/Tokyo")...)).page(200), "Asia/Tokyo", "--zone Asia/Tokyo")
	gauge := f.get(chartOf("/csv", append(day, "name", "hall")...)).Body.String()
	f.says(gauge, "time,mean,lowest,highest\n", yesterday.Add(time.Hour).Format(time.RFC3339)+",5.5,4,7\n")

	for query, says := range map[string]string{
		"from=x&to=y": "x is not a time.", "from=2026-01-02&to=2026-01-01": "ends before it begins",
		"from=2026-01-01&to=2026-01-02&zone=Mars":   "Mars is not a time zone",
		"from=2026-01-01&to=2026-02-01&step=minute": "at most 10000 steps",
		"from=2026-01-01&to=2026-02-01&step=week":   "week is not a step",
		"from=0001-01-02&to=9999-01-01":             "problem", "from=2026-01-01&to=2026-01-02&with=none": "none is not shown",
		"from=2026-01-01&to=2026-01-02&with=hall": "hall is a gauge",
	} {
		f.says(f.get("/counters/chart?name=page&"+query).page(200), says)
	}
	for _, path := range []string{"", "/csv", "/picture"} {
		if a := f.get(chartOf(path, append(day, "name", "none")...)); a.Code != 404 {
			t.Errorf("%s of no metric: %d", path, a.Code)
		}
	}
}
