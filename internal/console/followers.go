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

// cellStates are the states of a rollup in a cell: each has a colour, a mark that does not depend on colour, and a
// text.
var cellStates = []struct{ Class, Mark, Text string }{
	{"following", "", "following"},
	{"filling", "·", "being built"},
	{"failed", "!", "failed"},
	{"silent", "?", "unavailable"},
}

// standing returns the state of a cell as an index into cellStates.
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

// dotsAtOnce is how many cells are drawn as dots; more are drawn as parts of a bar.
const dotsAtOnce = 64

// followersAtOnce is how many processes are listed.
const followersAtOnce = 24

// follower is a process and the cells whose rollups it follows.
type follower struct {
	Owner  string // "" if no process follows them
	Cells  string // number of cells
	Tokens string
	States string // number of cells by state
	Dots   []dot
	Parts  []part

	count int
}

type dot struct{ Class, Mark, Name, Label string }

// part is a part of a bar of width 100: all cells in one state.
type part struct {
	Class, X, W string
}

// followersOf groups cells by the process that follows them, those with the most cells first, and returns how many
// processes are left out.
func followersOf(cells []rollups.Cell) (followers []follower, left int) {
	byOwner := map[string][]*rollups.Cell{}
	for i := range cells {
		byOwner[cells[i].Owner] = append(byOwner[cells[i].Owner], &cells[i])
	}
	for owner, of := range byOwner {
		followers = append(followers, newFollower(owner, of, len(cells)))
	}
	slices.SortFunc(followers, func(a, b follower) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.Owner, b.Owner))
	})
	left = max(0, len(followers)-followersAtOnce)
	return followers[:len(followers)-left], left
}

func newFollower(owner string, cells []*rollups.Cell, all int) follower {
	k := follower{Owner: owner, count: len(cells), Cells: counted(int64(len(cells)), "cell")}
	counts := make([]int, len(cellStates))
	low, high := cells[0].Token, cells[0].Token
	for _, c := range cells {
		at := standing(c)
		counts[at]++
		low, high = min(low, c.Token), max(high, c.Token)
		if all <= dotsAtOnce {
			s := cellStates[at]
			k.Dots = append(k.Dots, dot{s.Class, s.Mark, c.Cell.String(),
				c.Cell.String() + ": " + s.Text + ", token " + strconv.FormatInt(c.Token, 10)})
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

// cellLine is the state of a rollup in a cell, as a row.
type cellLine struct {
	Cell, Class, State             string
	Watermark, Last, Lag, Groups   string
	Owner, Token, Verified, Reason string
}

// linesOf returns the rows of the first cells.
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

// troublesShown is how many failing cells are named.
const troublesShown = 5

// trouble is a reason for failures, and the cells that report it.
type trouble struct {
	Cells  string
	Reason string

	first cell.ID
	more  int
}

// troublesOf returns each distinct reason once.
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
