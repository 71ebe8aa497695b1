// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"time"

	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/rollups"
)

// Rollups is how all rollups stand at one moment.
type Rollups struct {
	Time    time.Time
	Rollups []rollups.Status
	Schema  *match.Schema // of the example that stands where there is no rollup yet
}

// Rollups writes the page of all rollups.
func (c *Console) Rollups(w io.Writer, r Rollups) error {
	p := rollupsPage{As: clock(r.Time), Made: counted(int64(len(r.Rollups)), "rollup"), Version: c.version}
	for i := range r.Rollups {
		p.Cards = append(p.Cards, newCard(&r.Rollups[i]))
	}
	if len(p.Cards) == 0 {
		p.Example = example(r.Schema)
	}
	return c.render(w, "rollups", "", p)
}

type rollupsPage struct {
	As, Made, Version string
	Cards             []card
	Example           string // how to define one, if there is none
}

// Page names what the page is made of: a list is one thing, and nothing to list is another.
func (p rollupsPage) Page() string {
	if len(p.Cards) == 0 {
		return p.Version + "/empty"
	}
	return p.Version + "/list"
}

// card is how a rollup stands, on the page of all and at the head of its own.
type card struct {
	Name     string
	State    rollups.State
	Counting counting
	// Generation serves; Coming says which one is to take its place, "" if none is.
	Generation, Coming string
	Groups, Lag        string
	Verified           string
	Keepers            []keeper
	Left               string // processes that are not listed
	Troubles           []trouble
	Status             string // the command that tells all this
}

func newCard(s *rollups.Status) card {
	c := card{
		Name: s.Name, State: s.State, Counting: newCounting(&s.Definition), Groups: count(s.Groups), Lag: behind(s.Lag),
		Generation: "none yet", Verified: verified(s.Verified), Troubles: troublesOf(s.Cells), Status: command("locus", "rollup", "status", s.Name),
	}
	if s.Generation != 0 {
		c.Generation = count(s.Generation)
	}
	if s.Building != 0 {
		c.Coming = count(s.Building) + " is being built, in " + counted(int64(s.Built), "cell") + " so far"
		if s.Trouble != "" {
			c.Coming = count(s.Building) + " cannot be built: " + s.Trouble
		}
	}
	if n := len(s.Cells); n > 1 { // a group that two cells have counts twice
		c.Groups += " in " + count(int64(n)) + " cells"
	}
	if s.Generation == 0 {
		c.Groups, c.Lag = "–", "–"
	}
	var left int
	if c.Keepers, left = keepersOf(s.Cells); left > 0 {
		c.Left = counted(int64(left), "process") + " more"
		if left > 1 {
			c.Left = count(int64(left)) + " processes more"
		}
	}
	return c
}
