// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
)

func headOf(t tester, c Cell) (head cell.Head) {
	t.Helper()
	view(t, c, func(ctx context.Context, s cell.Store) (err error) {
		head, err = s.Head(ctx)
		return err
	})
	return head
}

func setHead(t tester, c Cell, head cell.Head) {
	t.Helper()
	exclusive(t, c, func(ctx context.Context, s cell.Store) error { return s.SetHead(ctx, head) })
}

func seal(ctx context.Context, s cell.Store) error {
	head, err := s.Head(ctx)
	if err != nil {
		return err
	}
	head.Keys = cell.Sealed
	return s.SetHead(ctx, head)
}

func headIsKept(t tester, c Cell) {
	if got, want := headOf(t, c), (cell.Head{Incarnation: 1}); got != want {
		t.Fatalf("the head of a new cell is %+v, want %+v", got, want)
	}
	for _, want := range []cell.Head{
		{Incarnation: 1, Epoch: 1},
		{Incarnation: 1, KnownEpoch: 1 << 62},
		{Incarnation: 2, Fence: 1},
		{Incarnation: 2, Images: "entities:city"},
		{Keys: cell.Sealed, Incarnation: 1, Epoch: 9, KnownEpoch: 10, Fence: 11},
		{Keys: cell.Retired, Home: cell.Moving, Incarnation: math.MaxInt32, Epoch: math.MaxInt64, KnownEpoch: math.MaxInt64,
			Fence: math.MaxInt64, Images: "entities:a,b records:", Rules: math.MaxInt64, Returns: math.MaxInt32,
			Settled: math.MaxInt32},
		{Incarnation: 2, Returns: 3, Settled: 2},
		{Home: cell.Moved, Incarnation: 3, Move: "move.attempt"},
		{Incarnation: 7},
	} {
		exclusive(t, c, func(ctx context.Context, s cell.Store) error {
			if err := s.SetHead(ctx, want); err != nil {
				return err
			}
			got, err := s.Head(ctx)
			if err == nil && got != want {
				err = fmt.Errorf("Head in the transaction that wrote it is %+v, want %+v", got, want)
			}
			return err
		})
		if got := headOf(t, c); got != want {
			t.Fatalf("Head is %+v, want %+v", got, want)
		}
		if want.Home != cell.Serving {
			continue
		}
		update(t, c, func(ctx context.Context, s cell.Store) error {
			got, err := s.Head(ctx)
			if err == nil && got != want {
				err = fmt.Errorf("Head in an update is %+v, want %+v", got, want)
			}
			return err
		})
	}
}

func headOnlyInExclusive(t tester, c Cell) {
	ctx := context.Background()
	if err := c.Update(ctx, func(s cell.Store) error {
		return s.SetHead(ctx, cell.Head{Keys: cell.Sealed, Incarnation: 1})
	}); err == nil {
		t.Fatalf("SetHead in an Update is no error")
	}
	if got := headOf(t, c); got.Keys != cell.Open {
		t.Fatalf("SetHead in an Update wrote %+v", got)
	}
}

func exclusiveRollsBack(t tester, c Cell) {
	old := allocate(t, c, keys(1, 1))
	err := c.Exclusive(context.Background(), func(s cell.Store) error {
		ctx := context.Background()
		_, err := s.Allocate(ctx, keys(1, 3))
		return errors.Join(err, s.SetHead(ctx, cell.Head{Keys: cell.Retired, Incarnation: 1}), s.SetFilter(ctx, []byte("f")),
			conformance.ErrRollback)
	})
	if !errors.Is(err, conformance.ErrRollback) {
		t.Fatalf("Exclusive returned %v, want the error of its function", err)
	}
	if got := headOf(t, c); got.Keys != cell.Open {
		t.Fatalf("the head after a rollback is %+v", got)
	}
	wantPuids(t, c, keys(1, 3), []int64{old[0].PUID, 0, 0})
}

// updateOnlyWhereServing moves a cell away, and back before the move is complete.
func updateOnlyWhereServing(t tester, c Cell) {
	for i, home := range []cell.Placement{cell.Moving, cell.Moved, cell.Serving} {
		setHead(t, c, cell.Head{Home: home, Incarnation: 1})
		k, allocated := key(uint64(i)), false
		err := c.Update(context.Background(), func(s cell.Store) error {
			_, err := s.Allocate(context.Background(), []cell.Key{k})
			allocated = err == nil
			return err
		})
		written := key(uint64(10 + i)) // without reading anything
		errWrite := c.Update(context.Background(), func(s cell.Store) error {
			return s.Copy(context.Background(), []cell.Row{{Key: written, PUID: 1}})
		})
		if got := peek(t, c, []cell.Key{written})[0]; (home == cell.Serving) != (errWrite == nil && got == 1) || home != cell.Serving && got != cell.Nothing {
			t.Fatalf("update, without a read, of a cell that is %v: %v, the key has %d", home, errWrite, got)
		}
		switch got := peek(t, c, []cell.Key{k})[0]; {
		case home == cell.Serving && (err != nil || got == cell.Nothing):
			t.Fatalf("update of a cell that serves again: %v, the key has %d", err, got)
		case home != cell.Serving && (!errors.Is(err, cell.ErrMoved) || got != cell.Nothing || allocated):
			t.Fatalf("update of a cell that is %v: %v, want ErrMoved; the key has %d, allocated %v", home, err, got, allocated)
		}
	}
}

// exclusivesRunAlone increments a counter in the head, which loses increments unless exclusives run alone.
func exclusivesRunAlone(t tester, c Cell) {
	const writers, times = 8, 10
	ctx := context.Background()
	var errs [writers]error
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range times {
				errs[w] = errors.Join(errs[w], c.Exclusive(ctx, func(s cell.Store) error {
					head, err := s.Head(ctx)
					if err != nil {
						return err
					}
					head.Fence++
					return s.SetHead(ctx, head)
				}))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatalf("exclusives at once: %v", err)
	}
	if got := headOf(t, c).Fence; got != writers*times {
		t.Fatalf("%d exclusives that add one made %d", writers*times, got)
	}
}
