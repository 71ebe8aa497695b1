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
