// SPDX-License-Identifier: Apache-2.0

package review

import (
	"cmp"
	"slices"

	"github.com/locus-db/locus/internal/problem"
)

// Query selects a page of the review queue.
type Query struct {
	After string // Next of the previous page; "" to begin
	Limit int    // 1 to MaxPage; 0 for 20
	// Order of the pairs; "" for Best.
	Order Order
	// Kinds are the kinds whose pairs are listed, nil for all.
	Kinds []string
	// Filter selects among the pairs. With one, a page may have fewer pairs than Limit though others follow.
	Filter Filter
	// Read is from how many possible matches on the page ends, though it has fewer pairs than Limit; 0 for no bound.
	Read int
}

// Order is an order of the review queue.
type Order string

const (
	// Best lists the possible matches, the highest match weight first.
	Best Order = "best"
	// Teaches lists the possible matches and the weakest pairs within entities, the most informative first: one of each
	// pattern of levels in turn, each turn ordered by Pair.Teaches.
	Teaches Order = "teaches"
	// Chance lists all compared pairs in random order, from each stratum. Answers to these pairs estimate the
	// quality of the entities; see package quality.
	Chance Order = "chance"
	// Second lists, in random order, pairs that another person has answered and Filter.Person has not, without the
	// answer. The answers show how often people agree; see Team.
	Second Order = "second"
)

// Orders are the orders of the review queue, the default first. Second is not among them, because its pairs are
// answered already.
func Orders() []Order { return []Order{Best, Teaches, Chance} }

// check sets defaults.
func (q *Query) check() error {
	if q.Limit == 0 {
		q.Limit = 20
	}
	if q.Limit < 0 || q.Limit > MaxPage {
		return problem.Invalid("/limit", "invalid", "a page has 1 to %d pairs", MaxPage)
	}
	if q.Order = cmp.Or(q.Order, Best); q.Order != Second && !slices.Contains(Orders(), q.Order) {
		return problem.Invalid("/order", "invalid", "%.60q is not an order: want best, teaches, chance or second",
			string(q.Order))
	}
	return q.Filter.check()
}

// takes reports whether a pair belongs on the page.
func (q *Query) takes(p *Pair) bool {
	return p != nil && (q.Kinds == nil || slices.Contains(q.Kinds, p.Kind)) && q.Filter.Takes(p)
}

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
