// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Maintain runs one round of maintenance in all cells: it compacts ended days, drops details past their
// retention, and forgets dedup records. It may be interrupted and repeated, and run by several processes at once.
// A failure in one cell does not stop the others.
func (r *Recorder) Maintain(ctx context.Context) error {
	now := r.opts.Now()
	var errs []error
	for _, cell := range r.cells.List() {
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		if err := r.maintain(ctx, cell, now); err != nil {
			errs = append(errs, fmt.Errorf("maintain counters of cell %s: %w", cell, err))
		}
	}
	return errors.Join(errs...)
}

func (r *Recorder) maintain(ctx context.Context, cell string, now time.Time) error {
	db := r.cells.Cell(cell)
	var errs []error
	for _, c := range []compactor{
		{db: db, kind: Counter, days: Days, fine: Hours, each: 24, most: 50},
		{db: db, kind: Gauge, days: GaugeDays, fine: GaugeQuarters, each: 96, most: 15},
	} {
		errs = append(errs, c.compact(ctx, MinuteOf(now).Day()-1))
		r.upkeep.packed(cell, c.oldest)
	}
	errs = append(errs, r.retain(ctx, cell, db, now), forgetOld(ctx, db, now))
	return errors.Join(errs...)
}

// forgetOld forgets batches older than Window.
func forgetOld(ctx context.Context, db Database, now time.Time) error {
	for more := true; more; {
		err := db.Update(ctx, func(tx Tx) (err error) {
			more, err = forget(ctx, tx, now.Add(-Window).UnixMilli())
			return err
		})
		if err != nil {
			return fmt.Errorf("forget keys: %w", err)
		}
	}
	return nil
}

// compactor compacts ended days of one kind, oldest first. Late hits for a day that was compacted before are merged
// into it.
//
// Other processes may count and compact concurrently. Buckets are locked in the same order as by counting
// transactions: hours, then days. An hour created in between is not locked but already included in its day; so
// either the day equals the sum of its hours, or it is left for the next run. A compacted day is only written under
// a lock on the day's open bucket or on the closed row itself.
type compactor struct {
	db         Database
	kind       Kind
	days, fine Table
	each       int // number of buckets of fine in a day
	most       int // days per transaction

	oldest int64 // day that was packed, 0 for none
	left   map[BucketKey]error
}

// errTorn means that a day does not equal the sum of its hours because of a concurrent count.
var errTorn = errors.New("counter: day differs from the sum of its hours")

// patience is the number of attempts to read a day that is being counted in.
const patience = 5

// compact compacts all days below the given one. Days that cannot be compacted stay as they are, and the error
// names them.
func (c *compactor) compact(ctx context.Context, below int64) error {
	c.left = map[BucketKey]error{}
	torn := map[BucketKey]int{}
	for {
		var keys []BucketKey
		limit := c.most + len(c.left)
		err := c.db.View(ctx, func(tx Tx) error {
			keys = nil
			buckets, err := tx.FirstBuckets(ctx, c.days, NewBucketKey(below, 0), limit)
			for _, s := range buckets {
				if c.left[s.Key] == nil {
					keys = append(keys, s.Key)
				}
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("find days to compact: %w", err)
		}
		if len(keys) == 0 {
			return c.report()
		}
		var failed map[BucketKey]error
		unwritten, err := c.db.writer().Rewrite(ctx, func(tx Tx) error {
			failed = map[BucketKey]error{}
			return c.encode(ctx, tx, keys, failed)
		})
		if err != nil {
			return fmt.Errorf("compact %d days: %w", len(keys), err)
		}
		for key, err := range unwritten {
			if errors.Is(err, ErrConflict) {
				err = errTorn
			}
			failed[key] = err
		}
		if day := keys[0].Unit(); c.oldest == 0 || day < c.oldest {
			c.oldest = day
		}
		for key, err := range failed {
			if torn[key]++; !errors.Is(err, errTorn) || torn[key] == patience {
				c.left[key] = err
			}
		}
	}
}

func (c *compactor) report() error {
	keys := make([]BucketKey, 0, len(c.left))
	for key := range c.left {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var errs []error
	for _, key := range keys[:min(len(keys), 10)] {
		errs = append(errs, fmt.Errorf("day %s of metric %d: %w", dayBegin(key.Unit()).Format(time.DateOnly), key.ID(),
			c.left[key]))
	}
	if more := len(keys) - len(errs); more > 0 {
		errs = append(errs, fmt.Errorf("and %d more days", more))
	}
	return errors.Join(errs...)
}

// encode compacts days in one transaction and adds those that it skipped to failed.
func (c *compactor) encode(ctx context.Context, tx Tx, keys []BucketKey, failed map[BucketKey]error) error {
	fineKeys := make([]BucketKey, 0, len(keys)*c.each)
	for _, key := range keys {
		for i := range c.each {
			fineKeys = append(fineKeys, NewBucketKey(key.Unit()*int64(c.each)+int64(i), key.ID()))
		}
	}
	fine, err := tx.Buckets(ctx, c.fine, fineKeys)
	if err != nil {
		return err
	}
	open, err := tx.Buckets(ctx, c.days, keys)
	if err != nil {
		return err
	}
	compacted, err := tx.CompactedDays(ctx, keys)
	if err != nil {
		return err
	}
	var put []CompactedDay
	var gone, goneFine []BucketKey
	for i, key := range keys {
		if open[i] == nil {
			continue // another process has packed it
		}
		parts := fine[i*c.each : (i+1)*c.each]
		day, empty, err := c.merge(key, open[i], parts, &compacted[i])
		if err != nil {
			failed[key] = err
			continue
		}
		if !empty {
			put = append(put, day)
		}
		gone = append(gone, key)
		for j, values := range parts {
			if values != nil {
				goneFine = append(goneFine, fineKeys[i*c.each+j])
			}
		}
	}
	if err := tx.PutCompactedDays(ctx, put); err != nil {
		return err
	}
	if err := tx.DeleteBuckets(ctx, c.fine, goneFine); err != nil {
		return err
	}
	return tx.DeleteBuckets(ctx, c.days, gone)
}

// merge builds a compacted day from open buckets and an earlier compacted day, with the detail of the latter. A
// prepared day without a count is empty.
func (c *compactor) merge(key BucketKey, open []int64, fine [][]int64,
	compacted *CompactedDay) (day CompactedDay, empty bool, err error) {
	values, count := dayValues(c.kind, fine)
	if !sumsAre(c.kind, open, values) {
		return day, false, errTorn
	}
	if !count {
		return day, true, nil
	}
	detail := Minutes
	if compacted.Key != 0 {
		before, err := decodeDay(compacted, c.kind)
		if err != nil {
			return day, false, err
		}
		detail = compacted.Detail
		if values, err = coarsen(c.kind, values, Minutes, detail); err == nil {
			err = join(c.kind, before, values)
		}
		if err != nil {
			return day, false, ErrOverflow
		}
		values = before
	}
	day, err = encodeDay(key, c.kind, detail, values)
	return day, false, err
}
