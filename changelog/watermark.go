// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/problem"
)

// Watermark is a position in the logs of several cells and stands for everything up to it. Cells that it does not name
// do not matter. Its text form is g0-0:17,g0-3:4, in the order of the cells.
type Watermark map[cell.ID]Seq

// String returns the text form, "" for none.
func (w Watermark) String() string {
	var b []byte
	for _, id := range slices.SortedFunc(maps.Keys(w), cell.ID.Compare) {
		if len(b) > 0 {
			b = append(b, ',')
		}
		b, _ = id.AppendText(b)
		b = strconv.AppendInt(append(b, ':'), int64(w[id]), 10)
	}
	return string(b)
}

// MarshalText returns the text form; the error is always nil.
func (w Watermark) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText parses with ParseWatermark.
func (w *Watermark) UnmarshalText(text []byte) error {
	parsed, err := ParseWatermark(string(text))
	if err == nil {
		*w = parsed
	}
	return err
}

// ParseWatermark parses the text form, with the cells in any order. The error is a *locus.InvalidError.
func ParseWatermark(text string) (Watermark, error) {
	w := Watermark{}
	if text == "" {
		return w, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(part, ":")
		id, err := cell.ParseID(name)
		seq, numeric := strconv.ParseInt(number, 10, 64)
		_, twice := w[id]
		if err != nil || numeric != nil || seq < 0 || strconv.FormatInt(seq, 10) != number || twice {
			return nil, problem.Invalid("/watermark", "invalid",
				"want cells with positions such as g0-0:17,g0-3:4, each cell once, not %.40q", part)
		}
		w[id] = Seq(seq)
	}
	return w, nil
}

// Union returns the lowest watermark that contains both.
func (w Watermark) Union(v Watermark) Watermark {
	u := maps.Clone(w)
	if u == nil {
		u = Watermark{}
	}
	for id, seq := range v {
		u[id] = max(u[id], seq)
	}
	return u
}

// Contains reports whether everything up to v is in w.
func (w Watermark) Contains(v Watermark) bool {
	for id, seq := range v {
		if at, ok := w[id]; !ok || cmp.Less(at, seq) {
			return false
		}
	}
	return true
}

// CheckReached returns ErrTrimmed if the log, as far as it goes back, was never at a position. Such a position
// belongs to a history lost in a restore, after which different changes followed. A restored cell skips these
// positions, so there is no change at one of them, and none directly after it.
func CheckReached(ctx context.Context, log Store, at Seq) error {
	bounds, err := log.Bounds(ctx)
	if err != nil || at <= bounds.Trimmed || at == bounds.Last {
		return err
	}
	if at > bounds.Last {
		return fmt.Errorf("%w: the log ends at %d, and the place asked for is %d", ErrTrimmed, bounds.Last, at)
	}
	next, err := log.Changes(ctx, at-1, 1)
	if err == nil && (len(next) == 0 || next[0].Seq > at+1) {
		err = fmt.Errorf("%w: there is no change %d", ErrTrimmed, at)
	}
	return err
}
