// SPDX-License-Identifier: Apache-2.0

package changelogtest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/locality"
)

func id(n int64) (id locality.ID) {
	binary.BigEndian.PutUint64(id[:8], uint64(n)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

func change(n int64) changelog.Change {
	return changelog.Change{
		Time: time.UnixMilli(1_700_000_000_000 + n).UTC(), Kind: changelog.Changed, Cause: changelog.CausePut, Entity: id(n),
		Before: []changelog.Version{{PUID: entity.PUID(n), Version: 1}},
		After:  []changelog.Version{{PUID: entity.PUID(n), Version: 2}, {PUID: entity.PUID(-n), Version: 1}},
	}
}

func series(from, n int64) []changelog.Change {
	changes := make([]changelog.Change, n)
	for i := range changes {
		changes[i] = change(from + int64(i))
	}
	return changes
}

// everything is more than any case writes.
const everything = 10_000

func emptyLog(t tester, c Cell) {
	appendChanges(t, c)
	wantChanges(t, changesAfter(t, c, 0, 10), nil)
	wantChanges(t, changesAfter(t, c, math.MaxInt64, 10), nil)
}

func comeBackWhole(t tester, c Cell) {
	var many []changelog.Version
	for i := range int64(300) {
		many = append(many, changelog.Version{PUID: entity.PUID(i - 150), Version: i})
	}
	edges := []changelog.Version{{PUID: math.MinInt64, Version: math.MaxInt64}, {PUID: math.MaxInt64, Version: 1},
		{PUID: -1}, {PUID: 1<<53 + 1, Version: 1<<53 + 1}}
	at := time.UnixMilli(1_700_000_000_123).UTC()
	want := []changelog.Change{
		{Time: at, Kind: changelog.Put, Cause: changelog.CausePut, Entity: id(1), After: edges[:1]},
		{Time: at, Kind: changelog.Deleted, Cause: changelog.CauseDelete, Entity: id(1), Before: edges[:1]},
		{Time: at, Kind: changelog.Created, Cause: changelog.CauseDecision, Entity: id(2), After: many},
		{Time: at, Kind: changelog.Changed, Entity: id(2), Before: edges, After: edges[1:]},
		{Time: at, Kind: changelog.Merged, Cause: changelog.CauseRedo, Entity: id(2), Before: edges[:1], After: many},
		{Time: at, Kind: changelog.Split, Cause: changelog.CauseTerms, Entity: locality.Max(), Before: many, After: edges},
		{Time: at, Kind: changelog.Retired, Entity: id(3), Into: locality.Max(), Before: edges},
		{Time: at, Kind: changelog.Retired, Entity: id(4), Before: edges},
		{Time: time.UnixMilli(0).UTC(), Kind: changelog.Changed, Entity: id(5)},
		{Time: time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC), Kind: changelog.Changed, Entity: id(6)},
		{Time: time.UnixMilli(-1).UTC(), Kind: changelog.Changed, Entity: id(7)},
	}
	appendChanges(t, c, want...)
	got := changesAfter(t, c, 0, everything)
	wantChanges(t, got, want)
	for i, g := range got {
		if g.Time.Location() != time.UTC {
			t.Fatalf("change %d is dated in %s, want UTC", i, g.Time.Location())
		}
	}
}

// numbersRise appends changes with numbers of their own, which are ignored.
func numbersRise(t tester, c Cell) {
	first := series(1, 5)
	first[0].Seq, first[4].Seq = 1000, -1
	appendChanges(t, c, first...)
	appendChanges(t, c, change(6))
	appendChanges(t, c, change(7), change(8))
	wantChanges(t, changesAfter(t, c, 0, everything), series(1, 8))
}

func inPages(t tester, c Cell) {
	want := series(1, 10)
	appendChanges(t, c, want...)
	all := changesAfter(t, c, 0, everything)
	wantChanges(t, all, want)
	var paged []changelog.Change
	for after := changelog.Seq(0); len(paged) <= len(want); after = paged[len(paged)-1].Seq {
		page := changesAfter(t, c, after, 3)
		if len(page) > 3 {
			t.Fatalf("a page of 3 has %d changes", len(page))
		}
		if len(page) == 0 {
			break
		}
		paged = append(paged, page...)
	}
	wantChanges(t, paged, want)
	for i, g := range paged {
		if g.Seq != all[i].Seq {
			t.Fatalf("change %d has number %d in a page and %d in the whole", i, g.Seq, all[i].Seq)
		}
	}
	wantChanges(t, changesAfter(t, c, all[9].Seq, 3), nil)
	wantChanges(t, changesAfter(t, c, all[6].Seq, everything), want[7:])
	wantChanges(t, changesAfter(t, c, -5, 1), want[:1])
}

func thousandChanges(t tester, c Cell) {
	want := series(1, 1000)
	appendChanges(t, c, want...)
	wantChanges(t, changesAfter(t, c, 0, everything), want)
	wantChanges(t, changesAfter(t, c, 0, 999), want[:999])
}

func seesItsOwnWrites(t tester, c Cell) {
	appendChanges(t, c, change(1))
	conformance.Update(t, c.Update, func(ctx context.Context, s changelog.Store) error {
		for n := int64(2); n <= 4; n++ {
			if err := s.Append(ctx, series(n, 1)); err != nil {
				return err
			}
			got, err := s.Changes(ctx, 0, everything)
			if err != nil {
				return err
			}
			b, err := s.Bounds(ctx)
			if err != nil || b.Last != got[len(got)-1].Seq {
				return fmt.Errorf("the ends in the transaction are %+v, %w, its last change has number %d", b, err,
					got[len(got)-1].Seq)
			}
			if diff := differ(got, series(1, n)); diff != "" {
				return fmt.Errorf("changes in the transaction (-want +got):\n%s", diff)
			}
		}
		return nil
	})
}

func rollbackLeavesNothing(t tester, c Cell) {
	appendChanges(t, c, change(1))
	conformance.Ends(t, c.Update, true, func(ctx context.Context, s changelog.Store) error {
		return s.Append(ctx, series(50, 3))
	})
	wantChanges(t, changesAfter(t, c, 0, everything), series(1, 1))
	appendChanges(t, c, change(2))
	wantChanges(t, changesAfter(t, c, 0, everything), series(1, 2))
}

func survivesReopening(t tester, c Cell) {
	appendChanges(t, c, series(1, 3)...)
	before := changesAfter(t, c, 0, everything)
	conformance.Reopen(t, c.Reopen)
	appendChanges(t, c, change(4))
	after := changesAfter(t, c, 0, everything)
	wantChanges(t, after, series(1, 4))
	for i, b := range before {
		if after[i].Seq != b.Seq {
			t.Fatalf("change %d had number %d before and has %d now", i, b.Seq, after[i].Seq)
		}
	}
}

func cancelledContext(t tester, c Cell) {
	add := func(n int64) func(context.Context, changelog.Store) error {
		return func(ctx context.Context, s changelog.Store) error { return s.Append(ctx, series(n, 1)) }
	}
	conformance.Cancelled(t, c.Update, add(1), add(2))
	wantChanges(t, changesAfter(t, c, 0, everything), nil)
}

// concurrentAppends runs eight writers. The changes of each are in its order, none is lost, and no number is used
// twice.
func concurrentAppends(t tester, c Cell) {
	const writers, each = conformance.Writers, 20
	conformance.Together(t, c.Update, each, func(ctx context.Context, s changelog.Store, w, i int) error {
		return s.Append(ctx, series(int64(1000*w+i), 1))
	})
	got := changesAfter(t, c, 0, everything)
	if len(got) != writers*each {
		t.Fatalf("%d changes of %d writers with %d each", len(got), writers, each)
	}
	next := [writers]int64{}
	for i, g := range got {
		n := g.Time.Sub(change(0).Time).Milliseconds()
		if w := n / 1000; n%1000 != next[w] {
			t.Fatalf("change %d is the %d-th of writer %d, want its %d-th", i, n%1000, w, next[w])
		}
		next[n/1000]++
		if i > 0 && g.Seq <= got[i-1].Seq {
			t.Fatalf("change %d has number %d after %d", i, g.Seq, got[i-1].Seq)
		}
	}
}
