// SPDX-License-Identifier: Apache-2.0

package console

import (
	"slices"
	"sync"
	"time"
)

// historySpan is how far back the curve of the writing rate reaches at most, and minSpan at least.
const (
	historySpan = 3 * time.Minute
	minSpan     = time.Minute
)

// rateSpan is what a rate is a mean over, since processes say only once a second what they have written.
const rateSpan = 10 * time.Second

// The curve is drawn in a box of these units.
const (
	sparkWidth  = 180.0
	sparkHeight = 36.0
)

// History remembers how many records had been written when somebody looked, and draws the rate
// between the looks. Because it keeps totals, a rate is exact over any time between two looks, and
// nothing has to run while nobody looks. It is safe for many goroutines. The zero value remembers
// nothing.
type History struct {
	mu    sync.Mutex
	looks []look
}

type look struct {
	at      time.Time
	written int64
}

// Add remembers that so many records had been written at a time, which must not fall. What is too
// old to be drawn is forgotten. A total that fell is that of another day: the history begins again.
func (h *History) Add(at time.Time, written int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.looks); n > 0 {
		last := h.looks[n-1]
		if written < last.written {
			h.looks = h.looks[:0]
		} else if at.Sub(last.at) < time.Second/2 {
			return // two viewers in the same second
		}
	}
	h.looks = append(h.looks, look{at, written})
	// The newest look before the span stays: the first rate on the picture is measured from it.
	old := 0
	for old+1 < len(h.looks) && at.Sub(h.looks[old+1].at) >= historySpan {
		old++
	}
	h.looks = slices.Delete(h.looks, 0, old)
}

// Draw answers with the curve of the rate as a path of steps, newest at the right edge, and its peak
// in records per second. The path is empty while there are fewer than two looks.
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

// Rate returns the rate in records per second now; known is false if the look before the last was too long ago.
func (h *History) Rate() (perSecond float64, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := len(h.looks) - 1
	if last < 1 || h.looks[last].at.Sub(h.looks[last-1].at) > rateSpan {
		return 0, false
	}
	return h.rate(last), true
}

// rate is the mean over rateSpan up to a look, or since the look before if that is longer ago.
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
