// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
)

// Candidates answers with the pairs of records that are worth comparing, as indices: those that
// share a feature which no more of the records carry than may (MostCarriers), where of records that say the same
// only the first is counted, and is the only one to meet others; and it with each of these. Each pair stands there
// once, the lower index first, ordered.
func Candidates(records []*Record) [][2]int {
	leads := Leaders(records)
	carriers := map[uint64][]int{}
	for i, r := range records {
		if leads[i] != i {
			continue
		}
		for _, f := range r.Features() {
			carriers[f.Hash] = append(carriers[f.Hash], i)
		}
	}
	met := make([]int, len(records)) // the last record that met this one, plus one
	var pairs [][2]int
	for i, r := range records {
		if leads[i] != i {
			pairs = append(pairs, [2]int{leads[i], i})
			continue
		}
		for _, f := range r.Features() {
			list := carriers[f.Hash]
			if len(list) > MostCarriers(f.Hash) {
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

// Leaders answers for each record with the first that says the same, which is itself if none does.
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

// ClusterAll splits all records of a set into things: its components over edges that reach the
// threshold, each as Cluster does. A component of more than MaxComponent records is cut at scores
// that rise by CutStep up to CutMax; what is still too large there is taken as a whole up to
// MaxLinked records, and beyond that every record stays alone but for what people said to be one thing.
//
// The answer is that of Cluster: a function of the set, clusters and members ordered by NodeKey.
func ClusterAll(nodes []NodeKey, edges []Edge, unmet Unmet) [][]int {
	return ClusterAt(nodes, edges, unmet, Threshold)
}

// ClusterAt is ClusterAll with another threshold, which all the scores of cutting rise from.
func ClusterAt(nodes []NodeKey, edges []Edge, unmet Unmet, threshold Score) [][]int {
	// No edge leads from one component to another any more, so none is joined with another.
	return trace(nodes, cut(len(nodes), edges, threshold), threshold, unmet, nil)
}

// cut answers with the edges inside of components that are not too large.
func cut(n int, edges []Edge, threshold Score) []Edge {
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
		of, size := components(n, edges, least)
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

// forest is a set of trees over nodes, each node with its parent: a union-find.
type forest []int

func newForest(n int) forest {
	f := make(forest, n)
	for i := range f {
		f[i] = i
	}
	return f
}

// root returns the root of a node's tree, and shortens the way to it.
func (f forest) root(i int) int {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

// join makes one tree of those of two nodes.
func (f forest) join(a, b int) { f[f.root(a)] = f.root(b) }

// components returns the component of every node, over edges of at least the given score, and
// with the number of nodes in each, of which those that say the same count once: all but one of them hang on that one.
func components(n int, edges []Edge, least Score) (of, size []int) {
	trees := newForest(n)
	size = make([]int, n)
	for _, e := range edges {
		if e.Score >= least {
			trees.join(e.A, e.B)
		}
	}
	of = trees
	for i := range of {
		of[i] = trees.root(i)
		size[of[i]]++
	}
	for _, e := range edges {
		if e.Score >= Equal && e.Decided == 0 {
			size[of[e.A]]--
		}
	}
	return of, size
}
