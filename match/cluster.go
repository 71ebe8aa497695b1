// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"strings"
)

// The limits of clustering, in the order of their use.
const (
	// MaxBlockSize is H: a blocking key carried by more records yields no candidates. Records with identical
	// content count once, here and below.
	MaxBlockSize = 64
	// maxBlockAnywhere is the limit for a house number with a street, and MaxBlockWords for two words of a
	// name, because neither contains a location. Of pairs with nothing else in common, hardly one in a
	// thousand matches.
	maxBlockAnywhere = 16
	MaxBlockWords    = 8
	// MaxComponent is C: a component of more records is cut at higher weights.
	MaxComponent = 100
	// CutStep is how much the weight of a cut rises per step.
	CutStep Weight = 250
	// CutMax is the highest weight of a cut: T + 15 bits.
	CutMax = Threshold + 1500
	// MaxLinked is the largest component that is clustered although no cut divides it. The records of a larger one stay
	// separate, except for must-links and identical records.
	MaxLinked = 2000
	// MaxWeight bounds the weight of one edge, so that one pair cannot outvote many.
	MaxWeight Weight = 2000
	// AbsentPair is the weight of a pair that is not compared, and of a relation.
	AbsentPair Weight = -400
	// MostUnmet bounds the number of pairs without an edge that are fully compared for a join: the maximum
	// within a component that is not cut. Above it, only cannot-links are looked for.
	MostUnmet = MaxComponent * MaxComponent / 4
)

// MustLink is the weight of a pair with the decision that it is the same thing: no cut removes it.
const MustLink Weight = 32000

// NodeKey identifies a record by its source and the source's own key.
type NodeKey struct {
	Source string `json:"source"`
	Key    string `json:"key"`
}

// Compare orders nodes by source, then key.
func (k NodeKey) Compare(other NodeKey) int {
	return cmp.Or(strings.Compare(k.Source, other.Source), strings.Compare(k.Key, other.Key))
}

// Edge is a pair of nodes, by index, in either order. A pair has at most one edge, except that an edge of
// weight Equal may coexist with a decided one.
type Edge struct {
	A, B   int
	Weight Weight
	// Decided is the time of the decision about the pair, in milliseconds since 1970, 0 if there is none.
	// The weight is then MustLink or CannotLink, whatever the comparison yields.
	Decided int64
	// Vector is the comparison that the weight is of, 0 if it is not known.
	Vector Vector
}

// Join is one step of clustering: two groups that were joined because of an edge, or were not.
type Join struct {
	Edge Edge  // in the order of keys
	A, B []int // the groups that the edge touched, ordered by key; the group of Edge.A is first
	// Sum is the evidence about the two groups: at least 0 if they were joined, unless by a decision.
	Sum    Weight
	Pairs  int // number of pairs across the two groups; identical records count once
	Absent int // number of pairs without an edge
	// Joined reports whether the groups were joined.
	Joined bool
	// Against is the pair that prevented the join, nil if there is none.
	Against *Edge
}

// Cluster splits the records of one component into things.
//
// Decided pairs come first, newest first, ties by keys: a must-link joins its records whatever they weight,
// and a cannot-link forbids joining them from then on. So the newest of contradicting decisions counts.
//
// Average link follows: edges that reach the threshold are tried from the highest weight down, and the two
// clusters of an edge are joined if the evidence about them is not negative: the prior, and for each line of the
// comparison the mean of its weights in the pairs across the clusters that have it. So a record without a date of birth
// does not outvote two that have different ones, and what all pairs have in common counts once. A relation counts as
// AbsentPair instead. Edges below the threshold only contribute evidence, and a pair at CannotLink or below forbids the
// join. Records connected by edges of weight Equal are joined beforehand and count once.
//
// Where lines are not known, because unmet has no matcher, an edge no vector, or more than MostUnmet pairs have no edge,
// the evidence is the mean of the weights of the pairs, each at most MaxWeight. A pair that is not compared counts as
// AbsentPair; if a decision joined records of either cluster, no pair without an edge is.
//
// The result is a function of the set: independent of the order of nodes and edges. Clusters hold indices
// of nodes; both clusters and members are ordered by NodeKey. Keys must be distinct.
func Cluster(nodes []NodeKey, edges []Edge, unmet Unmet) [][]int {
	return Trace(nodes, edges, unmet, nil)
}

// Unmet compares pairs of nodes without an edge. Its zero value compares none.
type Unmet struct {
	// Matcher weighs the lines of all pairs, also of those with an edge.
	Matcher *Matcher
	// Pair compares two nodes. If dear is false, it only detects cannot-links and returns AbsentPair for all other
	// pairs; see Matcher.Unmet.
	Pair func(i, j int, dear bool) (Weight, Vector)
}

// UnmetOf returns what clustering asks about pairs, by the records of the nodes.
func (m *Matcher) UnmetOf(record func(node int) *Record) Unmet {
	return Unmet{m, func(i, j int, dear bool) (Weight, Vector) { return m.Unmet(record(i), record(j), dear) }}
}

// Trace is Cluster with a callback for every step: joins made and refused. Edges within a group are not
// steps.
func Trace(nodes []NodeKey, edges []Edge, unmet Unmet, step func(Join)) [][]int {
	return trace(nodes, edges, Threshold, unmet, step)
}

func trace(nodes []NodeKey, edges []Edge, threshold Weight, unmet Unmet, step func(Join)) [][]int {
	byKey, rank := ranks(nodes)
	c := newClusters(byKey, rank, edges)
	c.unmet = unmet
	if step != nil {
		c.equals(step)
	}
	try := func(e Edge) {
		x, y := c.of[e.A], c.of[e.B]
		if x == y {
			return
		}
		j := c.weigh(e)
		if step != nil {
			step(c.named(j))
		}
		if j.Joined {
			c.said[c.join(x, y)] = e.Decided != 0 || c.said[x] || c.said[y]
		}
	}
	undecided := 0
	for _, e := range c.order {
		switch {
		case e.Decided == 0:
			c.order[undecided] = e
			undecided++
		case e.Weight > 0:
			try(e)
		default:
			c.part(e)
		}
	}
	for _, e := range c.order[:undecided] {
		if e.Weight < threshold {
			break
		}
		try(e)
	}
	return c.groups()
}
