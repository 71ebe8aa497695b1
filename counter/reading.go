// SPDX-License-Identifier: Apache-2.0

package counter

// reading holds min, max, sum, count and last of a gauge over some time, all 0 if nothing was read.
type reading [Reading]int64

// join adds later readings. The error is ErrRange.
func (r *reading) join(later []int64) error {
	switch {
	case later[ReadingCount] == 0:
		return nil
	case r[ReadingCount] == 0:
		copy(r[:], later)
		return nil
	}
	sum := r[ReadingSum] + later[ReadingSum]
	if (sum < r[ReadingSum]) != (later[ReadingSum] < 0) {
		return ErrRange
	}
	r[ReadingMin] = min(r[ReadingMin], later[ReadingMin])
	r[ReadingMax] = max(r[ReadingMax], later[ReadingMax])
	r[ReadingSum], r[ReadingLast] = sum, later[ReadingLast]
	return plus(&r[ReadingCount], later[ReadingCount], nil)
}

// tell converts the reading for an answer.
func (r *reading) tell(unknown bool) Readings {
	switch {
	case unknown:
		return Readings{Null, Null, Null, Null, Null}
	case r[ReadingCount] == 0:
		return Readings{Null, Null, Null, 0, Null}
	}
	return Readings{Value(r[ReadingMin]), Value(r[ReadingMax]), Value(r[ReadingSum]), Value(r[ReadingCount]),
		Value(r[ReadingLast])}
}

func (r *reading) fold(values []int64) (err error) {
	for ; len(values) > 0 && err == nil; values = values[Reading:] {
		err = r.join(values[:Reading])
	}
	return err
}

// heldGauge is a day of a gauge: open buckets plus the compacted day.
type heldGauge struct {
	open      []int64     // of GaugeDays
	quarters  [96][]int64 // of GaugeQuarters
	compacted CompactedDay
	day       reading // of the compacted day
	packed    []int64 // its minutes or quarters
}

// fine reports whether the minutes of the open day are needed: for the steps, or because closed minutes lie
// between them.
func (h *heldGauge) fine(n *needs) bool {
	return h.open != nil && (n.level != NoDetail || h.compacted.Detail == Minutes)
}

// takeGauge joins a day to the steps.
func (l *line) takeGauge(p *plan, n *needs, h *heldGauge) (err error) {
	if h.compacted.Key != 0 {
		if h.day, err = dayReading(&h.compacted); err != nil {
			return err
		}
		if h.compacted.Detail != NoDetail && (!n.whole || h.fine(n)) {
			if h.packed, err = decodeDay(&h.compacted, Gauge); err != nil {
				return err
			}
		}
	}
	for s := range p.pieces(n) {
		kept, err := h.join(&l.readings[s.step], s.a, s.b)
		if err != nil {
			return err
		}
		if !kept {
			l.gone = max(l.gone, s.step+1)
		}
	}
	return nil
}

// join joins minutes [a, b) of the day to a step, and reports whether all of them are still kept.
func (h *heldGauge) join(to *reading, a, b int) (kept bool, err error) {
	if h.open != nil && h.compacted.Detail == Minutes {
		// The last reading is the one of the latest minute; within a minute, the open (later) one wins.
		for m := a; m < b && err == nil; m++ {
			if err = to.join(h.packed[m*Reading : (m+1)*Reading]); err == nil {
				err = to.join(h.minute(m))
			}
		}
		return true, err
	}
	kept = true
	switch {
	case h.compacted.Key == 0:
	case b-a == dayMinutes:
		err = to.join(h.day[:])
	case h.compacted.Detail == Minutes:
		err = to.fold(h.packed[a*Reading : b*Reading])
	case h.compacted.Detail == Quarters && a%15 == 0 && b%15 == 0:
		err = to.fold(h.packed[a/15*Reading : b/15*Reading])
	default:
		kept = false
	}
	switch {
	case h.open == nil || err != nil:
	case a%60 == 0 && b%60 == 0:
		if err = to.fold(h.open[a/60*Reading : b/60*Reading]); err == nil {
			h.last(to, a, b)
		}
	default:
		for m := a; m < b && err == nil; m++ {
			err = to.join(h.minute(m))
		}
	}
	return kept, err
}

var nothingRead [Reading]int64

func (h *heldGauge) minute(m int) []int64 {
	if q := h.quarters[m/15]; q != nil {
		return q[m%15*Reading : (m%15+1)*Reading]
	}
	return nothingRead[:]
}

// lastHour returns the latest hour of minutes [a, b) with a reading, -1 for none.
func (h *heldGauge) lastHour(a, b int) int {
	for hour := b/60 - 1; hour >= a/60; hour-- {
		if h.open[hour*Reading+ReadingCount] != 0 {
			return hour
		}
	}
	return -1
}

// last corrects the last reading. An hour stores the reading that arrived last; the answer has the reading of the
// latest minute.
func (h *heldGauge) last(of *reading, a, b int) {
	hour := h.lastHour(a, b)
	for m := hour*60 + 59; hour >= 0 && m >= hour*60; m-- {
		if v := h.minute(m); v[ReadingCount] != 0 {
			of[ReadingLast] = v[ReadingLast]
			return
		}
	}
}
