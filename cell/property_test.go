// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

// chains draws maps whose counts are a chain: each divides the next, and there is room for all. Ratios of 1 and of odd
// numbers are as likely as doubling.
func chains() *rapid.Generator[cell.Spec] {
	return rapid.Custom(func(t *rapid.T) cell.Spec {
		spec := cell.Spec{ID: "chain"}
		cells := rapid.SampledFrom([]uint64{1, 2, 3, 16, 48, 60, 97, 240, 1000}).Draw(t, "first")
		starts := rapid.Int64Range(0, 1e12).Draw(t, "starts")
		for {
			if uint64(len(spec.Generations)+1) > 1<<32/cells {
				break
			}
			spec.Generations = append(spec.Generations, cell.Generation{Cells: cells, Starts: ms(starts)})
			if len(spec.Generations) == 30 || rapid.IntRange(0, 5).Draw(t, "enough") == 0 {
				break
			}
			cells *= rapid.SampledFrom([]uint64{1, 2, 2, 3, 4, 5, 7, 10}).Draw(t, "ratio")
			starts += rapid.Int64Range(1, 1e11).Draw(t, "later")
		}
		spec.Current = len(spec.Generations) - 1
		return spec
	})
}

func drawMap(t *rapid.T) *cell.Map {
	m, err := cell.NewMap(chains().Draw(t, "map"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// drawCell draws a cell of the map, often one at the edges of its generation.
func drawCell(t *rapid.T, m *cell.Map) cell.ID {
	g := rapid.IntRange(0, m.Generations()-1).Draw(t, "generation")
	last := m.Count(g) - 1
	i := rapid.OneOf(rapid.SampledFrom([]uint64{0, last, last / 2}), rapid.Uint64Range(0, last)).Draw(t, "index")
	return cell.ID{Gen: uint16(g), Index: uint32(i)}
}

func segment(m *cell.Map, c cell.ID) (lo, hi uint64) {
	p, _ := cell.NewRouter(m).ExplainPuid(first(m, c))
	return p.Lo, p.Hi
}

func first(m *cell.Map, c cell.ID) int64 {
	lo, _ := m.PuidRange(c)
	return lo
}

func TestT1_SegmentsPartitionTheRing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		c := drawCell(t, m)
		g, cells := int(c.Gen), m.Count(int(c.Gen))
		lo, hi := segment(m, c)
		// The text of T1, without the rounding that the code uses.
		if lo*cells < uint64(c.Index)<<32 || lo > 0 && (lo-1)*cells >= uint64(c.Index)<<32 {
			t.Fatalf("%v of %d cells starts at %d", c, cells, lo)
		}
		if size := hi - lo; size != 1<<32/cells && size != 1<<32/cells+1 {
			t.Fatalf("%v of %d cells has %d positions", c, cells, size)
		}
		for _, p := range []uint64{lo, hi - 1, rapid.Uint64Range(lo, hi-1).Draw(t, "inside")} {
			if got := m.Key(g, uint32(p)); got != c {
				t.Fatalf("position %d of %v gives %v", p, c, got)
			}
		}
		if lo > 0 && m.Key(g, uint32(lo-1)) == c || hi < 1<<32 && m.Key(g, uint32(hi)) == c {
			t.Fatalf("%v has positions beside %d to %d", c, lo, hi)
		}
		if uint64(c.Index) == cells-1 && hi != 1<<32 {
			t.Fatalf("the last segment ends at %d", hi)
		}
	})
}

func TestT2_SegmentsNest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		g := rapid.IntRange(0, m.Generations()-1).Draw(t, "old")
		h := rapid.IntRange(g, m.Generations()-1).Draw(t, "new")
		ratio := uint32(m.Count(h) / m.Count(g))
		at := rapid.Uint32().Draw(t, "position")
		if older, newer := m.Key(g, at), m.Key(h, at); newer.Index/ratio != older.Index {
			t.Fatalf("position %d in %v and %v, ratio %d", at, older, newer, ratio)
		}
		c := m.Key(g, at)
		lo, _ := segment(m, c)
		if finer, _ := segment(m, cell.ID{Gen: uint16(h), Index: c.Index * ratio}); finer != lo {
			t.Fatalf("%v starts at %d, its first part at %d", c, lo, finer)
		}
	})
}

// allRanges returns the ranges of all cells, in the order of puids.
func allRanges(m *cell.Map) (ranges [][2]int64) {
	for _, c := range m.Cells() {
		lo, hi := m.PuidRange(c)
		ranges = append(ranges, [2]int64{lo, hi})
	}
	slices.SortFunc(ranges, func(a, b [2]int64) int {
		if a[0] < b[0] {
			return -1
		}
		return 1
	})
	return ranges
}

func TestT3_RangesNeverMeet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec := chains().Draw(t, "map")
		for len(spec.Generations) > 1 && spec.Generations[len(spec.Generations)-1].Cells > 20_000 {
			spec.Generations = spec.Generations[:len(spec.Generations)-1]
		}
		spec.Current = 0
		m, err := cell.NewMap(spec)
		if err != nil {
			t.Fatal(err)
		}
		ranges := allRanges(m)
		for i, r := range ranges {
			if r[1]-r[0] != 1<<32-1 {
				t.Fatalf("range %d to %d is %d wide", r[0], r[1], r[1]-r[0]+1)
			}
			if i > 0 && r[0] <= ranges[i-1][1] {
				t.Fatalf("ranges %v and %v meet", ranges[i-1], r)
			}
		}
	})
}

func TestT3_TightestMaps(t *testing.T) {
	t.Parallel()
	for _, spec := range []cell.Spec{
		{ID: "two generations of 2^31", Generations: []cell.Generation{{Cells: 1 << 31}, {Cells: 1 << 31, Starts: ms(1)}}},
		{ID: "2^32 cells", Generations: []cell.Generation{{Cells: 1 << 32}}},
		{ID: "97*3*7*10", Generations: []cell.Generation{{Cells: 97}, {Cells: 97 * 3, Starts: ms(1)},
			{Cells: 97 * 3 * 7, Starts: ms(2)}, {Cells: 97 * 3 * 7 * 10, Starts: ms(3)}}},
	} {
		m := newMap(t, spec)
		for g := range m.Generations() {
			last := m.Count(g) - 1
			for _, i := range []uint64{0, 1, last / 3, last - 1, last} {
				c := cell.ID{Gen: uint16(g), Index: uint32(i)}
				lo, hi := m.PuidRange(c)
				for _, p := range []int64{lo, lo + 1, hi - 1, hi} {
					if got, err := m.Puid(p); err != nil || got != c {
						t.Errorf("%s: Puid(%d) = %v, %v, want %v", spec.ID, p, got, err, c)
					}
				}
				if got := m.Key(g, m.Segment(c, math.MaxUint32).Lo); got != c {
					t.Errorf("%s: the segment of %v begins in %v", spec.ID, c, got)
				}
			}
		}
	}
}

func TestT4_InversionAgreesWithSearch(t *testing.T) {
	t.Parallel()
	spec := cell.Spec{ID: "search", Generations: []cell.Generation{{Cells: 97}, {Cells: 97 * 3, Starts: ms(1)}, {Cells: 97 * 3 * 7, Starts: ms(2)}, {Cells: 97 * 3 * 7 * 10, Starts: ms(3)}}}
	m := newMap(t, spec)
	ranges := allRanges(m)
	find := func(p int64) (cell.ID, bool) {
		i, found := slices.BinarySearchFunc(ranges, p, func(r [2]int64, p int64) int {
			switch {
			case r[1] < p:
				return -1
			case r[0] > p:
				return 1
			}
			return 0
		})
		if !found {
			return cell.ID{}, false
		}
		// The cell of a range is the one that PuidRange gave it to.
		for _, c := range m.Cells() {
			if first(m, c) == ranges[i][0] {
				return c, true
			}
		}
		return cell.ID{}, false
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Int64().Draw(t, "puid")
		if rapid.Bool().Draw(t, "near a range") {
			r := rapid.SampledFrom(ranges).Draw(t, "range")
			p = rapid.SampledFrom(r[:]).Draw(t, "edge") + rapid.Int64Range(-2, 2).Draw(t, "beside")
		}
		want, ok := find(p)
		got, err := m.Puid(p)
		if ok != (err == nil) || got != want {
			t.Fatalf("Puid(%d) = %v, %v, the search says %v, %v", p, got, err, want, ok)
		}
		if err != nil && !errors.Is(err, cell.ErrNoCell) {
			t.Fatalf("Puid(%d): %v", p, err)
		}
	})
}

func TestT4_InversionOnAnyMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		c := drawCell(t, m)
		lo, hi := m.PuidRange(c)
		for _, p := range []int64{lo, hi, rapid.Int64Range(lo, hi).Draw(t, "inside")} {
			if got, err := m.Puid(p); err != nil || got != c {
				t.Fatalf("Puid(%d) = %v, %v, want %v", p, got, err, c)
			}
		}
		// And backwards: if a puid has a cell, the cell's range contains it.
		p := rapid.Int64().Draw(t, "any puid")
		if c, err := m.Puid(p); err == nil {
			if lo, hi := m.PuidRange(c); p < lo || p > hi {
				t.Fatalf("Puid(%d) = %v, whose range is %d to %d", p, c, lo, hi)
			}
		}
	})
}

func TestT5_GrowthChangesNoAnswer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec := chains().Draw(t, "map")
		m, err := cell.NewMap(spec)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, len(spec.Generations)).Draw(t, "generations then")
		then := spec
		then.Generations, then.Current = spec.Generations[:n], n-1
		if n < len(spec.Generations) {
			then.Until = spec.Generations[n].Starts
		}
		old, err := cell.NewMap(then)
		if err != nil {
			t.Fatal(err)
		}
		c := drawCell(t, m)
		lo, hi := m.PuidRange(c)
		p := rapid.SampledFrom([]int64{lo, hi, lo + (hi-lo)/2}).Draw(t, "puid")
		got, err := old.Puid(p)
		if int(c.Gen) < n {
			oldLo, oldHi := old.PuidRange(c)
			if err != nil || got != c || oldLo != lo || oldHi != hi {
				t.Fatalf("%v on the old map: Puid(%d) = %v, %v, range %d to %d, was %d to %d", c, p, got, err, oldLo, oldHi, lo, hi)
			}
			if a, b := old.Key(int(c.Gen), uint32(p)), m.Key(int(c.Gen), uint32(p)); a != b {
				t.Fatalf("a key of generation %d in %v and %v", c.Gen, a, b)
			}
		} else if !errors.Is(err, cell.ErrNoCell) {
			t.Fatalf("a puid of %v on a map of %d generations: %v, %v, want ErrNoCell", c, n, got, err)
		}
		// IDs: the old map routes like the new one, or returns an error.
		id := drawID(t, rapid.Int64Range(0, 5e12).Draw(t, "id time"))
		now, err := m.Entity(id)
		if err != nil {
			t.Fatal(err)
		}
		before, err := old.Entity(id)
		if err == nil && before != now || err != nil && !errors.Is(err, cell.ErrStaleMap) {
			t.Fatalf("%v: %v, %v on the old map, %v on the new one", id, before, err, now)
		}
	})
}

func drawID(t *rapid.T, z int64) locality.ID {
	id := locality.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	for i := range 6 {
		id[10+i] = byte(z >> (40 - 8*i))
	}
	return id
}

// TestP08_MintedNearAKeyLivesWithIt: key, record and birth ID share a cell, for any map, key and clock.
func TestP08_MintedNearAKeyLivesWithIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		// A clock unrelated to the map.
		now := rapid.Int64Range(0, 5e12).Draw(t, "clock")
		ids, err := locality.NewGenerator(&locality.Options{Now: func() time.Time { return time.UnixMilli(now) }})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 5).Draw(t, "keys") {
			k := m.KeyOf("source", rapid.String().Draw(t, "key"))
			home := m.Key(rapid.IntRange(0, m.Generations()-1).Draw(t, "generation"), k.Position())
			s := m.Segment(home, k.Position())
			if at := uint64(k.Position()); at < uint64(s.Lo) || at >= s.Hi || s.Hi-uint64(s.Lo) > 1<<23 {
				t.Fatalf("key at %d, segment %+v", at, s)
			}
			id, err := ids.NewIn(s)
			if errors.Is(err, locality.ErrSegmentOver) {
				continue // the clock is past the generation, or the lane runs ahead
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := m.Entity(id); err != nil || got != home {
				t.Fatalf("%v minted in %+v for %v lives in %v, %v", id, s, home, got, err)
			}
		}
	})
}

func TestSegment_Time(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	spec.Current = 2
	for _, c := range []struct {
		until, gen   int64
		from, until2 int64
	}{
		{0, 0, 0, 1350000000000},
		{0, 2, 1400000000000, 1700000000000},
		{0, 3, 1700000000000, 0},
		{1600000000000, 2, 1400000000000, 1600000000000},
		{1800000000000, 2, 1400000000000, 1700000000000},
		{1800000000000, 3, 1700000000000, 1800000000000},
	} {
		spec.Until = time.Time{}
		if c.until != 0 {
			spec.Until = ms(c.until)
		}
		s := newMap(t, spec).Segment(cell.ID{Gen: uint16(c.gen)}, 0)
		if s.From != c.from || s.Until != c.until2 {
			t.Errorf("until %d, generation %d: from %d until %d, want %d, %d", c.until, c.gen, s.From, s.Until, c.from, c.until2)
		}
	}
}

func TestSegment_CutAroundTheKey(t *testing.T) {
	t.Parallel()
	m := arithmetic(t, [16]byte{}, 3)
	const start = 1431655766 // of g0-1
	for _, c := range []struct {
		cell     uint32
		position uint32
		lo, hi   uint64
	}{
		{0, 0, 0, 1 << 23},
		{0, 9000000, 1 << 23, 2 << 23},
		{2, math.MaxUint32, 1<<32 - 1<<23, 1 << 32},
		{0, start - 1, start &^ 0x7fffff, start},
		{1, start, start, start&^0x7fffff + 1<<23},
		{1, 0, start, 2863311531}, // a position elsewhere: the whole segment
	} {
		s := m.Segment(cell.ID{Index: c.cell}, c.position)
		if uint64(s.Lo) != c.lo || s.Hi != c.hi {
			t.Errorf("g0-%d around %d: %d to %d, want %d to %d", c.cell, c.position, s.Lo, s.Hi, c.lo, c.hi)
		}
	}
}

func TestRing_IsOneTurn(t *testing.T) {
	t.Parallel()
	m := example(t)
	for g := range m.Generations() {
		arcs, end := m.Ring(g), 0.0
		for i, a := range arcs {
			if a.Cell != (cell.ID{Gen: uint16(g), Index: uint32(i)}) || a.From != end || a.To <= a.From {
				t.Errorf("arc %d of generation %d: %+v after %v", i, g, a, end)
			}
			if want := 1 / float64(len(arcs)); math.Abs(a.Share()-want) > 1e-9 {
				t.Errorf("arc %d of generation %d holds %v, want %v", i, g, a.Share(), want)
			}
			end = a.To
		}
		if end != 1 || uint64(len(arcs)) != m.Count(g) {
			t.Errorf("generation %d: %d arcs end at %v", g, len(arcs), end)
		}
	}
}
