// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

// Groups hold what asking for each address alone answers, whichever way they are sorted, of few
// cells or of more than there are addresses, and in a Groups that was used before.
func TestGroups_AreWhatAskingOneByOneAnswers(t *testing.T) {
	t.Parallel()
	var groups cell.Groups
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		puids := rapid.SliceOf(rapid.Custom(func(t *rapid.T) int64 {
			lo, hi := m.PuidRange(drawCell(t, m))
			return rapid.Int64Range(lo, hi).Draw(t, "puid")
		})).Draw(t, "puids")
		if err := cell.GroupPuids(&groups, m, puids); err != nil {
			t.Fatal(err)
		}
		same(t, &groups, len(puids), func(i int) (cell.ID, error) { return m.Puid(puids[i]) })

		ids := rapid.SliceOf(rapid.Custom(func(t *rapid.T) locality.ID {
			return drawID(t, rapid.Int64Range(0, 5e12).Draw(t, "time"))
		})).Draw(t, "ids")
		if err := cell.GroupEntities(&groups, m, ids); err != nil {
			t.Fatal(err)
		}
		same(t, &groups, len(ids), func(i int) (cell.ID, error) { return m.Entity(ids[i]) })
	})
}

// same compares groups with the cell of each of n addresses.
func same(t *rapid.T, groups *cell.Groups, n int, cellOf func(int) (cell.ID, error)) {
	t.Helper()
	want := map[cell.ID][]uint32{}
	for i := range n {
		c, err := cellOf(i)
		if err != nil {
			t.Fatal(err)
		}
		want[c] = append(want[c], uint32(i))
	}
	got, order := map[cell.ID][]uint32{}, []cell.ID(nil)
	for c, places := range groups.All() {
		got[c], order = places, append(order, c)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("groups (-asked one by one +got):\n%s", diff)
	}
	if groups.Len() != len(want) || len(order) != len(want) || !slices.IsSortedFunc(order, cell.ID.Compare) {
		t.Fatalf("%d groups in the order %v", groups.Len(), order)
	}
}

// An address without a cell leaves no group that somebody could take for all of them.
func TestGroups_RefuseTheWholeForOne(t *testing.T) {
	t.Parallel()
	spec := exampleSpec()
	spec.Until = ms(1800000000000)
	m := newMap(t, spec)
	var groups cell.Groups
	if err := cell.GroupPuids(&groups, m, []int64{1 << 32, 1<<32 + 1, 0}); !errors.Is(err, cell.ErrNoCell) || groups.Len() != 0 {
		t.Errorf("nobody's puid: %v, %d groups", err, groups.Len())
	}
	ids := []locality.ID{locality.MustParse("08888888-0001-b000-0001-018bcfe56800"), locality.MustParse("08888888-0001-b000-0001-ffffffffffff")}
	if err := cell.GroupEntities(&groups, m, ids); !errors.Is(err, cell.ErrStaleMap) || groups.Len() != 0 {
		t.Errorf("id beyond the map: %v, %d groups", err, groups.Len())
	}
	for range groups.All() {
		t.Error("a group is left")
	}
}

// What is said of a loop that ends early, of room that is not taken again, and of a caller that
// appends to what it was handed.
func TestGroups_AreTheCallersUntilTheNext(t *testing.T) { // not parallel: it counts allocations
	m := example(t)
	puids := make([]int64, 1000)
	for i := range puids {
		lo, _ := m.PuidRange(cell.ID{Gen: 3, Index: uint32(i % 30)})
		puids[i] = lo + int64(i)
	}
	var groups cell.Groups
	if err := cell.GroupPuids(&groups, m, puids); err != nil {
		t.Fatal(err)
	}
	for _, places := range groups.All() {
		_ = append(places, 12345)
		break
	}
	sum := 0
	for c, places := range groups.All() {
		for _, i := range places {
			if home, err := m.Puid(puids[i]); err != nil || home != c {
				t.Fatalf("place %d of %v: %v, %v", i, c, home, err)
			}
			sum++
		}
	}
	if sum != len(puids) {
		t.Errorf("%d of %d puids are in groups", sum, len(puids))
	}
	if n := testing.AllocsPerRun(10, func() {
		if err := cell.GroupPuids(&groups, m, puids); err != nil {
			t.Fatal(err)
		}
		for range groups.All() {
			sum++
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkGroups is a million addresses over the 32,752 cells that 16 have become by doubling.
func BenchmarkGroups(b *testing.B) {
	spec := cell.Spec{ID: "grown", Current: 10}
	for g := range 11 {
		spec.Generations = append(spec.Generations, cell.Generation{Cells: 16 << g, Starts: ms(int64(g) * 1e11)})
	}
	m := newMap(b, spec)
	r := rand.New(rand.NewPCG(1, 2))
	cells := m.Cells()
	puids := make([]int64, 1_000_000)
	for i := range puids {
		lo, _ := m.PuidRange(cells[r.IntN(len(cells))])
		puids[i] = lo + 1 + r.Int64N(1<<31)
	}
	var groups cell.Groups
	for _, n := range []int{100, 1000, len(puids)} {
		b.Run("puids="+strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				if err := cell.GroupPuids(&groups, m, puids[:n]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/puid")
		})
	}
}
