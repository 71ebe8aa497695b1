// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"net/url"
	"time"

	"github.com/locus-db/locus/counter"
)

// Lengths of the lists on the counters page.
const (
	TopAtOnce     = 20
	MetricsAtOnce = 50
)

// Counters is the content of the counters page: the metrics with the most hits today, and a page of the list.
type Counters struct {
	Time   time.Time
	Prefix string // of the names, as typed
	Top    []counter.Ranked
	// Metrics has one more item than MetricsAtOnce if there are more. After is the exclusive start, "" at the
	// beginning.
	Metrics []counter.Info
	After   counter.Metric
	Problem string // why both are missing
}

// Counters writes the counters page.
func (c *Console) Counters(w io.Writer, s Counters) error {
	p := countersPage{
		As: stamp(s.Time), Day: s.Time.UTC().Format(time.DateOnly), Prefix: s.Prefix, Problem: s.Problem, Version: c.version,
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
			Name: string(m.Metric), Link: metricLink(m.Metric, ""), Kind: m.Kind.String(),
			Since: m.First.UTC().Format(time.DateOnly),
		})
	}
	return c.render(w, "counters", "", p)
}

type countersPage struct {
	As                            stamp
	Day, Prefix, Problem, Version string
	Top                           []ranked
	Metrics                       []listed
	Next, First                   string
	List, TopCommand              string
}

// Page identifies the structure of the page: with a list, or without.
func (p countersPage) Page() string {
	if p.Empty() {
		return p.Version + "/empty"
	}
	return p.Version + "/list"
}

// Empty reports whether nothing was ever counted.
func (p countersPage) Empty() bool {
	return len(p.Metrics) == 0 && len(p.Top) == 0 && p.Prefix == "" && p.First == "" && p.Problem == ""
}

// ranked is a row of the metrics with the most hits.
type ranked struct {
	Name, Link string
	Hits       amount
}

// listed is a row of the list.
type listed struct{ Name, Link, Kind, Since string }

// metricLink returns the URL of a metric's page. The name is a parameter, because some names, such as "..", cannot be a
// path segment.
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
