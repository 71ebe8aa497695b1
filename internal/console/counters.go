// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"net/url"
	"time"

	"github.com/locus-db/locus/counter"
)

// Lengths of the lists of the page of counters.
const (
	TopAtOnce     = 20
	MetricsAtOnce = 50
)

// Counters is what the page of all counters shows: those that were hit most today, and a page of the list.
type Counters struct {
	Time   time.Time
	Prefix string // of the names, as it was typed
	Top    []counter.Ranked
	// Metrics are one more than MetricsAtOnce if there are more of them. After is where they begin, "" at the
	// beginning.
	Metrics []counter.Info
	After   counter.Metric
	Problem string // why there is none of both
}

// Counters writes the page of all counters.
func (c *Console) Counters(w io.Writer, s Counters) error {
	p := countersPage{
		As: clock(s.Time), Day: s.Time.UTC().Format(time.DateOnly), Prefix: s.Prefix, Problem: s.Problem, Version: c.version,
		List: command("locus", "metric", "list"), TopCommand: command("locus", "metric", "top"),
	}
	if s.Prefix != "" {
		p.List = command("locus", "metric", "list", s.Prefix)
		p.TopCommand = command("locus", "metric", "top", "--prefix", s.Prefix)
	}
	for _, m := range s.Top {
		row := ranked{Name: string(m.Metric), Link: metricLink(m.Metric, ""), Hits: amount{Text: count(m.N)}}
		if most := s.Top[0].N; most > 0 {
			row.Hits.Bar = figure(100 * float64(m.N) / float64(most))
		}
		p.Top = append(p.Top, row)
	}
	shown := s.Metrics
	if len(shown) > MetricsAtOnce {
		shown = shown[:MetricsAtOnce]
		p.Next = listLink(s.Prefix, shown[MetricsAtOnce-1].Metric)
	}
	if s.After != "" {
		p.First = listLink(s.Prefix, "")
	}
	for _, m := range shown {
		p.Metrics = append(p.Metrics, listed{
			Name: string(m.Metric), Link: metricLink(m.Metric, ""), Kind: m.Kind.String(), Since: m.First.UTC().Format(time.DateOnly),
		})
	}
	return c.render(w, "counters", "", p)
}

type countersPage struct {
	As, Day, Prefix, Problem, Version string
	Top                               []ranked
	Metrics                           []listed
	Next, First                       string
	List, TopCommand                  string
}

// Page names what the page is made of: a list is one thing, and nothing to list is another.
func (p countersPage) Page() string {
	if p.Empty() {
		return p.Version + "/empty"
	}
	return p.Version + "/list"
}

// Empty tells that nothing was ever counted.
func (p countersPage) Empty() bool {
	return len(p.Metrics) == 0 && len(p.Top) == 0 && p.Prefix == "" && p.First == "" && p.Problem == ""
}

// ranked is a line of those that were hit most.
type ranked struct {
	Name, Link string
	Hits       amount
}

// listed is a line of the list.
type listed struct{ Name, Link, Kind, Since string }

// metricLink is the address of a metric's page. Names are data, which no path could hold: .. is one.
func metricLink(name counter.Metric, day string) string {
	q := url.Values{"name": {string(name)}}
	if day != "" {
		q.Set("day", day)
	}
	return "/counters/metric?" + q.Encode()
}

func listLink(prefix string, after counter.Metric) string {
	q := url.Values{}
	if prefix != "" {
		q.Set("prefix", prefix)
	}
	if after != "" {
		q.Set("after", string(after))
	}
	if len(q) == 0 {
		return "/counters"
	}
	return "/counters?" + q.Encode()
}
