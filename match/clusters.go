// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"slices"
)

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
	vector Vector // 0 if it is not known
	// decided marks a decision. A link by decision separates its records only once it is in force.
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
	said    []bool   // cluster → a decision joined its records, so unmet is not called
	unmet   Unmet
	met     map[[2]int]compared // results of unmet
	linked  []int               // group → the last group that looked at it, plus one
}

func newClusters(byKey, rank []int, edges []Edge) *clusters {
	ranks, order := gather(rank, edges)
	n := len(ranks)
	c := &clusters{
		byKey: byKey, ranks: ranks, of: make([]int, n), members: make([][]int, n), links: make([][]link, n), order: order,
		met: map[[2]int]compared{}, linked: make([]int, n), said: make([]bool, n),
	}
	for i := range n {
		c.of[i], c.members[i] = i, []int{i}
	}
	for _, e := range order {
		c.links[e.A] = append(c.links[e.A], link{to: e.B, weight: e.Weight, vector: e.Vector, decided: e.Decided != 0})
		c.links[e.B] = append(c.links[e.B], link{to: e.A, weight: e.Weight, vector: e.Vector, decided: e.Decided != 0})
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

// weigh weighs the two clusters of an edge against each other.
func (c *clusters) weigh(e Edge) Join {
	x, y := c.of[e.A], c.of[e.B]
	j := Join{Edge: e, A: c.members[x], B: c.members[y], Pairs: len(c.members[x]) * len(c.members[y])}
	from, to := x, y
	if len(c.members[x]) > len(c.members[y]) {
		from, to = y, x
	}
	about, met := evidence{matcher: c.unmet.Matcher}, 0
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
			about.add(l.weight, l.vector, l.vector != 0 && !l.decided)
		}
	}
	if j.Absent = j.Pairs - met; c.unmet.Pair == nil || j.Against != nil || e.Decided != 0 || c.said[x] || c.said[y] {
		about.absent(j.Absent)
	} else if j.Absent > 0 {
		c.meet(&j, &about, from, to)
	}
	j.Sum = about.sum()
	j.Joined = j.Against == nil && (e.Decided != 0 || j.Sum >= 0)
	return j
}

// meet compares the pairs across two clusters that have no edge.
func (c *clusters) meet(j *Join, about *evidence, from, to int) {
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
			found, known := c.met[pair]
			if !known {
				found.weight, found.vector = c.unmet.Pair(c.byKey[c.ranks[pair[0]][0]], c.byKey[c.ranks[pair[1]][0]], dear)
				if dear {
					c.met[pair] = found
				}
			}
			if found.weight <= CannotLink && j.Against == nil {
				j.Against = &Edge{A: pair[0], B: pair[1], Weight: found.weight}
			}
			about.add(found.weight, found.vector, dear)
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
			j := Join{Edge: Edge{A: first, B: second, Weight: Equal}, A: []int{first}, Pairs: 1, Sum: MaxWeight, Joined: true}
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
			slices.Sort(members) // groups are ordered by their first keys
			clusters = append(clusters, members)
		}
	}
	slices.SortFunc(clusters, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	for i, members := range clusters {
		clusters[i] = c.indices(members)
	}
	return clusters
}
