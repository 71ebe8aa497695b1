// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/match"
)

// alike returns n records with identical content, in different spellings.
func alike(m *match.Matcher, n int) (records []*match.Record) {
	for i := range n {
		records = append(records, m.Normalise([]string{"crm", "web"}[i%2], fmt.Sprint(i), match.Attributes{
			"name":   {[]string{"Brass Heron", "BRASS  heron"}[i%2]},
			"phones": {[]string{"212-555-0101", "(212) 555 0101"}[i%2]},
		}))
	}
	return records
}

// The 65th record of a thing does not dissolve it: identical records are one carrier of their blocking keys.
func TestCandidates_RecordsThatSayTheSameCountOnce(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	const n = 3 * match.MaxBlockSize
	records := alike(m, n)
	others := func(k int) []*match.Record {
		list := slices.Clone(records)
		for i := range k {
			list = append(list, m.Normalise("s", fmt.Sprint(i), match.Attributes{"name": {fmt.Sprintf("Only%d", i)}, "phones": {"212-555-0101"}}))
		}
		return list
	}
	const h = match.MaxBlockSize
	for k, want := range map[int]int{0: n - 1, 1: n - 1 + 1, h - 1: n - 1 + h*(h-1)/2, h: n - 1} {
		if got := len(match.Candidates(others(k))); got != want {
			t.Errorf("%d equal records and %d others with their phone: %d candidates, want %d", n, k, got, want)
		}
	}
}

// Identical records match only if their content is enough evidence.
func TestEqual_TakesEnough(t *testing.T) {
	t.Parallel()
	s := match.Place()
	s.Sources = map[string]match.Source{"clean": {Deduplicated: true}}
	m := match.New(s, nil)
	for name, c := range map[string]struct {
		source string
		a      match.Attributes
		want   bool
	}{
		"name and phone":            {"crm", match.Attributes{"name": {"Brass Heron"}, "phones": {"212-555-0101"}}, true},
		"an address alone":          {"crm", match.Attributes{"address": {"12 Oak Ave"}, "city": {"Springfield"}}, false},
		"a name that says nothing":  {"crm", match.Attributes{"name": {"Pizza"}}, false},
		"a source without repeats":  {"clean", match.Attributes{"name": {"Brass Heron"}, "phones": {"212-555-0101"}}, false},
		"a chain and no place":      {"crm", match.Attributes{"name": {"Starbucks"}, "city": {"Springfield"}}, false},
		"a chain and its own place": {"crm", match.Attributes{"name": {"Starbucks"}, "address": {"12 Oak Ave"}, "postcode": {"10001"}}, true},
	} {
		if got := m.Normalise(c.source, "1", c.a).Equal() != 0; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	own := match.Attributes{"name": {"Brass Heron"}, "vendor_id": {"7"}}
	if m.Normalise("a", "1", own).Equal() == m.Normalise("b", "1", own).Equal() {
		t.Error("two sources have one id of their own")
	}
}

// hang adds the edges of followers to their leader.
func hang(edges []match.Edge, first int, others ...int) []match.Edge {
	for _, i := range others {
		edges = append(edges, match.Edge{A: i, B: first, Weight: match.Equal})
	}
	return edges
}

func TestCluster_RecordsThatSayTheSame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n     int
		edges []match.Edge
		want  [][]int
	}{
		"are one without further edges": {4, hang(nil, 1, 0, 2, 3), [][]int{{0, 1, 2, 3}}},
		"count once beside others": {
			// A hundred identical records and one that matches weakly count as one pair, and not as a hundred pairs of
			// which 99 are absent.
			101, append(hang(nil, 0, indices(100)[1:]...), match.Edge{A: 100, B: 0, Weight: 500}), [][]int{indices(101)},
		},
		"are told apart by a person": {
			4, append(hang(nil, 0, 1, 2, 3), match.Edge{A: 0, B: 1, Weight: match.CannotLink, Decided: 5},
				match.Edge{A: 0, B: 2, Weight: match.CannotLink, Decided: 6}, match.Edge{A: 0, B: 3, Weight: match.CannotLink, Decided: 7}),
			[][]int{{0}, {1, 2, 3}},
		},
		"those that were not told apart stay with one side": {
			3, append(hang(nil, 0, 1, 2), match.Edge{A: 0, B: 1, Weight: match.CannotLink, Decided: 5}), [][]int{{0, 2}, {1}},
		},
		"follow the one that a person joined with others": {
			4, append(hang(nil, 0, 1, 2), match.Edge{A: 2, B: 3, Weight: match.MustLink, Decided: 5}), [][]int{{0, 1, 2, 3}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := gocmp.Diff(c.want, match.Cluster(nodes(c.n), c.edges, match.Unmet{})); diff != "" {
				t.Error(diff)
			}
			if diff := gocmp.Diff(c.want, match.ClusterAll(nodes(c.n), c.edges, match.Unmet{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// However many identical records there are, no cut separates them, and the others are clustered as if each
// content occurred once.
func TestClusterAll_ManyThatSayTheSame(t *testing.T) {
	t.Parallel()
	const n = 10_000
	edges := hang(nil, 0, indices(n)[1:]...)
	edges = append(edges, match.Edge{A: n, B: 0, Weight: 600})
	if got := match.ClusterAll(nodes(n+1), edges, match.Unmet{}); len(got) != 1 {
		t.Errorf("%d clusters", len(got))
	}
}

// The clusters do not depend on which of the identical records is the leader.
func TestCluster_WhoLeadsDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const things = 5
		n := rapid.IntRange(things, 14).Draw(t, "n")
		says, first, other := make([]int, n), [things]int{}, [things]int{}
		for i := range n {
			says[i] = i % things
			if i >= things {
				says[i] = rapid.IntRange(0, things-1).Draw(t, "says")
			}
		}
		for i := n - 1; i >= 0; i-- {
			first[says[i]] = i
		}
		for i := range n {
			other[says[i]] = i
		}
		var one, two []match.Edge
		for i, w := range says {
			if i != first[w] {
				one = append(one, match.Edge{A: first[w], B: i, Weight: match.Equal})
			}
			if i != other[w] {
				two = append(two, match.Edge{A: i, B: other[w], Weight: match.Equal})
			}
		}
		for a := range things {
			for b := range a {
				if s := rapid.SampledFrom([]match.Weight{0, 1, 300, 500, 700, 900, match.CannotLink}).Draw(t, "score"); s != 1 {
					one = append(one, match.Edge{A: first[a], B: first[b], Weight: s})
					two = append(two, match.Edge{A: other[a], B: other[b], Weight: s})
				}
			}
		}
		pairs := map[[2]int]bool{}
		for k := range rapid.IntRange(0, 4).Draw(t, "decisions") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
			if a == b || pairs[[2]int{min(a, b), max(a, b)}] {
				continue
			}
			pairs[[2]int{min(a, b), max(a, b)}] = true
			e := match.Edge{A: a, B: b, Weight: rapid.SampledFrom([]match.Weight{match.MustLink, match.CannotLink}).Draw(t, "verdict"), Decided: int64(k + 1)}
			one, two = append(one, e), append(two, e)
		}
		if diff := gocmp.Diff(match.Cluster(nodes(n), one, match.Unmet{}), match.Cluster(nodes(n), two, match.Unmet{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A pair without a common blocking key counts by its comparison, and a cannot-link keeps two groups separate,
// however many other pairs there are.
func TestCluster_PairsThatNeverMet(t *testing.T) {
	t.Parallel()
	chain := []match.Edge{{A: 0, B: 1, Weight: 900}, {A: 1, B: 2, Weight: 900}}
	for name, c := range map[string]struct {
		says match.Weight
		want [][]int
	}{
		"little speaks against it": {-600, [][]int{{0, 1, 2}}},
		"much does":                {-1000, [][]int{{0, 1}, {2}}},
		"they are never one":       {-10000, [][]int{{0, 1}, {2}}},
	} {
		unmet := match.Unmet{Pair: func(i, j int, _ bool) (match.Weight, match.Vector) {
			if min(i, j) != 0 || max(i, j) != 2 {
				t.Errorf("%s: %d and %d have an edge", name, i, j)
			}
			return c.says, 0
		}}
		if diff := gocmp.Diff(c.want, match.Cluster(nodes(3), chain, unmet)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	// Two groups of 60, one pair of which is a cannot-link.
	const n = 60
	var edges []match.Edge
	for i := range 2 * n {
		for j := i - i%n; j < i; j++ {
			edges = append(edges, match.Edge{A: j, B: i, Weight: 2000})
		}
	}
	edges = append(edges, match.Edge{A: 0, B: n, Weight: 900})
	asked := 0
	unmet := match.Unmet{Pair: func(i, j int, dear bool) (match.Weight, match.Vector) {
		if dear {
			asked++
		}
		if min(i, j) == n-1 && max(i, j) == 2*n-1 {
			return match.CannotLink, 0
		}
		return 300, 0
	}}
	if got := match.Cluster(nodes(2*n), edges, unmet); len(got) != 2 {
		t.Errorf("%d clusters", len(got))
	}
	if asked > match.MostUnmet {
		t.Errorf("%d pairs were compared, want %d at most", asked, match.MostUnmet)
	}
}

// Where a decision joined two groups, comparisons of the other pairs across them do not split them again.
func TestCluster_PairsThatNeverMetBesideADecision(t *testing.T) {
	t.Parallel()
	edges := []match.Edge{{A: 0, B: 1, Weight: 1500}, {A: 2, B: 3, Weight: 1500}, {A: 1, B: 2, Weight: match.MustLink, Decided: 1}}
	unmet := match.Unmet{Pair: func(_, _ int, _ bool) (match.Weight, match.Vector) { return -2500, 0 }}
	if got := match.Cluster(nodes(4), edges, unmet); len(got) != 1 {
		t.Errorf("%v", got)
	}
}
