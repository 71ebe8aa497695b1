// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
	"strings"
)

// The constants of clustering, in the order in which a component meets them.
const (
	// GenericAbove is H: a feature that more records carry yields no candidates.
	GenericAbove = 64
	// MaxComponent is C: a component of more records is cut at higher scores.
	MaxComponent = 100
	// CutStep is how much the threshold of an edge rises from cut to cut.
	CutStep Score = 250
	// CutMax is the highest threshold: T + 15 bits.
	CutMax = Threshold + 1500
	// MaxLinked bounds a component that no cut divides: each record of a larger one stays alone.
	MaxLinked = 2000
	// ScoreCap bounds the weight of one edge: no pair can outvote many.
	ScoreCap Score = 2000
	// AbsentPair is the weight of a pair without a stored edge.
	AbsentPair Score = -400
)

// NodeKey names a record: its source and the source's own key.
type NodeKey struct {
	Source string `json:"source"`
	Key    string `json:"key"`
}

// Compare orders nodes by source, then key.
func (k NodeKey) Compare(other NodeKey) int {
	return cmp.Or(strings.Compare(k.Source, other.Source), strings.Compare(k.Key, other.Key))
}

// Edge is a compared pair of nodes, named by their indices, in either order. A
// pair has at most one edge.
type Edge struct {
	A, B  int
	Score Score
}

// Cluster splits the records of one component into things, by average link:
// the edges that reach the threshold are tried from the highest to the lowest,
// and the two clusters that an edge touches become one if the evidence across
// all of their pairs is not negative. Edges below the threshold only testify; a
// pair without an edge counts AbsentPair, an edge at most ScoreCap, and a pair
// at CannotLink or below forbids the join.
//
// The answer is a function of the set: independent of the order of nodes and
// edges. Clusters hold indices of nodes; both they and their members are
// ordered by NodeKey. Equal keys are not allowed.
func Cluster(nodes []NodeKey, edges []Edge) [][]int {
	byKey, rank := ranks(nodes)
	c := newClusters(rank, edges)
	for _, e := range c.order {
		if e.Score < Threshold {
			break
		}
		c.join(c.of[e.A], c.of[e.B])
	}
	return c.groups(byKey)
}

// ranks answers with the nodes in the order of keys, and with the position of every node in it.
func ranks(nodes []NodeKey) (byKey, rank []int) {
	byKey = make([]int, len(nodes))
	for i := range byKey {
		byKey[i] = i
	}
	slices.SortFunc(byKey, func(i, j int) int { return nodes[i].Compare(nodes[j]) })
	rank = make([]int, len(nodes))
	for r, i := range byKey {
		rank[i] = r
	}
	return byKey, rank
}

// link is one end of an edge.
type link struct {
	to    int
	score Score
}

// clusters is the state of the joining, over ranks instead of indices.
type clusters struct {
	of      []int    // rank → its cluster
	members [][]int  // cluster → ranks
	links   [][]link // rank → its edges
	order   []Edge   // by score, then ranks
}

func newClusters(rank []int, edges []Edge) *clusters {
	n := len(rank)
	c := &clusters{of: make([]int, n), members: make([][]int, n), links: make([][]link, n), order: make([]Edge, 0, len(edges))}
	for i := range n {
		c.of[i], c.members[i] = i, []int{i}
	}
	for _, e := range edges {
		a, b := rank[e.A], rank[e.B]
		if a > b {
			a, b = b, a
		}
		c.links[a] = append(c.links[a], link{b, e.Score})
		c.links[b] = append(c.links[b], link{a, e.Score})
		c.order = append(c.order, Edge{a, b, e.Score})
	}
	slices.SortFunc(c.order, func(x, y Edge) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return c
}

// join makes two clusters one if the evidence between them allows it.
func (c *clusters) join(x, y int) {
	if x == y {
		return
	}
	if len(c.members[x]) > len(c.members[y]) {
		x, y = y, x
	}
	sum, absent := 0, len(c.members[x])*len(c.members[y])
	for _, r := range c.members[x] {
		for _, l := range c.links[r] {
			if c.of[l.to] != y {
				continue
			}
			if l.score <= CannotLink {
				return
			}
			sum += int(min(l.score, ScoreCap))
			absent--
		}
	}
	if sum+absent*int(AbsentPair) < 0 {
		return
	}
	for _, r := range c.members[x] {
		c.of[r] = y
	}
	c.members[y] = append(c.members[y], c.members[x]...)
	c.members[x] = nil
}

// groups answers with the clusters that are left, as indices of nodes.
func (c *clusters) groups(byKey []int) [][]int {
	var groups [][]int
	for _, members := range c.members {
		if len(members) > 0 {
			slices.Sort(members)
			groups = append(groups, members)
		}
	}
	slices.SortFunc(groups, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	for _, g := range groups {
		for i, r := range g {
			g[i] = byKey[r]
		}
	}
	return groups
}
