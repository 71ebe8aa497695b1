// SPDX-License-Identifier: Apache-2.0

package console

import (
	"sort"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/counter"
)

// own are the metrics that Locus counts itself by, in the order of the first screen, and what they count: the tiles
// beside them say what there is, which is not the same.
var own = []struct {
	Metric counter.Metric
	Name   string
}{
	{Received, "Records received"}, {locus.OwnMetrics + "merges", "Entities merged"}, {locus.OwnMetrics + "splits", "Entities split"},
	{Hits, "Hits counted"}, {locus.OwnMetrics + "errors", "Answers that failed"},
}

const (
	// Hits is the one whose day is drawn on the first screen.
	Hits counter.Metric = locus.OwnMetrics + "hits"
	// Received is the one whose rate is.
	Received counter.Metric = locus.OwnMetrics + "records"
)

// ownLine is a line of the table of what Locus has counted of itself.
type ownLine struct{ Name, Slot, Link string }

func ownLines() []ownLine {
	lines := make([]ownLine, len(own))
	for i, o := range own {
		lines[i] = ownLine{o.Name, ownSlot(o.Metric), metricLink(o.Metric, "")}
	}
	return lines
}

// ownSlot is the slot of the last minute of a metric; that of today has ".today" behind it.
func ownSlot(m counter.Metric) string {
	return "own." + strings.TrimPrefix(string(m), locus.OwnMetrics)
}

// withHits ends the name of a page that has a picture of hits.
const withHits = "/hits"

// addOwn fills the slots of what Locus has counted of itself: in the last whole minute, and today. What cannot be read
// is not none.
func (l *Live) addOwn(s Snapshot) {
	l.Minute = minute(s.Time)
	for _, o := range own {
		last, today := ownOf(s.Own, o.Metric)
		slot := ownSlot(o.Metric)
		l.Text[slot], l.Text[slot+".today"] = orDash(last), orDash(today)
		if o.Metric == Hits && lineOf(s.Own, o.Metric) != nil {
			l.Page += withHits
		}
	}
	l.Text["hits"], l.Text["hits.today"] = l.Text["own.hits"], l.Text["own.hits.today"]+" today"
	perSecond, measured := s.History.Rate()
	if last, _ := ownOf(s.Own, Received); !measured && last >= 0 { // it was not looked at just before
		perSecond, measured = float64(last)/60, true
	}
	if l.Text["rate"] = "–"; measured {
		l.Text["rate"] = rate(perSecond)
	}
}

// Total returns how much was counted today of a metric of Locus's own; known is false if that cannot be read.
func Total(s *counter.Series, m counter.Metric) (total int64, known bool) {
	_, total = ownOf(s, m)
	return total, total >= 0
}

// ownOf returns what was counted of a metric in the last whole minute, and today; -1 if that is not known.
func ownOf(s *counter.Series, m counter.Metric) (last, today int64) {
	if s == nil {
		return -1, -1
	}
	line := lineOf(s, m)
	if line == nil {
		return 0, 0 // nothing ever was
	}
	if line.Total != counter.Null {
		today = int64(line.Total)
	}
	// Before the first minute of the day is over, none of its minutes is whole.
	whole := sort.Search(len(s.Times), func(i int) bool { return s.Times[i].Add(time.Minute).After(s.Complete) })
	if whole == 0 {
		return -1, today
	}
	if v := line.Values[whole-1]; v != counter.Null {
		last = int64(v)
	}
	return last, today
}

// lineOf is the line of a metric, nil if there is none.
func lineOf(s *counter.Series, m counter.Metric) *counter.Line {
	if s == nil {
		return nil
	}
	for i := range s.Lines {
		if of := &s.Lines[i]; of.Metric == m && len(of.Values) == len(s.Times) {
			return of
		}
	}
	return nil
}

// orDash writes a number, and a dash for -1, which stands for one that is not known.
func orDash(n int64) string {
	if n < 0 {
		return "–"
	}
	return count(n)
}
