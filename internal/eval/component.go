// SPDX-License-Identifier: Apache-2.0

package eval

import "github.com/locus-db/locus/match"

// maxAtCutMax is the number of records beyond which a component that no cut
// divides stays apart.
const maxAtCutMax = 2000

// clusterAll resolves a whole set at once: the compared pairs' components, cut
// while they are too large, clustered one by one.
func clusterAll(records []*match.Record, edges []match.Edge) [][]int {
	all := make([]int, len(records))
	for i := range all {
		all[i] = i
	}
	var clusters [][]int
	for _, component := range components(all, edges, match.Threshold) {
		clusters = append(clusters, clusterOne(records, component.members, component.edges)...)
	}
	return clusters
}

// component is a set of records and the edges between them, named by the
// indices of the whole set.
type component struct {
	members []int
	edges   []match.Edge
}

// components divides the members by the edges of at least the threshold, and
// what is too large again at higher ones.
func components(members []int, edges []match.Edge, threshold match.Score) []component {
	parent := map[int]int{}
	for _, m := range members {
		parent[m] = m
	}
	find := func(x int) int {
		for parent[x] != x {
			parent[x] = parent[parent[x]]
			x = parent[x]
		}
		return x
	}
	for _, e := range edges {
		if e.Score >= threshold {
			a, b := find(e.A), find(e.B)
			parent[max(a, b)] = min(a, b)
		}
	}
	byRoot := map[int]*component{}
	var roots []int
	for _, m := range members {
		root := find(m)
		if byRoot[root] == nil {
			byRoot[root] = &component{}
			roots = append(roots, root)
		}
		byRoot[root].members = append(byRoot[root].members, m)
	}
	for _, e := range edges {
		if root := find(e.A); root == find(e.B) {
			byRoot[root].edges = append(byRoot[root].edges, e)
		}
	}
	var found []component
	for _, root := range roots {
		c := byRoot[root]
		switch {
		case len(c.members) <= match.MaxComponent:
			found = append(found, *c)
		case threshold < match.CutMax:
			found = append(found, components(c.members, c.edges, threshold+match.CutStep)...)
		case len(c.members) <= maxAtCutMax:
			found = append(found, *c)
		default:
			for _, m := range c.members {
				found = append(found, component{members: []int{m}})
			}
		}
	}
	return found
}

func clusterOne(records []*match.Record, members []int, edges []match.Edge) [][]int {
	if len(members) == 1 {
		return [][]int{members}
	}
	local := make(map[int]int, len(members))
	nodes := make([]match.NodeKey, len(members))
	for i, m := range members {
		local[m] = i
		nodes[i] = match.NodeKey{Source: records[m].Source(), Key: records[m].Key()}
	}
	inside := make([]match.Edge, len(edges))
	for i, e := range edges {
		inside[i] = match.Edge{A: local[e.A], B: local[e.B], Score: e.Score}
	}
	clusters := match.Cluster(nodes, inside)
	for _, c := range clusters {
		for i := range c {
			c[i] = members[c[i]]
		}
	}
	return clusters
}
