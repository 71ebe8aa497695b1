// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"math"
	"slices"
)

// gauges holds the buckets of gauges that a group changes: they are read, modified and written back.
type gauges struct {
	tables [2]gaugeTable // GaugeQuarters, GaugeDays
}

type gaugeTable struct {
	table   Table
	keys    []BucketKey
	buckets map[BucketKey]*gaugeBucket
}

type gaugeBucket struct {
	values  []int64
	there   bool
	changed bool
}

func (g *gauges) reset() {
	for i, table := range []Table{GaugeQuarters, GaugeDays} {
		t := &g.tables[i]
		t.table, t.keys = table, t.keys[:0]
		clear(t.buckets)
	}
}

func gaugeKeys(id ID, m Minute) [2]BucketKey {
	return [2]BucketKey{NewBucketKey(m.QuarterOf(), id), NewBucketKey(m.Day(), id)}
}

// want requests the buckets of a reading.
func (g *gauges) want(id ID, m Minute) {
	for i, key := range gaugeKeys(id, m) {
		g.tables[i].keys = append(g.tables[i].keys, key)
	}
}

func (g *gauges) read(ctx context.Context, tx Tx) error {
	for i := range g.tables {
		t := &g.tables[i]
		if len(t.keys) == 0 {
			return nil
		}
		slices.Sort(t.keys)
		t.keys = slices.Compact(t.keys)
		values, err := tx.Buckets(ctx, t.table, t.keys)
		if err != nil {
			return err
		}
		if t.buckets == nil {
			t.buckets = map[BucketKey]*gaugeBucket{}
		}
		for i, key := range t.keys {
			s := &gaugeBucket{values: values[i], there: values[i] != nil}
			if !s.there {
				s.values = make([]int64, t.table.Width())
			}
			t.buckets[key] = s
		}
	}
	return nil
}

// add adds a reading to its minute and its hour. The sum of the day must also fit, although it is not stored.
func (g *gauges) add(id ID, m Minute, n int64) error {
	keys := gaugeKeys(id, m)
	quarter, day := g.tables[0].buckets[keys[0]], g.tables[1].buckets[keys[1]]
	minute := quarter.values[m.InHour()%15*Reading:][:Reading]
	hour := day.values[m.HourOfDay()*Reading:][:Reading]
	var sum int64
	for h := range 24 {
		sum += day.values[h*Reading+ReadingSum] // the final sum fits, even if a partial one wraps
	}
	for _, sum := range []int64{minute[ReadingSum], hour[ReadingSum], sum} {
		if n > 0 && sum > math.MaxInt64-n || n < 0 && sum <= math.MinInt64-n {
			return ErrOverflow
		}
	}
	read(minute, n)
	read(hour, n)
	quarter.changed, day.changed = true, true
	return nil
}

// read adds one reading to the five values of a minute or an hour.
func read(v []int64, n int64) {
	if v[ReadingCount] == 0 {
		v[ReadingMin], v[ReadingMax] = n, n
	}
	v[ReadingMin], v[ReadingMax] = min(v[ReadingMin], n), max(v[ReadingMax], n)
	v[ReadingSum] += n
	v[ReadingCount]++
	v[ReadingLast] = n
}

// write writes the changed buckets and returns the days that it created.
func (g *gauges) write(ctx context.Context, tx Tx) (made []BucketKey, err error) {
	for i := range g.tables {
		t := &g.tables[i]
		var buckets []Bucket
		var absent []BucketKey
		for _, key := range t.keys {
			s := t.buckets[key]
			if !s.changed {
				continue
			}
			buckets = append(buckets, Bucket{Key: key, Values: s.values})
			if !s.there {
				absent = append(absent, key)
			}
		}
		if len(absent) > 0 {
			// Of two transactions that create the same bucket, one waits for the other.
			mine, err := tx.PrepareBuckets(ctx, t.table, absent)
			if err != nil {
				return nil, err
			}
			if len(mine) != len(absent) {
				return nil, errAgain
			}
			if t.table == GaugeDays {
				made = absent
			}
		}
		if len(buckets) > 0 {
			if err := tx.PutBuckets(ctx, t.table, buckets); err != nil {
				return nil, err
			}
		}
	}
	return made, nil
}
