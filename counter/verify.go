// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Damage is a row that contradicts other rows.
type Damage struct {
	ID     ID
	Stored string
	Want   string
}

// Verify compares rows of a table of buckets in one snapshot: a day with its hours, an hour with its minutes, and
// all with their metric. It returns the damaged rows.
func Verify(ctx context.Context, tx Tx, table Table, keys []BucketKey) ([]Damage, error) {
	buckets, err := tx.Buckets(ctx, table, keys)
	if err != nil {
		return nil, err
	}
	v := &verifier{table: table}
	if err := v.metrics(ctx, tx, keys); err != nil {
		return nil, err
	}
	for i, key := range keys {
		if buckets[i] == nil || !v.owned(key) {
			continue
		}
		switch table {
		case Days:
			err = v.day(ctx, tx, key, buckets[i])
		case GaugeDays:
			err = v.gaugeDay(ctx, tx, key, buckets[i])
		default:
			err = v.part(ctx, tx, key, buckets[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return v.damages, nil
}

// VerifyCompacted unpacks compacted days in one snapshot, and compares their sums with their totals.
func VerifyCompacted(ctx context.Context, tx Tx, keys []BucketKey) ([]Damage, error) {
	days, err := tx.CompactedDays(ctx, keys)
	if err != nil {
		return nil, err
	}
	v := &verifier{table: Days}
	if err := v.metrics(ctx, tx, keys); err != nil {
		return nil, err
	}
	for i, key := range keys {
		m, there := v.metas[key.ID()]
		switch {
		case days[i].Key == 0: // the day was deleted
		case !there:
			v.note(key, "of a metric that is not there", "a metric")
		case days[i].N < 0 || days[i].Detail > Minutes:
			v.note(key, "a total below 0, or an unknown detail", "a compacted day")
		default:
			v.packed(key, &days[i], m.Kind)
		}
	}
	return v.damages, nil
}

// packed unpacks a compacted day. Without details the body must be empty, and a gauge must have no total.
func (v *verifier) packed(key BucketKey, day *CompactedDay, kind Kind) {
	_, err := decodeDay(day, kind)
	rest := day.Body
	if err == nil && kind == Gauge {
		_, rest, err = day.header()
	}
	switch {
	case err != nil:
		v.note(key, err.Error(), "a day whose checksum and total are right")
	case kind == Gauge && day.N != 0:
		v.note(key, fmt.Sprintf("the total of a gauge is %d", day.N), "0")
	case day.Detail == NoDetail && len(rest) > 0:
		v.note(key, "has no details, and a body with details", "the details that the body has")
	}
}

type verifier struct {
	table   Table
	metas   map[ID]Meta
	damages []Damage
}

func (v *verifier) note(key BucketKey, stored, want string) {
	v.damages = append(v.damages, Damage{key.ID(), fmt.Sprintf("%s %d: %s", v.unit(), key.Unit(), stored), want})
}

func (v *verifier) unit() string { return [...]string{"hour", "day", "quarter", "day"}[v.table] }

func (v *verifier) metrics(ctx context.Context, tx Tx, keys []BucketKey) error {
	var ids []ID
	for _, key := range keys {
		ids = append(ids, key.ID())
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	metas, err := tx.Metrics(ctx, ids)
	v.metas = map[ID]Meta{}
	for i, m := range metas {
		if m.Name != "" {
			v.metas[ids[i]] = m
		}
	}
	return err
}

func (v *verifier) owned(key BucketKey) bool {
	kind := Counter
	if v.table == GaugeQuarters || v.table == GaugeDays {
		kind = Gauge
	}
	m, there := v.metas[key.ID()]
	switch {
	case !there:
		v.note(key, "of a metric that is not there", "a metric")
	case m.Kind != kind:
		v.note(key, "of a metric of another kind", "a metric of the kind of the table")
	case v.dayOf(key) < m.First:
		v.note(key, "before the first day of its metric", fmt.Sprintf("day %d or later", m.First))
	default:
		return true
	}
	return false
}

func (v *verifier) dayOf(key BucketKey) int64 {
	return floorDiv(key.Unit(), [...]int64{24, 1, 96, 1}[v.table])
}

// day compares the numbers of a day with each other, and with the minutes of its hours.
func (v *verifier) day(ctx context.Context, tx Tx, key BucketKey, values []int64) error {
	hours, err := v.parts(ctx, tx, Hours, key, 24)
	if err != nil {
		return err
	}
	var total int64
	for h := range 24 {
		hour := values[DayHour(h)]
		total += hour
		if q := sum(values[DayHour(h)+1 : DayHour(h)+5]); q != hour {
			v.note(key, fmt.Sprintf("hour %d is %d", h, hour), fmt.Sprintf("its quarters add up to %d", q))
		}
		switch {
		case hours[h] == nil && hour != 0:
			v.note(key, fmt.Sprintf("hour %d is %d and has no minutes", h, hour), "a row of minutes")
		case hours[h] == nil:
		case sum(hours[h]) != hour:
			v.note(key, fmt.Sprintf("hour %d is %d", h, hour), fmt.Sprintf("its minutes add up to %d", sum(hours[h])))
		default:
			for q := range 4 {
				if is, want := values[DayHour(h)+1+q], sum(hours[h][15*q:15*q+15]); is != want {
					v.note(key, fmt.Sprintf("quarter %d of hour %d is %d", q, h, is), fmt.Sprintf("its minutes add up to %d", want))
				}
			}
		}
	}
	if slices.Min(values) < 0 || total != values[DayTotal] {
		v.note(key, fmt.Sprintf("the day is %d", values[DayTotal]), fmt.Sprintf("its hours add up to %d", total))
	}
	return nil
}

// gaugeDay compares the hours of a day with their minutes. The last reading is not compared, because it depends
// on the order of arrival.
func (v *verifier) gaugeDay(ctx context.Context, tx Tx, key BucketKey, values []int64) error {
	quarters, err := v.parts(ctx, tx, GaugeQuarters, key, 96)
	if err != nil {
		return err
	}
	for h := range 24 {
		hour := reading(values[h*Reading : (h+1)*Reading])
		var minutes reading
		for _, q := range quarters[4*h : 4*h+4] {
			if q != nil {
				err = errors.Join(err, minutes.fold(q))
			}
		}
		is, want := hour, minutes
		is[ReadingLast], want[ReadingLast] = 0, 0
		if err != nil || is != want || hour[ReadingLast] < hour[ReadingMin] || hour[ReadingLast] > hour[ReadingMax] {
			v.note(key, fmt.Sprintf("hour %d is %v", h, hour), fmt.Sprintf("its minutes make %v", minutes))
		}
	}
	return nil
}

// part compares a row of minutes with its day, which must exist: the day is compared with it.
func (v *verifier) part(ctx context.Context, tx Tx, key BucketKey, values []int64) error {
	days := Days
	if v.table == GaugeQuarters {
		days = GaugeDays
		for m := range 15 {
			r := reading(values[m*Reading : (m+1)*Reading])
			if r[ReadingCount] == 0 && r != (reading{}) || r[ReadingCount] < 0 || r[ReadingMin] > r[ReadingMax] ||
				r[ReadingLast] < r[ReadingMin] || r[ReadingLast] > r[ReadingMax] {
				v.note(key, fmt.Sprintf("minute %d is %v", m, r), "a reading")
			}
		}
	} else if slices.Min(values) < 0 {
		v.note(key, "a minute is below 0", "counts")
	}
	day, err := tx.Buckets(ctx, days, []BucketKey{NewBucketKey(v.dayOf(key), key.ID())})
	if err == nil && day[0] == nil {
		v.note(key, "its day is not there", "a row of the day")
	}
	return err
}

func (v *verifier) parts(ctx context.Context, tx Tx, table Table, day BucketKey, n int64) ([][]int64, error) {
	keys := make([]BucketKey, n)
	for i := range keys {
		keys[i] = NewBucketKey(day.Unit()*n+int64(i), day.ID())
	}
	return tx.Buckets(ctx, table, keys)
}

func sum(values []int64) (n int64) {
	for _, v := range values {
		n += v
	}
	return n
}
