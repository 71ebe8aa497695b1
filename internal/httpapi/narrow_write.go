// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/records"
)

// Records that a principal with a restriction may write: only of kinds that exist for it, without hidden attributes and
// attributes that are compared with hidden ones, and not in place of a record that it may not see.

// mayPut returns why the principal may not put a record. It makes the put refuse to replace a record that the principal
// may not write.
func (s *Server) mayPut(c *call, put *records.Input, pointer string) *Fault {
	who := access.From(c)
	if f := requireSource(who, put.Source, pointer+"/source"); f != nil || !who.Restriction.Narrow() && who.Shares == nil {
		return f
	}
	if kinds := who.Restriction.Kinds; put.Kind == "" && len(kinds) == 1 {
		put.Kind = kinds[0]
	}
	schema := s.svc.Kinds().Schema(put.Kind)
	switch {
	case schema == nil && who.Restriction.Kinds == nil:
		return nil // the handler says which kinds there are
	case schema == nil || !who.Restriction.Sees(schema.Kind):
		return fault(CodeInvalid, pointer+"/kind", "%s", errNoKind.Detail)
	case !who.WritesKind(put.Source, schema.Kind):
		return fault(CodeForbidden, pointer+"/kind", "the token may not write records of the source %.64q and the kind %s", put.Source, schema.Kind)
	}
	for name := range put.Attributes {
		if schema.Near(name, who.Restriction.Hides) {
			return fault(CodeForbidden, pointer+"/attributes/"+escapePointer(name), "the token may not see %q, and %.64q is one of them or is compared with them: what a put returns would let it be guessed", who.Restriction.Hide, name)
		}
	}
	put.Unless = func(stored *entity.Record) bool {
		if !who.WritesKind(stored.Source, stored.Kind) {
			return true
		}
		for name := range stored.Attributes {
			if who.Restriction.Hides(name) {
				return true
			}
		}
		return false
	}
	return nil
}

// notReplaced is the fault of a put that was refused because of the stored record.
func notReplaced(err error, pointer string) *Fault {
	if !errors.Is(err, entity.ErrRefused) {
		return nil
	}
	return fault(CodeForbidden, pointer+"/key", "a record with this key is of a kind that the token may not write, or has values of attributes that it may not see, which would be lost")
}

// mayDelete returns a deletion that leaves records which the principal may not write. The error is then
// entity.ErrNotFound: see ifExists.
func mayDelete(who *access.Principal, d records.Deletion) records.Deletion {
	if who.Restriction.Kinds != nil || who.Shares != nil {
		d.Unless = func(stored *entity.Record) bool { return !who.WritesKind(stored.Source, stored.Kind) }
	}
	return d
}

// ifExists returns the error of a deletion. A record that stays because of its kind does not exist for the principal.
func ifExists(err error) error {
	if errors.Is(err, entity.ErrRefused) {
		return entity.ErrNotFound
	}
	return err
}
