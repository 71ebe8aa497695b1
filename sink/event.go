// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// Op is the effect of an event on an ID.
type Op string

// The operations.
const (
	Upsert   Op = "upsert"   // the ID has an entity, with this view
	Redirect Op = "redirect" // the ID leads to another one, which may lead on
	Delete   Op = "delete"   // the ID leads to nothing any more
)

// Event is the state of an ID, as a target receives it.
type Event struct {
	ID locality.ID `json:"id"`
	// Rev orders the events of an ID: a consumer drops events whose Rev is not higher than the highest that it has.
	// It is a string in JSON, because it does not fit into 53 bits.
	Rev int64 `json:"rev,string"`
	Op  Op    `json:"op"`
	// Kind is the kind of the entity, "" for other operations.
	Kind string `json:"kind,omitempty"`
	// Into is the target of a redirect.
	Into locality.ID `json:"into,omitzero"`
	// At is the position in the log of the ID's cell at which the state was true, like g0-3:18; "" if the ID has no
	// cell.
	At string `json:"at,omitempty"`
	// Records are the records of the entity as SOURCE:KEY, in the order of birth, the anchor first.
	Records []string `json:"records,omitempty"`
	// View has the merged attributes: a string, or a []string for an attribute with many values.
	View map[string]any `json:"view,omitempty"`
}

// revBits is how many events an owner can deliver: 2^40.
const revBits = 40

// Token returns the token in the revs of an owner: the token of its lease, within an era, and above the tokens of a
// former installation. An era has 2^14 tokens.
func Token(above, era, lease int64) int64 { return above + era<<eraBits + lease }

// TokenOf returns the token in a rev.
func TokenOf(rev int64) int64 { return rev >> revBits }

// eventOf returns the event of a state. An ID that the installation does not know as issued counts as deleted.
func eventOf(s *mirror.State, rev int64) Event {
	e := Event{ID: s.ID, Rev: rev, Op: Delete}
	if s.Kind != mirror.Unknown {
		e.At = changelog.Watermark{s.Cell: s.At}.String()
	}
	switch s.Kind {
	case mirror.Redirect:
		e.Op, e.Into = Redirect, s.To
	case mirror.Entity:
		e.Op, e.Kind = Upsert, s.Thing.Kind
		e.Records = make([]string, len(s.Thing.Members))
		for i, m := range s.Thing.Members {
			e.Records[i] = m.Ref.String()
		}
		e.View = make(map[string]any, len(s.Thing.Attributes))
		for _, a := range s.Thing.Attributes {
			if a.Value != nil {
				e.View[a.Name] = *a.Value
				continue
			}
			values := make([]string, len(a.Values))
			for i, v := range a.Values {
				values[i] = v.Value
			}
			e.View[a.Name] = values
		}
	}
	return e
}
