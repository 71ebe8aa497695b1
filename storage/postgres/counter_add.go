// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
)

// Tallies of one minute, or of one quarter of an hour, are the common case and take one statement: it inserts
// missing rows and updates the others, in key order. A new row comes from a pattern with -1 in the slots to be set;
// building it from zeros took longer the later in the day the slot was. Slot numbers are arguments, so that the
// statement is prepared once.
const (
	sqlAddHours = `INSERT INTO counter_hour AS s (bucket, counts)
		SELECT bucket, array_replace($3::bigint[], -1, n) FROM unnest($1::bigint[], $2::bigint[]) AS v (bucket, n)
		ON CONFLICT (bucket) DO UPDATE SET counts[$4::int] = s.counts[$4::int] + excluded.counts[$4::int]`

	sqlAddDays = `WITH added AS (INSERT INTO counter_day AS s (bucket, counts)
			SELECT bucket, array_replace($3::bigint[], -1, n) FROM unnest($1::bigint[], $2::bigint[]) AS v (bucket, n)
			ON CONFLICT (bucket) DO UPDATE SET counts[$4::int] = s.counts[$4::int] + excluded.counts[$4::int],
				counts[$5::int] = s.counts[$5::int] + excluded.counts[$5::int],
				counts[$6::int] = s.counts[$6::int] + excluded.counts[$6::int]
			RETURNING bucket, xmax = 0 AS made)
		SELECT bucket FROM added WHERE made ORDER BY bucket`

	// If all rows exist, as they mostly do, an UPDATE takes half the time. It runs in key order, because the join
	// methods that would change the order are disabled.
	sqlChangeHours = `UPDATE counter_hour AS s SET counts[$3::int] = s.counts[$3::int] + v.n
		FROM unnest($1::bigint[], $2::bigint[]) AS v (bucket, n) WHERE s.bucket = v.bucket`
	sqlChangeDays = `UPDATE counter_day AS s SET counts[$3::int] = s.counts[$3::int] + v.n,
			counts[$4::int] = s.counts[$4::int] + v.n, counts[$5::int] = s.counts[$5::int] + v.n
		FROM unnest($1::bigint[], $2::bigint[]) AS v (bucket, n) WHERE s.bucket = v.bucket`
	sqlInOrder = `SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
		set_config('enable_seqscan', 'off', true)`
)

// errBucketsMissing means that some of the rows to be updated do not exist. Creating them now would lock rows out of
// key order, so the transaction is retried.
var errBucketsMissing = errors.New("postgres: buckets are not there yet")

// bucketsThere predicts whether the next rows exist. After a miss it predicts no for a while, longer each time.
type bucketsThere struct {
	mu          sync.Mutex
	wait, pause int
}

// likely returns the prediction; each negative one shortens the wait by one.
func (s *bucketsThere) likely() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wait == 0 {
		return true
	}
	s.wait--
	return false
}

// were records whether the last prediction was right.
func (s *bucketsThere) were(there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there {
		s.pause = 0
		return
	}
	s.pause = min(2*s.pause+1, 63)
	s.wait = s.pause
}

// outOfRange is the SQLSTATE of a sum that overflows.
const outOfRange = "22003"

// increment is an amount to add to one value of a bucket.
type increment struct {
	key  counter.BucketKey
	slot int // minute in the hour, or quarter-hour in the day
	n    int64
}

// AddTallies sends two or three statements in one round trip if all tallies are of one minute. Otherwise it locks
// the rows, reads them and writes them back: with several statements, rows would be locked out of key order.
func (t *tx) AddTallies(ctx context.Context, tallies []counter.Tally) (made []counter.BucketKey, err error) {
	if err := t.alter(ctx); err != nil || len(tallies) == 0 {
		return nil, err
	}
	hours := column(tallies, func(y counter.Tally) increment {
		return increment{counter.NewBucketKey(y.Minute.Hour(), y.ID), y.Minute.InHour(), y.N}
	})
	days := column(tallies, func(y counter.Tally) increment {
		return increment{counter.NewBucketKey(y.Minute.Day(), y.ID), y.Minute.Quarter(), y.N}
	})
	finish, there := []func() error{}, t.cell.buckets.likely() && t.guess
	for _, of := range []struct {
		table counter.Table
		add   []increment
	}{{counter.Hours, hours}, {counter.Days, days}} {
		add, err := mergeIncrements(of.add)
		if err != nil {
			return nil, t.fail(err)
		}
		answer := func(key counter.BucketKey) {}
		if of.table == counter.Days {
			answer = func(key counter.BucketKey) { made = append(made, key) }
		}
		if slot, one := oneSlot(add); one && there {
			t.changeOne(of.table, slot, add)
		} else if one {
			t.addOne(of.table, slot, add, answer)
		} else {
			finish = append(finish, t.addMany(of.table, add, answer))
		}
	}
	if err := t.flush(ctx); err != nil {
		if errors.Is(err, errBucketsMissing) {
			t.cell.buckets.were(false)
		}
		if state(err) == outOfRange {
			err = fmt.Errorf("%w: %w", counter.ErrOverflow, err)
		}
		return nil, fmt.Errorf("add %d tallies: %w", len(tallies), err)
	}
	for _, write := range finish {
		if err := write(); err != nil {
			return nil, fmt.Errorf("add %d tallies: %w", len(tallies), err)
		}
	}
	return made, nil
}

// mergeIncrements adds up increments of the same value, in bucket order.
func mergeIncrements(all []increment) ([]increment, error) {
	slices.SortFunc(all, func(a, b increment) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.slot, b.slot))
	})
	merged := all[:0]
	for _, a := range all {
		if n := len(merged); n > 0 && merged[n-1].key == a.key && merged[n-1].slot == a.slot {
			if err := addTo(&merged[n-1].n, a.n); err != nil {
				return nil, err
			}
			continue
		}
		merged = append(merged, a)
	}
	return merged, nil
}

// addTo adds n to *value. It returns counter.ErrOverflow if the sum overflows.
func addTo(value *int64, n int64) error {
	if n > 0 && *value > math.MaxInt64-n {
		return fmt.Errorf("postgres: %w", counter.ErrOverflow)
	}
	*value += n
	return nil
}

// oneSlot returns the slot that all increments share, if there is one and no bucket occurs twice.
func oneSlot(add []increment) (slot int, one bool) {
	for i, a := range add {
		if a.slot != add[0].slot || i > 0 && a.key == add[i-1].key {
			return 0, false
		}
	}
	return add[0].slot, true
}

// addOne queues increments of one slot.
func (t *tx) addOne(table counter.Table, slot int, add []increment, made func(counter.BucketKey)) {
	keys := column(add, func(a increment) int64 { return int64(a.key) })
	ns := column(add, func(a increment) int64 { return a.n })
	t.noteNumbers(bucketTables[table].name, keys)
	if table == counter.Hours {
		t.exec(sqlAddHours, keys, ns, pattern(table, slot), int32(1+slot))
		return
	}
	at := daySlots(slot)
	t.queue.Queue(sqlAddDays, keys, ns, pattern(table, at[:]...), int32(1+at[0]), int32(1+at[1]), int32(1+at[2])).
		Query(eachRow(func(r pgx.Rows) error {
			key, err := scalar[counter.BucketKey](r)
			made(key)
			return err
		}))
}

// changeOne queues increments of one slot to existing rows.
func (t *tx) changeOne(table counter.Table, slot int, add []increment) {
	keys := column(add, func(a increment) int64 { return int64(a.key) })
	args := []any{keys, column(add, func(a increment) int64 { return a.n })}
	t.noteNumbers(bucketTables[table].name, keys)
	sql := sqlChangeHours
	if table == counter.Hours {
		t.exec(sqlInOrder)
		args = append(args, int32(1+slot))
	} else {
		sql = sqlChangeDays
		for _, at := range daySlots(slot) {
			args = append(args, int32(1+at))
		}
	}
	t.queue.Queue(sql, args...).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() < int64(len(keys)) {
			return errBucketsMissing
		}
		t.cell.buckets.were(true)
		return nil
	})
}

// pattern returns a bucket of zeros with -1 in the given slots.
func pattern(table counter.Table, slots ...int) []int64 {
	values := make([]int64, table.Width())
	for _, slot := range slots {
		values[slot] = -1
	}
	return values
}

// daySlots returns the values of a day that count a quarter-hour.
func daySlots(quarter int) [3]int {
	return [3]int{counter.DayTotal, counter.DayHour(quarter / 4), counter.DayQuarter(quarter)}
}

// addMany queues statements that create, lock and read the rows. It returns a function that queues the statement that
// writes them.
func (t *tx) addMany(table counter.Table, add []increment, made func(counter.BucketKey)) func() error {
	of := bucketTables[table]
	keys := slices.Compact(column(add, func(a increment) int64 { return int64(a.key) }))
	t.queue.Queue(of.claim, keys).Query(eachRow(func(r pgx.Rows) error {
		key, err := scalar[counter.BucketKey](r)
		made(key)
		return err
	}))
	values := make(map[counter.BucketKey][]int64, len(keys))
	t.queue.Queue(of.read, keys).Query(eachRow(func(r pgx.Rows) error {
		s, err := scanBucket(r)
		values[s.Key] = s.Values
		return err
	}))
	return func() error {
		for _, a := range add {
			v := values[a.key]
			if len(v) != table.Width() {
				return t.fail(cell.Damaged(of.name, "", fmt.Errorf("it has %d values", len(v))))
			}
			slots := []int{a.slot}
			if table == counter.Days {
				at := daySlots(a.slot)
				slots = at[:]
			}
			for _, slot := range slots {
				if err := addTo(&v[slot], a.n); err != nil {
					return t.fail(err)
				}
			}
		}
		buckets := column(keys, func(k int64) counter.Bucket {
			return counter.Bucket{Key: counter.BucketKey(k), Values: values[counter.BucketKey(k)]}
		})
		return t.writeBuckets(table, of.set, buckets)
	}
}
