// SPDX-License-Identifier: Apache-2.0

package console

import (
	"io"
	"slices"
	"strconv"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
)

// Questions of a WhatIf.
const (
	Without = "without" // what if a record did not exist
	Apart   = "apart"   // what if a record were a different thing
	Merge   = "merge"   // what if another entity were the same thing
	Pin     = "pin"     // what if a value were pinned
	Anchor  = "anchor"  // what if a record gave the id
)

// WhatIf is the content of a what-if page, with the form that applies it.
type WhatIf struct {
	Entity   *entity.Entity
	Question string // Without, Apart, Merge, Pin or Anchor
	Address  string // of the record or the other entity, as given; for Pin the value
	// Attribute is the attribute of a value to pin.
	Attribute string
	Scenario  *explain.ScenarioResult
	Author    string
	Problem   string // the fault in the question; there is then no result
}

// WhatIf writes the page of a question. Nothing has been changed yet.
func (c *Console) WhatIf(w io.Writer, q WhatIf) error {
	id := q.Entity.ID.String()
	p := whatIfPage{WhatIf: q, ID: id, Name: nameOf(q.Entity.View), Signs: signs{q.Author, c.viewer.Name != ""}}
	p.Title = isolate(p.Name)
	switch q.Question {
	case Without:
		p.Command = command("locus", "entity", "what-if", id, "--delete", q.Address)
	case Apart:
		p.Command = command("locus", "entity", "unmerge", id, q.Address)
	case Merge:
		p.Command = command("locus", "entity", "merge", id, q.Address)
	case Pin:
		p.Command = command("locus", "entity", "pin", id, "--attribute", q.Attribute, "--value", q.Address)
	case Anchor:
		p.Command = command("locus", "entity", "pin", q.Address)
	}
	if q.Scenario != nil {
		p.Before, p.After = scenarioEntities(q.Scenario.Before, q.Scenario.After), scenarioEntities(q.Scenario.After,
			q.Scenario.Before)
		p.Took = strconv.FormatFloat(float64(q.Scenario.Took.Microseconds())/1000, 'f', 1, 64) + " ms"
		p.Same = len(p.Before) == 0 && len(p.After) == 0
	}
	return c.render(w, "whatif", "", p)
}

type whatIfPage struct {
	WhatIf
	Signs           signs
	ID, Name, Title string
	Before, After   []scenarioEntity
	Same            bool // nothing would change
	Took            string
	Command         string
}

// scenario is an entity, current or hypothetical.
type scenarioEntity struct {
	ID, Name, Made string
	Records        []string
	Left           int
	Only           bool // without a counterpart of this id on the other side
	Differs        []shownValue
}

// shownValue is an attribute that the counterpart shows differently, and its value here, "" for none.
type shownValue struct{ Attribute, Value string }

func scenarioEntities(these, others []explain.ScenarioEntity) []scenarioEntity {
	all := make([]scenarioEntity, len(these))
	for i, e := range these {
		s := scenarioEntity{ID: e.ID.String(), Name: nameOf(e.View), Made: counted(int64(len(e.Records)), "record"),
			Left: max(0, len(e.Records)-maxNamed)}
		for _, r := range e.Records[:min(len(e.Records), maxNamed)] {
			s.Records = append(s.Records, r.String())
		}
		at := slices.IndexFunc(others, func(o explain.ScenarioEntity) bool { return o.ID == e.ID })
		if s.Only = at < 0; !s.Only {
			s.Differs = differing(e.View, others[at].View)
		}
		all[i] = s
	}
	return all
}

// differing returns the attributes whose first value is another one.
func differing(view, other entity.View) (values []shownValue) {
	for _, a := range view {
		if v := a.Values[0].Value; v != other.First(a.Name) {
			values = append(values, shownValue{a.Name, v})
		}
	}
	for _, a := range other {
		if !slices.ContainsFunc(view, func(own entity.MergedAttribute) bool { return own.Name == a.Name }) {
			values = append(values, shownValue{a.Name, ""})
		}
	}
	return values
}
