// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/counter"
)

// Chart is the content of the page of a metric over any range, compared with another metric or the previous period.
type Chart struct {
	Time  time.Time
	Name  counter.Metric
	Range Range
	// With is the metric that it is compared with, "" for none. Before compares it with the period before as well.
	With   counter.Metric
	Before bool
	// Times are the beginnings of the steps, Lines the values to draw; empty if it cannot be read, with the reason in
	// Problems.
	Times    []time.Time
	Lines    []ChartLine
	Problems []string
	// Areas are where the values are in the whole picture and in the narrow one: left, right and width, in pixels.
	Areas [2][3]float64
	// Others are some of the metrics, to choose from.
	Others []counter.Metric
}

// ChartLine is a metric of the chart.
type ChartLine struct {
	Name string
	*counter.Line
	// Past reports that the values belong to the previous period, each at the position of the corresponding step.
	Past bool
}

// Chart writes the page.
func (c *Console) Chart(w io.Writer, s Chart) error {
	p := chartPage{
		Chart: s, As: stamp(s.Time), Version: c.version, Live: s.Range.To.After(s.Time),
		CSV:  s.link("/counters/chart/csv", nil),
		From: s.Range.field(s.Range.From), To: s.Range.field(s.Range.To), Zone: s.Range.Zone.String(),
		Step:  string(s.Range.Step),
		Begin: s.Range.From.UTC().Format(time.RFC3339), End: s.Range.To.UTC().Format(time.RFC3339),
	}
	for _, z := range s.Range.zooms(s.Time) {
		p.Zooms = append(p.Zooms, order{z.Name, s.at(z.Range), z.Here})
	}
	p.InZone = s.link("/counters/chart", url.Values{"from": {p.Begin}, "to": {p.End}})
	p.Commands = append(p.Commands, s.command(s.Range, s.Name, s.With))
	if s.Before {
		p.Commands = append(p.Commands, s.command(s.Range.Past(), s.Name))
	} else if s.With == "" {
		p.JSON = "/counters/series?" + url.Values{"metric": {string(s.Name)}, "from": {p.Begin}, "to": {p.End},
			"step": {p.Step}, "zone": {p.Zone}}.Encode()
	}
	if len(s.Lines) > 0 {
		p.draw()
	}
	return c.render(w, "chart", "", &p)
}

type chartPage struct {
	Chart
	As                   stamp
	Version              string
	Live                 bool // the range is not over
	From, To, Zone, Step string
	Begin, End           string // as instants
	First                string // begin of the first step
	Zooms                []order
	InZone               string // link to which a zone is added
	Pictures             pictures
	Area                 string
	Facts                []chartFact
	Notes                []string
	Header               []string
	Rows                 []chartRow
	CSV, JSON            string
	Commands             []string
}

// chartFact is a line in numbers: its total or mean, and how much more or less that is than the first one's.
type chartFact struct{ Name, Text, Than string }

// chartRow is a row of the table, which leads to its part of the chart.
type chartRow struct {
	Name, Link string
	Cells      []string
}

// Title returns the name, isolated for use without markup.
func (p *chartPage) Title() string { return isolate(string(p.Name)) }

// Steps are the steps to choose from.
func (p *chartPage) Steps() []string {
	return []string{string(counter.ByMinute), string(counter.ByHour), string(counter.ByDay)}
}

// Page identifies the structure of the page.
func (p *chartPage) Page() string { return p.Version + "/" + p.Begin + "/" + p.End }

// draw fills the picture, the numbers and the table.
func (p *chartPage) draw() {
	p.Pictures = pictures{Label: "By " + p.Step + ", from " + p.From + " to " + p.To + ", " + p.Zone + "; the table below has the numbers"}
	at := func(theme string, size Size) string {
		return p.link("/counters/chart/picture",
			url.Values{"theme": {theme}, "size": {string(size)}, "now": {minute(p.Time)}})
	}
	p.Pictures.Light, p.Pictures.Dark, p.Pictures.NarrowLight, p.Pictures.NarrowDark = at("light", Whole), at("dark",
		Whole), at("light", Narrow), at("dark", Narrow)
	p.Pictures.Wide, p.Pictures.High = Whole.Pixels()
	p.First = p.Times[0].UTC().Format(time.RFC3339)
	var areas []string
	for _, area := range p.Areas {
		for _, x := range area {
			areas = append(areas, strconv.FormatFloat(x, 'f', 1, 64))
		}
	}
	p.Area = strings.Join(areas, " ")
	first, known := p.Lines[0].amount()
	for i, l := range p.Lines {
		fact := chartFact{Name: l.Name, Text: l.text()}
		if n, also := l.amount(); i > 0 && known && also && n != 0 && l.Kind == p.Lines[0].Kind {
			fact.Than = signedPercent(100 * (first - n) / n)
		}
		p.Facts = append(p.Facts, fact)
		if l.Kept.After(p.Range.From) && !l.Past {
			p.Notes = append(p.Notes, capital(p.Step)+"s of "+l.Name+" before "+l.Kept.UTC().Format(time.DateOnly)+" are past their retention.")
		}
	}
	p.table()
}

// signedPercent formats a change.
func signedPercent(change float64) string {
	text := strconv.FormatFloat(change, 'f', 1, 64) + " %"
	if change >= 0 {
		text = "+" + text
	}
	return text
}

// link returns the URL of a part of the page, with changes to the query.
func (s *Chart) link(path string, change url.Values) string {
	q := url.Values{"name": {string(s.Name)}, "from": {s.Range.text(s.Range.From)}, "to": {s.Range.text(s.Range.To)},
		"step": {string(s.Range.Step)}, "zone": {s.Range.Zone.String()}}
	if s.With != "" {
		q.Set("with", string(s.With))
	}
	if s.Before {
		q.Set("before", "1")
	}
	for name, value := range change {
		if q[name] = value; value[0] == "" {
			delete(q, name)
		}
	}
	return path + "?" + q.Encode()
}

// at returns the URL of the page with another range, whose step follows from its length.
func (s *Chart) at(r Range) string {
	return s.link("/counters/chart", url.Values{"from": {r.text(r.From)}, "to": {r.text(r.To)}, "step": {""}})
}

// Here returns the URL of the page.
func (s *Chart) Here() string { return s.link("/counters/chart", nil) }

// command draws metrics over a range.
func (s *Chart) command(r Range, names ...counter.Metric) string {
	args := []string{"locus", "metric", "plot", "--from", r.from(r.From), "--to", r.from(r.To), "--step", string(r.Step)}
	if zone := r.Zone.String(); zone != "UTC" {
		args = append(args, "--zone", zone)
	}
	args = append(args, "--")
	for _, name := range names {
		if name != "" {
			args = append(args, string(name))
		}
	}
	return command(args...)
}
