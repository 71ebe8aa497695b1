// SPDX-License-Identifier: Apache-2.0

package console

import (
	"math"
	"slices"
	"strconv"

	"github.com/locus-db/locus/explain"
)

const (
	graphWide   = 640
	graphNode   = 13 // radius
	graphMargin = 48 // for the nodes and their weights
	// openJoins is up to how many joins are shown open. More are lines to open, so that the page stays short.
	openJoins = 3
)

// graph is a picture of the comparisons that connect the records of an entity, which are drawn on a circle. Neighbours
// on the circle are neighbours in the tree of comparisons, so that few lines cross.
type graph struct {
	High  int
	Nodes []node
	Edges []edge
}

// node is a record of the picture.
type node struct{ Number, X, Y int }

// edge is a comparison of the picture; Join is its number on the page.
type edge struct {
	Join          int
	Path          string
	X, Y          int // of its weight
	Weight        string
	Label         string
	Weak, Decided bool
}

// newGraph lays out the picture; nil if there are too few or too many records, or the joins do not connect all.
func newGraph(why *explain.Explanation) *graph {
	n := len(why.Records)
	if n < 2 || n > maxDrawn || len(why.Joins) != n-1 {
		return nil
	}
	ends := make([][2]int, len(why.Joins))
	next := make([][]int, n+1)
	for i, j := range why.Joins {
		a, b := number(why.Records, j.A), number(why.Records, j.B)
		if a == 0 || b == 0 {
			return nil
		}
		ends[i] = [2]int{a, b}
		next[a], next[b] = append(next[a], b), append(next[b], a)
	}
	order := make([]int, 0, n)
	var visit func(int)
	visit = func(of int) {
		order = append(order, of)
		for _, to := range next[of] {
			if !slices.Contains(order, to) {
				visit(to)
			}
		}
	}
	visit(1)
	if len(order) != n {
		return nil
	}
	radius := math.Max(90, float64(n)*3.2*graphNode/(2*math.Pi))
	radius = math.Min(radius, graphWide/2-graphMargin)
	g := &graph{High: int(2*radius) + 2*graphMargin}
	at := make([]node, n+1)
	for i, number := range order {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		at[number] = node{number, graphWide/2 + int(math.Round(radius*sin)), g.High/2 - int(math.Round(radius*cos))}
	}
	g.Nodes = at[1:]
	weak := weakestJoin(why.Joins)
	for i, j := range why.Joins {
		a, b := at[ends[i][0]], at[ends[i][1]]
		e := edge{
			Join: i + 1, Path: "M" + point(a.X, a.Y) + "L" + point(b.X, b.Y),
			Weight: j.Explanation.Weight.String(), Weak: i == weak, Decided: j.Decided != nil,
		}
		e.X, e.Y = between(a, b, len(next[a.Number])-len(next[b.Number]))
		e.Label = "Records " + strconv.Itoa(a.Number) + " and " + strconv.Itoa(b.Number) + ", " + e.Weight + " bits"
		if e.Weak {
			e.Label += ", the weakest"
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

// between returns the position of the weight of a join: in the middle, or towards the record with far fewer joins,
// where there is more room.
func between(a, b node, more int) (x, y int) {
	percent := 50 + 22*max(-1, min(more/3, 1))
	return a.X + (b.X-a.X)*percent/100, a.Y + (b.Y-a.Y)*percent/100
}

// weakestJoin returns the index of the weakest of several joins that are not decisions, which are in descending order;
// -1 if there is none.
func weakestJoin(joins []explain.Join) int {
	for i, j := range slices.Backward(joins) {
		if j.Decided == nil && len(joins) > 1 {
			return i
		}
	}
	return -1
}

// Wide returns the width of the picture.
func (*graph) Wide() int { return graphWide }

// Radius returns the radius of a record.
func (*graph) Radius() int { return graphNode }
