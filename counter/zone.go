// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"fmt"
	"math"
	"time"

	"github.com/locus-db/locus/internal/problem"
)

// cut returns the edges of the steps that begin in [from, to), the first one rounded down to the start of its
// step: step i is [edges[i], edges[i+1]). The error is ErrRange if there are more than maxPoints.
func cut(from, to time.Time, step Step, zone *time.Location) ([]Minute, error) {
	// The last minute before to.
	last := MinuteOf(to.Add(-1))
	if step == ByMinute || zone == time.UTC {
		width := map[Step]int64{ByMinute: 1, ByHour: 60, ByDay: 24 * 60}[step]
		at := Minute(floorDiv(int64(MinuteOf(from)), width) * width)
		n := floorDiv(int64(last-at), width) + 1
		if n > maxPoints {
			return nil, errPoints(n)
		}
		edges := make([]Minute, n+1)
		for i := range edges {
			edges[i] = at + Minute(int64(i)*width)
		}
		return edges, nil
	}
	var at, next int64 // seconds
	var after func(int64) int64
	if z := (clock{zone: zone}); step == ByHour {
		at, after = z.hour(from.Unix()), z.nextHour
	} else {
		day := z.day(from.Unix())
		at, after = z.begin(day), func(now int64) int64 {
			// A day that the zone skipped, as Apia did in 2011, has no step.
			for day++; z.begin(day) <= now; day++ {
			}
			return z.begin(day)
		}
	}
	var edges []Minute
	for ; ; at = next {
		if floorDiv(at, 60)*60 != at {
			t := time.Unix(at, 0).In(zone)
			return nil, invalid("step", fmt.Sprintf("in %d clocks of %s did not show full minutes", t.Year(), zone))
		}
		edges = append(edges, Minute(floorDiv(at, 60)))
		if edges[len(edges)-1] > last {
			return edges, nil
		}
		if len(edges) > maxPoints {
			return nil, errPoints(int64(len(edges)))
		}
		next = after(at)
	}
}

func errPoints(n int64) error {
	return fmt.Errorf("%w: %d values or more, %d are the most", ErrRange, n, maxPoints)
}

func invalid(field, detail string) error { return problem.Invalid("/"+field, "invalid", "%s", detail) }

// clock finds the starts of local hours and days. All times are in seconds since 1970.
//
// A local day begins when the local date first becomes that date or a later one: a clock that goes back over
// midnight does not begin a day twice. A local hour begins when the clock shows :00, and at every clock change,
// so no hour is longer than 60 minutes.
type clock struct {
	zone *time.Location
	p    period // cached: the last one requested
}

// period is a time range without a change of the UTC offset.
type period struct{ from, to, offset int64 }

func (c *clock) period(at int64) period {
	if c.p.from <= at && at < c.p.to {
		return c.p
	}
	offset := func(t time.Time) int64 {
		_, s := t.Zone()
		return int64(s)
	}
	t := time.Unix(at, 0).In(c.zone)
	c.p = period{math.MinInt64, math.MaxInt64, offset(t)}
	// Zone names also change without the offset.
	for from, _ := t.ZoneBounds(); !from.IsZero(); from, _ = from.Add(-1).ZoneBounds() {
		if offset(from.Add(-1)) != c.p.offset {
			c.p.from = from.Unix()
			break
		}
	}
	for now := t; ; {
		_, to := now.ZoneBounds()
		if to.IsZero() {
			break
		}
		if !to.After(now) {
			// On the last day of a leap year beyond the zone's table, package time returns an end on the previous
			// day.
			to = now.Add(24 * time.Hour)
		}
		if offset(to) != c.p.offset {
			c.p.to = to.Unix()
			break
		}
		now = to
	}
	return c.p
}

// hour returns the start of the local hour that contains a time.
func (c *clock) hour(at int64) int64 {
	p := c.period(at)
	return max(p.from, floorDiv(at+p.offset, 3600)*3600-p.offset)
}

func (c *clock) nextHour(at int64) int64 {
	p := c.period(at)
	return min(p.to, floorDiv(at+p.offset, 3600)*3600-p.offset+3600)
}

const daySeconds = 24 * 3600

// day returns the local day since 1970 that contains a time.
func (c *clock) day(at int64) int64 {
	day := floorDiv(at+c.period(at).offset, daySeconds)
	for c.begin(day+1) <= at {
		day++
	}
	return day
}

// begin returns the start of a local day, or of the next one if it was skipped.
func (c *clock) begin(day int64) int64 {
	midnight := day * daySeconds
	for p := c.period(midnight - 26*3600); ; p = c.period(p.to) {
		if at := max(p.from, midnight-p.offset); at < p.to {
			return at
		}
	}
}
