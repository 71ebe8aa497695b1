// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/httpapi"
)

func TestSeries_RangesAndZones(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	day := time.Now().UTC().Add(-48 * time.Hour).Truncate(24 * time.Hour)
	f.hits(`{"metric":"=a","n":5,"at":"` + instant(day.Add(12*time.Hour)) + `"},{"metric":"=a","n":2,"at":"` + instant(day.Add(23*time.Hour+30*time.Minute)) +
		`"},{"metric":"b","value":-3,"at":"` + instant(day.Add(12*time.Hour)) + `"}`)
	date, next := day.Format(time.DateOnly), day.Add(24*time.Hour).Format(time.DateOnly)
	s := decode[httpapi.Series](f.get("/v1/series?metric=%3Da&step=day&from=" + date + "&to=" + next))
	if len(s.Times) != 1 || !s.Times[0].Equal(day) || len(s.Lines) != 1 || *s.Lines[0].Total != 7 ||
		s.Lines[0].Values[0] != 7 || s.Zone != "UTC" {
		t.Errorf("%+v", s)
	}
	// In Kathmandu, 5:45 ahead, the second hit is of the next day.
	s = decode[httpapi.Series](f.get("/v1/series?metric=%3Da&step=day&zone=Asia/Kathmandu&from=" + date + "&to=" + next))
	if begin := day.Add(-5*time.Hour - 45*time.Minute); !s.Times[0].Equal(begin) || *s.Lines[0].Total != 5 {
		t.Errorf("%+v", s)
	}
	names := `{"metrics":["b","=a"],"from":"` + date + `","to":"` + next + `","step":"hour"}`
	s = decode[httpapi.Series](f.do(http.MethodPost, "/v1/series/query", names))
	if len(s.Lines) != 2 || s.Lines[0].Metric != "b" || s.Lines[0].Sum[12] != -3 || s.Lines[0].Min[11] != counter.Null ||
		s.Lines[1].Values[12] != 5 {
		t.Errorf("%+v", s)
	}
	a := f.do(http.MethodPost, "/v1/series/query", names, "Accept", "text/csv")
	rows := strings.Split(a.Body.String(), "\n")
	if ct := a.Header().Get("Content-Type"); a.Code != 200 || !strings.HasPrefix(ct, "text/csv") || len(rows) != 26 ||
		rows[0] != "time,b min,b max,b sum,b count,b last,'=a" || rows[13] != instant(day.Add(12*time.Hour))+",-3,-3,-3,1,-3,5" || rows[12] != instant(day.Add(11*time.Hour))+",,,,0,,0" {
		t.Errorf("%d, %q: %q", a.Code, ct, rows)
	}
	if s = decode[httpapi.Series](f.get("/v1/series?prefix=&step=day&from=" + date + "&to=" + next)); len(s.Lines) != 2 {
		t.Errorf("%+v", s)
	}
	for query, code := range map[string]httpapi.Code{
		"metric=b&step=minute&from=1926-01-01&to=2026-01-01":      "range_too_large",
		"metric=b&step=hour&from=" + next + "&to=" + date:         "invalid",
		"metric=b&step=1ns&from=" + date + "&to=" + next:          "invalid",
		"metric=b&step=-1m&from=" + date + "&to=" + next:          "invalid",
		"metric=b&prefix=b&step=day&from=" + date + "&to=" + next: "invalid",
		"step=day&from=" + date + "&to=" + next:                   "invalid",
		"metric=b&step=day&from=2026-02-30&to=" + next:            "invalid", "metric=b&step=day&from=yesterday&to=" + next: "invalid",
		"metric=b&step=day&to=" + next: "invalid", "metric=b&zone=Local&step=day&from=" + date + "&to=" + next: "invalid",
		"metric=b&zone=../etc/passwd&step=day&from=" + date + "&to=" + next: "invalid",
	} {
		p := f.get("/v1/series?"+query).refused(422, code)
		if code == "invalid" && !strings.HasPrefix(p.Pointer, "?") {
			t.Errorf("%s: pointer %q", query, p.Pointer)
		}
	}
	f.get("/v1/series?metric=absent&step=day&from="+date+"&to="+next).refused(404, httpapi.CodeNotFound)
	for _, body := range []string{`{"metrics":["b"],"from":"` + date + `","to":"x","step":"day"}`, `{"metrics":[],"from":"` + date + `","to":"` + next + `","step":"day"}`, `{"metrics":[7],"from":"` + date + `","to":"` + next + `","step":"day"}`} {
		if p := f.do(http.MethodPost, "/v1/series/query", body).refused(422, httpapi.CodeInvalid); !strings.HasPrefix(p.Pointer, "/") {
			t.Errorf("%s: pointer %q", body, p.Pointer)
		}
	}
}

func TestMetrics_ListsTopAndExplain(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var hits []string
	now := time.Now().UTC()
	for i := range 25 {
		hits = append(hits, fmt.Sprintf(`{"metric":"m %02d","n":%d,"at":%q}`, i, i+1, instant(now)))
	}
	f.hits(strings.Join(hits, ",") + `,{"metric":"z"},{"metric":"zz","value":1}`)
	var names []string
	target := "/v1/metrics?limit=10&prefix=m"
	for cursor := ""; ; {
		page := decode[httpapi.MetricList](f.get(target + cursor))
		for _, m := range page.Metrics {
			names = append(names, m.Metric)
			if m.Kind != "counter" || m.Cell == "" || m.Since.IsZero() {
				t.Errorf("%+v", m)
			}
		}
		if page.Cursor == "" {
			break
		}
		cursor = "&cursor=" + page.Cursor
		f.get("/v1/metrics?limit=10"+cursor).refused(422, httpapi.CodeInvalid)
		f.get("/v1/entities?limit=10"+cursor).refused(422, httpapi.CodeInvalid)
	}
	if len(names) != 25 || names[0] != "m 00" || names[24] != "m 24" {
		t.Errorf("%q", names)
	}
	day := now.Format(time.DateOnly)
	top := decode[httpapi.Top](f.get("/v1/top?k=2&prefix=m&day=" + day))
	if len(top.Metrics) != 2 || top.Day != day || top.Metrics[0] != (httpapi.TopMetric{Metric: "m 24", N: 25}) {
		t.Errorf("%+v", top)
	}
	for _, query := range []string{"", "day=now", "day=2026-02-30", "day=" + day + "&k=0", "day=" + day + "&k=1001", "day=" + day + "&k=01"} {
		f.get("/v1/top?"+query).refused(422, httpapi.CodeInvalid)
	}
	e := decode[counter.Explanation](f.get("/v1/series/explain?metric=z&at=" + instant(time.Now())))
	if e.Metric != "z" || e.Cell == "" || len(e.Touches) < 4 {
		t.Errorf("%+v", e)
	}
	f.get("/v1/series/explain?metric=absent&at="+instant(time.Now())).refused(404, httpapi.CodeNotFound)
	f.get("/v1/series/explain?metric=z&at=now").refused(422, httpapi.CodeInvalid)
}

func TestColumn_IsNumbersAndNull(t *testing.T) {
	t.Parallel()
	for _, c := range []httpapi.Column{{}, {1, counter.Null, -3, 1<<63 - 1}} {
		text, err := json.Marshal(c)
		var back httpapi.Column
		if err != nil || json.Unmarshal(text, &back) != nil || fmt.Sprint(back) != fmt.Sprint(c) {
			t.Errorf("%v: %s, %v, %v", c, text, back, err)
		}
	}
}
