// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// gather groups identical records, which edges of weight Equal connect, and returns the edges between
// groups. Only decisions distinguish identical records: those with equal decisions form one group, however
// many they are. Groups with the same content have edges of weight Equal between each other, and each has
// the edges of the records' leader.
//
// Groups are ordered by their lowest rank; members hold ranks.
func gather(rank []int, edges []Edge) (members [][]int, drawn []Edge) {
	n := len(rank)
	of := newForest(n)          // rank → its content, named by one record with it
	decided := map[int][]Edge{} // by the rank of A
	equals := false
	for _, e := range edges {
		a, b := rank[e.A], rank[e.B]
		switch {
		case e.Decided != 0:
			decided[a] = append(decided[a], Edge{A: a, B: b, Weight: e.Weight, Decided: e.Decided})
			decided[b] = append(decided[b], Edge{A: b, B: a, Weight: e.Weight, Decided: e.Decided})
		case e.Weight >= Equal:
			equals = true
			of.join(a, b)
		}
	}
	drawn = make([]Edge, 0, len(edges))
	if !equals {
		members = make([][]int, n)
		for i := range members {
			members[i] = []int{i}
		}
		for _, e := range edges {
			e.A, e.B = rank[e.A], rank[e.B]
			drawn = append(drawn, ordered(e))
		}
		return members, drawn
	}
	type content struct {
		root    int
		decided string
	}
	group, at := make([]int, n), map[content]int{} // rank → its group, numbered in rank order
	variants := map[int][]int{}                    // root → the groups with that content
	for i := range n {
		c := content{of.root(i), signature(decided[i])}
		g, there := at[c]
		if !there {
			g = len(members)
			at[c], members = g, append(members, nil)
			for _, h := range variants[c.root] {
				drawn = append(drawn, Edge{A: h, B: g, Weight: Equal})
			}
			variants[c.root] = append(variants[c.root], g)
		}
		group[i], members[g] = g, append(members[g], i)
	}
	said := map[[2]int]Edge{} // the decided pairs of groups
	for _, list := range decided {
		for _, e := range list {
			e = ordered(Edge{A: group[e.A], B: group[e.B], Weight: e.Weight, Decided: e.Decided})
			if old, there := said[[2]int{e.A, e.B}]; !there || e.Decided > old.Decided {
				said[[2]int{e.A, e.B}] = e
			}
		}
	}
	drawn = slices.DeleteFunc(drawn, func(e Edge) bool { _, there := said[[2]int{e.A, e.B}]; return there })
	for _, e := range said {
		drawn = append(drawn, e)
	}
	for _, e := range edges {
		if e.Decided != 0 || e.Weight >= Equal {
			continue
		}
		for _, g := range variants[of.root(rank[e.A])] {
			for _, h := range variants[of.root(rank[e.B])] {
				between := ordered(Edge{A: g, B: h, Weight: e.Weight, Vector: e.Vector})
				if _, there := said[[2]int{between.A, between.B}]; !there {
					drawn = append(drawn, between)
				}
			}
		}
	}
	return members, drawn
}

func ordered(e Edge) Edge {
	if e.A > e.B {
		e.A, e.B = e.B, e.A
	}
	return e
}

// signature returns the decisions about a record, without their times.
func signature(decided []Edge) string {
	slices.SortFunc(decided, func(x, y Edge) int { return cmp.Compare(x.B, y.B) })
	var b []byte
	for _, e := range decided {
		b = binary.BigEndian.AppendUint32(b, uint32(e.B))
		b = binary.BigEndian.AppendUint16(b, uint16(e.Weight))
	}
	return string(b)
}
