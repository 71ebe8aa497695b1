// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"slices"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/explain"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/match"
)

// Queries that a principal with a restriction may make. A hidden value could be guessed by trying conditions, so there
// are none about hidden values, and nothing can be done with things that do not exist for the principal.

var errNoKind = fault(CodeInvalid, "?kind", "unknown kind, or one that the token may not see")

// KnownRestriction returns an error for a kind or an attribute that the installation does not have: a mistyped one
// would hide nothing.
func KnownRestriction(schemas []*match.Schema, r *access.Restriction) error {
	for _, name := range r.Kinds {
		if !slices.ContainsFunc(schemas, func(s *match.Schema) bool { return s.Kind == name }) {
			return fault(CodeInvalid, "/kinds", "there is no kind %.64q", name)
		}
	}
	for _, name := range r.Hide {
		if !slices.ContainsFunc(schemas, func(s *match.Schema) bool { _, found := s.Attribute(name); return found }) {
			return fault(CodeInvalid, "/hide", "no kind has an attribute %.64q", name)
		}
	}
	return nil
}

// narrowQuery lets a query of entities find nothing that the principal may not see. With hidden attributes there is no
// search by values.
func narrowQuery(who *access.Restriction, q *entities.Query) error {
	if who.Hide != nil && (q.Text != "" || len(q.Where)+len(q.Has)+len(q.Without) > 0 || q.Order != "" && q.Order != entities.OrderID) {
		return fault(CodeForbidden, "", "the token may not see %q: it can list entities in the order of their ids, but not search or filter", who.Hide)
	}
	switch {
	case q.Kind == "" && len(who.Kinds) == 1:
		q.Kind = who.Kinds[0]
	case q.Kind == "" && who.Kinds != nil:
		return fault(CodeInvalid, "?kind", "the token may see some kinds only: name one of %q", who.Kinds)
	case !who.Sees(q.Kind):
		return errNoKind
	}
	return nil
}

// seen replaces the error of an empty address: the principal may not see the thing there, or may only read it. Every
// other error is left to the handler.
func (s *Server) seen(c *call, addresses ...string) error {
	who := access.From(c)
	if who.Restriction.Kinds == nil {
		return nil
	}
	for _, address := range addresses {
		rec, err := s.svc.Entities().Record(c, address)
		if err != nil || who.Restriction.Sees(rec.Kind) {
			continue
		}
		if reads := who.For(access.All(access.Read)); reads != nil && reads.Restriction.Sees(rec.Kind) {
			return fault(CodeForbidden, "", "you may read things of kind %s, but not change them", rec.Kind)
		}
		return standard(CodeNotFound)
	}
	return nil
}

// unseen replaces the error for an erased thing by that for a missing one, for principals that see only some kinds,
// because the kind of an erased thing is unknown.
func unseen(c *call, err error) error {
	if who := access.From(c); who != nil && who.Restriction.Kinds != nil && errors.Is(err, entity.ErrErased) {
		return entity.ErrNotFound
	}
	return err
}

// mayDecide returns why the principal may not make a decision.
func (s *Server) mayDecide(c *call, in *decisions.Input) error {
	if who := &access.From(c).Restriction; in.Verdict == entity.VerdictValue && who.Hides(in.Attribute) {
		return fault(CodeForbidden, "/attribute", "the token may not see %.64q, so it cannot choose its value", in.Attribute)
	}
	return s.seen(c, slices.DeleteFunc([]string{in.A, in.B}, func(address string) bool { return address == "" })...)
}

// maySuppose returns why the principal may not view a scenario.
func (s *Server) maySuppose(c *call, q *explain.Scenario) error {
	for i := range q.Decide {
		if err := s.mayDecide(c, &q.Decide[i]); err != nil {
			return err
		}
	}
	return s.seen(c, append(slices.Clone(q.Delete), q.Of)...)
}

// mayTry returns why the principal may not try a probe: it has a hidden attribute, or one whose values are compared
// with a hidden one.
func (s *Server) mayTry(c *call, probe *entities.Probe, put bool) *Fault {
	who := &access.From(c).Restriction
	if !who.Narrow() {
		return nil
	}
	if probe.Kind == "" && len(who.Kinds) == 1 {
		probe.Kind = who.Kinds[0]
	}
	schema := s.svc.Kinds().Schema(probe.Kind)
	switch {
	case schema == nil && who.Kinds == nil:
		return nil // the handler says which kinds there are
	case schema == nil || !who.Sees(schema.Kind):
		return fault(CodeInvalid, "/kind", "%s", errNoKind.Detail)
	case put && who.Kinds != nil && probe.Ref.Key != "":
		return fault(CodeForbidden, "/key", "the token may see some kinds only, so it cannot ask what a put of a key would do: leave the key out")
	}
	for name := range probe.Attributes {
		if schema.Near(name, who.Hides) {
			return fault(CodeForbidden, "/attributes/"+escapePointer(name), "the token may not see %q, and %.64q is compared with it", who.Hide, name)
		}
	}
	return nil
}
