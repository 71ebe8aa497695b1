// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/locality"
)

func TestLocal_ManyGoroutinesAndTheirGenerator(t *testing.T) {
	inEveryOrder(t, func(t *testing.T, order locality.Order) {
		const workers, n = 4, 20_000
		shared, leased := generator(t, &locality.Options{Order: order}), generator(t,
			&locality.Options{Order: order, Lease: 16})
		lists := make([][]locality.ID, workers)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				local, leasedLocal := shared.Local(), leased.Local()
				for range n {
					lists[w] = append(lists[w], local.New(), shared.New(), leasedLocal.New(), leased.New())
				}
				lists[w] = shared.Append(lists[w], 100)
			})
		}
		wg.Wait()
		none(t, "shared and leased counters", lists...)
	})
}

// follows reports whether b is the next ID after a of one counter.
func follows(a, b locality.ID) bool {
	n, ok := b.Steps(a)
	return ok && n == 1
}

func TestLocal_LeaseEndsAfterASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := generator(t, nil)
		l := g.Local()
		first := l.New()
		pass(999 * time.Millisecond)
		second := l.New()
		if !follows(first, second) {
			t.Errorf("after 999 ms %v does not follow %v", second, first)
		}
		pass(time.Millisecond)
		third := l.New()
		if n, ok := third.Steps(first); !ok || n != 256 {
			t.Errorf("after a second %v is %d steps after %v, want the first of the next 256", third, n, first)
		}
	})
}

func TestLocal_LeaseEndsWithItsWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := generator(t, &locality.Options{Order: locality.Sequential})
		l := g.Local()
		first := l.New()
		sleepToTheEndOfTheWindow()
		second := l.New()
		a, _ := first.WindowCount()
		b, ok := second.WindowCount()
		if a != 1 || b != 1 || !ok {
			t.Errorf("numbers %d and %d of their windows, want 1 and 1", a, b)
		}
	})
}

// sleepToTheEndOfTheWindow returns in the first millisecond of the next ten minutes.
func sleepToTheEndOfTheWindow() {
	pass(time.Until(time.Now().Truncate(10 * time.Minute).Add(10 * time.Minute)))
}

func TestLocal_LeaseEndsWithItsIdentity(t *testing.T) {
	t.Parallel()
	g := generator(t, nil)
	l := g.Local()
	before := l.New()
	g.Reseed()
	if after := l.New(); sameLane(before, after) {
		t.Errorf("%v and %v have one identity", before, after)
	}
}

func sameLane(a, b locality.ID) bool {
	_, ok := b.Steps(a)
	return ok
}

func TestLocal_FollowsAClockOfItsOwn(t *testing.T) {
	t.Parallel()
	now := int64(1.7e12)
	g := generator(t, &locality.Options{Now: func() time.Time { now++; return time.UnixMilli(now) }, Lease: 8})
	l := g.Local()
	a, b, c := l.New(), l.New(), g.New()
	if b.Millis() != a.Millis()+1 || c.Millis() != b.Millis()+1 || !follows(a, b) || !follows(b, c) {
		t.Errorf("%v, %v, %v do not follow each other, a millisecond each", a, b, c)
	}
}
