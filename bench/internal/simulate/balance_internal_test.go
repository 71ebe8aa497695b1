// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/locus-db/locus/cell"
)

// The drawn fullest and emptiest cells agree with those of real keys, hashed and placed: over some repetitions the
// means differ by a fraction of the difference between cells.
func TestBalance_IsThatOfRealKeys(t *testing.T) {
	t.Parallel()
	const cells, times = 200, 20
	for _, mean := range []int{2, 60, 600} {
		m, err := cell.NewMap(cell.Spec{ID: "flat", Generations: []cell.Generation{{Cells: cells}}})
		if err != nil {
			t.Fatal(err)
		}
		var found, drawn [2]float64
		for i := range times {
			counts := make([]int, cells)
			for k := range cells * mean {
				counts[m.Home(cell.Position(cell.Hash("osm", strconv.Itoa(i*1e6+k)))).Index]++
			}
			found[0] += float64(slices.Max(counts)) / times
			found[1] += float64(slices.Min(counts)) / times
			g := Generation{Generation: i, Cells: cells, Records: int64(cells * mean)}
			if err := (&simulation{Options: Options{Seed: 3}}).balance(&g); err != nil {
				t.Fatal(err)
			}
			drawn[0] += g.Fullest * float64(mean) / times
			drawn[1] += g.Emptiest * float64(mean) / times
		}
		for i, name := range []string{"fullest", "emptiest"} {
			if off := math.Abs(found[i]-drawn[i]) / math.Sqrt(float64(mean)); off > 0.25 {
				t.Errorf("%s of cells with %d keys: %.1f, drawn %.1f", name, mean, found[i], drawn[i])
			}
		}
	}
}

// Both ways to compute a quantile agree at the switch between them.
func TestQuantiles_MeetAtTheBorder(t *testing.T) {
	t.Parallel()
	for _, q := range []float64{0.3, 1e-3, 1e-6} {
		if a, b := above(counted, q), above(counted+1e-9, q); math.Abs(a-b) > 1 {
			t.Errorf("exceeded with %g: %v summed up, %v by the normal distribution", q, a, b)
		}
		if a, b := below(counted, q), below(counted+1e-9, q); math.Abs(a-b) > 1 {
			t.Errorf("not reached with %g: %v summed up, %v by the normal distribution", q, a, b)
		}
	}
}

// Jump hash moves keys to new buckets only, and as few as possible.
func TestJump(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	moved := 0
	for range 10_000 {
		key := r.Uint64()
		before, after := jump(key, 16), jump(key, 48)
		if after != before {
			moved++
			if after < 16 {
				t.Fatalf("%d moved from bucket %d to %d of the old ones", key, before, after)
			}
		}
	}
	if moved < 6400 || moved > 6900 {
		t.Errorf("%d of 10,000 moved from 16 to 48 buckets, want two thirds", moved)
	}
}
