// SPDX-License-Identifier: Apache-2.0

package console

import (
	"math"
	"time"

	"github.com/locus-db/locus/counter"
)

// Range is the range of a chart: the steps that begin in [From, To).
type Range struct {
	From, To time.Time
	Step     counter.Step
	Zone     *time.Location
}

// The longest ranges by minute and by hour, if no step is requested.
const (
	longestByMinute = 48 * time.Hour
	longestByHour   = 92 * 24 * time.Hour
)

// StepFor returns the step for a range of a length.
func StepFor(length time.Duration) counter.Step {
	switch {
	case length <= longestByMinute:
		return counter.ByMinute
	case length <= longestByHour:
		return counter.ByHour
	default:
		return counter.ByDay
	}
}

// localTime is how the field of a form writes a time, without a zone.
const localTime = "2006-01-02T15:04"

// field returns a time for the field of a form.
func (r Range) field(t time.Time) string { return t.In(r.Zone).Format(localTime) }

// text returns a time for a URL: a day, or a time of the zone, or an instant if the zone has that time twice.
func (r Range) text(t time.Time) string {
	at := t.In(r.Zone)
	form := localTime
	if r.midnight(t) {
		form = time.DateOnly
	}
	if back, err := time.ParseInLocation(form, at.Format(form), r.Zone); err != nil || !back.Equal(t) {
		return t.UTC().Format(time.RFC3339)
	}
	return at.Format(form)
}

// from returns a time for a command: a day, or an instant.
func (r Range) from(t time.Time) string {
	if r.midnight(t) {
		return t.In(r.Zone).Format(time.DateOnly)
	}
	return t.UTC().Format(time.RFC3339)
}

func (r Range) midnight(t time.Time) bool {
	hour, minute, second := t.In(r.Zone).Clock()
	return hour == 0 && minute == 0 && second == 0
}

// shift moves the range by its own length, n times. A range of whole days still covers whole days when the clocks
// change.
func (r Range) shift(n int) Range {
	length := r.To.Sub(r.From)
	if r.midnight(r.From) && r.midnight(r.To) {
		days := n * int(math.Round(length.Hours()/24))
		r.From, r.To = r.From.In(r.Zone).AddDate(0, 0, days), r.To.In(r.Zone).AddDate(0, 0, days)
		return r
	}
	r.From, r.To = r.From.Add(time.Duration(n)*length), r.To.Add(time.Duration(n)*length)
	return r
}

// Past returns the period before.
func (r Range) Past() Range { return r.shift(-1) }

// zoom is another range that a page leads to.
type zoom struct {
	Name  string
	Range Range
	Here  bool
}

// shortest is the shortest range that is zoomed into.
const shortest = 10 * time.Minute

// zooms are the ranges that a chart links to: its neighbours, a part of it and a longer range, and the latest of some
// lengths.
func (r Range) zooms(now time.Time) (list []zoom) {
	length := r.To.Sub(r.From)
	add := func(name string, from, to time.Time) {
		other := Range{From: from.Truncate(time.Minute), To: to.Truncate(time.Minute), Zone: r.Zone}
		list = append(list, zoom{name, other, other.From.Equal(r.From) && other.To.Equal(r.To)})
	}
	before, after := r.shift(-1), r.shift(1)
	add("Earlier", before.From, before.To)
	if after.From.Before(now) {
		add("Later", after.From, after.To)
	}
	if length >= 2*shortest {
		add("Zoom in", r.From.Add(length/4), r.To.Add(-length/4))
	}
	if r.From.Year() > 2000 {
		add("Zoom out", r.From.Add(-length/2), r.To.Add(length/2))
	}
	year, month, day := now.In(r.Zone).Date()
	tomorrow := time.Date(year, month, day+1, 0, 0, 0, 0, r.Zone)
	hour := now.Truncate(time.Minute).Add(time.Minute)
	add("Last hour", hour.Add(-time.Hour), hour)
	for _, of := range []struct {
		name string
		days int
	}{{"Today", 1}, {"7 days", 7}, {"30 days", 30}, {"A year", 365}} {
		add(of.name, tomorrow.AddDate(0, 0, -of.days), tomorrow)
	}
	return list
}
