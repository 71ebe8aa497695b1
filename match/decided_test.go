// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/match"
)

const must, never = match.MustLink, match.CannotLink

func TestCluster_WhatPeopleDecided(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		n     int
		edges []match.Edge
		want  [][]int
	}{
		{"one thing, whatever they score", 3, []match.Edge{said(0, 2, must, 1)}, [][]int{{0, 2}, {1}}},
		{"one thing, though the machine holds others of theirs to be two", 4, []match.Edge{said(2, 3, must, 2), edge(1, 2, never), said(1, 3, must, 1)}, [][]int{{0}, {1, 2, 3}}},
		{"two things, whatever they score", 2, []match.Edge{said(0, 1, never, 1)}, [][]int{{0}, {1}}},
		{"two things, and what each is joined with", 4, []match.Edge{edge(0, 1, 2000), edge(1, 2, 2000), edge(2, 3, 2000), said(0, 3, never, 1)}, [][]int{{0, 1, 2}, {3}}},
		{"one thing by a chain that is newer", 3, []match.Edge{said(0, 1, must, 2), said(1, 2, must, 3), said(0, 2, never, 1)}, [][]int{{0, 1, 2}}},
		{"two things, said after the chain", 3, []match.Edge{said(0, 1, must, 2), said(1, 2, must, 3), said(0, 2, never, 4)}, [][]int{{0}, {1, 2}}},
		{"two things, said in between", 3, []match.Edge{said(0, 1, must, 2), said(1, 2, must, 4), said(0, 2, never, 3)}, [][]int{{0}, {1, 2}}},
		{"of one millisecond, one thing counts first", 3, []match.Edge{said(0, 1, must, 1), said(1, 2, must, 1), said(0, 2, never, 1)}, [][]int{{0, 1, 2}}},
		{"what was decided testifies for its neighbours", 3, []match.Edge{said(0, 1, must, 1), edge(1, 2, 500), edge(0, 2, -300)}, [][]int{{0, 1, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := gocmp.Diff(c.want, match.Cluster(nodes(c.n), c.edges, match.Unmet{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// decidedComponent draws a component with decisions, some with equal times.
func decidedComponent(t *rapid.T) ([]match.NodeKey, []match.Edge) {
	keys, edges := component(t)
	for i := range edges {
		if at := rapid.Int64Range(-6, 6).Draw(t, "decided"); at > 0 {
			edges[i].Decided, edges[i].Weight = at, rapid.SampledFrom([]match.Weight{must, never}).Draw(t, "verdict")
		}
	}
	return keys, edges
}

func TestCluster_DecidedOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys, edges := decidedComponent(t)
		if diff := gocmp.Diff(naiveDecided(len(keys), edges), match.Cluster(keys, edges, match.Unmet{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestCluster_DecidedInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys, edges := decidedComponent(t)
		want := named(keys, match.Cluster(keys, edges, match.Unmet{}))
		order := rapid.Permutation(indices(len(keys))).Draw(t, "order of nodes")
		moved := make([]match.NodeKey, len(keys))
		for i, to := range order {
			moved[to] = keys[i]
		}
		shuffled := make([]match.Edge, len(edges))
		for i, to := range rapid.Permutation(indices(len(edges))).Draw(t, "order of edges") {
			e := edges[i]
			shuffled[to] = match.Edge{A: order[e.B], B: order[e.A], Weight: e.Weight, Decided: e.Decided}
		}
		if diff := gocmp.Diff(want, named(moved, match.Cluster(moved, shuffled, match.Unmet{}))); diff != "" {
			t.Fatalf("another order, another answer: %s", diff)
		}
	})
}

// The newest decision counts, whatever else was decided or compared.
func TestCluster_TheNewestDecisionCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys, edges := decidedComponent(t)
		if len(edges) == 0 {
			return
		}
		e := &edges[rapid.IntRange(0, len(edges)-1).Draw(t, "the newest")]
		e.Decided = 7
		for _, verdict := range []match.Weight{must, never} {
			e.Weight = verdict
			together := slices.ContainsFunc(match.Cluster(keys, edges, match.Unmet{}), func(c []int) bool { return slices.Contains(c, e.A) && slices.Contains(c, e.B) })
			if together != (verdict == must) {
				t.Fatalf("%+v: together %v", *e, together)
			}
		}
	})
}

// The joins of the trace produce the clusters, and each step names its groups as they were.
func TestTrace_StepsMakeTheClusters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys, edges := decidedComponent(t)
		group := map[int][]int{}
		for i := range keys {
			group[i] = []int{i}
		}
		clusters := match.Trace(keys, edges, match.Unmet{}, func(j match.Join) {
			if !slices.Equal(j.A, group[j.Edge.A]) || !slices.Equal(j.B, group[j.Edge.B]) {
				t.Fatalf("step %+v, the groups are %v and %v", j, group[j.Edge.A], group[j.Edge.B])
			}
			if !j.Joined && j.Against == nil && j.Sum >= 0 {
				t.Fatalf("step %+v: nothing speaks against it", j)
			}
			if j.Joined {
				all := slices.Sorted(slices.Values(slices.Concat(j.A, j.B)))
				for _, i := range all {
					group[i] = all
				}
			}
		})
		for _, c := range clusters {
			if !slices.Equal(c, group[c[0]]) {
				t.Fatalf("cluster %v, by the steps %v", c, group[c[0]])
			}
		}
	})
}

// Trace reports decisions first, then joins from the highest weight down, and the reason for each refusal.
func TestTrace_Steps(t *testing.T) {
	t.Parallel()
	edges := []match.Edge{
		said(0, 1, must, 20), said(1, 2, never, 30), said(0, 2, must, 10), edge(2, 3, 900), edge(3, 4, 1200), edge(1, 3, 600), edge(4, 5, 500), edge(3, 5, -700), edge(0, 5, 400),
	}
	var b strings.Builder
	clusters := match.Trace(nodes(6), edges, match.Unmet{}, func(j match.Join) {
		fmt.Fprintf(&b, "%v + %v by %d-%d %v decided %d: sum %v, absent %d, joined %v", j.A, j.B, j.Edge.A, j.Edge.B, j.Edge.Weight, j.Edge.Decided, j.Sum, j.Absent, j.Joined)
		if j.Against != nil {
			fmt.Fprintf(&b, ", against %d-%d %v", j.Against.A, j.Against.B, j.Against.Weight)
		}
		b.WriteString("\n")
	})
	const want = `[0] + [1] by 0-1 +320.00 decided 20: sum +20.00, absent 0, joined true
[0 1] + [2] by 0-2 +320.00 decided 10: sum +20.00, absent 0, joined false, against 1-2 -80.00
[3] + [4] by 3-4 +12.00 decided 0: sum +12.00, absent 0, joined true
[2] + [3 4] by 2-3 +9.00 decided 0: sum +2.50, absent 1, joined true
[0 1] + [2 3 4] by 1-3 +6.00 decided 0: sum +2.80, absent 3, joined false, against 1-2 -80.00
[2 3 4] + [5] by 4-5 +5.00 decided 0: sum -2.00, absent 1, joined false
[[0 1] [2 3 4] [5]]
`
	if diff := gocmp.Diff(want, fmt.Sprintln(strings.TrimSuffix(b.String(), "\n")+"\n"+fmt.Sprint(clusters))); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// naiveDecided is the definition, written as directly as possible.
func naiveDecided(n int, edges []match.Edge) [][]int {
	pair := func(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }
	of, edge, force := indices(n), map[[2]int]match.Edge{}, map[[2]int]bool{}
	for _, e := range edges {
		edge[pair(e.A, e.B)] = e
	}
	ordered := slices.Clone(edges)
	slices.SortFunc(ordered, func(x, y match.Edge) int {
		return cmp.Or(cmp.Compare(y.Decided, x.Decided), cmp.Compare(y.Weight, x.Weight), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	for _, e := range ordered {
		x, y := of[e.A], of[e.B]
		switch {
		case x == y || e.Decided == 0 && e.Weight < match.Threshold:
			continue
		case e.Decided != 0 && e.Weight == never:
			force[pair(e.A, e.B)] = true
			continue
		}
		sum, forbidden := 0, false
		for a := range n {
			for b := range n {
				if of[a] != x || of[b] != y {
					continue
				}
				f, there := edge[pair(a, b)]
				switch {
				case force[pair(a, b)], there && f.Decided == 0 && f.Weight <= never && e.Decided == 0:
					forbidden = true
				case !there:
					sum += int(match.AbsentPair)
				default:
					sum += int(min(f.Weight, match.MaxWeight))
				}
			}
		}
		if !forbidden && (sum >= 0 || e.Decided != 0) {
			for i := range of {
				if of[i] == y {
					of[i] = x
				}
			}
		}
	}
	groups := map[int][]int{}
	for i, g := range of {
		groups[g] = append(groups[g], i)
	}
	var clusters [][]int
	for _, g := range groups {
		clusters = append(clusters, g)
	}
	slices.SortFunc(clusters, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return clusters
}

// If no cut divides a component, only its must-links remain.
func TestClusterAll_TooLargeButForDecisions(t *testing.T) {
	t.Parallel()
	const n = match.MaxLinked + 10
	keys := make([]match.NodeKey, n)
	var edges []match.Edge
	for i := range keys {
		keys[i] = match.NodeKey{Source: "s", Key: fmt.Sprintf("%05d", i)}
		if i > 0 {
			edges = append(edges, match.Edge{A: i - 1, B: i, Weight: 3000})
		}
	}
	edges[7], edges[20] = match.Edge{A: 7, B: 8, Weight: must, Decided: 1}, match.Edge{A: 20, B: 21, Weight: never, Decided: 2}
	edges = append(edges, match.Edge{A: 8, B: 1000, Weight: must, Decided: 3})
	clusters := match.ClusterAll(keys, edges, match.Unmet{})
	if len(clusters) != n-2 {
		t.Errorf("%d clusters of %d records, want all but three apart", len(clusters), n)
	}
	if !slices.ContainsFunc(clusters, func(c []int) bool { return slices.Equal(c, []int{7, 8, 1000}) }) {
		t.Error("what people said to be one thing is apart")
	}
}
