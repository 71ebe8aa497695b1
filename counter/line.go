// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"iter"
	"math"
	"time"
)

const dayMinutes = 24 * 60

// plan is how a query is answered: the steps, and what they need of each day.
type plan struct {
	edges []Minute // step i is [edges[i], edges[i+1])
	days  []needs  // one after the other, all that the steps lie in
	now   Minute
}

// needs is what the steps need of a day in UTC.
type needs struct {
	day   int64
	step  int    // the one that the first minute lies in
	a, b  int    // the minutes of the day that are in the range
	whole bool   // no step begins or ends within the day
	level Detail // NoDetail if hours can tell, else quarters or minutes
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

// clip is the minute of a day that a minute is, or the end of the day that is nearer.
func clip(m Minute, day int64) int {
	return int(min(max(int64(m)-day*dayMinutes, 0), dayMinutes))
}

// piece is what a step has of a day: minutes [a, b).
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

// line is what is read of one metric.
type line struct {
	meta     Meta
	sums     []int64
	readings []reading
	total    int64
	partly   bool // the total is not known: a part of a day at one end is not kept
	gone     int  // how many steps at the begin are not kept
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

// held is what a day of a counter holds: open spans and what was packed, always both added up.
type held struct {
	open   []int64     // of Days
	hours  [24][]int64 // of Hours
	closed ClosedDay
	packed []int64 // its minutes, or its quarters
}

// take adds what a day holds to the steps and to the total, each at the coarsest level that can tell.
func (l *line) take(p *plan, n *needs, h *held) error {
	if h.open == nil && h.closed.Key == 0 {
		return nil
	}
	if !n.whole && h.closed.Detail != NoDetail {
		var err error
		if h.packed, err = unpackDay(&h.closed, Counter); err != nil {
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

// sum is what minutes [a, b) of the day hold, and whether that is still known.
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
	case h.closed.Key == 0:
	case whole:
		err = plus(&n, h.closed.N, err)
	case h.closed.Detail == Minutes:
		add(h.packed[a:b])
	case h.closed.Detail == Quarters && a%15 == 0 && b%15 == 0:
		add(h.packed[a/15 : b/15])
	default:
		return 0, false, err
	}
	return n, true, err
}

// plus adds what is never negative, and carries an error on.
func plus(to *int64, v int64, err error) error {
	if err == nil && v > math.MaxInt64-*to {
		err = ErrRange
	}
	if err == nil {
		*to += v
	}
	return err
}

// answer turns what was read into what is told.
func (l *line) answer(p *plan, zone *time.Location) Line {
	m := l.meta
	first := m.First * dayMinutes
	out := Line{Metric: m.Name, Kind: m.Kind, Since: Minute(first).Time().In(zone), Total: Value(l.total)}
	if l.gone > 0 {
		out.Kept = p.edges[l.gone].Time().In(zone)
	}
	n := len(p.edges) - 1
	// What is counted ahead of the clock is told: it is in the day, too.
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
