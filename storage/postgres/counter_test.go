// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

func add(d *database, tallies ...counter.Tally) (made []counter.BucketKey, err error) {
	ctx := context.Background()
	return made, d.Update(ctx, func(tx storage.Tx) (err error) {
		made, err = tx.AddTallies(ctx, tallies)
		return err
	})
}

// Tallies of one minute and of many take different code paths and add up.
func TestTallies(t *testing.T) {
	t.Parallel()
	d := direct(t).open(t)
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(1, 2))
	want := map[counter.Table]map[counter.BucketKey][]int64{counter.Hours: {}, counter.Days: {}}
	at := func(table counter.Table, key counter.BucketKey) []int64 {
		if want[table][key] == nil {
			want[table][key] = make([]int64, table.Width())
		}
		return want[table][key]
	}
	for round := range 25 {
		minutes := []int{1, 1, 2, 20, 300}[round%5]
		seen := map[counter.Tally]bool{}
		var tallies []counter.Tally
		fresh := map[counter.BucketKey]bool{}
		first := 20_000*1440 + rnd.IntN(2000)
		for range rnd.IntN(30) {
			y := counter.Tally{ID: counter.ID(1 + rnd.IntN(20)), Minute: counter.Minute(first + rnd.IntN(minutes))}
			if seen[y] {
				continue
			}
			seen[y] = true
			y.N = 1 + rnd.Int64N(9)
			tallies = append(tallies, y)
			day := counter.NewBucketKey(y.Minute.Day(), y.ID)
			fresh[day] = fresh[day] || want[counter.Days][day] == nil
			at(counter.Hours, counter.NewBucketKey(y.Minute.Hour(), y.ID))[y.Minute.InHour()] += y.N
			v := at(counter.Days, day)
			v[counter.DayTotal] += y.N
			v[counter.DayHour(y.Minute.HourOfDay())] += y.N
			v[counter.DayQuarter(y.Minute.Quarter())] += y.N
		}
		made, err := add(d, tallies...)
		must(t, err)
		n := 0
		for _, f := range fresh {
			if f {
				n++
			}
		}
		for _, k := range made {
			if !fresh[k] {
				t.Errorf("round %d: made %d, which was there", round, k)
			}
		}
		if len(made) != n {
			t.Errorf("round %d: made %d days, want %d", round, len(made), n)
		}
	}
	must(t, d.View(ctx, func(tx storage.Tx) error {
		for table, buckets := range want {
			got, err := tx.FirstBuckets(ctx, table, math.MaxInt64, 10_000)
			if err != nil {
				return err
			}
			all := map[counter.BucketKey][]int64{}
			for _, s := range got {
				all[s.Key] = s.Values
			}
			if diff := cmp.Diff(buckets, all); diff != "" {
				t.Errorf("table %d (-want +got):\n%s", table, diff)
			}
		}
		return nil
	}))
}

// A transaction that updates existing rows and inserts others terminates: a wrong prediction is not repeated.
func TestTallies_GuessOnce(t *testing.T) {
	t.Parallel()
	d := direct(t).open(t)
	there := counter.Tally{ID: 1, Minute: 20_000 * 1440, N: 1}
	if _, err := add(d, there); err != nil {
		t.Fatal(err)
	}
	runs := 0
	must(t, d.Update(t.Context(), func(tx storage.Tx) error {
		if runs++; runs > 10 {
			return errors.New("the transaction runs again and again")
		}
		for _, y := range []counter.Tally{there, there, {ID: 2, Minute: there.Minute, N: 1}} {
			if _, err := tx.AddTallies(t.Context(), []counter.Tally{y}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Two servers add to the same buckets, some of them missing, over minutes, hours and a midnight, without deadlocks.
func TestTallies_NeverDeadlock(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := direct(t).open(t)
	other, err := dialled(t, postgres.NewDriver(nil), d.url, d.id, false)
	must(t, err)
	const midnight = 20_000 * 1440
	var runs, sum atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for w := range errs {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(7, uint64(w)))
			c := []*postgres.Cell{d.Cell, other}[w%2]
			for n := 0; n < 25 && errs[w] == nil; n++ {
				tallies := map[counter.Tally]bool{}
				for range 1 + rnd.IntN(12) {
					tallies[counter.Tally{ID: counter.ID(1 + rnd.IntN(30)), Minute: counter.Minute(midnight - 2 + n + rnd.IntN(3)), N: 1}] = true
				}
				batch := make([]counter.Tally, 0, len(tallies))
				for y := range tallies { // in any order
					batch = append(batch, y)
				}
				errs[w] = c.Update(ctx, func(tx storage.Tx) error {
					_, err := tx.AddTallies(ctx, batch)
					if !errors.Is(err, postgres.ErrBucketsMissing) { // retried because of that, but without having waited
						runs.Add(1)
					}
					return err
				})
				sum.Add(int64(len(batch)))
			}
		})
	}
	wg.Wait()
	must(t, errors.Join(errs...))
	if got := runs.Load(); got != 25*int64(len(errs)) {
		t.Errorf("%d runs of %d updates", got, 25*len(errs))
	}
	must(t, d.View(ctx, func(tx storage.Tx) error {
		for _, table := range []counter.Table{counter.Hours, counter.Days} {
			buckets, err := tx.FirstBuckets(ctx, table, math.MaxInt64, 1000)
			if err != nil {
				return err
			}
			got := int64(0)
			for _, s := range buckets {
				if table == counter.Days {
					got += s.Values[counter.DayTotal]
					continue
				}
				for _, n := range s.Values {
					got += n
				}
			}
			if got != sum.Load() {
				t.Errorf("table %d holds %d, want %d", table, got, sum.Load())
			}
		}
		return nil
	}))
}

// RaiseDedupHorizon waits for transactions that have read the dedup horizon, but not for later ones: otherwise it would
// starve among busy ones.
func TestFloor_IsNotOvertaken(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	at := direct(t)
	d := at.open(t)
	read := func(tx storage.Tx) (floor int64, err error) { return tx.DedupHorizon(ctx) }
	first := stay(t, d, func(_ *paused, tx storage.Tx) error { _, err := read(tx); return err })
	raised := begins(t, at, d, 1, func() error {
		return d.Update(ctx, func(tx storage.Tx) error { return tx.RaiseDedupHorizon(ctx, 7) })
	})
	var floor int64
	after := begins(t, at, d, 2, func() error {
		return d.Update(ctx, func(tx storage.Tx) (err error) { floor, err = read(tx); return err })
	})
	must(t, d.View(ctx, func(tx storage.Tx) error {
		now, err := read(tx)
		if now != 0 {
			t.Errorf("a view reads a dedup horizon of %d, which is not committed", now)
		}
		return err
	}))
	first.end(t)
	must(t, errors.Join(raised(), after()))
	if floor != 7 {
		t.Errorf("who came after reads a dedup horizon of %d, want 7", floor)
	}
}

// A group uses few of the server's locks, however many keys it has.
func TestBatches_TakeFewLocks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	at := direct(t)
	d := at.open(t)
	keys, producers := make([]counter.Key, 3000), make([]counter.Producer, 3000)
	for i := range keys {
		keys[i] = counter.Key(fmt.Sprint("key ", i))
		producers[i] = counter.Producer{byte(i), byte(i >> 8)}
	}
	group := stay(t, d, func(_ *paused, tx storage.Tx) error {
		_, err := tx.Batches(ctx, keys)
		_, errProducers := tx.Producers(ctx, producers)
		return errors.Join(err, errProducers)
	})
	locks, err := strconv.Atoi(at.server.Exec(t, d.name, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"+
		" AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")[0][0])
	if err != nil || locks < 2 || locks > 512 {
		t.Errorf("%d locks, %v, want 512 at most", locks, err)
	}
	group.end(t)
}
