// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/console"
)

// seriesOf returns a view of a metric whose i-th step has value(i), until noon.
func seriesOf(v console.View, kind counter.Kind, value func(i int) int64) *counter.Series {
	from, to, step := v.Range(noon)
	length := map[counter.Step]time.Duration{counter.ByMinute: time.Minute, counter.ByHour: time.Hour,
		counter.ByDay: 24 * time.Hour}[step]
	s := &counter.Series{Step: step, Zone: "UTC", Complete: noon}
	l := counter.Line{Metric: "page /about", Kind: kind, Since: from, Total: 12_345}
	for at := from; at.Before(to); at = at.Add(length) {
		n, r := counter.Null, counter.Readings{Min: counter.Null, Max: counter.Null, Sum: counter.Null, Count: counter.Null,
			Last: counter.Null}
		if !at.After(noon) {
			n = counter.Value(value(len(s.Times)))
			r = counter.Readings{Min: n - 1, Max: n + 1, Sum: 2 * n, Count: 2, Last: n + 1}
		}
		s.Times, l.Values, l.Readings = append(s.Times, at), append(l.Values, n), append(l.Readings, r)
	}
	if kind == counter.Gauge {
		l.Values, l.Total = nil, counter.Null
	} else {
		l.Readings = nil
	}
	s.Lines = []counter.Line{l}
	return s
}

func viewsOf(kind counter.Kind) (all []*counter.Series) {
	for _, v := range console.Views {
		all = append(all, seriesOf(v, kind, func(i int) int64 { return int64(i) }))
	}
	return all
}

// counterRenderings returns counter pages with every external text set to s.
func counterRenderings(c *console.Console, s string) map[string]func(io.Writer) error {
	name := counter.Metric(s)
	infos := slices.Repeat([]counter.Info{{Metric: name, First: noon, Cell: "g0-1"}}, console.MetricsAtOnce+1)
	return map[string]func(io.Writer) error{
		"counters": func(w io.Writer) error {
			return c.Counters(w, console.Counters{Time: noon, Prefix: s, After: name,
				Top: []counter.Ranked{{Metric: name, N: 7}}, Metrics: infos})
		},
		"counters, empty":  func(w io.Writer) error { return c.Counters(w, console.Counters{Time: noon}) },
		"counters, refuse": func(w io.Writer) error { return c.Counters(w, console.Counters{Time: noon, Prefix: s, Problem: s}) },
		"metric": func(w io.Writer) error {
			return c.Metric(w, console.Metric{Time: noon, Name: name, Day: noon, Series: viewsOf(counter.Counter),
				Problems: []string{s}})
		},
		"metric, gauge": func(w io.Writer) error {
			return c.Metric(w, console.Metric{Time: noon, Name: name, Day: noon.AddDate(0, 0, -3),
				Series: viewsOf(counter.Gauge)})
		},
		"metric, none": func(w io.Writer) error { return c.Metric(w, console.Metric{Time: noon, Name: name, Day: noon}) },
	}
}

func TestCounters_List(t *testing.T) {
	t.Parallel()
	s := console.Counters{Time: noon, Prefix: "page ",
		Top: []counter.Ranked{{Metric: "page /", N: 4000}, {Metric: "page /a?b&c", N: 1000}}}
	for i := range console.MetricsAtOnce + 1 {
		s.Metrics = append(s.Metrics, counter.Info{Metric: counter.Metric(fmt.Sprintf("page /%03d", i)), Kind: counter.Gauge,
			First: noon})
	}
	root := render(t, func(w io.Writer) error { return console.New("").Counters(w, s) })
	if got := strings.Join(strings.Fields(text(byID(t, root, "top"))), " "); got != "MetricHits page /4,000 page /a?b&c1,000" {
		t.Errorf("top: %q", got)
	}
	links := linksOf(byID(t, root, "top"))
	if len(links) != 2 || links[1] != "/counters/metric?name=page+%2Fa%3Fb%26c" {
		t.Errorf("links: %q", links)
	}
	if n := len(linksOf(byID(t, root, "metrics"))); n != console.MetricsAtOnce {
		t.Errorf("%d metrics are listed", n)
	}
	if links := linksOf(byID(t, root, "pager")); len(links) != 1 || links[0] != "/counters?after=page+%2F049&prefix=page+" {
		t.Errorf("pages: %q", links)
	}
}

func linksOf(n *html.Node) (links []string) {
	elements(n, func(n *html.Node) {
		if href, ok := attribute(n, "href"); ok {
			links = append(links, href)
		}
	})
	return links
}

func TestMetric_TablesFoldTheViews(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind             counter.Kind
		day, month, year string
		rows             int
	}{
		{counter.Counter, "00:00 1,770 59 00:59", "2026-11-01 276 23 23:00", "January 465 30 2026-01-31", 13},
		{counter.Gauge, "00:00 -1 60 29.5 60 120", "2026-11-01 -1 24 11.5 24 48", "January -1 31 15.0 31 62", 13},
	} {
		root := render(t, func(w io.Writer) error {
			return console.New("").Metric(w, console.Metric{Time: noon, Name: "x", Day: noon, Series: viewsOf(c.kind)})
		})
		for id, want := range map[string]string{"day-rows": c.day, "month-rows": c.month, "year-rows": c.year} {
			got := strings.Join(strings.Fields(text(byID(t, root, id))), "")
			if !strings.HasPrefix(got, strings.ReplaceAll(want, " ", "")) {
				t.Errorf("%s %s: %.80q, want %q", c.kind, id, got, want)
			}
		}
		rows := 0
		elements(byID(t, root, "day-rows"), func(n *html.Node) {
			if n.Data == "tr" {
				rows++
			}
		})
		if rows != c.rows {
			t.Errorf("%s: %d hours are known by noon, want %d", c.kind, rows, c.rows)
		}
	}
}

// A picture has a URL for each theme and size, which contains its minute, and a label.
func TestMetric_Pictures(t *testing.T) {
	t.Parallel()
	root := render(t, func(w io.Writer) error {
		return console.New("").Metric(w,
			console.Metric{Time: noon, Name: "a,b c", Day: noon, Series: viewsOf(counter.Counter)})
	})
	var addresses []string
	elements(byID(t, root, "day-picture"), func(n *html.Node) {
		for _, name := range []string{"src", "srcset"} {
			if address, ok := attribute(n, name); ok {
				addresses = append(addresses, address)
			}
		}
		if alt, _ := attribute(n, "alt"); n.Data == "img" && alt != "Hits by minute, 2026-11-20; the table below has the numbers" {
			t.Errorf("the picture is called %q", alt)
		}
	})
	if len(addresses) != 4 || len(slices.Compact(slices.Sorted(slices.Values(addresses)))) != 4 {
		t.Fatalf("pictures: %q", addresses)
	}
	want := fmt.Sprintf("/counters/picture?at=%d&day=2026-11-20&name=a%%2Cb+c&size=whole&theme=light&view=day",
		noon.Unix()/60)
	if addresses[3] != want {
		t.Errorf("the picture is at %q, want %q", addresses[3], want)
	}
}

func TestView_Range(t *testing.T) {
	t.Parallel()
	leap := time.Date(2028, 2, 29, 23, 59, 59, 0, time.UTC)
	for v, want := range map[console.View]string{
		console.DayView: "2028-02-29 2028-03-01 minute", console.MonthView: "2028-02-01 2028-03-01 hour",
		console.YearView: "2028-01-01 2029-01-01 day",
	} {
		from, to, step := v.Range(leap)
		if got := from.Format(time.DateOnly) + " " + to.Format(time.DateOnly) + " " + string(step); got != want {
			t.Errorf("%s: %s, want %s", v, got, want)
		}
	}
}

// The slots show the self-metrics of the last whole minute, and of today.
func TestLive_OwnCounters(t *testing.T) {
	t.Parallel()
	s := snapshot(t, 1, 0)
	live := console.New("").Live(s)
	if live.Text["hits"] != "–" || live.Text["own.errors"] != "–" || strings.HasSuffix(live.Page, "/hits") {
		t.Errorf("nothing is known: %q", live.Text)
	}
	own := seriesOf(console.DayView, counter.Counter, func(i int) int64 { return int64(i) })
	own.Lines[0].Metric, own.Complete = console.Hits, noon.Add(30*time.Second)
	own.Lines = append(own.Lines, counter.Line{Metric: "locus.else", Values: own.Lines[0].Values, Total: math.MaxInt64})
	s.Own = own
	live = console.New("").Live(s)
	if live.Text["hits"] != "719" || live.Text["hits.today"] != "12,345 today" || live.Text["own.records"] != "0" ||
		!strings.HasSuffix(live.Page, "/hits") {
		t.Errorf("hits of 11:59: %q", live.Text)
	}
}
