// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/internal/perdocument"
)

// TestCounters_ABulkThatIsWrittenInPart lets another process write to some days of a bulk between its reads and writes,
// once or several times. For each day the outcome is either known or reported as unknown.
func TestCounters_ABulkThatIsWrittenInPart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := documents(t, mongotest.URI(t))
	metrics := d.Metrics()
	db := metrics.Cell(metrics.List()[0])
	day := counter.MinuteOf(noon).Day()
	count := func(tx counter.Tx, key counter.Key, ids ...counter.ID) error {
		var of []perdocument.DayBatch
		var put []perdocument.DayMemory
		var tallies []counter.Tally
		for _, id := range ids {
			b := perdocument.DayBatch{Day: counter.NewBucketKey(day, id), Key: key}
			of = append(of, b)
			put = append(put, perdocument.DayMemory{DayBatch: b, DedupRecord: counter.DedupRecord{Newest: 1, Print: [16]byte{1}}})
			tallies = append(tallies, counter.Tally{ID: id, Minute: counter.MinuteOf(noon), N: 1})
		}
		apart := tx.(perdocument.Store) //nolint:forcetypeassert // that is what is tested
		_, err := apart.DayBatches(ctx, of)
		_, err2 := tx.AddTallies(ctx, tallies)
		return errors.Join(err, err2, apart.PutDayBatches(ctx, put))
	}
	others := func(key string, times int, id counter.ID) {
		for i := range times {
			if err := db.Update(ctx, func(tx counter.Tx) error { return count(tx, counter.Key(fmt.Sprint(key, i)), id) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	for id := range counter.ID(4) {
		others("first", 1, id+1)
	}
	interrupted := false
	err := db.Update(ctx, func(tx counter.Tx) error {
		if err := count(tx, "k", 1, 2, 3, 4); err != nil || interrupted {
			return err
		}
		interrupted = true
		others("second", 1, 2)
		others("third", 2, 3)
		return nil
	})
	part, some := errors.AsType[*perdocument.PartialWriteError](err)
	if !some || len(part.Days) != 2 || !errors.Is(part.Days[counter.NewBucketKey(day, 2)], counter.ErrConflict) || !errors.Is(part.Days[counter.NewBucketKey(day, 3)], counter.ErrCommitUnknown) {
		t.Fatalf("want day 2 in conflict and day 3 commit_unknown: %v", err)
	}
	want := []int64{2, 2, 3, 2}
	if err := db.View(ctx, func(tx counter.Tx) error {
		for i, n := range want {
			buckets, err := tx.Buckets(ctx, counter.Days, []counter.BucketKey{counter.NewBucketKey(day, counter.ID(i+1))})
			if err != nil {
				return err
			}
			if got := buckets[0][counter.DayTotal]; got != n {
				t.Errorf("day %d: %d, want %d", i+1, got, n)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestCounters_ACompactedDayIsOpenedOnce: of two transactions that find a compacted day without open counts, only one
// reports that it opened it.
func TestCounters_ACompactedDayIsOpenedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	metrics := documents(t, mongotest.URI(t)).Metrics()
	db := metrics.Cell(metrics.List()[0])
	key := counter.NewBucketKey(counter.MinuteOf(noon).Day(), 1)
	if err := db.Update(ctx, func(tx counter.Tx) error {
		return tx.PutCompactedDays(ctx, []counter.CompactedDay{{Key: key, N: 7}})
	}); err != nil {
		t.Fatal(err)
	}
	var made []counter.BucketKey
	tally := func(meanwhile func() error) error {
		return db.Update(ctx, func(tx counter.Tx) (err error) {
			if made, err = tx.AddTallies(ctx, []counter.Tally{{ID: 1, Minute: counter.MinuteOf(noon), N: 1}}); err != nil || meanwhile == nil {
				return err
			}
			another := meanwhile
			meanwhile = nil
			return another()
		})
	}
	err := tally(func() error {
		err := tally(nil)
		if len(made) != 1 {
			t.Errorf("the first one made %v, want the day", made)
		}
		return err
	})
	if err != nil || len(made) != 0 {
		t.Errorf("the other one made %v, want nothing: %v", made, err)
	}
}
