// SPDX-License-Identifier: Apache-2.0

package console

import (
	"math"
	"strconv"
	"time"

	"github.com/locus-db/locus/counter"
)

// amount returns the sum of a line over the range: the hits of a counter, or the mean of the readings.
func (l *ChartLine) amount() (n float64, known bool) {
	if l.Kind == counter.Counter {
		return float64(l.Total), l.Total != counter.Null
	}
	sum, reads := 0.0, 0.0
	for _, r := range l.Readings {
		if r.Count > 0 {
			sum, reads = sum+float64(r.Sum), reads+float64(r.Count)
		}
	}
	return sum / reads, reads > 0
}

// text writes the amount.
func (l *ChartLine) text() string {
	n, known := l.amount()
	switch {
	case !known:
		return "unknown"
	case l.Kind == counter.Counter:
		return counted(int64(l.Total), "hit")
	default:
		return "mean " + strconv.FormatFloat(n, 'f', 1, 64)
	}
}

// ChartColumn is a drawn line: a value for each step, NaN for an unknown one.
type ChartColumn struct {
	Name   string
	Values []float64
	Texts  []string
	Faint  bool
}

// Columns returns the drawn values: each counter, and the mean of each gauge; for a single gauge also its lowest and
// highest readings.
func (s *Chart) Columns() (all []ChartColumn) {
	for i := range s.Lines {
		l := &s.Lines[i]
		if l.Kind == counter.Counter {
			c := newColumn(l.Name, l.Past, len(s.Times))
			for at, v := range l.Values {
				if v != counter.Null {
					c.set(at, float64(v), strconv.FormatInt(int64(v), 10))
				}
			}
			all = append(all, c)
			continue
		}
		mean := newColumn(l.Name, l.Past, len(s.Times))
		low, high := newColumn("lowest", true, len(s.Times)), newColumn("highest", true, len(s.Times))
		for at, r := range l.Readings {
			if r.Count > 0 {
				n := float64(r.Sum) / float64(r.Count)
				mean.set(at, n, strconv.FormatFloat(n, 'f', -1, 64))
				low.set(at, float64(r.Min), strconv.FormatInt(int64(r.Min), 10))
				high.set(at, float64(r.Max), strconv.FormatInt(int64(r.Max), 10))
			}
		}
		if all = append(all, mean); len(s.Lines) == 1 {
			all[0].Name = "mean"
			all = append(all, low, high)
		}
	}
	return all
}

func newColumn(name string, faint bool, steps int) ChartColumn {
	c := ChartColumn{Name: name, Faint: faint, Values: make([]float64, steps), Texts: make([]string, steps)}
	for i := range c.Values {
		c.Values[i] = math.NaN()
	}
	return c
}

// set sets a value. The period before may have a step more than the chart, when the clocks changed.
func (c *ChartColumn) set(at int, v float64, text string) {
	if at < len(c.Values) {
		c.Values[at], c.Texts[at] = v, text
	}
}

// Table returns the drawn values as rows of a file, the first with the names of the columns.
func (s *Chart) Table() [][]string {
	columns := s.Columns()
	rows := [][]string{{"time"}}
	for _, c := range columns {
		rows[0] = append(rows[0], c.Name)
	}
	for i, at := range s.Times {
		row := []string{at.Format(time.RFC3339)}
		for _, c := range columns {
			row = append(row, c.Texts[i])
		}
		rows = append(rows, row)
	}
	return rows
}

// chartRows has the name and the time format of a table row for each step.
var chartRows = map[counter.Step][2]string{
	counter.ByMinute: {"Hour", "2006-01-02 15:00"},
	counter.ByHour:   {"Day", time.DateOnly},
	counter.ByDay:    {"Month", "2006-01"},
}

// table fills the table; each row covers many steps. Rows without known values are left out.
func (p *chartPage) table() {
	of := chartRows[p.Range.Step]
	p.Header = []string{of[0]}
	for _, l := range p.Lines {
		p.Header = append(p.Header, l.Name)
	}
	for from := 0; from < len(p.Times); {
		name, to := p.Times[from].Format(of[1]), from+1
		for to < len(p.Times) && p.Times[to].Format(of[1]) == name {
			to++
		}
		row, known := chartRow{Name: name}, false
		for i := range p.Lines {
			text, some := p.Lines[i].among(from, to)
			row.Cells, known = append(row.Cells, text), known || some
		}
		part := Range{From: p.Times[from], To: p.Range.To, Zone: p.Range.Zone}
		if to < len(p.Times) {
			part.To = p.Times[to]
		}
		if row.Link = p.at(part); known {
			p.Rows = append(p.Rows, row)
		}
		from = to
	}
}

// among returns the hits in some steps, or the mean of the readings.
func (l *ChartLine) among(from, to int) (text string, known bool) {
	var f fold
	for i := from; i < to; i++ {
		switch {
		case i < len(l.Values):
			f.count(l.Values[i], time.Time{})
		case i < len(l.Readings):
			f.read(l.Readings[i])
		}
	}
	switch {
	case l.Kind == counter.Counter && f.cannotBeTold:
		return "over 2^63", true
	case l.Kind == counter.Counter && f.known:
		return count(f.n), true
	case f.reads > 0:
		return strconv.FormatFloat(float64(f.sum)/float64(f.reads), 'f', 1, 64), true
	default:
		return "–", false
	}
}
