// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/locus-db/locus/counter"
)

// View is a time range on the page of a metric.
type View string

// Views: the day by minute, its month by hour, its year by day.
const (
	DayView   View = "day"
	MonthView View = "month"
	YearView  View = "year"
)

// Views lists them in page order.
var Views = []View{DayView, MonthView, YearView}

// Range returns the time range and step of a view around a day, in UTC.
func (v View) Range(day time.Time) (from, to time.Time, step counter.Step) {
	y, m, d := day.UTC().Date()
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	switch v {
	case MonthView:
		return at(y, m, 1), at(y, m+1, 1), counter.ByHour
	case YearView:
		return at(y, 1, 1), at(y+1, 1, 1), counter.ByDay
	case DayView:
	}
	return at(y, m, d), at(y, m, d+1), counter.ByMinute
}

// Metric is the content of the page of a metric.
type Metric struct {
	Time time.Time
	Name counter.Metric
	Day  time.Time // any time of the day, in UTC
	// Series are the series of Views, in order; nil for a view that cannot be read, whose reason is in Problems.
	Series   []*counter.Series
	Problems []string
}

// Metric writes the page of a metric.
func (c *Console) Metric(w io.Writer, m Metric) error {
	day := m.Day.UTC().Truncate(24 * time.Hour)
	p := metricPage{
		As: stamp(m.Time), Name: string(m.Name), Day: day.Format(time.DateOnly), Version: c.version, Problems: m.Problems,
		Before: metricLink(m.Name, day.AddDate(0, 0, -1).Format(time.DateOnly)),
	}
	if day.AddDate(0, 0, 1).Before(m.Time) {
		p.After = metricLink(m.Name, day.AddDate(0, 0, 1).Format(time.DateOnly))
	}
	p.InZone = "/counters/chart?" + url.Values{"name": {string(m.Name)}, "from": {p.Day},
		"to": {day.AddDate(0, 0, 1).Format(time.DateOnly)}}.Encode()
	for i, v := range Views {
		var s *counter.Series
		if i < len(m.Series) {
			s = m.Series[i]
		}
		p.Panels = append(p.Panels, newPanel(&m, v, day, s))
		if s != nil && len(s.Lines) == 1 && p.Kind == "" {
			p.Kind, p.Since = s.Lines[0].Kind.String(), s.Lines[0].Since.UTC().Format(time.DateOnly)
		}
	}
	return c.render(w, "metric", "", p)
}

type metricPage struct {
	As                              stamp
	Name, Day, Version, Kind, Since string
	Before, After                   string
	InZone                          string // the chart of the day, to which a zone is added
	Problems                        []string
	Panels                          []panel
}

// Page identifies the structure of the page: it changes at midnight.
func (p metricPage) Page() string { return p.Version + "/" + p.Day }

// Title returns the name, isolated for use without markup.
func (p metricPage) Title() string { return isolate(p.Name) }

// panel is a view with its picture and table.
type panel struct {
	View            View
	Title, By       string
	Total, Note     string
	Pictures        pictures
	Header          []string
	Rows            [][]string
	Command         string
	JSON            string
	Chart, CSV      string // links to the range
	CannotBeReadNow bool
}

func newPanel(m *Metric, v View, day time.Time, s *counter.Series) panel {
	from, to, step := v.Range(day)
	p := panel{
		View: v, By: string(step), Title: day.Format(tables[v].title),
		Command: command("locus", "metric", "plot", "--from", from.Format(time.DateOnly), "--to", to.Format(time.DateOnly),
			"--step", string(step), "--", string(m.Name)),
		JSON: "/counters/series?" + url.Values{
			"metric": {string(m.Name)}, "from": {from.Format(time.DateOnly)}, "to": {to.Format(time.DateOnly)},
			"step": {string(step)},
		}.Encode(),
	}
	chart := Chart{Name: m.Name, Range: Range{From: from, To: to, Step: step, Zone: time.UTC}}
	p.Chart, p.CSV = chart.Here(), chart.link("/counters/chart/csv", nil)
	if s == nil || len(s.Lines) != 1 {
		p.CannotBeReadNow = true
		return p
	}
	l := &s.Lines[0]
	what := "Hits"
	if l.Kind == counter.Gauge {
		what = "Readings"
	} else if l.Total != counter.Null {
		p.Total = count(int64(l.Total))
	}
	p.Pictures = picturesOf(m.Name, v, day, m.Time, Whole,
		what+" by "+p.By+", "+p.Title+"; the table below has the numbers")
	if l.Kept.After(from) {
		p.Note = capital(string(step)) + "s before " + l.Kept.UTC().Format(time.DateOnly) + " are past their retention."
	}
	p.table(s, l)
	return p
}

func capital(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// pictures are the URLs of a picture in both themes and sizes. The browser loads the one it shows.
type pictures struct {
	Light, Dark, NarrowLight, NarrowDark string
	Label                                string
	Wide, High                           int
}

// Size is the size of a picture.
type Size string

// Sizes: the width of a page, half of it, and a phone.
const (
	Whole  Size = "whole"
	Half   Size = "half"
	Narrow Size = "narrow"
)

// Pixels returns width and height.
func (s Size) Pixels() (width, height int) {
	switch s {
	case Half:
		return 640, 230
	case Narrow:
		return 340, 200
	case Whole:
	}
	return 960, 260
}

// picturesOf returns the URLs of the pictures of a view. They contain the minute, so that an open page requests a new
// picture when there is new data.
func picturesOf(name counter.Metric, v View, day, now time.Time, size Size, label string) pictures {
	at := func(theme string, size Size) string {
		return "/counters/picture?" + url.Values{
			"name": {string(name)}, "view": {string(v)}, "day": {day.UTC().Format(time.DateOnly)}, "theme": {theme},
			"size": {string(size)}, "at": {minute(now)},
		}.Encode()
	}
	p := pictures{at("light", size), at("dark", size), at("light", Narrow), at("dark", Narrow), label, 0, 0}
	p.Wide, p.High = size.Pixels()
	return p
}

// minute returns the number of a minute, the last parameter of a picture's URL.
func minute(t time.Time) string { return strconv.FormatInt(t.Unix()/60, 10) }
