// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/locus-db/locus/counter"
)

// AddTallies collects the tallies until the commit, and returns the days that they open.
func (t *counterTx) AddTallies(ctx context.Context, tallies []counter.Tally) (made []counter.BucketKey, err error) {
	if err := t.writes(); err != nil {
		return nil, err
	}
	keys := make([]counter.BucketKey, len(tallies))
	for i, tally := range tallies {
		keys[i] = counter.NewBucketKey(tally.Minute.Day(), tally.ID)
	}
	if err := t.load(ctx, keys, false); err != nil {
		return nil, err
	}
	begun := map[*day]bool{}
	for i, tally := range tallies {
		d := t.days[keys[i]]
		if !begun[d] {
			begun[d] = true
			if !t.isOpen(d) {
				made = append(made, d.key)
				d.compared = true // concurrent transactions that find it not open conflict, so only one opens it
			}
		}
		if d.total() > math.MaxInt64-tally.N {
			return nil, counter.ErrOverflow
		}
		if d.whole && d.overflows(tally) {
			return nil, counter.ErrOverflow
		}
		d.tallies, d.tallied = append(d.tallies, tally), d.tallied+tally.N
		if d.whole {
			d.add(tally)
		}
	}
	return made, nil
}

// isOpen reports whether the day has a bucket of Days, as the transaction leaves it.
func (t *counterTx) isOpen(d *day) bool {
	if d.whole {
		return d.buckets[counter.Days][0] != nil
	}
	return d.open || len(d.tallies) > 0 || len(d.prepared[counter.Days]) > 0
}

// Buckets reads whole days.
func (t *counterTx) Buckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) ([][]int64, error) {
	if err := t.loadOf(ctx, table, keys); err != nil {
		return nil, err
	}
	all := make([][]int64, len(keys))
	for i, key := range keys {
		doc, place := dayOf(table, key)
		d := t.days[doc]
		d.compared = true
		if values := d.buckets[table][place]; values != nil {
			all[i] = slices.Clone(values)
		}
	}
	return all, nil
}

// loadOf reads the days that contain the buckets.
func (t *counterTx) loadOf(ctx context.Context, table counter.Table, keys []counter.BucketKey) error {
	docs := make([]counter.BucketKey, len(keys))
	for i, key := range keys {
		docs[i], _ = dayOf(table, key)
	}
	return t.load(ctx, docs, true)
}

// PutBuckets marks the days for replacement.
func (t *counterTx) PutBuckets(ctx context.Context, table counter.Table, buckets []counter.Bucket) error {
	keys := make([]counter.BucketKey, len(buckets))
	for i := range buckets {
		keys[i] = buckets[i].Key
	}
	return t.change(ctx, table, keys, func(i int, d *day, place int) {
		copy(d.bucket(table, place), buckets[i].Values)
	})
}

// DeleteBuckets marks the days for replacement.
func (t *counterTx) DeleteBuckets(ctx context.Context, table counter.Table, keys []counter.BucketKey) error {
	return t.change(ctx, table, keys, func(_ int, d *day, place int) { delete(d.buckets[table], place) })
}

// change calls do for the buckets under keys.
func (t *counterTx) change(ctx context.Context, table counter.Table, keys []counter.BucketKey,
	do func(i int, d *day, place int)) error {
	if err := t.writes(); err != nil {
		return err
	}
	if err := t.loadOf(ctx, table, keys); err != nil {
		return err
	}
	for i, key := range keys {
		doc, place := dayOf(table, key)
		d := t.days[doc]
		d.rewritten = true
		do(i, d, place)
	}
	return nil
}

// PrepareBuckets adds zeros, which leaves existing values unchanged.
func (t *counterTx) PrepareBuckets(ctx context.Context, table counter.Table,
	keys []counter.BucketKey) (made []counter.BucketKey, err error) {
	if err := t.writes(); err != nil {
		return nil, err
	}
	if err := t.loadOf(ctx, table, keys); err != nil {
		return nil, err
	}
	for _, key := range keys {
		doc, place := dayOf(table, key)
		d := t.days[doc]
		if d.buckets[table][place] != nil {
			continue
		}
		d.bucket(table, place)
		made = append(made, key)
		if table > counter.Days {
			d.rewritten = true
			continue
		}
		if d.prepared[table] == nil {
			d.prepared[table] = map[int]bool{}
		}
		d.prepared[table][place] = true
		d.compared = true // concurrent transactions that find it missing conflict, so only one creates it
	}
	return made, nil
}

// CompactedDays reads whole days.
func (t *counterTx) CompactedDays(ctx context.Context, keys []counter.BucketKey) ([]counter.CompactedDay, error) {
	if err := t.load(ctx, keys, true); err != nil {
		return nil, err
	}
	days := make([]counter.CompactedDay, len(keys))
	for i, key := range keys {
		if d := t.days[key]; d.closed != nil {
			days[i] = *d.closed
		}
	}
	return days, nil
}

// PutCompactedDays marks the days for replacement.
func (t *counterTx) PutCompactedDays(ctx context.Context, days []counter.CompactedDay) error {
	keys := make([]counter.BucketKey, len(days))
	for i := range days {
		keys[i] = days[i].Key
	}
	if err := errors.Join(t.writes(), t.load(ctx, keys, true)); err != nil {
		return err
	}
	for i := range days {
		d, closed := t.days[keys[i]], days[i]
		d.closed, d.rewritten = &closed, true
	}
	return nil
}
