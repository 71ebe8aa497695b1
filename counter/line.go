// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"iter"
	"math"
	"time"
)

const dayMinutes = 24 * 60

// plan describes how to answer a query: the steps, and what they need from each day.
type plan struct {
	edges []Minute // step i is [edges[i], edges[i+1])
	days  []needs  // all days of the steps, consecutive
	now   Minute
}

// needs lists the data that the steps need from a day in UTC.
type needs struct {
	day   int64
	step  int    // the step of the first minute
	a, b  int    // the minutes of the day in the range
	whole bool   // no step begins or ends within the day
	level Detail // NoDetail if hours suffice, otherwise quarters or minutes
}

func newPlan(edges []Minute, now time.Time) *plan {
	p := &plan{edges: edges, now: MinuteOf(now)}
	lo, hi := edges[0], edges[len(edges)-1]
	step := 0
	for day := lo.Day(); day*dayMinutes < int64(hi); day++ {
		n := needs{day: day, step: step, a: clip(lo, day), b: clip(hi, day), whole: true}
		for s := range p.pieces(&n) {
			step = s.step
			n.whole = n.whole && s.b-s.a == dayMinutes
			for _, m := range [2]int{s.a, s.b} {
				switch {
				case m%15 != 0:
					n.level = Minutes
				case m%60 != 0:
					n.level = max(n.level, Quarters)
				}
			}
		}
		if int64(edges[step+1]) == (day+1)*dayMinutes {
			step++
		}
		p.days = append(p.days, n)
	}
	return p
}

// clip converts a minute to a minute of the day, clipped to the day's bounds.
func clip(m Minute, day int64) int {
	return int(min(max(int64(m)-day*dayMinutes, 0), dayMinutes))
}

// piece is a step's share of a day: minutes [a, b).
type piece struct{ step, a, b int }

func (p *plan) pieces(n *needs) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		for s := (piece{n.step, n.a, n.a}); s.b < n.b; s.step++ {
			s.a, s.b = s.b, clip(p.edges[s.step+1], n.day)
			if !yield(s) {
				return
			}
		}
	}
}

// line collects the values of one metric.
type line struct {
	meta     Meta
	sums     []int64
	readings []reading
	total    int64
	partly   bool // the total is unknown: details of a partial day at one end were dropped
	gone     int  // number of steps at the start whose details were dropped
}

func (p *plan) line(m Meta) *line {
	l := &line{meta: m}
	if n := len(p.edges) - 1; m.Kind == Gauge {
		l.readings = make([]reading, n)
	} else {
		l.sums = make([]int64, n)
	}
	return l
}

// held is a day of a counter: open buckets plus the compacted day.
type held struct {
	open      []int64     // of Days
	hours     [24][]int64 // of Hours
	compacted CompactedDay
	packed    []int64 // its minutes or quarters
}

// take adds a day to the steps and the total, each at the coarsest level that suffices.
func (l *line) take(p *plan, n *needs, h *held) error {
	if h.open == nil && h.compacted.Key == 0 {
		return nil
	}
	if !n.whole && h.compacted.Detail != NoDetail {
		var err error
		if h.packed, err = decodeDay(&h.compacted, Counter); err != nil {
			return err
		}
	}
	for s := range p.pieces(n) {
		v, kept, err := h.sum(s.a, s.b)
		if err = plus(&l.sums[s.step], v, err); err != nil {
			return err
		}
		if !kept {
			l.gone = max(l.gone, s.step+1)
		}
	}
	v, kept, err := h.sum(n.a, n.b)
	l.partly = l.partly || !kept
	return plus(&l.total, v, err)
}

// sum returns the sum of minutes [a, b) of the day, and whether they are still kept.
func (h *held) sum(a, b int) (n int64, kept bool, err error) {
	add := func(values []int64) {
		for _, v := range values {
			err = plus(&n, v, err)
		}
	}
	whole := b-a == dayMinutes
	if h.open != nil {
		switch {
		case whole:
			err = plus(&n, h.open[DayTotal], err)
		case a%60 == 0 && b%60 == 0:
			for hour := a / 60; hour < b/60; hour++ {
				err = plus(&n, h.open[DayHour(hour)], err)
			}
		case a%15 == 0 && b%15 == 0:
			for quarter := a / 15; quarter < b/15; quarter++ {
				err = plus(&n, h.open[DayQuarter(quarter)], err)
			}
		default:
			for m := a; m < b; m++ {
				if minutes := h.hours[m/60]; minutes != nil {
					err = plus(&n, minutes[m%60], err)
				}
			}
		}
	}
	switch {
	case h.compacted.Key == 0:
	case whole:
		err = plus(&n, h.compacted.N, err)
	case h.compacted.Detail == Minutes:
		add(h.packed[a:b])
	case h.compacted.Detail == Quarters && a%15 == 0 && b%15 == 0:
		add(h.packed[a/15 : b/15])
	default:
		return 0, false, err
	}
	return n, true, err
}

// plus adds a non-negative number, and passes on an error.
func plus(to *int64, v int64, err error) error {
	if err == nil && v > math.MaxInt64-*to {
		err = ErrRange
	}
	if err == nil {
		*to += v
	}
	return err
}

// answer converts the values read into the answer.
func (l *line) answer(p *plan, zone *time.Location) Line {
	m := l.meta
	first := m.First * dayMinutes
	out := Line{Metric: m.Name, Kind: m.Kind, Since: Minute(first).Time().In(zone), Total: Value(l.total)}
	if l.gone > 0 {
		out.Kept = p.edges[l.gone].Time().In(zone)
	}
	n := len(p.edges) - 1
	// Values counted ahead of the clock are included: they are in the day, too.
	null := func(i int, nothing bool) bool {
		return i < l.gone || int64(p.edges[i+1]) <= first || nothing && p.edges[i] > p.now
	}
	if m.Kind == Gauge {
		out.Total = Null
		out.Readings = make([]Readings, n)
		for i := range n {
			out.Readings[i] = l.readings[i].tell(null(i, l.readings[i][ReadingCount] == 0))
		}
		return out
	}
	if l.partly || int64(p.edges[n]) <= first || l.total == 0 && p.edges[0] > p.now {
		out.Total = Null
	}
	out.Values = make([]Value, n)
	for i := range n {
		if out.Values[i] = Value(l.sums[i]); null(i, l.sums[i] == 0) {
			out.Values[i] = Null
		}
	}
	return out
}
