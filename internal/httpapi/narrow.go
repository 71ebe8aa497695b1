// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"maps"
	"slices"

	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/internal/access"
)

var errNoKind = fault(CodeInvalid, "?kind", "unknown kind, or one that the token may not see")

// narrow removes what the principal may not see from the answer of any route. An answer of a type that it does not know is refused,
// so that a route cannot show what nothing has looked at.
func narrow(c *call, answer any) (any, error) {
	who := &access.From(c).Restriction
	if !who.Narrow() || c.route.needs.Open() {
		return answer, nil
	}
	switch a := answer.(type) {
	case Record:
		if !who.Sees(a.Kind) {
			return nil, standard(CodeNotFound)
		}
		return narrowRecord(who, a), nil
	case RecordList:
		a.Records = slices.DeleteFunc(a.Records, func(r Record) bool { return !who.Sees(r.Kind) })
		for i := range a.Records {
			a.Records[i] = narrowRecord(who, a.Records[i])
		}
		return a, nil
	case Entity:
		if !who.Sees(a.Kind) {
			c.w.Header().Del("Content-Location")
			return nil, standard(CodeNotFound)
		}
		return narrowEntity(who, a), nil
	case EntityList:
		a.Entities = slices.DeleteFunc(a.Entities, func(e Entity) bool { return !who.Sees(e.Kind) })
		for i := range a.Entities {
			a.Entities[i] = narrowEntity(who, a.Entities[i])
		}
		return a, nil
	case Whoami, Version, LoggedOut:
		return a, nil
	}
	return nil, require(access.From(c), access.Anyone())
}

func narrowRecord(who *access.Restriction, r Record) Record {
	attributes := Attributes{}
	for _, name := range slices.Sorted(maps.Keys(r.Attributes)) {
		if who.Hides(name) {
			r.Hidden = append(r.Hidden, name)
		} else {
			attributes[name] = r.Attributes[name]
		}
	}
	r.Attributes = attributes
	return r
}

// narrowEntity also removes the stamp: it is a hash of the values, so a short value could be found by trying.
func narrowEntity(who *access.Restriction, e Entity) Entity {
	if who.Hide == nil {
		return e
	}
	view := View{}
	for _, a := range e.View {
		if who.Hides(a.Name) {
			e.Hidden = append(e.Hidden, a.Name)
		} else {
			view = append(view, a)
		}
	}
	e.View, e.Stamp = view, ""
	return e
}

// narrowQuery lets a query of entities find nothing that the principal may not see. With hidden attributes there is no search by values:
// a value that can be tried can be guessed.
func narrowQuery(who *access.Restriction, q *entities.Query) error {
	if who.Hide != nil && (q.Text != "" || len(q.Where)+len(q.Has)+len(q.Without) > 0 || q.Order != "" && q.Order != entities.OrderID) {
		return fault(CodeForbidden, "", "the token may not see %q: it can list entities in the order of their ids, but not search or filter", who.Hide)
	}
	switch {
	case q.Kind == "" && len(who.Kinds) == 1:
		q.Kind = who.Kinds[0]
	case q.Kind == "" && who.Kinds != nil:
		return fault(CodeInvalid, "?kind", "the token sees some kinds only: name one of %q", who.Kinds)
	case !who.Sees(q.Kind):
		return errNoKind
	}
	return nil
}
