// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
)

func update(t tester, c Cell, fn func(ctx context.Context, s cell.Store) error) {
	t.Helper()
	conformance.Update(t, c.Update, fn)
}

func exclusive(t tester, c Cell, fn func(ctx context.Context, s cell.Store) error) {
	t.Helper()
	conformance.Update(t, c.Exclusive, fn)
}

func view(t tester, c Cell, fn func(ctx context.Context, s cell.Store) error) {
	t.Helper()
	conformance.Update(t, c.View, fn)
}

// peek looks keys up in a View.
func peek(t tester, c Cell, ks []cell.Key) (puids []int64) {
	t.Helper()
	view(t, c, func(ctx context.Context, s cell.Store) (err error) {
		puids, err = s.Lookup(ctx, ks)
		return err
	})
	return puids
}

func scan(t tester, c Cell, after *cell.Key, limit int) (page []cell.Row) {
	t.Helper()
	view(t, c, func(ctx context.Context, s cell.Store) (err error) {
		page, err = s.Scan(ctx, after, limit)
		return err
	})
	return page
}

// put writes rows as they are.
func put(t tester, c Cell, rows []cell.Row) {
	t.Helper()
	update(t, c, func(ctx context.Context, s cell.Store) error { return s.Copy(ctx, rows) })
}

func copyKeepsWhatIsThere(t tester, c Cell) {
	ks := keys(1, 5)
	here := allocate(t, c, ks[:2])
	put(t, c, nil)
	// Rows of older cells have puids of other ranges.
	put(t, c, []cell.Row{{Key: ks[4], PUID: math.MaxInt64}, {Key: ks[0], PUID: 5}, {Key: ks[2], PUID: 6},
		{Key: ks[3], PUID: math.MinInt64 + 1}})
	want := []int64{here[0].PUID, here[1].PUID, 6, math.MinInt64 + 1, math.MaxInt64}
	wantPuids(t, c, ks, want)
	for range 2 {
		put(t, c, []cell.Row{{Key: ks[3], PUID: 8}, {Key: ks[4], PUID: 9}})
		wantPuids(t, c, ks, want)
	}
	if next := allocate(t, c, keys(100, 1))[0].PUID; next <= c.Lo || next > c.Hi || slices.Contains(want, next) {
		t.Fatalf("the puid after copying is %d, not one of the cell's own that was free", next)
	}
}

// scanInOrder uses rows of every sign, and rings with several digests.
func scanInOrder(t tester, c Cell) {
	if page := scan(t, c, nil, 10); len(page) != 0 {
		t.Fatalf("Scan of an empty cell gave %v", page)
	}
	var want []cell.Row
	for _, ring := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		for _, digest := range [][16]byte{{}, {15: 1}, {0: 0x7f}, {0: 0x80}, {0: 0xff}} {
			want = append(want, cell.Row{Key: cell.Key{Ring: ring, Digest: digest}, PUID: int64(len(want)) + 1})
		}
	}
	shuffled := slices.Clone(want)
	for i := range shuffled { // not sorted in either order
		j := i * 7 % len(shuffled)
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	}
	put(t, c, shuffled)
	for _, limit := range []int{1, 4, len(want), len(want) + 1} {
		var got []cell.Row
		var after *cell.Key
		for range len(want) + 1 {
			page := scan(t, c, after, limit)
			if len(page) > limit {
				t.Fatalf("Scan of at most %d rows gave %d", limit, len(page))
			}
			if got = append(got, page...); len(page) < limit {
				break
			}
			after = &page[len(page)-1].Key
		}
		if !slices.Equal(got, want) {
			t.Fatalf("Scan by %d gave\n%v\nwant\n%v", limit, got, want)
		}
	}
	// After a key that does not exist.
	if got := scan(t, c, &cell.Key{Ring: 0, Digest: [16]byte{0: 0x80, 15: 1}}, 2); !slices.Equal(got, want[14:16]) {
		t.Fatalf("Scan after a key between two gave %v, want %v", got, want[14:16])
	}
}

func drop(t tester, c Cell) {
	ks := keys(1, 10)
	allocate(t, c, ks)
	var dropped []int
	for range 5 {
		update(t, c, func(ctx context.Context, s cell.Store) error {
			n, err := s.Drop(ctx, 4)
			dropped = append(dropped, n)
			return err
		})
		if rest := len(scan(t, c, nil, 100)); rest != 10-sum(dropped) {
			t.Fatalf("Drop answered %v of 10, and %d rows are left", dropped, rest)
		}
	}
	if !slices.Equal(dropped, []int{4, 4, 2, 0, 0}) {
		t.Fatalf("Drop of at most 4 of 10 rows, five times: %v", dropped)
	}
	wantPuids(t, c, ks, make([]int64, len(ks)))
}

func sum(ns []int) (s int) {
	for _, n := range ns {
		s += n
	}
	return s
}

func skip(t tester, c Cell) {
	last := allocate(t, c, keys(1, 3))[2].PUID
	for i, n := range []uint64{0, 1, 1 << 20} {
		update(t, c, func(ctx context.Context, s cell.Store) error { return s.Skip(ctx, n) })
		next := allocate(t, c, keys(uint64(10+i), 1))[0].PUID
		if next <= last+int64(n) || next > c.Hi {
			t.Fatalf("the puid after %d and Skip(%d) is %d", last, n, next)
		}
		last = next
	}
}

func skipToTheEnd(t tester, c Cell) {
	old := allocate(t, c, keys(1, 3))
	for _, n := range []uint64{1 << 31, 1 << 31, math.MaxUint64} {
		update(t, c, func(ctx context.Context, s cell.Store) error { return s.Skip(ctx, n) })
	}
	err := c.Update(context.Background(), func(s cell.Store) error {
		_, err := s.Allocate(context.Background(), keys(10, 1))
		return err
	})
	if !errors.Is(err, cell.ErrNoRoom) {
		t.Fatalf("a key after all puids were skipped: %v, want ErrNoRoom", err)
	}
	wantPuids(t, c, keys(1, 3), puidsOf(old))
}

// puidsAreNeverGivenAgain removes every trace of a puid but the cell's own counter.
func puidsAreNeverGivenAgain(t tester, c Cell) {
	last := c.Lo
	for range 4 {
		for _, a := range allocate(t, c, keys(1, 5)) {
			if a.PUID <= last {
				t.Fatalf("puid %d was given after %d", a.PUID, last)
			}
			last = a.PUID
		}
		update(t, c, func(ctx context.Context, s cell.Store) error {
			_, err := s.Drop(ctx, 100)
			return err
		})
	}
}

func viewIsASnapshot(t tester, c Cell) {
	ks := keys(1, 2)
	old := allocate(t, c, ks[:1])
	view(t, c, func(ctx context.Context, s cell.Store) error {
		before, err := s.Lookup(ctx, ks)
		if err != nil {
			return err
		}
		// A writer neither waits for a reader nor is visible to it.
		allocate(t, c, ks)
		exclusive(t, c, func(ctx context.Context, s cell.Store) error {
			return s.SetHead(ctx, cell.Head{Keys: cell.Sealed, Incarnation: 1})
		})
		after, err := s.Lookup(ctx, ks)
		if want := []int64{old[0].PUID, cell.Nothing}; err == nil && (!slices.Equal(before, want) || !slices.Equal(after, want)) {
			err = fmt.Errorf("Lookup twice in one view gave %v, then %v, want %v", before, after, want)
		}
		head, err2 := s.Head(ctx)
		if err2 == nil && head.Keys != cell.Open {
			err2 = fmt.Errorf("Head in a view that began before the cell was sealed is %v", head.Keys)
		}
		return errors.Join(err, err2)
	})
}

func viewDoesNotWrite(t tester, c Cell) {
	old := allocate(t, c, keys(1, 1))
	for name, write := range map[string]func(ctx context.Context, s cell.Store) error{
		"Allocate": func(ctx context.Context, s cell.Store) error { _, err := s.Allocate(ctx, keys(2, 1)); return err },
		"Copy": func(ctx context.Context, s cell.Store) error {
			return s.Copy(ctx, []cell.Row{{Key: key(3), PUID: 3}})
		},
		"Drop":       func(ctx context.Context, s cell.Store) error { _, err := s.Drop(ctx, 1); return err },
		"PutCellMap": func(ctx context.Context, s cell.Store) error { return s.PutCellMap(ctx, 1, []byte("m")) },
		"SetFilter":  func(ctx context.Context, s cell.Store) error { return s.SetFilter(ctx, []byte("f")) },
		"SetHead":    func(ctx context.Context, s cell.Store) error { return s.SetHead(ctx, cell.Head{Incarnation: 2}) },
	} {
		ctx := context.Background()
		if err := c.View(ctx, func(s cell.Store) error { return write(ctx, s) }); err == nil {
			t.Fatalf("%s in a View is no error", name)
		}
	}
	wantPuids(t, c, keys(1, 3), []int64{old[0].PUID, 0, 0})
}
