// SPDX-License-Identifier: Apache-2.0

package console

import (
	"sort"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/counter"
)

// own lists the self-metrics in the order of the operations page. They count events; the tiles beside them show current
// totals.
var own = []struct {
	Metric counter.Metric
	Name   string
}{
	{Received, "Records received"}, {locus.OwnMetrics + "merges", "Entities merged"},
	{locus.OwnMetrics + "splits", "Entities split"},
	{Hits, "Hits counted"}, {locus.OwnMetrics + "errors", "Failed responses"},
}

const (
	// Hits is the metric drawn on the operations page.
	Hits counter.Metric = locus.OwnMetrics + "hits"
	// Received is the metric of the write rate.
	Received counter.Metric = locus.OwnMetrics + "records"
)

// ownLine is a row of the table of self-metrics.
type ownLine struct{ Name, Slot, Link string }

func ownLines() []ownLine {
	lines := make([]ownLine, len(own))
	for i, o := range own {
		lines[i] = ownLine{o.Name, ownSlot(o.Metric), metricLink(o.Metric, "")}
	}
	return lines
}

// ownSlot returns the slot for the last minute of a metric; the slot for today has the suffix ".today".
func ownSlot(m counter.Metric) string {
	return "own." + strings.TrimPrefix(string(m), locus.OwnMetrics)
}

// withHits is the suffix of Page for a page with a picture of hits.
const withHits = "/hits"

// addOwn fills the slots of the self-metrics: the last whole minute, and today. Unreadable values are unknown, not
// zero.
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
	if last, _ := ownOf(s.Own, Received); !measured && last >= 0 { // no recent look
		perSecond, measured = float64(last)/60, true
	}
	if l.Text["rate"] = "–"; measured {
		l.Text["rate"] = rate(perSecond)
	}
}

// Total returns today's count of a self-metric; known is false if it cannot be read.
func Total(s *counter.Series, m counter.Metric) (total int64, known bool) {
	_, total = ownOf(s, m)
	return total, total >= 0
}

// ownOf returns the count of a metric in the last whole minute, and today; -1 if unknown.
func ownOf(s *counter.Series, m counter.Metric) (last, today int64) {
	if s == nil {
		return -1, -1
	}
	line := lineOf(s, m)
	if line == nil {
		return 0, 0 // nothing counted yet
	}
	if line.Total != counter.Null {
		today = int64(line.Total)
	}
	// In the first minute of a day no minute is whole yet.
	whole := sort.Search(len(s.Times), func(i int) bool { return s.Times[i].Add(time.Minute).After(s.Complete) })
	if whole == 0 {
		return -1, today
	}
	if v := line.Values[whole-1]; v != counter.Null {
		last = int64(v)
	}
	return last, today
}

// lineOf returns the line of a metric, nil if there is none.
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

// orDash formats a number, with a dash for -1 (unknown).
func orDash(n int64) string {
	if n < 0 {
		return "–"
	}
	return count(n)
}
