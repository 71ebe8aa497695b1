// SPDX-License-Identifier: Apache-2.0

package console

import (
	"slices"
	"sync"
	"time"
)

// historySpan is the longest time span of the curve of the write rate, minSpan the shortest.
const (
	historySpan = 3 * time.Minute
	minSpan     = time.Minute
)

// rateSpan is the averaging time of a rate, because processes report their writes only once a second.
const rateSpan = 10 * time.Second

// Size of the box of the curve.
const (
	sparkWidth  = 180.0
	sparkHeight = 36.0
)

// History records the number of written records at each look and draws the rate between looks. Because it stores
// totals, a rate is exact over any time between two looks, and nothing runs while there are no viewers. It is safe for
// concurrent use. The zero value is empty.
type History struct {
	mu    sync.Mutex
	looks []look
}

type look struct {
	at      time.Time
	written int64
}

// Add records the total at a time, which must not decrease. Points too old for the curve are dropped. A smaller total
// belongs to another day, so the history starts again.
func (h *History) Add(at time.Time, written int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.looks); n > 0 {
		last := h.looks[n-1]
		if written < last.written {
			h.looks = h.looks[:0]
		} else if at.Sub(last.at) < time.Second/2 {
			return // two viewers within a second
		}
	}
	h.looks = append(h.looks, look{at, written})
	// Keep the newest point before the span: the first rate of the curve is measured from it.
	old := 0
	for old+1 < len(h.looks) && at.Sub(h.looks[old+1].at) >= historySpan {
		old++
	}
	h.looks = slices.Delete(h.looks, 0, old)
}

// Draw returns the curve of the rate as a step path, the newest value at the right, and its peak in records per second.
// The path is empty for fewer than two points.
func (h *History) Draw() (curve string, peak float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.looks)
	if n < 2 {
		return "", 0
	}
	for i := 1; i < n; i++ {
		peak = max(peak, h.rate(i))
	}
	scale, now := max(peak, 1), h.looks[n-1].at
	span := min(max(now.Sub(h.looks[0].at), minSpan), historySpan)
	x := func(t time.Time) float64 {
		return max(0, sparkWidth*(1-float64(now.Sub(t))/float64(span)))
	}
	var p outline
	for i := 1; i < n; i++ {
		y := 1 + (sparkHeight-2)*(1-h.rate(i)/scale)
		command := byte('L')
		if i == 1 {
			command = 'M'
		}
		p.at(command, x(h.looks[i-1].at), y)
		p.at('L', x(h.looks[i].at), y)
	}
	return string(p), peak
}

// Rate returns the current rate in records per second; known is false if the previous look is too old.
func (h *History) Rate() (perSecond float64, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := len(h.looks) - 1
	if last < 1 || h.looks[last].at.Sub(h.looks[last-1].at) > rateSpan {
		return 0, false
	}
	return h.rate(last), true
}

// rate returns the mean over rateSpan up to a look, or since the previous look if that is older.
func (h *History) rate(i int) float64 {
	from := i - 1
	for from > 0 && h.looks[i].at.Sub(h.looks[from-1].at) <= rateSpan {
		from--
	}
	a, b := h.looks[from], h.looks[i]
	seconds := b.at.Sub(a.at).Seconds()
	if seconds <= 0 {
		return 0
	}
	return float64(b.written-a.written) / seconds
}
