// SPDX-License-Identifier: Apache-2.0

package review

import (
	"slices"

	"github.com/locus-db/locus/internal/problem"
)

// Filter selects pairs of the review queue. The zero value selects all.
type Filter struct {
	Source    string `json:"source,omitempty" doc:"One of the records is of this source"`
	Kind      string `json:"kind,omitempty"`
	Attribute string `json:"attribute,omitempty" doc:"The pair disagrees in this attribute"`
	Bits      string `json:"bits,omitempty" doc:"Whole bits of the match weight, such as 3 for 3.00 to 3.99"`
	// Assigned selects by assignment: one of the words below, or the name of a person.
	Assigned string `json:"assigned,omitempty" doc:"all, the default; none: assigned to no person; mine: to the caller; open: mine or none; or the name of a person"`
	// Person is the viewer, whom ToMe and Open are about.
	Person string `json:"-"`
}

// Values of Filter.Assigned that are no names.
const (
	ToAll  = "all"
	ToNone = "none"
	ToMe   = "mine"
	Open   = "open"
)

// Takes reports whether a pair is selected.
func (f *Filter) Takes(p *Pair) bool {
	return (f.Source == "" || p.A.Source == f.Source || p.B.Source == f.Source) &&
		(f.Kind == "" || p.Kind == f.Kind) &&
		(f.Bits == "" || WholeBits(p.Explanation.Weight) == f.Bits) &&
		(f.Attribute == "" || slices.Contains(p.Disagreements(), f.Attribute)) &&
		f.takesAssigned(p.Assigned)
}

func (f *Filter) takesAssigned(a *Assignment) bool {
	switch f.Assigned {
	case "", ToAll:
		return true
	case ToNone:
		return a == nil
	case ToMe:
		return a != nil && a.To == f.Person
	case Open:
		return a == nil || a.To == f.Person
	default:
		return a != nil && a.To == f.Assigned
	}
}

// check refuses a question about the pairs of the caller if the caller has no name.
func (f *Filter) check() error {
	if f.Assigned == ToMe && f.Person == "" {
		return problem.Invalid("/assigned", "invalid", "a request without a token has no name: give the name of the person")
	}
	return nil
}
