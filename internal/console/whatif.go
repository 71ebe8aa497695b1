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
)

// WhatIf is the content of a what-if page, with the form that applies it.
type WhatIf struct {
	Entity   *entity.Entity
	Question string // Without, Apart or Merge
	Address  string // of the record or the other entity, as given
	Scenario *explain.ScenarioResult
	Author   string
	Problem  string // what is wrong with the question; then there is no result
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
	}
	if q.Scenario != nil {
		p.Before, p.After = scenarioEntities(q.Scenario.Before, q.Scenario.After), scenarioEntities(q.Scenario.After, q.Scenario.Before)
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
}

func scenarioEntities(these, others []explain.ScenarioEntity) []scenarioEntity {
	all := make([]scenarioEntity, len(these))
	for i, e := range these {
		s := scenarioEntity{ID: e.ID.String(), Name: nameOf(e.View), Made: counted(int64(len(e.Records)), "record"), Left: max(0, len(e.Records)-maxNamed)}
		for _, r := range e.Records[:min(len(e.Records), maxNamed)] {
			s.Records = append(s.Records, r.String())
		}
		s.Only = !slices.ContainsFunc(others, func(o explain.ScenarioEntity) bool { return o.ID == e.ID })
		all[i] = s
	}
	return all
}
