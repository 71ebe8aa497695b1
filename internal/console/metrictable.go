// SPDX-License-Identifier: Apache-2.0

package console

import (
	"strconv"
	"time"

	"github.com/locus-db/locus/counter"
)

// fold is a row of a view's table: an hour of the day, a day of the month, or a month of the year.
type fold struct {
	name         string
	known        bool
	n, peak      int64
	peakAt       time.Time
	min, max     int64
	sum, reads   int64
	last         int64
	cannotBeTold bool // the sum would exceed 2^63 - 1
}

// tables describes the table of each view: its title, the name of its rows, and the time formats of a row and of its
// peak.
var tables = map[View]struct{ title, rows, row, at string }{
	DayView:   {"2006-01-02", "Hour", "15:00", "15:04"},
	MonthView: {"January 2006", "Day", "2006-01-02", "15:00"},
	YearView:  {"2006", "Month", "January", "2006-01-02"},
}

// table fills the table of a view. Rows without any known value are left out.
func (p *panel) table(s *counter.Series, l *counter.Line) {
	of := tables[p.View]
	var folds []fold
	for i, at := range s.Times {
		name := at.Format(of.row)
		if len(folds) == 0 || folds[len(folds)-1].name != name {
			folds = append(folds, fold{name: name})
		}
		f := &folds[len(folds)-1]
		if l.Kind == counter.Gauge {
			f.read(l.Readings[i])
		} else {
			f.count(l.Values[i], at)
		}
	}
	p.Header = []string{of.rows, "Hits", "Highest " + p.By, "At"}
	if l.Kind == counter.Gauge {
		p.Header = []string{of.rows, "Lowest", "Highest", "Mean", "Last", "Readings"}
	}
	for i := range folds {
		if f := &folds[i]; f.known {
			p.Rows = append(p.Rows, f.row(l.Kind, of.at))
		}
	}
}

func (f *fold) count(v counter.Value, at time.Time) {
	if v == counter.Null {
		return
	}
	f.known = true
	f.cannotBeTold = f.cannotBeTold || f.n+int64(v) < f.n
	f.n += int64(v)
	if int64(v) > f.peak {
		f.peak, f.peakAt = int64(v), at
	}
}

func (f *fold) read(r counter.Readings) {
	if r.Count == counter.Null {
		return
	}
	if f.known = true; r.Count == 0 {
		return
	}
	if f.reads == 0 {
		f.min, f.max = int64(r.Min), int64(r.Max)
	}
	f.min, f.max, f.last = min(f.min, int64(r.Min)), max(f.max, int64(r.Max)), int64(r.Last)
	f.sum, f.reads = f.sum+int64(r.Sum), f.reads+int64(r.Count)
}

func (f *fold) row(kind counter.Kind, at string) []string {
	if kind == counter.Gauge {
		if f.reads == 0 {
			return []string{f.name, "–", "–", "–", "–", "0"}
		}
		mean := strconv.FormatFloat(float64(f.sum)/float64(f.reads), 'f', 1, 64)
		return []string{f.name, count(f.min), count(f.max), mean, count(f.last), count(f.reads)}
	}
	n := count(f.n)
	if f.cannotBeTold {
		n = "over 2^63"
	}
	if f.peak == 0 {
		return []string{f.name, n, "–", "–"}
	}
	return []string{f.name, n, count(f.peak), f.peakAt.UTC().Format(at)}
}
