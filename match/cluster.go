// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
	"strings"
)

// The limits of clustering, in the order in which they apply.
const (
	// MaxBlockSize is H: a blocking key carried by more records yields no candidates. Records with identical
	// content count once, here and below.
	MaxBlockSize = 64
	// MaxBlockAnywhere is the limit for a house number with a street, and MaxBlockWords for two words of a
	// name, because neither contains a location. Of pairs with nothing else in common, hardly one in a
	// thousand matches.
	MaxBlockAnywhere = 16
	MaxBlockWords    = 8
	// MaxComponent is C: a component of more records is cut at higher weights.
	MaxComponent = 100
	// CutStep is how much the weight of a cut rises per step.
	CutStep Weight = 250
	// CutMax is the highest weight of a cut: T + 15 bits.
	CutMax = Threshold + 1500
	// MaxLinked bounds a component that no cut divides. The records of a larger one stay separate, except
	// for must-links and identical records.
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
}

// Join is one step of clustering: two groups that were joined because of an edge, or were not.
type Join struct {
	Edge Edge  // in the order of keys
	A, B []int // the groups it touched, ordered by key; that of Edge.A first
	// Sum is the evidence across all pairs of the two groups: at least 0 if they were joined, unless by a
	// decision.
	Sum    int
	Pairs  int // across the two groups: identical records count once
	Absent int // number of pairs without an edge
	// Joined reports whether the groups were joined.
	Joined bool
	// Against is the pair that forbade the join, nil if there is none.
	Against *Edge
}

// Cluster splits the records of one component into things.
//
// Decided pairs come first, newest first, ties by keys: a must-link joins its records whatever they weight,
// and a cannot-link forbids joining them from then on. So the newest of contradicting decisions counts.
//
// Average link follows: edges that reach the threshold are tried from the highest weight down, and the two
// clusters of an edge are joined if the evidence across all of their pairs is not negative. Edges below the
// threshold only contribute evidence, an edge counts at most ScoreCap, and a pair at CannotLink or below
// forbids the join. A pair without an edge counts as unmet returns, or AbsentPair if unmet is nil or a
// decision joined records of either cluster. Records connected by edges of weight Equal are joined
// beforehand and count once.
//
// The result is a function of the set: independent of the order of nodes and edges. Clusters hold indices
// of nodes; both clusters and members are ordered by NodeKey. Keys must be distinct.
func Cluster(nodes []NodeKey, edges []Edge, unmet Unmet) [][]int {
	return Trace(nodes, edges, unmet, nil)
}

// Unmet weights a pair of nodes without an edge. If dear is false, it only detects cannot-links and returns
// AbsentPair for all other pairs.
type Unmet func(i, j int, dear bool) Weight

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

// ranks returns the nodes in key order, and the position of every node in it.
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

type link struct {
	to     int
	weight Weight
	// decided marks a decision; such a link forbids a join only once it is in force.
	decided bool
	force   bool
}

// clusters is the state of joining. Its nodes are groups of identical records, see gather.
type clusters struct {
	byKey   []int    // rank → index
	ranks   [][]int  // group → ranks
	of      []int    // group → its cluster
	members [][]int  // cluster → groups
	links   [][]link // group → its edges
	order   []Edge   // decided edges first, newest first; then the others by weight; ties by groups
	said    []bool   // cluster → a decision joined records of it, so unmet is not called
	unmet   Unmet
	weighed map[[2]int]Weight // results of unmet
	linked  []int             // group → the last group that looked at it, plus one
}

func newClusters(byKey, rank []int, edges []Edge) *clusters {
	ranks, order := gather(rank, edges)
	n := len(ranks)
	c := &clusters{
		byKey: byKey, ranks: ranks, of: make([]int, n), members: make([][]int, n), links: make([][]link, n), order: order,
		weighed: map[[2]int]Weight{}, linked: make([]int, n), said: make([]bool, n),
	}
	for i := range n {
		c.of[i], c.members[i] = i, []int{i}
	}
	for _, e := range order {
		c.links[e.A] = append(c.links[e.A], link{to: e.B, weight: e.Weight, decided: e.Decided != 0})
		c.links[e.B] = append(c.links[e.B], link{to: e.A, weight: e.Weight, decided: e.Decided != 0})
	}
	slices.SortFunc(c.order, func(x, y Edge) int {
		return cmp.Or(cmp.Compare(y.Decided, x.Decided), cmp.Compare(y.Weight, x.Weight), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return c
}

// part puts a cannot-link into force, unless a newer decision has joined its records.
func (c *clusters) part(e Edge) {
	if c.of[e.A] == c.of[e.B] {
		return
	}
	for _, end := range [2][2]int{{e.A, e.B}, {e.B, e.A}} {
		for i := range c.links[end[0]] {
			if l := &c.links[end[0]][i]; l.to == end[1] {
				l.force = true
			}
		}
	}
}

func (c *clusters) weigh(e Edge) Join {
	x, y := c.of[e.A], c.of[e.B]
	j := Join{Edge: e, A: c.members[x], B: c.members[y], Pairs: len(c.members[x]) * len(c.members[y])}
	from, to := x, y
	if len(c.members[x]) > len(c.members[y]) {
		from, to = y, x
	}
	met := 0
	for _, r := range c.members[from] {
		for _, l := range c.links[r] {
			if c.of[l.to] != to {
				continue
			}
			met++
			// A decision that two records are the same overrides cannot-links of the comparison.
			if l.force || l.weight <= CannotLink && !l.decided && e.Decided == 0 {
				if j.Against == nil {
					j.Against = &Edge{A: min(r, l.to), B: max(r, l.to), Weight: l.weight}
				}
				continue
			}
			j.Sum += int(min(max(l.weight, CannotLink), MaxWeight))
		}
	}
	if j.Absent = j.Pairs - met; c.unmet == nil || j.Against != nil || e.Decided != 0 || c.said[x] || c.said[y] {
		j.Sum += j.Absent * int(AbsentPair)
	} else if j.Absent > 0 {
		c.weighUnmet(&j, from, to)
	}
	j.Joined = j.Against == nil && (e.Decided != 0 || j.Sum >= 0)
	return j
}

// weighUnmet adds the pairs across two clusters that have no edge.
func (c *clusters) weighUnmet(j *Join, from, to int) {
	dear := j.Absent <= MostUnmet
	for _, r := range c.members[from] {
		for _, l := range c.links[r] {
			c.linked[l.to] = r + 1
		}
		for _, s := range c.members[to] {
			if c.linked[s] == r+1 {
				continue
			}
			pair := [2]int{min(r, s), max(r, s)}
			weight, known := c.weighed[pair]
			if !known {
				weight = c.unmet(c.byKey[c.ranks[pair[0]][0]], c.byKey[c.ranks[pair[1]][0]], dear)
				if dear {
					c.weighed[pair] = weight
				}
			}
			if weight <= CannotLink && j.Against == nil {
				j.Against = &Edge{A: pair[0], B: pair[1], Weight: weight}
			}
			j.Sum += int(min(max(weight, CannotLink), MaxWeight))
		}
	}
}

func (c *clusters) join(x, y int) int {
	if len(c.members[x]) > len(c.members[y]) {
		x, y = y, x
	}
	for _, r := range c.members[x] {
		c.of[r] = y
	}
	c.members[y] = append(c.members[y], c.members[x]...)
	c.members[x] = nil
	return y
}

// named converts a step from groups to nodes. The first record represents identical ones.
func (c *clusters) named(j Join) Join {
	j.A, j.B = c.indices(j.A), c.indices(j.B)
	first := func(e Edge) Edge {
		e.A, e.B = c.byKey[c.ranks[e.A][0]], c.byKey[c.ranks[e.B][0]]
		return e
	}
	if j.Edge = first(j.Edge); j.Against != nil {
		against := first(*j.Against)
		j.Against = &against
	}
	return j
}

func (c *clusters) indices(groups []int) []int {
	var ranks []int
	for _, g := range groups {
		ranks = append(ranks, c.ranks[g]...)
	}
	slices.Sort(ranks)
	for i, r := range ranks {
		ranks[i] = c.byKey[r]
	}
	return ranks
}

// equals reports the joins of identical records.
func (c *clusters) equals(step func(Join)) {
	for _, ranks := range c.ranks {
		if len(ranks) > 1 {
			first, second := c.byKey[ranks[0]], c.byKey[ranks[1]]
			j := Join{Edge: Edge{A: first, B: second, Weight: Equal}, A: []int{first}, Pairs: 1, Sum: int(MaxWeight), Joined: true}
			for _, r := range ranks[1:] {
				j.B = append(j.B, c.byKey[r])
			}
			step(j)
		}
	}
}

// groups returns the remaining clusters, as indices of nodes.
func (c *clusters) groups() [][]int {
	var clusters [][]int
	for _, members := range c.members {
		if len(members) > 0 {
			slices.Sort(members) // groups are in the order of their first keys
			clusters = append(clusters, members)
		}
	}
	slices.SortFunc(clusters, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	for i, members := range clusters {
		clusters[i] = c.indices(members)
	}
	return clusters
}
