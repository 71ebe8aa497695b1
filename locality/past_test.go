// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/locality"
)

func TestP07_PastInsideAndNeverTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := generator(t, &locality.Options{Now: at(1.7e12)})
		// Short periods and small segments, so that lanes reach their ends.
		seg := rapid.Custom(func(t *rapid.T) locality.Segment {
			s := segments().Draw(t, "positions")
			if rapid.Bool().Draw(t, "one position") {
				s.Hi = uint64(s.Lo) + 1
			}
			s.From = rapid.Int64Range(0, 5).Draw(t, "from")
			s.Until = s.From + rapid.Int64Range(1, 8).Draw(t, "length")
			return s
		})
		segs := rapid.SliceOfN(seg, 1, 4).Draw(t, "segments")
		seen := map[locality.ID]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "mints") {
			s := rapid.SampledFrom(segs).Draw(t, "segment")
			id, err := g.NewInPast(s)
			if err != nil || !s.Contains(id) || seen[id] {
				t.Fatalf("NewInPast(%+v) = %v, %v, seen before: %v", s, id, err, seen[id])
			}
			seen[id] = true
		}
	})
}

func TestNewInPast_LaneOfAPeriod(t *testing.T) {
	t.Parallel()
	g := generator(t, &locality.Options{Node: locality.FixedNode(60_010)})
	first := locality.Segment{Hi: ring, From: 1e12, Until: 1.1e12}
	second := locality.Segment{Lo: 1 << 31, Hi: ring, From: 1.1e12, Until: 1.2e12}
	mint := func(s locality.Segment) locality.ID {
		id, err := g.NewInPast(s)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	a, b, c, d := mint(first), mint(second), mint(first), mint(second)
	if !sameLane(a, c) || !sameLane(b, d) || sameLane(a, b) {
		t.Errorf("%v, %v, %v, %v: want a lane for each period", a, b, c, d)
	}
	if node, _ := a.Node(); node == 60_010 {
		t.Errorf("%v has the fixed node: a second process that dates back would meet it", a)
	}
	if a.Millis() != c.Millis() {
		t.Errorf("time moved from %d to %d without need", a.Millis(), c.Millis())
	}
}

func TestNewInPast_Refuses(t *testing.T) {
	t.Parallel()
	g := generator(t, nil)
	for _, s := range []locality.Segment{{}, {Hi: ring}, {Hi: ring, From: 5}, {Hi: ring, From: 5, Until: 5}} {
		if id, err := g.NewInPast(s); !errors.Is(err, locality.ErrSegment) || !id.IsZero() {
			t.Errorf("NewInPast(%+v) = %v, %v, want ErrSegment", s, id, err)
		}
	}
}

func TestNewAt_CarriesTheTime(t *testing.T) {
	t.Parallel()
	for _, order := range []locality.Order{locality.Variable, locality.Scatter} {
		g := generator(t, &locality.Options{Order: order, Node: locality.FixedNode(60_020 + uint32(order))})
		var ids []locality.ID
		for _, ms := range []int64{0, 1, 1_350_327_498_450, 1_350_327_498_450, 1<<48 - 1, 5} {
			want := time.UnixMilli(ms).UTC()
			id, err := g.NewAt(want.Add(999 * time.Microsecond))
			if at, _ := id.Time(); err != nil || !at.Equal(want) {
				t.Errorf("%v: NewAt(%v) = %v, %v", order, want, id, err)
			}
			if node, _ := id.Node(); node == 60_020+uint32(order) {
				t.Errorf("%v: %v has the fixed node", order, id)
			}
			ids = append(ids, id)
		}
		none(t, order.String(), ids)
		for _, ms := range []int64{-1, 1 << 48} {
			if id, err := g.NewAt(time.UnixMilli(ms)); !errors.Is(err, locality.ErrDate) || !id.IsZero() {
				t.Errorf("NewAt of millisecond %d: %v, %v, want ErrDate", ms, id, err)
			}
		}
	}
	sequential := generator(t, &locality.Options{Order: locality.Sequential})
	if _, err := sequential.NewAt(time.UnixMilli(5)); !errors.Is(err, locality.ErrDate) {
		t.Errorf("a Sequential generator dates: %v, want ErrDate", err)
	}
}

func TestNewAt_NewIdentityAfterACycle(t *testing.T) {
	t.Parallel()
	g := generator(t, nil)
	mint := func() locality.ID {
		id, err := g.NewAt(time.UnixMilli(5))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := mint()
	g.SetSpent(1<<32 - 1)
	last, next := mint(), mint()
	if !sameLane(first, last) || sameLane(last, next) {
		t.Errorf("%v, then number 2^32 %v, then %v: want a new identity for the last", first, last, next)
	}
}
