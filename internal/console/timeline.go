// SPDX-License-Identifier: Apache-2.0

package console

import (
	"strconv"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/locality"
)

const (
	timeWide   = 640
	timeHigh   = 110
	timeMargin = 24
)

// timeline is a picture of an entity's history: how many records it had, over time, with a point for each change. The
// table below it has the same content.
type timeline struct {
	Path     string
	Points   []timePoint
	From, To stamp
	Most     int // records
}

// timePoint is a change, and where its row is.
type timePoint struct {
	X, Y    int
	Row     string
	Label   string
	Decided bool
}

// newTimeline draws the latest changes of an entity, without those of single records; nil if there are fewer than two.
func newTimeline(all []changes.Change, own locality.ID) *timeline {
	var of []changes.Change
	var rows []string
	for i, c := range all {
		if c.Kind.OfRecord() || c.Entity != own || c.Kind == changelog.Retired {
			continue
		}
		row := "history" // the table does not have it
		if n := len(all) - 1 - i; n < maxEvents {
			row = "event-" + strconv.Itoa(n)
		}
		of, rows = append(of, c), append(rows, row)
	}
	of, rows = of[max(0, len(of)-maxEvents):], rows[max(0, len(rows)-maxEvents):]
	if len(of) < 2 {
		return nil
	}
	from, to := of[0].Time, of[len(of)-1].Time
	t := &timeline{From: stamp(from), To: stamp(to)}
	for _, c := range of {
		t.Most = max(t.Most, len(c.After), len(c.Before))
	}
	span := max(to.Sub(from), time.Millisecond)
	y := func(records int) int {
		return timeHigh - timeMargin - records*(timeHigh-2*timeMargin)/max(t.Most, 1)
	}
	for i, c := range of {
		// A half by time, a half by order: changes of one moment stay apart.
		share := float64(c.Time.Sub(from))/float64(span)/2 + float64(i)/float64(len(of)-1)/2
		x := timeMargin + int(share*(timeWide-2*timeMargin))
		if i == 0 {
			t.Path = "M" + point(x, y(len(c.Before)))
		} else {
			t.Path += "H" + strconv.Itoa(x)
		}
		t.Path += "V" + strconv.Itoa(y(len(c.After)))
		t.Points = append(t.Points, timePoint{
			Row: rows[i], X: x, Y: y(len(c.After)), Decided: c.Cause == changelog.CauseDecision,
			Label: happened[c.Kind] + ", " + counted(int64(len(c.After)), "record") + ", " + moment(c.Time),
		})
	}
	return t
}

// Wide returns the width of the picture.
func (*timeline) Wide() int { return timeWide }

// High returns its height.
func (*timeline) High() int { return timeHigh }
