// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/kinds"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/quality"
	"github.com/locus-db/locus/review"
)

// viewer is a principal that may not see everything.
type viewer struct {
	*access.Restriction
	schema func(kind string) *match.Schema
}

func (s *Server) viewer(who *access.Restriction) *viewer { return &viewer{who, s.svc.Kinds().Schema} }

// narrow removes data that the principal may not see from the answer of any route, or from a value that a page shows.
// It refuses a value of an unknown type, so that a route cannot show data that was not checked.
func (s *Server) narrow(c *call, answer any) (any, error) {
	who := &access.From(c).Restriction
	if !who.Narrow() || c.route.needs.Open() {
		return answer, nil
	}
	left, kind, known := s.viewer(who).left(answer)
	switch {
	case !known:
		_, err := require(access.From(c), access.Anyone())
		return nil, err
	case kind != "" && !who.Sees(kind):
		c.w.Header().Del("Content-Location")
		return nil, standard(CodeNotFound)
	}
	return left, nil
}

// narrowed is narrow for a value that a page shows.
func narrowed[T any](s *Server, c *call, value T, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	left, err := s.narrow(c, value)
	if err != nil {
		return none, err
	}
	return left.(T), nil //nolint:forcetypeassert // what is left is of the same type
}

// left returns the part of an answer that the viewer may see. kind is the kind of the one thing that the answer is
// about, "" for a list, from which things of hidden kinds are removed.
func (r *viewer) left(answer any) (left any, kind string, known bool) {
	switch a := answer.(type) {
	case Record:
		return r.record(a), a.Kind, true
	case RecordList:
		a.Records = only(a.Records, func(rec Record) bool { return r.Sees(rec.Kind) }, r.record)
		return a, "", true
	case Entity:
		return r.entity(a), a.Kind, true
	case EntityList:
		a.Entities = only(a.Entities, func(e Entity) bool { return r.Sees(e.Kind) }, r.entity)
		return a, "", true
	case Why:
		kind = a.Entity.Kind
		a.Entity, a.Records, a.Joins = r.entity(a.Entity), only(a.Records, all, r.record), r.joins(kind, a.Joins)
		return a, kind, true
	case How:
		kind = a.Entity.Kind
		a.Entity, a.Steps = r.entity(a.Entity), r.steps(kind, a.Steps)
		return a, kind, true
	case History:
		kind = a.Entity.Kind
		a.Entity = r.entity(a.Entity)
		return a, kind, true
	case RelationList:
		a.Relations = r.relations(a.Relations)
		return a, "", true
	case ReviewList:
		a.Pairs = r.pairs(a.Pairs)
		return a, "", true
	case *quality.Estimate:
		b := *a
		b.Kinds = only(a.Kinds, func(k quality.KindEstimate) bool { return r.Sees(k.Kind) }, asIs)
		return &b, "", true
	case *quality.Profile:
		return r.profile(a), "", true
	case *review.Effect:
		b := *a
		b.Pairs = r.pairs(a.Pairs)
		return &b, "", true
	case *review.Team:
		return r.team(a), "", true
	case *BulkResponse:
		b := *a
		b.Results = r.results(a.Results)
		return &b, "", true
	case DecisionList:
		a.Decisions = r.decisions(a.Decisions)
		return a, "", true
	case DecideResponse:
		a.Results = r.results(a.Results)
		return a, "", true
	case Scenario:
		a.Before, a.After = r.scenario(a.Before), r.scenario(a.After)
		return a, "", true
	case MatchResponse:
		for i := range a.Results {
			a.Results[i].Entities = r.found(a.Results[i].Entities)
		}
		return a, "", true
	case Schema:
		a.Kinds = only(a.Kinds, r.Sees, asIs)
		return a, a.Kind, true
	case Kind:
		return a, a.Kind, true
	case KindList:
		a.Kinds = only(a.Kinds, func(k Kind) bool { return r.Sees(k.Kind) }, asIs)
		return a, "", true
	case AssignResponse, Whoami, Version, LoggedOut, PutResponse, DeleteResponse, Deleted, HitResponse, Tail:
		return a, "", true
	}
	if left, kind, known = r.leftOfAll(answer); known {
		return left, kind, known
	}
	return r.shown(answer)
}

// leftOfAll is left for answers about sources, rollups, counters and the whole installation. Rollups that the viewer
// may not read, and routes that cannot leave out kinds, are refused before: see seenRollup, and access.Rule.Masked.
func (r *viewer) leftOfAll(answer any) (left any, kind string, known bool) {
	switch a := answer.(type) {
	case SourceList:
		a.Sources = only(a.Sources, all, r.source)
		a.Sources = slices.DeleteFunc(a.Sources, func(one Source) bool { return withoutContent(&one) })
		return a, "", true
	case Source:
		if a = r.source(a); withoutContent(&a) {
			kind = otherKind
		}
		return a, kind, true
	case Rollup:
		return a, a.Definition.Kind, true
	case RollupGroups:
		return a, a.Definition.Kind, true
	case RollupEffects:
		a.Effects = r.effects(a.Effects)
		return a, "", true
	case IDList:
		a.IDs = r.states(a.IDs)
		return a, "", true
	case IDAnswer:
		a.IDs = r.states(a.IDs)
		return a, "", true
	case SinkList:
		a.Sinks = only(a.Sinks, func(one Sink) bool { return r.seesSink(one.Kind) }, r.sink)
		return a, "", true
	case Sink:
		if !r.seesSink(a.Kind) {
			kind = otherKind
		}
		return r.sink(a), kind, true
	case TermsList:
		a.Terms = only(a.Terms, func(one Terms) bool { return one.Kind == "" || r.Sees(one.Kind) },
			func(one Terms) Terms { return one })
		return a, "", true
	case RollupList, RollupOne, ChangeList, Series, MetricList, Top, *counter.Explanation, *cells.Status, *explain.Route,
		*cell.Map, MapHistory, CellList, CellDetail, ServerList, BackupMark, Upgrade:
		return a, "", true
	}
	return nil, "", false
}

// shown does the same as left for values that pages show.
func (r *viewer) shown(value any) (left any, kind string, known bool) {
	switch a := value.(type) {
	case *explain.Explanation:
		b := *a
		b.Entity, b.Joins = r.stored(a.Entity), r.joins(a.Entity.Kind, a.Joins)
		b.Records = only(a.Records, all, r.storedRecord)
		return &b, a.Entity.Kind, true
	case *explain.Lineage:
		b := *a
		b.Entity, b.Steps = r.stored(a.Entity), r.steps(a.Entity.Kind, a.Steps)
		return &b, a.Entity.Kind, true
	case *explain.Comparison:
		b := *a
		b.Explanation = r.explanation(a.Kind, a.Explanation)
		if r.Hide != nil {
			b.Shared = only(a.Shared, all, func(f explain.SharedKey) explain.SharedKey {
				f.Text, f.Hidden = "", true
				return f
			})
		}
		return &b, a.Kind, true
	case *explain.ScenarioResult:
		b := *a
		b.Before, b.After = r.hypothetical(a.Before), r.hypothetical(a.After)
		return &b, "", true
	case *entity.Entity:
		return r.stored(a), a.Kind, true
	case *entity.Record:
		return r.storedRecord(a), a.Kind, true
	case *entities.Entity:
		b := *a
		b.Entity = r.stored(a.Entity)
		return &b, a.Kind, true
	case *review.Page:
		b := *a
		b.Pairs = r.pairs(a.Pairs)
		return &b, "", true
	case []decisions.Decided:
		return r.decisions(a), "", true
	case []entities.Relation:
		return r.relations(a), "", true
	case console.Streams:
		a.Out = only(a.Out, func(one console.Stream) bool { return r.seesSink(one.Kind) }, unexplained)
		a.In = only(a.In, func(console.Stream) bool { return r.Kinds == nil }, unexplained)
		return a, "", true
	case []kinds.Rules:
		return only(a, func(k kinds.Rules) bool { return r.Sees(k.Schema.Kind) }, asIs), "", true
	case []*match.Schema:
		return only(a, func(s *match.Schema) bool { return r.Sees(s.Kind) }, asIs), "", true
	}
	return nil, "", false
}

func all[T any](T) bool { return true }

// only returns a new list with the items that may be seen.
func only[T any](list []T, sees func(T) bool, left func(T) T) []T {
	out := make([]T, 0, len(list))
	for _, item := range list {
		if sees(item) {
			out = append(out, left(item))
		}
	}
	return slices.Clip(out)
}

// asIs leaves an item as it is.
func asIs[T any](item T) T { return item }
