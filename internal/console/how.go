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
	// maxDrawn is how many records the picture of a clustering has at most; the table has them all.
	maxDrawn = 60
	// maxSteps is how many steps the table shows.
	maxSteps = 300
	// maxNamed is how many records of a group are named.
	maxNamed = 12
)

// how is how an entity came to be: a picture, and the table behind it.
type how struct {
	Together string // with how many records it was clustered, if with others
	Steps    []howStep
	Left     int // steps that are not shown
	Tree     *tree
}

// howStep is one step of clustering as a line.
type howStep struct {
	Number  int
	A, B    []mention
	Via     string // the pair that brought the two together
	Bits    string
	Sum     string
	Absent  int
	Joined  bool
	Decided bool
	Author  string // who said so, and why
	Reason  string
	Against string
}

// mention is a record where there is no room for all of it: its number in the comparison, if it is in the entity.
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
			Number: i + 1, A: mentions(s.A, numbers), B: mentions(s.B, numbers), Via: s.Pair.A.String() + " and " + s.Pair.B.String(),
			Bits: s.Pair.Explanation.Score.String(), Sum: s.Sum.String(), Absent: s.Absent, Joined: s.Joined, Decided: s.Decided != nil, Against: s.Against,
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

// Measures of the picture, in its own units.
const (
	treeWide   = 640
	treeRow    = 26
	treeLeft   = 44
	treeMargin = 76 // for the bits of the last step
)

// tree is a picture of the joins: records from above to below, joins from left to right in the order in which
// they were made.
type tree struct {
	High   int
	Leaves []leaf
	Forks  []fork
}

// leaf is a record.
type leaf struct{ Number, Y int }

// fork is a join of two groups.
type fork struct {
	Step    int // its line of the table
	Path    string
	X, Y    int
	Bits    string
	Decided bool
}

// branch is a group while the picture is laid out.
type branch struct {
	a, b *branch
	leaf int // the number of a record, if it is one
	fork int // position in tree.Forks, else
	x, y int
}

// newTree lays the picture out; nil if there is nothing to see, or too much.
func newTree(steps []explain.Step, numbers map[entity.Ref]int) *tree {
	if len(numbers) < 2 || len(numbers) > maxDrawn {
		return nil
	}
	groups := make([]*branch, len(numbers)+1) // by number
	for n := range groups {
		groups[n] = &branch{leaf: n}
	}
	t := &tree{High: treeRow * len(numbers)}
	for i, s := range steps {
		if !s.Joined || len(s.A) == 0 || len(s.B) == 0 || numbers[s.A[0]] == 0 || numbers[s.B[0]] == 0 {
			continue
		}
		joined := &branch{a: groups[numbers[s.A[0]]], b: groups[numbers[s.B[0]]], fork: len(t.Forks)}
		t.Forks = append(t.Forks, fork{Step: i + 1, Bits: s.Pair.Explanation.Score.String(), Decided: s.Decided != nil})
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
	return t
}

// place puts a group below what is there.
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

// Wide is the width of the picture.
func (*tree) Wide() int { return treeWide }
