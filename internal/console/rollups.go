// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"time"

	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/rollups"
)

// Rollups is the content of the rollups page at one moment.
type Rollups struct {
	Time    time.Time
	Rollups []rollups.Status
	Schema  *match.Schema // for the example shown if there is no rollup yet
}

// Rollups writes the rollups page.
func (c *Console) Rollups(w io.Writer, r Rollups) error {
	p := rollupsPage{As: stamp(r.Time), Made: counted(int64(len(r.Rollups)), "rollup"), Version: c.version}
	for i := range r.Rollups {
		p.Cards = append(p.Cards, newCard(&r.Rollups[i]))
	}
	if len(p.Cards) == 0 {
		p.Example = example(r.Schema)
	}
	return c.render(w, "rollups", "", p)
}

type rollupsPage struct {
	As            stamp
	Made, Version string
	Cards         []card
	Example       string // how to define a rollup, if there is none
}

// Page identifies the structure of the page: with a list, or without.
func (p rollupsPage) Page() string {
	if len(p.Cards) == 0 {
		return p.Version + "/empty"
	}
	return p.Version + "/list"
}

// card is the state of a rollup, on the page of all and at the head of its own.
type card struct {
	Name     string
	State    rollups.State
	Counting counting
	// Generation is the active one; Coming is the one being built, "" if there is none.
	Generation, Coming string
	Groups, Lag        string
	Verified           string
	Followers          []follower
	Left               string // number of processes left out
	Troubles           []trouble
	Status             string // the equivalent command
}

func newCard(s *rollups.Status) card {
	c := card{
		Name: s.Name, State: s.State, Counting: newCounting(&s.Definition), Groups: count(s.Groups), Lag: behind(s.Lag),
		Generation: "none yet", Verified: verified(s.Verified), Troubles: troublesOf(s.Cells),
		Status: command("locus", "rollup", "status", s.Name),
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
	if n := len(s.Cells); n > 1 { // a group in two cells counts twice
		c.Groups += " in " + count(int64(n)) + " cells"
	}
	if s.Generation == 0 {
		c.Groups, c.Lag = "–", "–"
	}
	var left int
	if c.Followers, left = followersOf(s.Cells); left > 0 {
		c.Left = counted(int64(left), "process") + " more"
		if left > 1 {
			c.Left = count(int64(left)) + " more processes"
		}
	}
	return c
}
