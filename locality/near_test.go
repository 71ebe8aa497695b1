// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"errors"
	"math/bits"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/locality"
)

const ring = 1 << 32

// segments draws parts of the ring of all sizes, open in time.
func segments() *rapid.Generator[locality.Segment] {
	return rapid.Custom(func(t *rapid.T) locality.Segment {
		size := uint64(1) << rapid.IntRange(0, 32).Draw(t, "log size")
		size = min(ring, size+rapid.Uint64Range(0, size).Draw(t, "more"))
		lo := rapid.Uint64Range(0, ring-size).Draw(t, "lo")
		return locality.Segment{Lo: uint32(lo), Hi: lo + size}
	})
}

// place is what makes an ID unique within its lane.
type place struct {
	w uint32
	z int64
}

func placeOf(id locality.ID) place {
	at, _ := id.Time()
	return place{id.Position(), at.UnixMilli()}
}

func TestP07_NearInsideAndNeverTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := int64(1.7e12)
		g, err := locality.NewGenerator(&locality.Options{Now: func() time.Time { return time.UnixMilli(now) }})
		if err != nil {
			t.Fatal(err)
		}
		g.SetCounter(rapid.Uint32().Draw(t, "counter"))
		// Few segments, so that they are used again.
		segs := rapid.SliceOfN(segments(), 1, 4).Draw(t, "segments")
		seen := map[place]bool{}
		check := func(id locality.ID) {
			if p := placeOf(id); seen[p] {
				t.Fatalf("position %08x twice in millisecond %d", p.w, p.z)
			} else {
				seen[p] = true
			}
		}
		for range rapid.IntRange(1, 100).Draw(t, "mints") {
			s := rapid.SampledFrom(segs).Draw(t, "segment")
			if rapid.IntRange(0, 9).Draw(t, "dated") == 0 {
				s.From = now + rapid.Int64Range(-5, 5).Draw(t, "from")
			}
			if rapid.IntRange(0, 9).Draw(t, "ends") == 0 {
				s.Until = max(s.From, now) + rapid.Int64Range(1, 50).Draw(t, "until")
			}
			now += rapid.Int64Range(0, 1).Draw(t, "pass")
			if rapid.IntRange(0, 9).Draw(t, "child") == 0 {
				parent := locality.ID{0: rapid.Byte().Draw(t, "parent")}
				id := g.Near(parent)
				if id.Position()>>12 != parent.Position()>>12 {
					t.Fatalf("Near(%v) = %v", parent, id)
				}
				check(id)
			}
			id, err := g.NewIn(s)
			switch {
			case errors.Is(err, locality.ErrSegmentOver):
				continue
			case err != nil:
				t.Fatal(err)
			case !s.Contains(id):
				t.Fatalf("%v is not in %+v", id, s)
			}
			check(id)
		}
	})
}

func TestBlocks_InsideSegmentAndCoarsest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := segments().Draw(t, "segment")
		lo, hi, size, _ := locality.Blocks(s, 0)
		if lo < uint64(s.Lo) || hi > s.Hi || lo >= hi {
			t.Fatalf("blocks %d to %d of %+v", lo, hi, s)
		}
		if n := (hi - lo) / size; n > 30 {
			t.Fatalf("%d blocks", n)
		}
		if bits.OnesCount64(size) != 1 || bits.TrailingZeros64(size)%4 != 0 || lo%size != 0 || hi%size != 0 {
			t.Fatalf("blocks of %d from %d to %d are not aligned", size, lo, hi)
		}
		if 3*(hi-lo) < s.Hi-uint64(s.Lo) {
			t.Fatalf("blocks cover %d of %d positions, want at least a third", hi-lo, s.Hi-uint64(s.Lo))
		}
	})
}

func TestBlocks_CoverCellsOfPowersOfTwo(t *testing.T) {
	t.Parallel()
	for log := range 21 {
		cells := uint64(1) << log
		for _, i := range []uint64{0, cells / 3, cells - 1} {
			s := locality.Segment{Lo: uint32(i * ring / cells), Hi: (i + 1) * ring / cells}
			if lo, hi, _, _ := locality.Blocks(s, 0); lo != uint64(s.Lo) || hi != s.Hi {
				t.Errorf("cell %d of %d, %d to %d: blocks from %d to %d", i, cells, s.Lo, s.Hi, lo, hi)
			}
		}
	}
}

// TestBlocks_StepsAreMinimal steps the counter where the arithmetic jumps.
func TestBlocks_StepsAreMinimal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Uint64Range(1<<17, 1<<30).Draw(t, "size")
		from := rapid.Uint64Range(0, ring-size).Draw(t, "lo")
		c := rapid.Uint32().Draw(t, "counter")
		lo, hi, _, steps := locality.Blocks(locality.Segment{Lo: uint32(from), Hi: from + size}, c)
		for m := uint64(1); m <= steps; m++ {
			w := uint64(reverse(c + uint32(m)*locality.Step))
			if inside := lo <= w && w < hi; inside != (m == steps) {
				t.Fatalf("%d steps from %d: inside is %v, computed were %d steps", m, c, inside, steps)
			}
		}
	})
}

func reverse(c uint32) (w uint32) {
	for range 8 {
		w, c = w<<4|c&0xf, c>>4
	}
	return w
}

func TestP07_NearFrozenClock(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	g := generator(t, &locality.Options{Now: at(1.7e12), Rand: seeded(5)})
	segs := []locality.Segment{
		{Lo: 0, Hi: ring},
		{Lo: 0x12340000, Hi: 0x12350000},
		{Lo: 0x12345000, Hi: 0x12346000},
		{Lo: 0x10000000, Hi: 0x20000000},
		{Lo: 1431655766, Hi: 2863311531},
	}
	places := make([]uint64, 0, n)
	run := make([]locality.ID, 100)
	for i := 0; len(places) < n; i++ {
		s := segs[i%len(segs)]
		if err := g.FillIn(s, run); err != nil {
			t.Fatal(err)
		}
		for _, id := range run {
			if !s.Contains(id) {
				t.Fatalf("%v is not in %+v", id, s)
			}
			p := placeOf(id)
			places = append(places, uint64(p.z-1.7e12)<<32|uint64(p.w))
		}
	}
	slices.Sort(places)
	if d := n - len(slices.Compact(places)); d != 0 {
		t.Errorf("%d duplicates", d)
	}
}

func TestNewIn_OnePositionTakesOneIDAMillisecond(t *testing.T) {
	t.Parallel()
	g := generator(t, &locality.Options{Now: at(1.7e12)})
	s := locality.Segment{Lo: 77, Hi: 78}
	var before int64
	for i := range 1000 {
		id, err := g.NewIn(s)
		if err != nil {
			t.Fatal(err)
		}
		p := placeOf(id)
		if p.w != 77 || i > 0 && p.z != before+1 {
			t.Fatalf("id %d at position %d, millisecond %d after %d", i, p.w, p.z, before)
		}
		before = p.z
	}
	// A whole cycle does not fit twice: an end within the run is an error, not a repetition.
	s.Until = before + 1
	if id, err := g.NewIn(s); !errors.Is(err, locality.ErrSegmentOver) {
		t.Fatalf("at the end: %v, %v, want ErrSegmentOver", id, err)
	}
}

func TestNewIn_Time(t *testing.T) {
	t.Parallel()
	now := int64(1.7e12)
	g := generator(t, &locality.Options{Now: func() time.Time { return time.UnixMilli(now) }})
	whole := locality.Segment{Hi: ring}

	for _, c := range []struct {
		name        string
		from, until int64
		want        int64 // 0: ErrSegmentOver
	}{
		{"open", 0, 0, now},
		{"begun", now - 5, now + 5, now},
		{"last millisecond", 0, now + 1, now},
		{"over", 0, now, 0},
		{"long over", 5, 10, 0},
		{"lies ahead", now + 100, now + 200, now + 100},
		{"time never goes back", 0, 0, now + 100},
		{"what lay ahead is over", 0, now + 100, 0},
	} {
		s := whole
		s.From, s.Until = c.from, c.until
		id, err := g.NewIn(s)
		if c.want == 0 {
			if !errors.Is(err, locality.ErrSegmentOver) || !id.IsZero() {
				t.Errorf("%s: %v, %v, want ErrSegmentOver", c.name, id, err)
			}
			continue
		}
		if err != nil || placeOf(id).z != c.want {
			t.Errorf("%s: %v, %v, want time %d", c.name, id, err, c.want)
		}
	}
}

func TestNewIn_Refuses(t *testing.T) {
	t.Parallel()
	g := generator(t, nil)
	for _, s := range []locality.Segment{
		{},
		{Lo: 5, Hi: 5},
		{Lo: 6, Hi: 5},
		{Hi: ring + 1},
		{Hi: ring, From: -1},
		{Hi: ring, Until: -1},
		{Hi: ring, From: 5, Until: 5},
	} {
		if _, err := g.NewIn(s); !errors.Is(err, locality.ErrSegment) {
			t.Errorf("NewIn(%+v): %v, want ErrSegment", s, err)
		}
		ids := fill(g, 3)
		if err := g.FillIn(s, ids); !errors.Is(err, locality.ErrSegment) || !ids[0].IsZero() {
			t.Errorf("FillIn(%+v): %v, left %v", s, err, ids)
		}
	}
}

func TestFillIn_AllOrNothing(t *testing.T) {
	t.Parallel()
	g := generator(t, &locality.Options{Now: at(1.7e12)})
	// One position and three milliseconds: room for three IDs.
	s := locality.Segment{Lo: 9, Hi: 10, Until: 1.7e12 + 3}
	ids := fill(g, 5)
	if err := g.FillIn(s, ids); !errors.Is(err, locality.ErrSegmentOver) {
		t.Fatalf("five ids where three fit: %v", err)
	}
	for i, id := range ids {
		if !id.IsZero() {
			t.Errorf("id %d is %v after an error, want Nil()", i, id)
		}
	}
}

func TestNear_LeavesTheMainLaneEven(t *testing.T) {
	t.Parallel()
	g := generator(t, nil)
	hits := make([]int, 256)
	for range 256 {
		id := g.New()
		hits[id.Position()>>24]++
		if child := g.Near(id); child.Position()>>12 != id.Position()>>12 || child == id {
			t.Fatalf("Near(%v) = %v", id, child)
		}
	}
	for prefix, h := range hits {
		if h != 1 {
			t.Fatalf("prefix %02x hit %d times", prefix, h)
		}
	}
}

func TestNear_OrderOfTheGeneratorDoesNotMatter(t *testing.T) {
	t.Parallel()
	g := generator(t, &locality.Options{Order: locality.Sequential, Now: at(1.7e12)})
	parent, seen := g.New(), map[locality.ID]bool{}
	for range 10_000 {
		id := g.Near(parent)
		if id.Position()>>12 != parent.Position()>>12 || seen[id] {
			t.Fatalf("Near(%v) = %v", parent, id)
		}
		seen[id] = true
	}
}

func BenchmarkNewIn(b *testing.B) {
	for name, s := range map[string]locality.Segment{
		"family":    {Lo: 0x12340000, Hi: 0x12350000},
		"thirdpart": {Lo: 1431655766, Hi: 2863311531},
	} {
		b.Run(name, func(b *testing.B) {
			g := generator(b, nil)
			for b.Loop() {
				if _, err := g.NewIn(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
