// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"maps"
	"slices"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/quality"
	"github.com/locus-db/locus/review"
)

// The parts of answers and pages, without data that a viewer may not see. Each is a copy: the original may be shared
// with others.

func (r *viewer) record(rec Record) Record {
	attributes := Attributes{}
	for _, name := range slices.Sorted(maps.Keys(rec.Attributes)) {
		if r.Hides(name) {
			rec.Hidden = append(rec.Hidden, name)
		} else {
			attributes[name] = rec.Attributes[name]
		}
	}
	rec.Attributes = attributes
	return rec
}

// entity also removes the stamp: it is a hash of the values, so a short value could be found by trying.
func (r *viewer) entity(e Entity) Entity {
	if r.Hide == nil {
		return e
	}
	e.View, e.Hidden = r.view(e.View)
	e.Stamp = ""
	return e
}

func (r *viewer) view(all View) (left View, hidden []string) {
	left = View{}
	for _, a := range all {
		if r.Hides(a.Name) {
			hidden = append(hidden, a.Name)
		} else {
			left = append(left, a)
		}
	}
	return left, hidden
}

func (r *viewer) storedRecord(rec *entity.Record) *entity.Record {
	left := *rec
	left.Attributes = r.values(rec.Attributes)
	return &left
}

func (r *viewer) values(all entity.Attributes) entity.Attributes {
	left := maps.Clone(all)
	maps.DeleteFunc(left, func(name string, _ []string) bool { return r.Hides(name) })
	return left
}

func (r *viewer) stored(e *entity.Entity) *entity.Entity {
	left := *e
	left.View = r.storedView(e.View)
	return &left
}

func (r *viewer) storedView(v entity.View) entity.View {
	return only(v, func(a entity.MergedAttribute) bool { return !r.Hides(a.Name) }, asIs)
}

// explanation keeps levels and weights: a reviewer must see that two numbers are equal, but not the numbers.
func (r *viewer) explanation(kind string, e match.Explanation) match.Explanation {
	if schema := r.schema(kind); schema != nil {
		return schema.Hiding(e, r.Hides)
	}
	return match.Explanation{A: e.A, B: e.B, Outcome: e.Outcome, Weight: e.Weight, Lines: []match.Line{},
		BlockingKeys: []match.SharedKey{}}
}

func (r *viewer) join(kind string, j explain.Join) explain.Join {
	j.Explanation = r.explanation(kind, j.Explanation)
	return j
}

func (r *viewer) joins(kind string, list []explain.Join) []explain.Join {
	return only(list, all, func(j explain.Join) explain.Join { return r.join(kind, j) })
}

func (r *viewer) steps(kind string, list []explain.Step) []explain.Step {
	return only(list, all, func(st explain.Step) explain.Step {
		st.Pair = r.join(kind, st.Pair)
		return st
	})
}

// relations lose the names of the others if any part of a name is hidden.
func (r *viewer) relations(list []entities.Relation) []entities.Relation {
	return only(list, func(one entities.Relation) bool { return r.Sees(one.Kind) }, func(one entities.Relation) entities.Relation {
		schema := r.schema(one.Kind)
		if schema == nil || slices.ContainsFunc(schema.Attributes, func(a match.Attribute) bool { return a.Type == match.TypeName && r.Hides(a.Name) }) {
			one.Name = ""
		}
		return one
	})
}

func (r *viewer) pairs(list []review.Pair) []review.Pair {
	return only(list, func(p review.Pair) bool { return r.Sees(p.Kind) }, func(p review.Pair) review.Pair {
		p.Explanation = r.explanation(p.Kind, p.Explanation)
		return p
	})
}

func (r *viewer) team(t *review.Team) *review.Team {
	left := *t
	left.Disagreements = only(t.Disagreements, func(d review.Disagreement) bool {
		return r.Kinds == nil || r.Sees(d.Kind)
	}, func(d review.Disagreement) review.Disagreement {
		d.Decided = r.decision(d.Decided)
		return d
	})
	return &left
}

// profile loses hidden attributes: their shapes have values as examples.
func (r *viewer) profile(p *quality.Profile) *quality.Profile {
	left := *p
	left.Kinds = only(p.Kinds, func(k quality.KindProfile) bool { return r.Sees(k.Kind) }, r.kindProfile)
	return &left
}

func (r *viewer) kindProfile(k quality.KindProfile) quality.KindProfile {
	k.Attributes = slices.DeleteFunc(slices.Clone(k.Attributes), func(a quality.AttributeProfile) bool {
		return r.Hides(a.Name)
	})
	return k
}

// decisions returns the decisions about the kinds of the viewer. The kind of a deleted record is unknown.
func (r *viewer) decisions(list []decisions.Decided) []decisions.Decided {
	return only(list, func(d decisions.Decided) bool { return r.Kinds == nil || r.Sees(d.Kind) }, r.decision)
}

func (r *viewer) decision(d decisions.Decided) decisions.Decided {
	if d.Verdict == entity.VerdictValue && r.Hides(d.Attribute) {
		d.Value, d.Hidden = "", true
	}
	return d
}

func (r *viewer) results(list []DecideResult) []DecideResult {
	return only(list, all, func(one DecideResult) DecideResult {
		if one.Decision != nil {
			decided := r.decision(*one.Decision)
			one.Decision = &decided
		}
		return one
	})
}

func (r *viewer) scenario(list []ScenarioEntity) []ScenarioEntity {
	return only(list, func(e ScenarioEntity) bool { return r.Sees(e.Kind) }, func(e ScenarioEntity) ScenarioEntity {
		e.View, e.Hidden = r.view(e.View)
		return e
	})
}

func (r *viewer) hypothetical(list []explain.ScenarioEntity) []explain.ScenarioEntity {
	return only(list, func(e explain.ScenarioEntity) bool { return r.Sees(e.Kind) }, func(e explain.ScenarioEntity) explain.ScenarioEntity {
		e.View = r.storedView(e.View)
		return e
	})
}

func (r *viewer) found(list []MatchEntity) []MatchEntity {
	return only(list, func(e MatchEntity) bool { return r.Sees(e.Kind) }, func(e MatchEntity) MatchEntity {
		e.View, e.Hidden = r.view(e.View)
		if e.Why != nil {
			why := r.explanation(e.Kind, *e.Why)
			e.Why = &why
		}
		return e
	})
}
