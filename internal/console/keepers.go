// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
)

// The states of a rollup in a cell, as pages show them: each has a colour, a mark for those who do not see
// it, and words.
var cellStates = []struct{ Class, Mark, Text string }{
	{"following", "", "following"},
	{"filling", "·", "being built"},
	{"failed", "!", "failed"},
	{"silent", "?", "no answer"},
}

// standing is the state of a cell: a place in cellStates.
func standing(c *rollups.Cell) int {
	switch {
	case c.State == rollup.Following:
		return 0
	case c.State == rollup.Failed:
		return 2
	case c.State == "" && c.Reason != "":
		return 3
	default:
		return 1
	}
}

// dotsAtOnce is how many cells are drawn one by one; more are drawn as parts of a bar.
const dotsAtOnce = 64

// keepersAtOnce is how many processes are listed.
const keepersAtOnce = 24

// keeper is a process with the cells whose rollups it keeps.
type keeper struct {
	Owner  string // "" is nobody
	Cells  string // how many
	Tokens string
	States string // how many are in which state
	Dots   []dot
	Parts  []part

	count int
}

// dot is one cell.
type dot struct{ Class, Mark, Name, Label string }

// part is a piece of a bar that is 100 wide: all cells in one state.
type part struct {
	Class, X, W string
}

// keepersOf groups cells by the process that keeps them, those with most cells first, and says how many
// processes are left out.
func keepersOf(cells []rollups.Cell) (keepers []keeper, left int) {
	byOwner := map[string][]*rollups.Cell{}
	for i := range cells {
		byOwner[cells[i].Owner] = append(byOwner[cells[i].Owner], &cells[i])
	}
	for owner, of := range byOwner {
		keepers = append(keepers, newKeeper(owner, of, len(cells)))
	}
	slices.SortFunc(keepers, func(a, b keeper) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.Owner, b.Owner))
	})
	left = max(0, len(keepers)-keepersAtOnce)
	return keepers[:len(keepers)-left], left
}

func newKeeper(owner string, cells []*rollups.Cell, all int) keeper {
	k := keeper{Owner: owner, count: len(cells), Cells: counted(int64(len(cells)), "cell")}
	counts := make([]int, len(cellStates))
	low, high := cells[0].Token, cells[0].Token
	for _, c := range cells {
		at := standing(c)
		counts[at]++
		low, high = min(low, c.Token), max(high, c.Token)
		if all <= dotsAtOnce {
			s := cellStates[at]
			k.Dots = append(k.Dots, dot{s.Class, s.Mark, c.Cell.String(), c.Cell.String() + ": " + s.Text + ", token " + strconv.FormatInt(c.Token, 10)})
		}
	}
	switch {
	case owner == "":
	case low == high:
		k.Tokens = "token " + count(low)
	default:
		k.Tokens = "tokens " + count(low) + " to " + count(high)
	}
	at := 0.0
	for i, n := range counts {
		if n == 0 {
			continue
		}
		if k.States != "" {
			k.States += ", "
		}
		k.States += count(int64(n)) + " " + cellStates[i].Text
		if all > dotsAtOnce {
			w := 100 * float64(n) / float64(len(cells))
			k.Parts = append(k.Parts, part{cellStates[i].Class, figure(at), figure(w)})
			at += w
		}
	}
	return k
}

// cellLine is how a rollup stands in a cell, as a line of a table.
type cellLine struct {
	Cell, Class, State             string
	Watermark, Last, Lag, Groups   string
	Owner, Token, Verified, Reason string
}

// linesOf are the lines of the first cells.
func linesOf(cells []rollups.Cell) []cellLine {
	lines := make([]cellLine, min(len(cells), rowsAtOnce))
	for i := range lines {
		c, s := &cells[i], cellStates[standing(&cells[i])]
		l := cellLine{
			Cell: c.Cell.String(), Class: s.Class, State: s.Text, Owner: c.Owner, Reason: c.Reason,
			Watermark: "–", Last: "–", Lag: "–", Groups: "–", Token: "–", Verified: "–",
		}
		if c.State != "" {
			l.Watermark, l.Last = strconv.FormatInt(int64(c.Watermark), 10), strconv.FormatInt(int64(c.Last), 10)
			l.Lag, l.Groups, l.Token, l.Verified = behind(c.Lag), count(c.Groups), count(c.Token), verified(c.Verified)
		}
		lines[i] = l
	}
	return lines
}

// troublesShown is how many cells with a reason are named.
const troublesShown = 5

// trouble is why cells are not as they should be: one reason, and the cells that give it.
type trouble struct {
	Cells  string
	Reason string

	first cell.ID
	more  int
}

// troublesOf are the reasons that cells give, each once.
func troublesOf(cells []rollups.Cell) (troubles []trouble) {
	for i := range cells {
		c := &cells[i]
		if c.Reason == "" {
			continue
		}
		at := slices.IndexFunc(troubles, func(t trouble) bool { return t.Reason == c.Reason })
		switch {
		case at >= 0:
			troubles[at].more++
		case len(troubles) < troublesShown:
			troubles = append(troubles, trouble{Reason: c.Reason, first: c.Cell})
		}
	}
	for i := range troubles {
		t := &troubles[i]
		if t.Cells = t.first.String(); t.more > 0 {
			t.Cells += " and " + count(int64(t.more)) + " more"
		}
	}
	return troubles
}
