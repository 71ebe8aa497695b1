// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
)

// key returns the n-th of a series of keys that are spread over the ring.
func key(n uint64) (k cell.Key) {
	k.Ring = int64(n * 0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(k.Digest[:], n)
	return k
}

func keys(n, count uint64) []cell.Key {
	ks := make([]cell.Key, count)
	for i := range ks {
		ks[i] = key(n + uint64(i))
	}
	return ks
}

func allocate(t tester, c Cell, ks []cell.Key) []cell.Allocation {
	t.Helper()
	as := conformance.Ask(t, c.Update, func(ctx context.Context, s cell.Store) ([]cell.Allocation, error) {
		return s.Allocate(ctx, ks)
	})
	if len(as) != len(ks) {
		t.Fatalf("Allocate of %d keys gave %d answers", len(ks), len(as))
	}
	return as
}

func lookup(t tester, c Cell, ks []cell.Key) []int64 {
	t.Helper()
	puids := conformance.Ask(t, c.Update, func(ctx context.Context, s cell.Store) ([]int64, error) {
		return s.Lookup(ctx, ks)
	})
	if len(puids) != len(ks) {
		t.Fatalf("Lookup of %d keys gave %d answers", len(ks), len(puids))
	}
	return puids
}

func puidsOf(as []cell.Allocation) []int64 {
	puids := make([]int64, len(as))
	for i, a := range as {
		puids[i] = a.PUID
	}
	return puids
}

// wantPuids fails unless the cell has exactly these puids for these keys.
func wantPuids(t tester, c Cell, ks []cell.Key, want []int64) {
	t.Helper()
	if got := lookup(t, c, ks); !slices.Equal(got, want) {
		t.Fatalf("Lookup gave %v, want %v", got, want)
	}
}

func emptyBatch(t tester, c Cell) {
	allocate(t, c, nil)
	lookup(t, c, nil)
}

func emptyCellHasNoKey(t tester, c Cell) {
	wantPuids(t, c, keys(1, 3), []int64{0, 0, 0})
}

func answersInOrder(t tester, c Cell) {
	ks := keys(1, 100)
	want := puidsOf(allocate(t, c, ks))
	slices.Reverse(ks)
	slices.Reverse(want)
	wantPuids(t, c, ks, want)

	mixed := []cell.Key{key(1000), ks[3], key(1001), ks[0], ks[3]}
	wantPuids(t, c, mixed, []int64{0, want[3], 0, want[0], want[3]})
	again := allocate(t, c, mixed)
	for i, k := range []int{3, 0, 3} {
		if at := []int{1, 3, 4}[i]; again[at] != (cell.Allocation{PUID: want[k]}) {
			t.Fatalf("answer %d of a mixed batch is %+v, want the old puid %d", at, again[at], want[k])
		}
	}
}

func allocatesOnce(t tester, c Cell) {
	ks := keys(1, 10)
	first := allocate(t, c, ks)
	second := allocate(t, c, ks)
	for i := range ks {
		if !first[i].Fresh {
			t.Fatalf("key %d of an empty cell is not fresh", i)
		}
		if want := (cell.Allocation{PUID: first[i].PUID}); second[i] != want {
			t.Fatalf("key %d again: %+v, want %+v", i, second[i], want)
		}
	}
}

func duplicatesInBatch(t tester, c Cell) {
	a, b := key(1), key(2)
	as := allocate(t, c, []cell.Key{a, b, a, a})
	if as[0] != as[2] || as[0] != as[3] {
		t.Fatalf("one key named three times in a batch: %+v", as)
	}
	if as[0].PUID == as[1].PUID {
		t.Fatalf("two keys have puid %d", as[0].PUID)
	}
	if !as[0].Fresh || !as[1].Fresh {
		t.Fatalf("keys of an empty cell are not fresh: %+v", as)
	}
	wantPuids(t, c, []cell.Key{b, a, b}, []int64{as[1].PUID, as[0].PUID, as[1].PUID})
}

// sameRingOtherDigest uses keys whose 64-bit hashes collide.
func sameRingOtherDigest(t tester, c Cell) {
	a := key(7)
	b := cell.Key{Ring: a.Ring, Digest: [16]byte{15: 1}}
	d := cell.Key{Ring: a.Ring + 1, Digest: a.Digest}
	as := allocate(t, c, []cell.Key{a, b, d})
	if as[0].PUID == as[1].PUID || as[0].PUID == as[2].PUID || as[1].PUID == as[2].PUID {
		t.Fatalf("keys that differ in one half only share a puid: %+v", as)
	}
	wantPuids(t, c, []cell.Key{d, b, a}, []int64{as[2].PUID, as[1].PUID, as[0].PUID})
}

func edgesOfTheRing(t tester, c Cell) {
	var ks []cell.Key
	for _, r := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		for _, d := range [][16]byte{{}, {0: 0xff}, {15: 0xff}} {
			ks = append(ks, cell.Key{Ring: r, Digest: d})
		}
	}
	wantPuids(t, c, ks, puidsOf(allocate(t, c, ks)))
}

func thousandKeys(t tester, c Cell) {
	ks := keys(1, 1000)
	allocate(t, c, keys(1, 500))
	as := allocate(t, c, ks)
	for i, a := range as {
		if a.Fresh != (i >= 500) {
			t.Fatalf("key %d of 1000: %+v, the first 500 were there", i, a)
		}
	}
	wantPuids(t, c, ks, puidsOf(as))
}

func seesItsOwnWrites(t tester, c Cell) {
	ks := keys(1, 5)
	conformance.Update(t, c.Update, func(ctx context.Context, s cell.Store) error {
		as, err := s.Allocate(ctx, ks)
		if err != nil {
			return err
		}
		got, err := s.Lookup(ctx, ks)
		if err != nil {
			return err
		}
		if want := puidsOf(as); !slices.Equal(got, want) {
			return fmt.Errorf("Lookup in the transaction gave %v, want %v", got, want)
		}
		again, err := s.Allocate(ctx, ks)
		if err != nil {
			return err
		}
		if got := puidsOf(again); !slices.Equal(got, puidsOf(as)) || again[0].Fresh {
			return fmt.Errorf("Allocate again in the transaction gave %+v, want the puids of %+v", again, as)
		}
		return nil
	})
}

func rollbackLeavesNothing(t tester, c Cell) {
	old := allocate(t, c, keys(1, 2))
	conformance.Ends(t, c.Update, true, func(ctx context.Context, s cell.Store) error {
		_, err := s.Allocate(ctx, keys(1, 10))
		return err
	})
	want := append(puidsOf(old), make([]int64, 8)...)
	wantPuids(t, c, keys(1, 10), want)
	for i, a := range allocate(t, c, keys(1, 10)) {
		if a.Fresh != (i >= 2) {
			t.Fatalf("key %d after the rollback: %+v", i, a)
		}
	}
}

func puidsRiseInsideTheRange(t tester, c Cell) {
	last := c.Lo
	seen := uint64(0)
	for _, n := range []uint64{1, 2, 50, 1, 7} {
		for _, a := range allocate(t, c, keys(seen, n)) {
			if a.PUID == 0 || a.PUID <= last || a.PUID > c.Hi {
				t.Fatalf("puid %d after %d, want a rising one in (%d, %d]", a.PUID, last, c.Lo, c.Hi)
			}
			last = a.PUID
		}
		seen += n
	}
}

func noRoom(t tester, c Cell) {
	if c.LeaveRoom == nil {
		t.Skip("this backend does not say how to use its puids up (Cell.LeaveRoom)")
	}
	old := allocate(t, c, keys(1, 3))
	if err := c.LeaveRoom(5); err != nil {
		t.Fatalf("leave room: %v", err)
	}
	try := func(ks []cell.Key) error {
		ctx := context.Background()
		return c.Update(ctx, func(s cell.Store) error {
			_, err := s.Allocate(ctx, ks)
			return err
		})
	}
	if err := try(keys(10, 6)); !errors.Is(err, cell.ErrNoRoom) {
		t.Fatalf("six keys with room for five: %v, want ErrNoRoom", err)
	}
	wantPuids(t, c, keys(10, 6), make([]int64, 6))
	as := allocate(t, c, keys(20, 5))
	if last := as[4].PUID; last != c.Hi {
		t.Fatalf("the last puid is %d, want %d", last, c.Hi)
	}
	if err := try(keys(30, 1)); !errors.Is(err, cell.ErrNoRoom) {
		t.Fatalf("a key in a full cell: %v, want ErrNoRoom", err)
	}
	wantPuids(t, c, keys(1, 3), puidsOf(old))
	if again := allocate(t, c, keys(1, 3)); again[0].Fresh {
		t.Fatalf("a full cell gave an old key a new puid: %+v", again[0])
	}
}

func concurrentAllocation(t tester, c Cell) {
	const writers, count = conformance.Writers, 20
	var answers [writers][]cell.Allocation
	conformance.Together(t, c.Update, 1, func(ctx context.Context, s cell.Store, who, _ int) (err error) {
		answers[who], err = s.Allocate(ctx, keys(1, count))
		return err
	})
	for i := range count {
		fresh := 0
		for w := range writers {
			if answers[w][i].PUID != answers[0][i].PUID {
				t.Fatalf("key %d has puids %d and %d", i, answers[0][i].PUID, answers[w][i].PUID)
			}
			if answers[w][i].Fresh {
				fresh++
			}
		}
		if fresh != 1 {
			t.Fatalf("key %d was allocated by %d of %d writers", i, fresh, writers)
		}
	}
	wantPuids(t, c, keys(1, count), puidsOf(answers[0]))
}
