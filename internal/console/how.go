// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
)

const (
	// maxDrawn is the maximum number of records in the picture; the table has all of them.
	maxDrawn = 60
	// maxSteps is the maximum number of steps in the table.
	maxSteps = 300
	// maxNamed is how many records of a group are named.
	maxNamed = 12
)

// how shows how an entity was formed: a picture, and the table behind it.
type how struct {
	Together string // number of records clustered together, if others were too
	Steps    []howStep
	Left     int // number of steps left out
	Tree     *tree
}

// howStep is a clustering step as a row.
type howStep struct {
	Number  int
	A, B    []mention
	Via     string // the pair that caused the step
	Weight  string
	Sum     string
	Absent  int
	Joined  bool
	Decided bool
	Author  string // author and reason of a decision
	Reason  string
	Against string
}

// mention is a short form of a record: its number in the comparison, if it is in the entity.
type mention struct {
	Number int
	Text   string
}

func newHow(h *explain.Lineage, records []*entity.Record) *how {
	if h == nil {
		return nil
	}
	numbers := make(map[entity.Ref]int, len(records))
	for i, r := range records {
		numbers[r.Ref] = i + 1
	}
	page := &how{Left: max(0, len(h.Steps)-maxSteps), Tree: newTree(h.Steps, numbers)}
	if h.Component > len(records) {
		page.Together = counted(int64(h.Component), "record")
	}
	for i, s := range h.Steps[:len(h.Steps)-page.Left] {
		step := howStep{
			Number: i + 1, A: mentions(s.A, numbers), B: mentions(s.B, numbers),
			Via:    s.Pair.A.String() + " and " + s.Pair.B.String(),
			Weight: s.Pair.Explanation.Weight.String(), Sum: s.Sum.String(), Absent: s.Absent, Joined: s.Joined,
			Decided: s.Decided != nil, Against: s.Against,
		}
		if d := s.Decided; d != nil {
			step.Author, step.Reason = d.Author, d.Reason
		}
		page.Steps = append(page.Steps, step)
	}
	return page
}

func mentions(refs []entity.Ref, numbers map[entity.Ref]int) []mention {
	var all []mention
	for _, r := range refs[:min(len(refs), maxNamed)] {
		all = append(all, mention{Number: numbers[r], Text: r.String()})
	}
	slices.SortStableFunc(all, func(a, b mention) int { return cmp.Compare(a.Number, b.Number) })
	if left := len(refs) - maxNamed; left > 0 {
		all = append(all, mention{Text: "and " + count(int64(left)) + " more"})
	}
	return all
}

// Dimensions of the picture, in its own units.
const (
	treeWide   = 640
	treeRow    = 26
	treeLeft   = 44
	treeMargin = 76 // for the score of the last step
)

// tree is a picture of the joins: records from top to bottom, joins from left to right in order.
type tree struct {
	High   int
	Leaves []leaf
	Forks  []fork
}

// leaf is a record in the picture.
type leaf struct{ Number, Y int }

// fork is a join of two groups.
type fork struct {
	Step    int // its row in the table
	Path    string
	X, Y    int
	Weight  string
	Decided bool
}

// branch is a group during layout.
type branch struct {
	a, b *branch
	leaf int // number of the record, for a leaf
	fork int // otherwise index into tree.Forks
	x, y int
}

// newTree lays out the picture; nil if there are too few or too many records.
func newTree(steps []explain.Step, numbers map[entity.Ref]int) *tree {
	if len(numbers) < 2 || len(numbers) > maxDrawn {
		return nil
	}
	groups := make([]*branch, len(numbers)+1) // branches by number
	for n := range groups {
		groups[n] = &branch{leaf: n}
	}
	t := &tree{}
	for i, s := range steps {
		if !s.Joined || len(s.A) == 0 || len(s.B) == 0 || numbers[s.A[0]] == 0 || numbers[s.B[0]] == 0 {
			continue
		}
		joined := &branch{a: groups[numbers[s.A[0]]], b: groups[numbers[s.B[0]]], fork: len(t.Forks)}
		t.Forks = append(t.Forks, fork{Step: i + 1, Weight: s.Pair.Explanation.Weight.String(), Decided: s.Decided != nil})
		for _, r := range slices.Concat(s.A, s.B) {
			groups[numbers[r]] = joined
		}
	}
	drawn := map[*branch]bool{}
	for _, g := range groups[1:] {
		if !drawn[g] {
			drawn[g] = true
			t.place(g)
		}
	}
	t.High = treeRow * len(t.Leaves) // records that are alike from the beginning are one leaf
	return t
}

// place puts a group below the existing ones.
func (t *tree) place(g *branch) {
	if g.a == nil {
		g.x, g.y = treeLeft, treeRow*len(t.Leaves)+treeRow/2
		t.Leaves = append(t.Leaves, leaf{g.leaf, g.y})
		return
	}
	t.place(g.a)
	t.place(g.b)
	g.x, g.y = treeLeft+(g.fork+1)*(treeWide-treeLeft-treeMargin)/len(t.Forks), (g.a.y+g.b.y)/2
	f := &t.Forks[g.fork]
	f.X, f.Y = g.x, g.y
	f.Path = "M" + point(g.a.x, g.a.y) + "H" + strconv.Itoa(g.x) + "V" + strconv.Itoa(g.b.y) + "H" + strconv.Itoa(g.b.x)
}

func point(x, y int) string { return strconv.Itoa(x) + " " + strconv.Itoa(y) }

// Wide returns the width of the picture.
func (*tree) Wide() int { return treeWide }
