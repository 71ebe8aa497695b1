// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve"
)

// Lineage describes how an entity was formed: the clustering steps of its records, in order, and the changes that the
// log still holds.
type Lineage struct {
	Entity    *entity.Entity `json:"entity"`
	Requested locality.ID    `json:"requested"`
	Threshold match.Weight   `json:"threshold"`
	// Component is how many records were clustered together with those of the entity. Cut is the minimum weight of an
	// edge to connect them: the threshold, unless the component was too large.
	Component int          `json:"component"`
	Cut       match.Weight `json:"cut"`
	Steps     []Step       `json:"steps"`
	// Events are the latest changes of the entity and its records that the logs still hold; see History.
	Events []changes.Change `json:"events"`
	Since  time.Time        `json:"since,omitzero"`
	Took   time.Duration    `json:"took_ns"`
}

// Step is one clustering step: a pair of records that joined two groups, or failed to.
type Step struct {
	A      []entity.Ref `json:"a"`
	B      []entity.Ref `json:"b"`
	Pair   Join         `json:"pair"`
	Sum    match.Weight `json:"sum"`    // the evidence about the two groups
	Absent int          `json:"absent"` // pairs without a common blocking key: each counts against
	Joined bool         `json:"joined"`
	// Decided is the human decision about the pair that caused or prevented the step.
	Decided *entity.Decision `json:"decided,omitempty"`
	Against string           `json:"against,omitempty"` // why the groups were kept apart, in a sentence
}

// How returns how an entity was formed. It clusters the stored records again with the same code, so the steps are the
// original ones.
func (h *Handle) How(ctx context.Context, id locality.ID) (*Lineage, error) {
	begin := time.Now()
	e, err := h.entities.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	var c *resolve.Component
	if err := h.engine.Retry(ctx, func() (err error) {
		c, err = h.engine.Resolver.Component(ctx, e.Anchor())
		return err
	}); err != nil {
		return nil, fmt.Errorf("entity %v: %w", id, err)
	}
	if c == nil {
		return nil, fmt.Errorf("%w: entity %v is changing, try again", engine.ErrUnavailable, id)
	}
	l := &Lineage{
		Entity: e.Entity, Requested: id, Threshold: c.Kind.Matcher.Threshold(), Component: len(c.Records), Cut: c.Least,
		Steps: steps(c, e.Anchor()),
	}
	l.Events, l.Since, err = h.events(ctx, c.Records, e.Entity.PUIDs(), eventsOfHow)
	l.Took = time.Since(begin)
	return l, err
}

// steps returns the steps that formed the entity of a record, and the last rejected step with each other group.
func steps(c *resolve.Component, anchor entity.PUID) []Step {
	var joins []match.Join
	groups := c.Trace(func(j match.Join) { joins = append(joins, j) })
	of := make([]int, len(c.Records))
	own := -1
	for g, group := range groups {
		for _, i := range group {
			if of[i] = g; c.Records[i].PUID == anchor {
				own = g
			}
		}
	}
	last := map[int]int{} // rejected group → index of its last step
	for i, j := range joins {
		a, b := of[j.Edge.A], of[j.Edge.B]
		if !j.Joined && (a == own || b == own) {
			last[a+b-own] = i
		}
	}
	list := []Step{}
	for i, j := range joins {
		a, b := of[j.Edge.A], of[j.Edge.B]
		if a != own && b != own {
			continue
		}
		if at, refused := last[a+b-own]; !j.Joined && (!refused || at != i) {
			continue
		}
		list = append(list, step(c, j))
	}
	return list
}

func step(c *resolve.Component, j match.Join) Step {
	refs := func(indices []int) []entity.Ref {
		list := make([]entity.Ref, len(indices))
		for i, n := range indices {
			list[i] = c.Records[n].Ref
		}
		return list
	}
	st := Step{
		A: refs(j.A), B: refs(j.B), Pair: pairOf(c, j.Edge.A, j.Edge.B), Sum: j.Sum, Absent: j.Absent,
		Joined: j.Joined,
	}
	if j.Edge.Decided != 0 {
		st.Decided = decisionOn(c, j.Edge)
	}
	if !j.Joined {
		if j.Against != nil && st.Decided == nil {
			st.Decided = decisionOn(c, *j.Against)
		}
		st.Against = against(c, j)
	}
	return st
}

// pairOf compares two records of a component; A is the first by source and key.
func pairOf(c *resolve.Component, a, b int) Join {
	e := c.Matcher.Explain(c.Norms[a], c.Norms[b], c.Matcher.Compare(c.Norms[a], c.Norms[b]))
	return Join{entity.Ref(e.A), entity.Ref(e.B), e, nil}
}

// decisionOn returns the decision about a pair, nil if there is none.
func decisionOn(c *resolve.Component, e match.Edge) *entity.Decision {
	return decisions.Between(c.Decisions, []entity.PUID{c.Records[e.A].PUID}, []entity.PUID{c.Records[e.B].PUID})
}

func said(d *entity.Decision) string {
	if d.Author == "" {
		return "a decision without an author says"
	}
	return d.Author + " said"
}

func because(d *entity.Decision) string {
	if d.Reason == "" {
		return ""
	}
	return ": " + d.Reason
}

// against returns why two groups were not joined.
func against(c *resolve.Component, j match.Join) string {
	if j.Against == nil {
		return fmt.Sprintf("the %d pairs across the two have %v bits together, and %d of them were not candidates", j.Pairs,
			j.Sum, j.Absent)
	}
	pair := pairOf(c, j.Against.A, j.Against.B)
	if d := decisionOn(c, *j.Against); d != nil {
		return fmt.Sprintf("%s that %v and %v are two things%s", said(d), pair.A, pair.B, because(d))
	}
	worst := match.Line{}
	for _, line := range pair.Explanation.Lines {
		if line.Weight < worst.Weight {
			worst = line
		}
	}
	return fmt.Sprintf("%v and %v cannot be one thing: %s %s, %v bits", pair.A, pair.B, worst.Attribute, worst.Level,
		worst.Weight)
}
