// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/locus-db/locus/counter"
)

// View is a range of time that is shown of a metric.
type View string

// The views: the day by minute, its month by hour, its year by day.
const (
	DayView   View = "day"
	MonthView View = "month"
	YearView  View = "year"
)

// Views are all of them, in the order of the page.
var Views = []View{DayView, MonthView, YearView}

// Range is what a view shows of the time around a day, in UTC.
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

// Metric is what the page of a metric shows.
type Metric struct {
	Time time.Time
	Name counter.Metric
	Day  time.Time // any time of it, in UTC
	// Series are those of the views, in the order of Views; nil if one cannot be read, and Problems says why.
	Series   []*counter.Series
	Problems []string
}

// Metric writes the page of a metric.
func (c *Console) Metric(w io.Writer, m Metric) error {
	day := m.Day.UTC().Truncate(24 * time.Hour)
	p := metricPage{
		As: clock(m.Time), Name: string(m.Name), Day: day.Format(time.DateOnly), Version: c.version, Problems: m.Problems,
		Before: metricLink(m.Name, day.AddDate(0, 0, -1).Format(time.DateOnly)),
	}
	if day.AddDate(0, 0, 1).Before(m.Time) {
		p.After = metricLink(m.Name, day.AddDate(0, 0, 1).Format(time.DateOnly))
	}
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
	As, Name, Day, Version, Kind, Since string
	Before, After                       string
	Problems                            []string
	Panels                              []panel
}

// Page names what the page is made of: at midnight today is another day.
func (p metricPage) Page() string { return p.Version + "/" + p.Day }

// Title is the name where markup cannot stand.
func (p metricPage) Title() string { return isolate(p.Name) }

// panel is a view with its picture and its table.
type panel struct {
	View            View
	Title, By       string
	Total, Note     string
	Pictures        pictures
	Header          []string
	Rows            [][]string
	Command         string
	JSON            string
	CannotBeReadNow bool
}

func newPanel(m *Metric, v View, day time.Time, s *counter.Series) panel {
	from, to, step := v.Range(day)
	p := panel{
		View: v, By: string(step), Title: day.Format(tables[v].title),
		Command: command("locus", "metric", "plot", "--from", from.Format(time.DateOnly), "--to", to.Format(time.DateOnly), "--step", string(step), "--", string(m.Name)),
		JSON: "/v1/series?" + url.Values{
			"metric": {string(m.Name)}, "from": {from.Format(time.DateOnly)}, "to": {to.Format(time.DateOnly)}, "step": {string(step)},
		}.Encode(),
	}
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
	p.Pictures = picturesOf(m.Name, v, day, m.Time, Whole, what+" by "+p.By+", "+p.Title+"; the table below has the numbers")
	if l.Kept.After(from) {
		p.Note = capital(string(step)) + "s are kept since " + l.Kept.UTC().Format(time.DateOnly) + "; what is older is gone at this step."
	}
	p.table(s, l)
	return p
}

func capital(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// pictures are the addresses of one picture in both themes and sizes. A browser asks for the one that it shows.
type pictures struct {
	Light, Dark, NarrowLight, NarrowDark string
	Label                                string
	Wide, High                           int
}

// Size is how large a picture is.
type Size string

// The sizes: as wide as a page, as wide as a panel beside another one, and for a telephone.
const (
	Whole  Size = "whole"
	Half   Size = "half"
	Narrow Size = "narrow"
)

// Pixels are the width and the height.
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

// picturesOf names the pictures of a view. The minute is part of the address, so that a page that goes on asks for
// another one when there is something new.
func picturesOf(name counter.Metric, v View, day, now time.Time, size Size, label string) pictures {
	at := func(theme string, size Size) string {
		return "/counters/picture?" + url.Values{
			"name": {string(name)}, "view": {string(v)}, "day": {day.UTC().Format(time.DateOnly)}, "theme": {theme}, "size": {string(size)}, "at": {minute(now)},
		}.Encode()
	}
	p := pictures{at("light", size), at("dark", size), at("light", Narrow), at("dark", Narrow), label, 0, 0}
	p.Wide, p.High = size.Pixels()
	return p
}

// minute is the number of a minute, which the address of a picture ends with.
func minute(t time.Time) string { return strconv.FormatInt(t.Unix()/60, 10) }
