// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/countertest"
)

var closeBegin = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// compacted returns the details of compacted days around now, by day and metric number.
func (w *readWorld) compacted() (days []string) {
	w.t.Helper()
	for _, cell := range w.List() {
		w.must(w.cells[cell].View(context.Background(), func(tx counter.Tx) error {
			var keys []counter.BucketKey
			for day := counter.MinuteOf(w.now).Day() - 30; day < counter.MinuteOf(w.now).Day()+3; day++ {
				for i := range w.names {
					keys = append(keys, counter.NewBucketKey(day, counter.ID(i+1)))
				}
			}
			found, err := tx.CompactedDays(context.Background(), keys)
			for _, c := range found {
				if c.Key != 0 {
					day := time.Unix(c.Key.Unit()*24*60*60, 0).UTC().Format("01-02")
					days = append(days, fmt.Sprintf("%s of %s: %d", day, w.names[c.Key.ID()-1], c.Detail))
				}
			}
			return err
		}))
	}
	slices.Sort(days)
	return days
}

func (w *readWorld) wantCompacted(want ...string) {
	w.t.Helper()
	if got := w.compacted(); !slices.Equal(got, want) {
		w.t.Errorf("at %s closed are\n%s\nwant\n%s", w.now.Format(time.DateTime), strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

// Today and yesterday stay open, from the first minute of a day to its last, since most late hits are for them.
func TestMaintain_ClosesWhatIsBeforeYesterday(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Duration{0, 24*time.Hour - time.Minute} {
		w := newReadWorld(t, closeBegin.Add(at), countertest.NewMemory())
		for _, m := range []counter.Metric{"c", "g"} {
			for ago := range 5 {
				w.must(w.hit(m, counter.MinuteOf(closeBegin.AddDate(0, 0, -ago)), 1))
			}
		}
		w.must(w.maintain())
		w.wantCompacted("11-16 of c: 2", "11-16 of g: 2", "11-17 of c: 2", "11-17 of g: 2", "11-18 of c: 2", "11-18 of g: 2")
	}
}

// A day that does not equal the sum of its hours is reported and not compacted. Other days are compacted, and so is
// this one once it adds up.
func TestP03_ADayThatDoesNotAddUpStaysOpen(t *testing.T) {
	t.Parallel()
	for _, m := range []counter.Metric{"c2", "g2"} {
		w := newReadWorld(t, closeBegin, countertest.NewMemory())
		at := counter.MinuteOf(closeBegin.AddDate(0, 0, -3))
		for _, m := range []counter.Metric{m[:1] + "1", m, m[:1] + "3"} {
			w.must(w.hit(m, at, 1))
		}
		table, unit, place := counter.Hours, at.Hour(), 0
		if isGauge(m) {
			table, unit, place = counter.GaugeQuarters, at.QuarterOf(), counter.ReadingSum
		}
		key := []counter.BucketKey{counter.NewBucketKey(unit, 2)}
		amend := func(by int64) {
			w.must(w.cells["c0"].Update(t.Context(), func(tx counter.Tx) error {
				buckets, err := tx.Buckets(t.Context(), table, key)
				if err != nil {
					return err
				}
				values := slices.Clone(buckets[0])
				values[place] += by
				return tx.PutBuckets(t.Context(), table, []counter.Bucket{{Key: key[0], Values: values}})
			}))
		}
		amend(1)
		err := w.maintain()
		if err == nil || !strings.Contains(err.Error(), "day 2026-11-17 of metric 2: ") ||
			strings.Count(err.Error(), "day 20") != 1 {
			t.Fatalf("%s: %v; want the one day that does not add up", m, err)
		}
		w.wantCompacted(fmt.Sprintf("11-17 of %s1: 2", m[:1]), fmt.Sprintf("11-17 of %s3: 2", m[:1]))
		amend(-1)
		w.must(w.maintain())
		w.wantCompacted(fmt.Sprintf("11-17 of %s1: 2", m[:1]), fmt.Sprintf("11-17 of %s2: 2", m[:1]),
			fmt.Sprintf("11-17 of %s3: 2", m[:1]))
	}
}

// A day keeps a detail exactly until all of it is older than the retention.
func TestMaintain_DropsDetailsWhenTheirTimeIsOver(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	w := newReadWorld(t, closeBegin, countertest.NewMemory())
	w.opts.Retention = []counter.Retention{{Prefix: "c", Minutes: 8 * day, Quarters: 12 * day}}
	w.must(w.hit("c", counter.MinuteOf(closeBegin.Add(day-time.Minute)), 1))
	over := closeBegin.Add(day)
	for _, at := range []struct {
		now    time.Duration // after the end of the day
		detail counter.Detail
	}{
		{8*day - time.Minute, counter.Minutes}, {8 * day, counter.Quarters},
		{12*day - time.Minute, counter.Quarters}, {12 * day, counter.NoDetail},
	} {
		w.now = over.Add(at.now)
		w.must(w.maintain())
		w.wantCompacted(fmt.Sprintf("11-20 of c: %d", at.detail))
	}
}
