// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
)

func TestCandidates_StopKeysYieldNone(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	records := func(n int) (list []*match.Record) {
		for i := range n {
			list = append(list, m.Normalise("s", fmt.Sprint(i), match.Attributes{"name": {fmt.Sprintf("Only%d", i)}, "phones": {"415-555-2300"}}))
		}
		return list
	}
	const h = match.MaxBlockSize
	if got := len(match.Candidates(records(h))); got != h*(h-1)/2 {
		t.Errorf("%d records with one phone: %d candidates", h, got)
	}
	if got := len(match.Candidates(records(h + 1))); got != 0 {
		t.Errorf("%d records with one phone: %d candidates", h+1, got)
	}
}

func TestCandidates_NameEachPairOnceInOrder(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	var records []*match.Record
	for i, a := range []match.Attributes{
		{"name": {"Joes Pizza"}, "phones": {"415-555-2300", "415-555-2301"}},
		{"name": {"Zanzibar Grill"}, "phones": {"415-555-2302"}},
		{"name": {"Joes Pizza"}, "phones": {"415-555-2300", "415-555-2301"}},
		{"name": {"Zanzibar Grill"}, "phones": {"415-555-2301"}},
	} {
		records = append(records, m.Normalise("s", fmt.Sprint(i), a))
	}
	if diff := gocmp.Diff([][2]int{{0, 2}, {0, 3}, {1, 3}}, match.Candidates(records)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestClusterAll_Oracle compares with a direct implementation of the definition, one component after the other, on
// graphs in which every cut divides something.
func TestClusterAll_Oracle(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	rapid.Check(t, func(t *rapid.T) {
		const n = 3 * match.MaxComponent
		// Edges drawn one by one would be too few for large components.
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		keys := make([]match.NodeKey, n)
		for i, to := range random.Perm(n) {
			keys[i] = match.NodeKey{Source: "s", Key: fmt.Sprintf("%03d", to)}
		}
		weight := map[[2]int]match.Weight{}
		var edges []match.Edge
		for range rapid.IntRange(n, 3*n).Draw(t, "edges") {
			a := random.IntN(n - 1)
			b := min(n-1, a+1+random.IntN(20))
			if _, twice := weight[[2]int{a, b}]; !twice {
				s := match.Threshold + match.CutStep*match.Weight(random.IntN(11)-2)
				weight[[2]int{a, b}] = s
				edges = append(edges, match.Edge{A: a, B: b, Weight: s})
			}
		}
		var want []string
		for _, part := range naiveCut(indices(n), weight, match.Threshold) {
			inside := make([]match.NodeKey, len(part))
			var linked []match.Edge
			for i, a := range part {
				inside[i] = keys[a]
				for j, b := range part {
					if s, ok := weight[[2]int{a, b}]; ok {
						linked = append(linked, match.Edge{A: i, B: j, Weight: s})
					}
				}
			}
			want = append(want, named(inside, match.Cluster(inside, linked, match.Unmet{}))...)
		}
		slices.Sort(want) // like the clusters: by their first keys
		if diff := gocmp.Diff(want, named(keys, match.ClusterAll(keys, edges, match.Unmet{}))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// naiveCut divides records into components, and cuts components that are too large at higher weights.
func naiveCut(records []int, weight map[[2]int]match.Weight, least match.Weight) [][]int {
	var parts [][]int
	left := slices.Clone(records)
	for len(left) > 0 {
		part := []int{left[0]}
		left = left[1:]
		for i := 0; i < len(part); i++ {
			left = slices.DeleteFunc(left, func(b int) bool {
				s, ok := weight[[2]int{min(part[i], b), max(part[i], b)}]
				if !ok || s < least {
					return false
				}
				part = append(part, b)
				return true
			})
		}
		slices.Sort(part)
		switch {
		case len(part) <= match.MaxComponent, least == match.CutMax && len(part) <= match.MaxLinked:
			parts = append(parts, part)
		default:
			parts = append(parts, naiveCut(part, weight, least+match.CutStep)...)
		}
	}
	return parts
}

// Blocking keys without a location have a lower limit: records that share two words and have no place.
func TestCandidates_WithoutAPlace(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	for n, want := range map[int]int{
		match.MaxBlockWords:     match.MaxBlockWords * (match.MaxBlockWords - 1) / 2,
		match.MaxBlockWords + 1: 0,
	} {
		var records []*match.Record
		for i := range n {
			records = append(records, m.Normalise("s", fmt.Sprint(i), match.Attributes{"name": {"Amber Anchor"}, "phones": {fmt.Sprintf("415-555-%04d", i)}}))
		}
		if got := len(match.Candidates(records)); got != want {
			t.Errorf("%d records with two words of their names: %d candidates, want %d", n, got, want)
		}
	}
}
