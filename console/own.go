// SPDX-License-Identifier: Apache-2.0

package console

import (
	"sort"
	"strings"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/counter"
)

// own are the metrics that Locus counts itself by, in the order of the first screen.
var own = []counter.Metric{
	locus.OwnMetrics + "records", locus.OwnMetrics + "merges", locus.OwnMetrics + "splits", locus.OwnMetrics + "hits", locus.OwnMetrics + "errors",
}

// Hits is the one whose day is drawn on the first screen.
const Hits counter.Metric = locus.OwnMetrics + "hits"

// ownLine is a line of the table of what Locus has counted of itself.
type ownLine struct{ Name, Slot, Link string }

func ownLines() []ownLine {
	lines := make([]ownLine, len(own))
	for i, m := range own {
		name := strings.TrimPrefix(string(m), locus.OwnMetrics)
		lines[i] = ownLine{capital(name), "own." + name, metricLink(m, "")}
	}
	return lines
}

// withHits ends the name of a page that has a picture of hits.
const withHits = "/hits"

// addOwn fills the slots of what Locus has counted of itself: in the last whole minute, and today. What is not known
// is not none.
func (l *Live) addOwn(s *counter.Series, now time.Time) {
	l.Minute = minute(now)
	if s == nil {
		s = new(counter.Series)
	}
	unknown := "0" // of those that were never counted
	if len(s.Lines) == 0 {
		unknown = "–"
	}
	for _, line := range ownLines() {
		l.Text[line.Slot], l.Text[line.Slot+".today"] = unknown, unknown
	}
	last := sort.Search(len(s.Times), func(i int) bool { return s.Times[i].Add(time.Minute).After(s.Complete) }) - 1
	for i := range s.Lines {
		of := &s.Lines[i]
		slot := "own." + strings.TrimPrefix(string(of.Metric), locus.OwnMetrics)
		if _, ours := l.Text[slot]; !ours || len(of.Values) != len(s.Times) {
			continue
		}
		if of.Metric == Hits {
			l.Page += withHits
		}
		if of.Total != counter.Null {
			l.Text[slot+".today"] = count(int64(of.Total))
		}
		if last < 0 { // the day has just begun
			continue
		}
		if l.Text[slot] = "0"; of.Values[last] != counter.Null {
			l.Text[slot] = count(int64(of.Values[last]))
		}
	}
	l.Text["hits"], l.Text["hits.today"] = l.Text["own.hits"], l.Text["own.hits.today"]+" today"
}
