// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"slices"
)

// At midnight and at every full hour all metrics would create new buckets at once. So each prepares its next ones
// earlier, at random, after one of its hits: the fewer minutes are left, the more likely, and in the last minute
// for certain. Correctness does not depend on it. Buckets are prepared in a separate transaction, many at once,
// after the hits were answered: in the transaction of the hit, rows of the next hour would be locked out of
// order, because it already holds the day's lock.

// wanted holds the buckets to prepare, by table.
type wanted [4][]BucketKey

// prewarmDraw draws whether a hit prepares buckets. Only the first hit of a metric in the current minute draws.
func (it *item) prewarmDraw(now Minute, chance func() float64) {
	if !it.at.IsZero() && MinuteOf(it.at) != now || it.place.seen.Load() == int64(now) ||
		it.place.seen.Swap(int64(now)) == int64(now) {
		return
	}
	short := 60 - now.InHour() // minutes left in the hour, or in the quarter
	if it.kind == Gauge {
		short = 15 - now.InHour()%15
	}
	it.next = chance()*float64(short) < 1
	it.tomorrow = chance()*float64(24*60-60*now.HourOfDay()-now.InHour()) < 1
}

// want records the buckets that a counted hit prepares.
func (g *CommitGroup) want(it *item, m Minute) {
	if !it.next && !it.tomorrow {
		return
	}
	id, short, long := it.place.id, Hours, Days
	unit, perDay := m.Hour()+1, int64(24)
	if it.kind == Gauge {
		short, long, unit, perDay = GaugeQuarters, GaugeDays, m.QuarterOf()+1, 96
	}
	if it.next {
		g.wanted[short] = append(g.wanted[short], NewBucketKey(unit, id))
	}
	if it.tomorrow || unit%perDay == 0 && it.next { // no hour without its day
		g.wanted[long] = append(g.wanted[long], NewBucketKey(m.Day()+1, id))
	}
}

func (w *wanted) len() (n int) {
	for _, keys := range w {
		n += len(keys)
	}
	return n
}

func (w *wanted) add(of *wanted) {
	for table := range w {
		w[table] = append(w[table], of[table]...)
	}
}

// prepare creates the chosen buckets. A metric that the cell has lost gets none: its row is created with its first
// day.
func (w *wanted) prepare(ctx context.Context, tx Tx) error {
	for _, table := range Tables {
		keys := slices.Clone(w[table])
		if len(keys) == 0 {
			continue
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		ids := make([]ID, len(keys))
		for i, key := range keys {
			ids[i] = key.ID()
		}
		metas, err := tx.Metrics(ctx, ids)
		if err != nil {
			return err
		}
		known := keys[:0]
		for i, key := range keys {
			if metas[i].ID != 0 {
				known = append(known, key)
			}
		}
		if _, err := tx.PrepareBuckets(ctx, table, known); err != nil {
			return err
		}
	}
	return nil
}
