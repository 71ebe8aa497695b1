// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

func newMap(t testing.TB, s cell.Spec) *cell.Map {
	t.Helper()
	m, err := cell.NewMap(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func arithmetic(t testing.TB, salt [16]byte, cells uint64) *cell.Map {
	t.Helper()
	return newMap(t, cell.Spec{ID: "test", Salt: salt, Generations: []cell.Generation{{Cells: cells}}})
}

func ms(n int64) time.Time { return time.UnixMilli(n) }

// exampleSpec is the worked example of the routing design.
func exampleSpec() cell.Spec {
	return cell.Spec{
		ID:      "example",
		Current: 3,
		Generations: []cell.Generation{
			{Cells: 3, Starts: ms(0)},
			{Cells: 6, Starts: ms(1350000000000)},
			{Cells: 6, Starts: ms(1400000000000)},
			{Cells: 30, Starts: ms(1700000000000)},
		},
	}
}

func example(t testing.TB) *cell.Map { return newMap(t, exampleSpec()) }

var exampleRanges = []struct {
	cell   cell.ID
	start  uint32
	lo, hi int64
}{
	{cell.ID{Gen: 0, Index: 0}, 0, -9223372036854775808, -9223372032559808513},
	{cell.ID{Gen: 0, Index: 1}, 1431655766, -3074457342754947072, -3074457338459979777},
	{cell.ID{Gen: 1, Index: 0}, 0, -9223372032559808512, -9223372028264841217},
	{cell.ID{Gen: 1, Index: 2}, 1431655766, -3074457338459979776, -3074457334165012481},
	{cell.ID{Gen: 3, Index: 1}, 143165577, -8608480552841904128, -8608480548546936833},
	{cell.ID{Gen: 1, Index: 3}, 2147483648, 4294967296, 8589934591},
	{cell.ID{Gen: 2, Index: 3}, 2147483648, 8589934592, 12884901887},
	{cell.ID{Gen: 3, Index: 15}, 2147483648, 12884901888, 17179869183},
	{cell.ID{Gen: 3, Index: 29}, 4151801720, 8608480582906675200, 8608480587201642495},
}

var exampleIDs = []struct {
	id   locality.ID
	cell cell.ID
}{
	{locality.MustParse("20be0ffc-314a-bd53-7a50-013a65ca76d2"), cell.ID{Gen: 1, Index: 0}},
	{locality.MustParse("c8c9cef9-7a7f-bd53-7a50-013e4e2afbde"), cell.ID{Gen: 1, Index: 4}},
	{locality.MustParse("7fffffff-0001-b000-0001-0145f680afff"), cell.ID{Gen: 1, Index: 2}},
	{locality.MustParse("80000000-0001-b000-0001-0145f680b000"), cell.ID{Gen: 2, Index: 3}},
	{locality.MustParse("ffffffff-0001-b000-0001-018bcfe567ff"), cell.ID{Gen: 2, Index: 5}},
	{locality.MustParse("ffffffff-0001-b000-0001-018bcfe56800"), cell.ID{Gen: 3, Index: 29}},
	{locality.MustParse("08888888-0001-b000-0001-018bcfe56800"), cell.ID{Gen: 3, Index: 0}},
	{locality.MustParse("08888889-0001-b000-0001-018bcfe56800"), cell.ID{Gen: 3, Index: 1}},
}

func TestMap_WorkedExample(t *testing.T) {
	t.Parallel()
	m := example(t)
	older := exampleSpec()
	older.Generations, older.Current = older.Generations[:3], 2
	old := newMap(t, older)
	for _, r := range exampleRanges {
		lo, hi := m.PuidRange(r.cell)
		if lo != r.lo || hi != r.hi {
			t.Errorf("%v: puids %d to %d, want %d to %d", r.cell, lo, hi, r.lo, r.hi)
		}
		if s := m.Segment(r.cell, r.start); s.Lo != r.start {
			t.Errorf("%v: starts at %d, want %d", r.cell, s.Lo, r.start)
		}
		for _, p := range []int64{lo, lo + 1, lo + (hi-lo)/2, hi} {
			if got, err := m.Puid(p); err != nil || got != r.cell {
				t.Errorf("Puid(%d) = %v, %v, want %v", p, got, err, r.cell)
			}
			got, err := old.Puid(p)
			if r.cell.Gen == 3 {
				if !errors.Is(err, cell.ErrNoCell) {
					t.Errorf("a map without generation 3: Puid(%d) = %v, %v, want ErrNoCell", p, got, err)
				}
			} else if err != nil || got != r.cell {
				t.Errorf("a map without generation 3: Puid(%d) = %v, %v, want %v", p, got, err, r.cell)
			}
		}
	}
	for _, p := range []int64{0, 17179869184, -1, math.MaxInt64} {
		if got, err := m.Puid(p); !errors.Is(err, cell.ErrNoCell) {
			t.Errorf("Puid(%d) = %v, %v, want ErrNoCell", p, got, err)
		}
	}
	for _, e := range exampleIDs {
		if got, err := m.Entity(e.id); err != nil || got != e.cell {
			t.Errorf("Entity(%v) = %v, %v, want %v", e.id, got, err, e.cell)
		}
	}
	if lo, hi := arithmetic(t, [16]byte{}, 16).PuidRange(cell.ID{Index: 8}); lo != 0 || hi != 4294967295 {
		t.Errorf("with 16 cells g0-8 has puids %d to %d, want 0 to 4294967295", lo, hi)
	}
}

func TestMap_OutsideTheChainRangesWouldMeet(t *testing.T) {
	t.Parallel()
	// 83847 and 86018 cells: g1-25952 would have the range of g0-25297.
	start := func(i, c uint64) uint64 { return (i<<32 + c - 1) / c }
	if start(25952, 86018)+1 != start(25297, 83847) {
		t.Fatal("the figure of the design does not hold")
	}
	_, err := cell.NewMap(cell.Spec{Generations: []cell.Generation{{Cells: 83847}, {Cells: 86018, Starts: ms(1)}}})
	if !errors.Is(err, cell.ErrMap) {
		t.Errorf("NewMap: %v, want ErrMap", err)
	}
}

func TestMap_Room(t *testing.T) {
	t.Parallel()
	// Figures of the design: by how many generations a growth factor lets the map grow.
	grow := func(counts []uint64, by uint64) (gens int) {
		spec := cell.Spec{ID: "room"}
		for i := 0; ; i++ {
			n := uint64(0)
			if i < len(counts) {
				n = counts[i]
			} else {
				n = spec.Generations[i-1].Cells * by
			}
			spec.Generations = append(spec.Generations, cell.Generation{Cells: n, Starts: ms(int64(i))})
			if _, err := cell.NewMap(spec); err != nil {
				return i
			}
		}
	}
	for _, c := range []struct {
		name   string
		counts []uint64
		by     uint64
		want   int
	}{
		{"16 doubling", []uint64{16}, 2, 24},
		{"16 x 4", []uint64{16}, 4, 13},
		{"48 doubling", []uint64{48}, 2, 22},
		{"60 doubling", []uint64{60}, 2, 22},
		{"240 doubling", []uint64{240}, 2, 20},
		{"16, 48, 240, doubling", []uint64{16, 48, 240}, 2, 22},
		{"3 tripling", []uint64{3}, 3, 17},
		{"1 x 10", []uint64{1}, 10, 9},
		{"2^31 fits two", []uint64{1 << 31}, 1, 2},
		{"2^32 fits one", []uint64{1 << 32}, 1, 1},
	} {
		if got := grow(c.counts, c.by); got != c.want {
			t.Errorf("%s: %d generations, want %d", c.name, got, c.want)
		}
	}
}

func TestNewMap_Refuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(s *cell.Spec)
		says   string
	}{
		{"no generation", func(s *cell.Spec) { s.Generations = nil }, "no generation"},
		{"no cells", func(s *cell.Spec) { s.Generations[1].Cells = 0 }, "generation 1 has no cells"},
		{"no multiple", func(s *cell.Spec) { s.Generations[3].Cells = 31 }, "31 cells of generation 3"},
		{"fewer", func(s *cell.Spec) { s.Generations[1].Cells = 1 }, "1 cells of generation 1"},
		{"more than positions", func(s *cell.Spec) { s.Generations = []cell.Generation{{Cells: 1<<32 + 1}} }, "room for 0"},
		{"no room", func(s *cell.Spec) { s.Generations[3].Cells = 6 << 28 }, "room for 2"},
		{"too many generations", func(s *cell.Spec) {
			s.Generations = make([]cell.Generation, 65536)
			for i := range s.Generations {
				s.Generations[i] = cell.Generation{Cells: 1, Starts: ms(int64(i))}
			}
		}, "at most 65535"},
		{"starts equal", func(s *cell.Spec) { s.Generations[2].Starts = s.Generations[1].Starts }, "generation 2 starts"},
		{"starts fall", func(s *cell.Spec) { s.Generations[2].Starts = ms(1) }, "generation 2 starts"},
		{"before 1970", func(s *cell.Spec) { s.Generations[0].Starts = ms(-1) }, "generation 0"},
		{"beyond 48 bits", func(s *cell.Spec) { s.Generations[3].Starts = ms(1 << 48) }, "generation 3"},
		{"beyond RFC 3339", func(s *cell.Spec) { s.Generations[3].Starts = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, "generation 3"},
		{"half a millisecond", func(s *cell.Spec) { s.Generations[3].Starts = ms(1.7e12).Add(time.Microsecond) }, "whole millisecond"},
		{"floor below 0", func(s *cell.Spec) { s.Floor = -1 }, "floor -1"},
		{"floor above current", func(s *cell.Spec) { s.Floor, s.Current = 2, 1 }, "floor 2"},
		{"current not there", func(s *cell.Spec) { s.Current = 4 }, "current 4"},
		{"until before current", func(s *cell.Spec) { s.Until = ms(1.7e12) }, "until"},
		{"until beyond RFC 3339", func(s *cell.Spec) { s.Until = ms(1 << 50) }, "until"},
		{"authority not there", func(s *cell.Spec) { s.Authority = cell.ID{Index: 3} }, "authority g0-3"},
		{"min_format", func(s *cell.Spec) { s.MinFormat = -1 }, "min_format"},
		{"one url for all", func(s *cell.Spec) { s.Generations[1].URLs = []string{"sqlite:g1.db"} }, "g1-0 and g1-1"},
		{"one url in two generations", func(s *cell.Spec) {
			s.Generations[1].URLs = []string{"sqlite:{i}.db"}
			s.Generations[2].URLs = []string{"sqlite:{i}.db"}
		}, "g1-0 and g2-0"},
		{"urls that meet", func(s *cell.Spec) {
			// Cell 1 is at 1 followed by 1, cell 11 has only its number, if it is odd.
			s.Generations[3].URLs = []string{"sqlite:{i}.db", "sqlite:1{i}.db", "sqlite:{i}.db"}
		}, "g3-1 and g3-11"},
		{"too many urls", func(s *cell.Spec) {
			s.Current = 0
			s.Generations = []cell.Generation{{Cells: 1<<20 + 1, URLs: []string{"sqlite:{i}"}}}
		}, "at most 1048576"},
		{"two moved to one place", func(s *cell.Spec) {
			home := cell.Home{URL: "sqlite:x", Incarnation: 2}
			s.Moved = map[cell.ID]cell.Home{{}: home, {Gen: 1}: home}
		}, "g0-0 and g1-0"},
		{"empty url", func(s *cell.Spec) { s.Generations[0].URLs = []string{""} }, "url 0 of generation 0 is empty"},
		{"bad url", func(s *cell.Spec) { s.Generations[0].URLs = []string{"sqlite:{i}", "http://[::1"} }, "url 1 of generation 0"},
		{"password", func(s *cell.Spec) { s.Generations[0].URLs = []string{"postgres://u:secret@h/{i}"} }, "password"},
		{"password in query", func(s *cell.Spec) { s.Generations[0].URLs = []string{"postgres://h/{i}?password=secret"} }, "password"},
		{"moved from nowhere", func(s *cell.Spec) {
			s.Moved = map[cell.ID]cell.Home{{Gen: 4}: {URL: "sqlite:x", Incarnation: 2}}
		}, "g4-0"},
		{"moved once", func(s *cell.Spec) { s.Moved = map[cell.ID]cell.Home{{}: {URL: "sqlite:x", Incarnation: 1}} }, "incarnation 1"},
		{"moved nowhere", func(s *cell.Spec) { s.Moved = map[cell.ID]cell.Home{{}: {Incarnation: 2}} }, "g0-0 is empty"},
		{"moved onto another", func(s *cell.Spec) {
			s.Generations[0].URLs = []string{"sqlite:{i}.db"}
			s.Moved = map[cell.ID]cell.Home{{Index: 2}: {URL: "sqlite:1.db", Incarnation: 2}}
		}, "g0-1 and g0-2"},
	} {
		spec := exampleSpec()
		c.change(&spec)
		_, err := cell.NewMap(spec)
		if !errors.Is(err, cell.ErrMap) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want ErrMap that says %q", c.name, err, c.says)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows the password: %v", c.name, err)
		}
	}
}

func TestNewMap_First(t *testing.T) {
	t.Parallel()
	random := strings.NewReader(strings.Repeat("\x01", 16) + strings.Repeat("\x02", 16))
	m := newMap(t, cell.Spec{
		Generations: []cell.Generation{{Cells: 16, URLs: []string{"sqlite:cells/g0-{i}.db"}}},
		Rand:        random,
	})
	want := cell.Spec{
		ID:          "01010101010101010101010101010101",
		Salt:        [16]byte{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
		Epoch:       1,
		MinFormat:   1,
		Generations: []cell.Generation{{Cells: 16, Starts: ms(0).UTC(), URLs: []string{"sqlite:cells/g0-{i}.db"}}},
	}
	if diff := cmp.Diff(want, m.Spec()); diff != "" {
		t.Errorf("the first map (-want +got):\n%s", diff)
	}
	if m.Current() != 0 || m.Floor() != 0 || m.Epoch() != 1 || m.Generations() != 1 || m.Count(0) != 16 {
		t.Errorf("current %d floor %d epoch %d generations %d count %d", m.Current(), m.Floor(), m.Epoch(),
			m.Generations(), m.Count(0))
	}
	if a, b := newMap(t, cell.Spec{Generations: want.Generations}).Spec(), newMap(t, cell.Spec{Generations: want.Generations}).Spec(); a.ID == b.ID || a.Salt == b.Salt {
		t.Errorf("two maps have one id or salt: %v, %v", a, b)
	}
	failing := cell.Spec{Generations: want.Generations, Rand: iotest.ErrReader(errors.New("no entropy"))}
	if _, err := cell.NewMap(failing); err == nil || !strings.Contains(err.Error(), "no entropy") {
		t.Errorf("randomness that fails: %v", err)
	}
}

func TestMap_IsImmutable(t *testing.T) {
	t.Parallel()
	spec := cell.Spec{
		Generations: []cell.Generation{{Cells: 2, URLs: []string{"sqlite:{i}"}}},
		Moved:       map[cell.ID]cell.Home{{Index: 1}: {URL: "sqlite:x", Incarnation: 2}},
	}
	m := newMap(t, spec)
	spread := func(s cell.Spec) {
		s.Generations[0].Cells = 99
		s.Generations[0].URLs[0] = "sqlite:changed"
		s.Moved[cell.ID{}] = cell.Home{URL: "sqlite:changed", Incarnation: 2}
	}
	spread(spec)
	spread(m.Spec())
	if m.Count(0) != 2 || m.URL(cell.ID{}) != "sqlite:0" || m.URL(cell.ID{Index: 1}) != "sqlite:x" {
		t.Errorf("the map changed: %+v", m.Spec())
	}
}

func TestMap_CellsAndURLs(t *testing.T) {
	t.Parallel()
	m := newMap(t, cell.Spec{
		Generations: []cell.Generation{
			{Cells: 2, URLs: []string{"sqlite:cells/g{g}-{i}.db"}},
			{Cells: 4, Starts: ms(5), URLs: []string{"postgres://db1/locus_g{g}_{i}", "postgres://db2/locus_g{g}_{i}"}},
		},
		Moved: map[cell.ID]cell.Home{{Index: 1}: {URL: "postgres://db2/locus_g0_1", Incarnation: 2}},
	})
	want := map[string]string{
		"g0-0": "sqlite:cells/g0-0.db",
		"g0-1": "postgres://db2/locus_g0_1",
		"g1-0": "postgres://db1/locus_g1_0",
		"g1-1": "postgres://db2/locus_g1_1",
		"g1-2": "postgres://db1/locus_g1_2",
		"g1-3": "postgres://db2/locus_g1_3",
	}
	cells := m.Cells()
	if len(cells) != len(want) || !slices.IsSortedFunc(cells, cell.ID.Compare) {
		t.Fatalf("cells %v", cells)
	}
	for _, c := range cells {
		if got := m.URL(c); got != want[c.String()] {
			t.Errorf("URL(%v) = %s, want %s", c, got, want[c.String()])
		}
	}
	if got := example(t).URL(cell.ID{}); got != "" {
		t.Errorf("a map without places has %q", got)
	}
}

func TestMap_ForeignCellPanics(t *testing.T) {
	t.Parallel()
	m := example(t)
	for _, c := range []cell.ID{{Index: 3}, {Gen: 4}} {
		if m.Has(c) {
			t.Errorf("Has(%v)", c)
		}
		for name, fn := range map[string]func(){
			"URL":       func() { m.URL(c) },
			"PuidRange": func() { m.PuidRange(c) },
			"Segment":   func() { m.Segment(c, 0) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s(%v) did not panic", name, c)
					}
				}()
				fn()
			}()
		}
	}
}

func TestMap_StaleForIDsBeyondUntil(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	spec.Until = ms(1.8e12)
	m := newMap(t, spec)
	id := exampleIDs[0].id
	for z, ok := range map[int64]bool{0: true, 1.8e12 - 1: true, 1.8e12: false, 1<<48 - 1: false} {
		for i := range 6 {
			id[10+i] = byte(z >> (40 - 8*i))
		}
		_, err := m.Entity(id)
		if ok && err != nil || !ok && !errors.Is(err, cell.ErrStaleMap) {
			t.Errorf("id of %d: %v, want routed %v", z, err, ok)
		}
		if _, err := example(t).Entity(id); err != nil {
			t.Errorf("a map without a date: id of %d: %v", z, err)
		}
	}
}
