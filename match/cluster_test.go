// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/match"
)

// nodes returns n records of one source, keyed by letters in order.
func nodes(n int) []match.NodeKey {
	keys := make([]match.NodeKey, n)
	for i := range keys {
		keys[i] = match.NodeKey{Source: "s", Key: string(rune('a' + i))}
	}
	return keys
}

func TestCluster(t *testing.T) {
	t.Parallel()
	const far, no = match.AbsentPair, match.CannotLink
	for _, c := range []struct {
		name  string
		n     int
		edges []match.Edge
		want  [][]int
	}{
		{"nothing", 0, nil, nil},
		{"no edge", 2, nil, [][]int{{0}, {1}}},
		{"at the threshold", 2, []match.Edge{edge(0, 1, match.Threshold)}, [][]int{{0, 1}}},
		{"below the threshold", 2, []match.Edge{edge(0, 1, match.Threshold-1)}, [][]int{{0}, {1}}},
		{"ends in either order", 2, []match.Edge{edge(1, 0, 900)}, [][]int{{0, 1}}},
		{"a chain whose ends may differ", 3, []match.Edge{edge(0, 1, 900), edge(1, 2, 900)}, [][]int{{0, 1, 2}}},
		{"a chain whose ends outweigh the link", 3, []match.Edge{edge(0, 1, 900), edge(1, 2, 500), edge(0, 2, -600)}, [][]int{{0, 1}, {2}}},
		{"an absent pair at the balance", 3, []match.Edge{edge(0, 1, 2000), edge(1, 2, -far+100)}, [][]int{{0, 1, 2}}},
		{"two couples, one weak link", 4, []match.Edge{edge(0, 1, 1500), edge(2, 3, 1500), edge(1, 2, 1100)}, [][]int{{0, 1}, {2, 3}}},
		{"two couples, one strong link", 4, []match.Edge{edge(0, 1, 1500), edge(2, 3, 1500), edge(1, 2, 1200)}, [][]int{{0, 1, 2, 3}}},
		{"one edge cannot outvote many", 7, []match.Edge{edge(0, 1, 3000), edge(1, 2, 3000), edge(0, 2, 3000), edge(3, 4, 3000), edge(4, 5, 3000), edge(3, 5, 3000), edge(2, 3, 2900)}, [][]int{{0, 1, 2}, {3, 4, 5}, {6}}},
		{"an possible edge testifies", 3, []match.Edge{edge(0, 1, 900), edge(1, 2, 500), edge(0, 2, -500)}, [][]int{{0, 1, 2}}},
		{"a pair that may not be linked", 3, []match.Edge{edge(0, 1, 2000), edge(1, 2, 2000), edge(0, 2, no)}, [][]int{{0, 1}, {2}}},
		{"equal scores join in the order of keys", 3, []match.Edge{edge(1, 2, 900), edge(0, 1, 900), edge(0, 2, no)}, [][]int{{0, 1}, {2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := gocmp.Diff(c.want, match.Cluster(nodes(c.n), c.edges, match.Unmet{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// component draws a component with weights that reach every branch.
func component(t *rapid.T) ([]match.NodeKey, []match.Edge) {
	n := rapid.IntRange(1, 9).Draw(t, "nodes")
	var edges []match.Edge
	for a := range n {
		for b := a + 1; b < n; b++ {
			if s := rapid.SampledFrom([]match.Weight{0, 1, 300, 500, 500, 700, 900, 2500, match.CannotLink}).Draw(t, "score"); s != 1 {
				edges = append(edges, match.Edge{A: a, B: b, Weight: s})
			}
		}
	}
	return nodes(n), edges
}

func edge(a, b int, w match.Weight) match.Edge { return match.Edge{A: a, B: b, Weight: w} }

// said returns an edge by a decision at a time.
func said(a, b int, w match.Weight, at int64) match.Edge {
	return match.Edge{A: a, B: b, Weight: w, Decided: at}
}

func TestCluster_DependsOnTheSetAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys, edges := component(t)
		want := named(keys, match.Cluster(keys, edges, match.Unmet{}))

		order := rapid.Permutation(indices(len(keys))).Draw(t, "order of nodes")
		moved := make([]match.NodeKey, len(keys))
		for i, to := range order {
			moved[to] = keys[i]
		}
		shuffled := make([]match.Edge, len(edges))
		for i, to := range rapid.Permutation(indices(len(edges))).Draw(t, "order of edges") {
			e := edges[i]
			shuffled[to] = match.Edge{A: order[e.B], B: order[e.A], Weight: e.Weight}
		}
		if diff := gocmp.Diff(want, named(moved, match.Cluster(moved, shuffled, match.Unmet{}))); diff != "" {
			t.Fatalf("another order, another answer: %s", diff)
		}
	})
}

func TestCluster_IsAPartitionWithoutForbiddenPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys, edges := component(t)
		of := map[int]int{}
		for n, members := range match.Cluster(keys, edges, match.Unmet{}) {
			for _, m := range members {
				if _, twice := of[m]; twice {
					t.Fatalf("%d is in two clusters", m)
				}
				of[m] = n
			}
		}
		if len(of) != len(keys) {
			t.Fatalf("%d of %d records are in a cluster", len(of), len(keys))
		}
		for _, e := range edges {
			if e.Weight <= match.CannotLink && of[e.A] == of[e.B] {
				t.Fatalf("%d and %d are in one cluster", e.A, e.B)
			}
		}
	})
}

// TestCluster_Oracle compares with the definition, written as directly as possible.
func TestCluster_Oracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys, edges := component(t)
		if diff := gocmp.Diff(naiveCluster(len(keys), edges), match.Cluster(keys, edges, match.Unmet{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func naiveCluster(n int, edges []match.Edge) [][]int {
	weight := map[[2]int]match.Weight{}
	for _, e := range edges {
		weight[[2]int{e.A, e.B}], weight[[2]int{e.B, e.A}] = e.Weight, e.Weight
	}
	var clusters [][]int
	for i := range n {
		clusters = append(clusters, []int{i})
	}
	holder := func(i int) int {
		return slices.IndexFunc(clusters, func(c []int) bool { return slices.Contains(c, i) })
	}
	ordered := slices.Clone(edges)
	slices.SortFunc(ordered, func(x, y match.Edge) int {
		return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	for _, e := range ordered {
		x, y := holder(e.A), holder(e.B)
		if e.Weight < match.Threshold || x == y {
			continue
		}
		sum, forbidden := 0, false
		for _, a := range clusters[x] {
			for _, b := range clusters[y] {
				s, ok := weight[[2]int{a, b}]
				switch {
				case !ok:
					sum += int(match.AbsentPair)
				case s <= match.CannotLink:
					forbidden = true
				default:
					sum += int(min(s, match.MaxWeight))
				}
			}
		}
		if !forbidden && sum >= 0 {
			clusters[x] = append(clusters[x], clusters[y]...)
			clusters = slices.Delete(clusters, y, y+1)
		}
	}
	for _, c := range clusters {
		slices.Sort(c)
	}
	slices.SortFunc(clusters, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return clusters
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// named returns clusters with keys instead of indices.
func named(keys []match.NodeKey, clusters [][]int) []string {
	var out []string
	for _, c := range clusters {
		s := ""
		for _, i := range c {
			s += fmt.Sprint(keys[i], " ")
		}
		out = append(out, s)
	}
	return out
}

func BenchmarkCluster(b *testing.B) {
	const n = match.MaxComponent
	keys := make([]match.NodeKey, n)
	var edges []match.Edge
	for i := range keys {
		keys[i] = match.NodeKey{Source: "s", Key: fmt.Sprintf("%03d", (i*37)%n)}
		for j := max(0, i-8); j < i; j++ {
			edges = append(edges, match.Edge{A: j, B: i, Weight: match.Weight((i*31 + j*17) % 2000)})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		match.Cluster(keys, edges, match.Unmet{})
	}
}
