// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"slices"
	"time"

	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/match"
)

// otherKind is the kind of things outside the kinds of the viewer.
const otherKind = "?"

// source has the numbers of the kinds of the viewer. A stream and an import have records of any kind,
// and reasons may have values or name attributes.
func (r *viewer) source(a Source) Source {
	if r.Kinds == nil {
		if a.Stream != nil {
			left := *a.Stream
			left.Reason, a.Stream = "", &left
		}
		if a.Import != nil {
			left := *a.Import
			left.Refusals, left.Cursor, a.Import = nil, nil, &left
		}
		return a
	}
	a.Stream, a.Import = nil, nil
	a.Kinds = only(a.Kinds, func(k SourceKind) bool { return r.Sees(k.Kind) }, asIs)
	a.Records, a.Created, a.Newest = 0, 0, time.Time{}
	for _, k := range a.Kinds {
		a.Created += k.Created
		if a.Records += k.Records; k.Newest.After(a.Newest) {
			a.Newest = k.Newest
		}
	}
	return a
}

// withoutContent reports whether a viewer sees nothing of a source.
func withoutContent(a *Source) bool { return len(a.Kinds) == 0 && a.Stream == nil && a.Import == nil }

// seesSink reports whether the viewer sees everything that a sink delivers, which is of a kind, or of all for "".
func (r *viewer) seesSink(kind string) bool { return r.Kinds == nil || kind != "" && r.Sees(kind) }

// sink loses its reason, in which a target may repeat data that it was sent, and for a viewer of some kinds the number
// of ids, which counts all kinds.
func (r *viewer) sink(a Sink) Sink {
	a.Reason = ""
	if r.Kinds != nil {
		a.Filled = 0
	}
	return a
}

// unexplained does the same as sink for values that pages show.
func unexplained(a console.Stream) console.Stream {
	a.Reason = ""
	return a
}

// matches lose the names of entities if a part of names is hidden. They do not say which kind they are of.
func (r *viewer) matches(list []changes.Match, kinds []*match.Schema) []changes.Match {
	hidden := slices.ContainsFunc(r.Hide, func(name string) bool {
		return slices.ContainsFunc(kinds, func(s *match.Schema) bool {
			return slices.ContainsFunc(s.Attributes, func(a match.Attribute) bool { return a.Name == name && a.Type == match.TypeName })
		})
	})
	if !hidden {
		return list
	}
	return only(list, all, func(m changes.Match) changes.Match {
		m.Name = "(hidden)"
		return m
	})
}
