// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"strconv"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/review"
)

// Team is the content of the page about who answered how much, and how often people agree.
type Team struct {
	*review.Team
	Author string
	// Batch is the bulk decision that was just made, Assigned how many pairs were just assigned, as text; "" for none.
	Batch, Assigned string
}

// Team writes the page.
func (c *Console) Team(w io.Writer, t Team) error {
	p := teamPage{Waiting: waiting(t.Left, t.More), Signs: signs{t.Author, c.viewer.Name != ""}, Made: t.Batch,
		Assigned: t.Assigned, Command: command("locus", "review", "team")}
	all := review.Progress{}
	for _, one := range t.People {
		p.People = append(p.People, newProgress(one, t.Author))
		all.Today, all.Week, all.All, all.InBulk, all.Assigned, all.Rate = all.Today+one.Today, all.Week+one.Week, all.All+one.All, all.InBulk+one.InBulk, all.Assigned+one.Assigned, all.Rate+one.Rate
	}
	p.All = newProgress(all, "")
	for _, one := range t.Agreement {
		p.Agreement = append(p.Agreement, agreement{
			one.A, one.B, count(int64(one.Pairs)), count(int64(one.Agree)),
			strconv.Itoa(100*one.Agree/one.Pairs) + " %",
		})
	}
	for _, d := range t.Disagreements {
		line := disagreement{A: d.RefA.String(), B: d.RefB.String(), Link: (&Review{}).address(d.RefA, d.RefB, nil)}
		for _, a := range d.Answers {
			line.Said = append(line.Said, said{unnamed(a.Author), a.Verdict == entity.VerdictSame, stamp(a.At)})
		}
		p.Disagreements = append(p.Disagreements, line)
	}
	if n := t.Unsettled - len(t.Disagreements); n > 0 {
		p.Further = count(int64(n))
	}
	for _, b := range t.Batches {
		p.Batches = append(p.Batches, batch{b.ID, unnamed(b.Author), counted(int64(b.Stands), "pair"), b.Reason,
			b.Verdict == entity.VerdictSame, b.ID == t.Batch, stamp(b.At)})
	}
	return c.render(w, "team", "", p)
}

type teamPage struct {
	Waiting        string
	People         []progress
	All            progress
	Agreement      []agreement
	Disagreements  []disagreement
	Further        string // disagreements that are not listed
	Batches        []batch
	Signs          signs
	Made, Assigned string
	Command        string
}

type progress struct {
	Person                                 string
	Me                                     bool
	Today, Week, Whole, InBulk, Rate, Left string
}

func newProgress(p review.Progress, me string) progress {
	return progress{
		unnamed(p.Person), me != "" && p.Person == me, count(int64(p.Today)), count(int64(p.Week)), count(int64(p.All)),
		count(int64(p.InBulk)),
		strconv.FormatFloat(p.Rate, 'f', 0, 64), count(int64(p.Assigned)),
	}
}

// unnamed returns a name, or a text for a missing one.
func unnamed(name string) string {
	if name == "" {
		return "without a name"
	}
	return name
}

type agreement struct{ A, B, Pairs, Agree, Share string }

type disagreement struct {
	A, B, Link string
	Said       []said
}

type said struct {
	Person string
	Same   bool
	At     stamp
}

type batch struct {
	ID, Author, Stands, Reason string
	Same, Made                 bool
	At                         stamp
}
