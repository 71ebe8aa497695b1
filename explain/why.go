// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/records"
)

// Handle explains results. Get it from DB.Explain of package locus. It is safe for concurrent use.
type Handle struct {
	engine    *engine.Engine
	records   *records.Handle
	entities  *entities.Handle
	decisions *decisions.Handle
}

// New returns the explain handle of an installation.
func New(e *engine.Engine, r *records.Handle, en *entities.Handle, d *decisions.Handle) *Handle {
	return &Handle{e, r, en, d}
}

// Explanation describes why the records of an entity are together.
type Explanation struct {
	Entity    *entity.Entity   `json:"entity"`
	Requested locality.ID      `json:"requested"`
	Threshold match.Weight     `json:"threshold"`
	Records   []*entity.Record `json:"records"` // the members' records, in the entity's order
	// Joins are the comparisons that connect the records, the strongest first: a minimal set, each with the match
	// weights it consists of.
	Joins []Join `json:"joins"`
	// Supports is the evidence for each value of the view, by attribute and in the order of the values.
	Supports map[string][]entity.Support `json:"-"`
}

// Join is the comparison of two records. A, the first by source and key, is the first side of the explanation, B the
// second.
type Join struct {
	A           entity.Ref        `json:"a"`
	B           entity.Ref        `json:"b"`
	Explanation match.Explanation `json:"explanation"`
	// Decided is the decision that the two are the same thing, which overrides the comparison.
	Decided *entity.Decision `json:"decided,omitempty"`
}

// Why explains why the records of an entity are together: by the strongest comparisons that connect them. It runs the
// code that made the decision, so the explanation cannot differ from it.
func (h *Handle) Why(ctx context.Context, id locality.ID) (*Explanation, error) {
	e, err := h.entities.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	records, err := h.entities.Members(ctx, e.Entity)
	if err != nil {
		return nil, err
	}
	why := &Explanation{Entity: e.Entity, Requested: id, Threshold: h.engine.Kind(e.Kind).Matcher.Threshold(),
		Records: records, Joins: []Join{}}
	why.Supports = h.engine.Resolver.Supports(e.Entity, records)
	norms := make([]*match.Record, len(records))
	for i, rec := range records {
		norms[i] = h.engine.Normalise(rec)
	}
	m, err := h.among(ctx, e.Kind, norms...)
	if err != nil {
		return nil, err
	}
	made, err := h.engine.Decisions(ctx, e.Entity.PUIDs())
	if err != nil {
		return nil, err
	}
	for _, t := range strongest(ties(m, norms, records, made), len(records)) {
		e := m.Explain(norms[t.a], norms[t.b], t.vector)
		why.Joins = append(why.Joins, Join{entity.Ref(e.A), entity.Ref(e.B), e, t.decided})
	}
	return why, nil
}

// tie is the comparison of two records of an entity, by their indexes.
type tie struct {
	a, b    int
	vector  match.Vector
	weight  match.Weight
	decided *entity.Decision // that they are the same thing
}

// ties compares the records, except pairs whose reason another pair has already.
func ties(m *match.Matcher, norms []*match.Record, records []*entity.Record, made []entity.Decision) (all []tie) {
	leads := match.Leaders(norms)
	for b := range norms {
		for a := range b {
			if a != leads[b] && (a != leads[a] || b != leads[b]) {
				continue
			}
			v := m.Compare(norms[a], norms[b])
			t := tie{a: a, b: b, vector: v, weight: m.Sum(v)}
			if d := decisions.Between(made, []entity.PUID{records[a].PUID}, []entity.PUID{records[b].PUID}); d != nil &&
				d.Verdict == entity.VerdictSame {
				t.weight, t.decided = match.MustLink, d
			}
			all = append(all, t)
		}
	}
	return all
}

// strongest returns the strongest ties that connect n records: a maximum spanning tree. Decisions come first, as in
// clustering.
func strongest(all []tie, n int) (tree []tie) {
	slices.SortStableFunc(all, func(x, y tie) int { return cmp.Compare(y.weight, x.weight) })
	part := make([]int, n)
	for i := range part {
		part[i] = i
	}
	for _, t := range all {
		from, to := part[t.b], part[t.a]
		if from == to {
			continue
		}
		for i := range part {
			if part[i] == from {
				part[i] = to
			}
		}
		tree = append(tree, t)
	}
	return tree
}

// among returns the matcher of a kind, weighted by the name frequencies of the live records for the names that these
// records share.
func (h *Handle) among(ctx context.Context, kind string, records ...*match.Record) (*match.Matcher, error) {
	var names match.Names
	err := h.engine.Retry(ctx, func() (err error) {
		names, err = h.engine.Resolver.Names(ctx, records)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count the names of what the records share: %w", err)
	}
	return h.engine.Kind(kind).Matcher.Among(names), nil
}
