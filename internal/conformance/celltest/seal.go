// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/cell"
)

// sealWaitsForUpdates pauses an update between its last statement and its commit.
func sealWaitsForUpdates(t tester, c Cell) {
	ctx := context.Background()
	inside, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var ended atomic.Bool
	var updated, sealed error
	var wg sync.WaitGroup
	wg.Go(func() {
		updated = c.Update(ctx, func(s cell.Store) error {
			before, err := s.Head(ctx)
			if err != nil {
				return err
			}
			if _, err := s.Allocate(ctx, keys(1, 1)); err != nil {
				return err
			}
			once.Do(func() { close(inside) })
			<-goOn
			after, err := s.Head(ctx)
			if err == nil && before != after {
				t.Errorf("Head in one update: %+v, then %+v", before, after)
			}
			ended.Store(true)
			return err
		})
	})
	<-inside
	var found atomic.Bool
	calling, began := make(chan struct{}), make(chan struct{}, 100)
	wg.Go(func() {
		close(calling)
		sealed = c.Exclusive(ctx, func(s cell.Store) error {
			select {
			case began <- struct{}{}:
			default: // fn runs again
			}
			if !ended.Load() {
				t.Errorf("an Exclusive ran beside an update")
			}
			if err := seal(ctx, s); err != nil {
				return err
			}
			got, err := s.Lookup(ctx, keys(1, 1))
			found.Store(err == nil && got[0] != cell.Nothing)
			return err
		})
	})
	// Readers do not wait.
	<-calling
	for range 10 {
		headOf(t, c)
	}
	select { // an update that does not wait needs a moment to be noticed
	case <-began:
	case <-time.After(50 * time.Millisecond):
	}
	close(goOn)
	wg.Wait()
	if err := errors.Join(updated, sealed); err != nil {
		t.Fatalf("update and seal: %v", err)
	}
	if !found.Load() {
		t.Fatalf("a seal did not see the row of the update that it waited for")
	}
	if head := headOf(t, c); head.Keys != cell.Sealed {
		t.Fatalf("the head after a seal is %+v", head)
	}
}

// sealAmongWriters seals a cell that 32 writers keep busy: the seal gets its turn, and sees every row that a writer was
// told is committed.
func sealAmongWriters(t tester, c Cell) {
	const writers, most = 32, 2000
	ctx := context.Background()
	var acked [writers][]cell.Key
	var errs [writers]error
	var calling, exhausted atomic.Bool
	var busy, wg sync.WaitGroup
	busy.Add(writers)
	for w := range writers {
		wg.Go(func() {
			for n, left := 0, most; ; n++ {
				k, refused := key(uint64(w)<<32|uint64(n)), false
				errs[w] = c.Update(ctx, func(s cell.Store) error {
					head, err := s.Head(ctx)
					if refused = head.Keys != cell.Open; refused || err != nil {
						return err
					}
					_, err = s.Allocate(ctx, []cell.Key{k})
					return err
				})
				if n == 0 {
					busy.Done()
				}
				if refused || errs[w] != nil {
					return
				}
				acked[w] = append(acked[w], k)
				if calling.Load() {
					left--
				}
				if left == 0 {
					exhausted.Store(true)
					return
				}
			}
		})
	}
	busy.Wait()
	var inTime bool
	var rows []cell.Row
	calling.Store(true)
	err := c.Exclusive(ctx, func(s cell.Store) (err error) {
		inTime = !exhausted.Load()
		if err := seal(ctx, s); err != nil {
			return err
		}
		rows, err = s.Scan(ctx, nil, 1<<24)
		return err
	})
	wg.Wait()
	if err := errors.Join(append(errs[:], err)...); err != nil {
		t.Fatalf("a seal and %d writers: %v", writers, err)
	}
	if !inTime {
		t.Fatalf("a seal waited until a writer had written %d times: writers overtake it", most)
	}
	var want, got []cell.Key
	for _, ks := range acked {
		want = append(want, ks...)
	}
	for _, row := range rows {
		got = append(got, row.Key)
	}
	slices.SortFunc(want, compare)
	if !slices.Equal(got, want) {
		t.Fatalf("the seal saw %d rows, %d were acknowledged by writers who found the cell open", len(got), len(want))
	}
}
