// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"io"

	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/quality"
)

// Try is a page that compares two records by the rules of a kind.
type Try struct {
	Kind string
	A, B string // as typed: an address, or lines of attributes
	// Tried is the comparison, nil if there is none; Problem explains an invalid A or B.
	Tried   *kinds.Tried
	Problem string
}

// Try writes the page.
func (c *Console) Try(w io.Writer, t Try) error {
	p := struct {
		Try
		Fall    *waterfall
		Outcome string
	}{Try: t}
	if t.Tried != nil {
		fall := newWaterfall(t.Tried.Explanation, t.Tried.Threshold)
		fall.RefA, fall.RefB = "the first record", "the second record"
		fall.A, fall.B = 1, 2
		fall.Command = command("locus", "entity", "why", "A", "B")
		p.Fall, p.Outcome = &fall, t.Tried.Explanation.Outcome.String()
	}
	return c.render(w, "try", "", p)
}

// Draft is a page to edit the schema of a kind.
type Draft struct {
	Kind    string
	Version int    // in force
	YAML    string // of the draft
	MayTry  bool   // whether the viewer may define kinds
	Problem string
	// Diff and Labelled are the effects of the draft, nil before the dry run.
	Diff     *kinds.Diff
	Labelled *quality.Labelled
}

// Draft writes the page.
func (c *Console) Draft(w io.Writer, d Draft) error {
	p := struct {
		Draft
		Changes, Judged []draftLine
		Examples        []draftExample
		Command         string
	}{Draft: d, Command: command("locus", "kind", "migrate", d.Kind+".yaml", "--dry-run")}
	if diff := d.Diff; diff != nil {
		for _, line := range []struct {
			what string
			n    int
		}{{"records", diff.Records}, {"entities now", diff.Before}, {"entities then", diff.After}, {"that stay", diff.Stay}, {"of them with other values", diff.Changed}, {"merged of several", diff.Merged}, {"now, that split", diff.Split}} {
			p.Changes = append(p.Changes, draftLine{line.what, count(int64(line.n)), ""})
		}
		for _, side := range []struct {
			what string
			list []kinds.Example
		}{{"merges", diff.Merges}, {"splits", diff.Splits}} {
			for _, e := range side.list {
				example := draftExample{What: side.what, Size: counted(int64(e.Size), "record")}
				for _, id := range e.From {
					example.From = append(example.From, id.String())
				}
				for _, m := range e.Records[:min(len(e.Records), 3)] {
					example.Records = append(example.Records, fmt.Sprintf("%s %s", m.Ref, m.Name))
				}
				p.Examples = append(p.Examples, example)
			}
		}
	}
	if l := d.Labelled; l != nil && l.Same+l.Different > 0 {
		p.Judged = []draftLine{
			{"decided the same, and matched", share(l.SameNow, l.Same), share(l.SameDraft, l.Same)},
			{"decided different, and not matched", share(l.DifferentNow, l.Different), share(l.DifferentDraft, l.Different)},
		}
	}
	return c.render(w, "draft", "", p)
}

func share(n, of int) string { return count(int64(n)) + " of " + count(int64(of)) }

// draftLine is a number of now, or of now and of the draft.
type draftLine struct{ What, Now, Then string }

// draftExample are entities that would merge or split.
type draftExample struct {
	What, Size    string
	From, Records []string
}
