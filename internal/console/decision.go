// SPDX-License-Identifier: Apache-2.0

package console

import (
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
)

// decision is a decision as a row.
type decision struct {
	Verdict string
	A, B    party
	// Attribute and Value are set for a pinned value.
	Attribute, Value string
	Author, Reason   string
	By               string // the principal, if it has another name; see Proved
	Proved           bool   // whether a credential proves the author
	At               stamp
	Withdrawn        bool
	Pending          bool
	Conflict         string
	Back             string // where the form that withdraws it leads
	Press            string // the key that withdraws it; may be empty
}

// signs is the author of a decision made by a form. If a credential proves the author, the form does not ask for the
// name.
type signs struct {
	Name   string
	Proved bool
}

// party is a record in a decision.
type party struct {
	Text    string // its label
	Name    string // its key, or its puid if it is deleted
	Address string // its puid, which never changes
	Entity  string // its entity; "" if it is deleted
}

func newDecision(d decisions.Decided, back string) decision {
	line := decision{
		Verdict: string(d.Verdict), A: newParty(d.A, d.RefA, d.EntityA.String(), d.EntityA.IsZero()),
		Attribute: d.Attribute, Value: d.Value, Author: d.Author, Reason: d.Reason, At: stamp(d.At),
		Proved: d.By != "", Withdrawn: d.Withdrawn, Pending: d.Pending, Conflict: d.Conflict, Back: back,
	}
	if d.Hidden {
		line.Value = "a hidden value"
	}
	if d.By != d.Author {
		line.By = d.By
	}
	if d.Pair() {
		line.B = newParty(d.B, d.RefB, d.EntityB.String(), d.EntityB.IsZero())
	}
	return line
}

func newParty(puid entity.PUID, ref entity.Ref, id string, gone bool) party {
	p := party{Text: ref.String(), Name: ref.String(), Address: puid.String(), Entity: id}
	if ref.Source == "" {
		p.Text, p.Name = "the deleted record "+puid.String(), puid.String()
	}
	if gone {
		p.Entity = ""
	}
	return p
}

// Joins reports whether the decision says that two records are the same thing.
func (d decision) Joins() bool { return d.Verdict == string(entity.VerdictSame) }

// Parts reports whether it says that two records are different things.
func (d decision) Parts() bool { return d.Verdict == string(entity.VerdictDifferent) }

// Anchors reports whether it makes a record the anchor, which gives its entity the id.
func (d decision) Anchors() bool { return d.Verdict == string(entity.VerdictAnchor) }

// Command returns the command that withdraws the decision.
func (d decision) Command() string {
	args := []string{"locus", "decision", "withdraw", d.A.Name}
	switch {
	case d.Joins() || d.Parts():
		args = append(args, d.B.Name)
	case d.Anchors():
		args = append(args, "--anchor")
	default:
		args = append(args, "--attribute", d.Attribute)
	}
	return command(args...)
}

func decisionRows(all []decisions.Decided, back string) []decision {
	lines := make([]decision, len(all))
	for i, d := range all {
		lines[i] = newDecision(d, back)
	}
	return lines
}

// pinned returns the values pinned by decisions, by attribute. all has the newest decision first.
func pinned(all []decisions.Decided) map[string]string {
	values := map[string]string{}
	for _, d := range all {
		if _, seen := values[d.Attribute]; d.Verdict == entity.VerdictValue && !d.Withdrawn && d.Conflict == "" && !seen {
			values[d.Attribute] = d.Value
		}
	}
	return values
}
