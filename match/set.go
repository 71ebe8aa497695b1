// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
)

// Candidates returns the pairs of records worth comparing, by index: pairs that share a blocking key that is not a stop
// key (BlockLimit). Of identical records only the first counts towards the limit and is paired with others; the rest
// are paired with it. Each pair occurs once, lower index first, and the pairs are ordered.
func Candidates(records []*Record) [][2]int {
	leads := Leaders(records)
	carriers := map[uint64][]int{}
	for i, r := range records {
		if leads[i] != i {
			continue
		}
		for _, f := range r.BlockingKeys() {
			carriers[f.Hash] = append(carriers[f.Hash], i)
		}
	}
	met := make([]int, len(records)) // the last record paired with this one, plus one
	var pairs [][2]int
	for i, r := range records {
		if leads[i] != i {
			pairs = append(pairs, [2]int{leads[i], i})
			continue
		}
		for _, f := range r.BlockingKeys() {
			list := carriers[f.Hash]
			if len(list) > BlockLimit(f.Hash) {
				continue
			}
			for _, j := range list {
				if j > i && met[j] != i+1 {
					met[j] = i + 1
					pairs = append(pairs, [2]int{i, j})
				}
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return pairs
}

// Leaders returns, for each record, the first record that is identical to it, which may be itself.
func Leaders(records []*Record) []int {
	first, leads := map[uint64]int{}, make([]int, len(records))
	for i, r := range records {
		leads[i] = i
		if r.equal == 0 {
			continue
		}
		if j, there := first[r.equal]; there {
			leads[i] = j
		} else {
			first[r.equal] = i
		}
	}
	return leads
}

// ClusterAll splits all records of a set into things: its components over edges that reach the threshold, each
// clustered as Cluster does. A component of more than MaxComponent records is cut at weights that rise by CutStep up to
// CutMax. A component that is still too large is clustered as a whole up to MaxLinked records; beyond that its records
// stay separate, except for must-links and identical records.
//
// Like that of Cluster, the result is a function of the set; clusters and members are ordered by NodeKey.
func ClusterAll(nodes []NodeKey, edges []Edge, unmet Unmet) [][]int {
	return ClusterAt(nodes, edges, unmet, Threshold)
}

// ClusterAt is ClusterAll with another threshold, from which the cuts rise.
func ClusterAt(nodes []NodeKey, edges []Edge, unmet Unmet, threshold Weight) [][]int {
	// After the cuts no edge connects two components, so tracing joins none.
	return trace(nodes, cut(len(nodes), edges, threshold), threshold, unmet, nil)
}

// cut returns the edges inside of components that are not too large.
func cut(n int, edges []Edge, threshold Weight) []Edge {
	var kept []Edge
	most := threshold + CutMax - Threshold
	for least := threshold; len(edges) > 0; least += CutStep {
		limit := MaxComponent
		switch {
		case least == most:
			limit = MaxLinked
		case least > most:
			least, limit = Equal, n
		}
		of, size := Components(n, edges, least)
		var large []Edge
		for _, e := range edges {
			switch c := of[e.A]; {
			case c != of[e.B]:
			case size[c] <= limit:
				kept = append(kept, e)
			default:
				large = append(large, e)
			}
		}
		edges = large
	}
	return kept
}

// forest is a union-find: each node with its parent.
type forest []int

func newForest(n int) forest {
	f := make(forest, n)
	for i := range f {
		f[i] = i
	}
	return f
}

// root returns the root of a node's tree, with path halving.
func (f forest) root(i int) int {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

// join merges the trees of two nodes.
func (f forest) join(a, b int) { f[f.root(a)] = f.root(b) }

// Components returns the component of each of n nodes, named by one of them, over edges of at least the given weight,
// and the number of nodes in each, where identical records count once.
func Components(n int, edges []Edge, least Weight) (of, size []int) {
	trees := newForest(n)
	size = make([]int, n)
	for _, e := range edges {
		if e.Weight >= least {
			trees.join(e.A, e.B)
		}
	}
	of = trees
	for i := range of {
		of[i] = trees.root(i)
		size[of[i]]++
	}
	for _, e := range edges {
		if e.Weight >= Equal && e.Decided == 0 {
			size[of[e.A]]--
		}
	}
	return of, size
}
