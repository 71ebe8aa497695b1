// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/review"
)

const (
	// queueLate is how long a person who answers pairs without a pause sees a list that is changed only by the answers.
	// Reading the queue again would delay the next pair.
	queueLate = lookKeep
	// reviewLook begins the keys of kept queues; the order of a queue and its kinds follow.
	reviewLook = "review "
	bestLook   = reviewLook + string(review.Best) + " "
)

// queue returns the head of the review queue of some kinds, nil for all. late is how much older than usual it may be.
func (p *site) queue(ctx context.Context, kinds []string, late time.Duration) (*review.Page, error) {
	return recentlyOrLate(ctx, p.looks, bestLook+strings.Join(kinds, " "), late, func(ctx context.Context) (*review.Page, error) {
		return p.svc.Review().Head(ctx, kinds)
	})
}

// ownQueue is the queue of the principal.
func (p *site) ownQueue(c *call, order review.Order, late time.Duration) (*review.Page, error) {
	kinds := access.From(c).Restriction.Kinds
	if order == review.Best {
		queue, err := p.queue(c, kinds, late)
		return narrowed(p.Server, c, queue, err)
	}
	// How much a question teaches depends on all others, so the other orders are read again after each decision.
	key := reviewLook + string(order) + " " + strings.Join(kinds, " ")
	if order == review.Second { // each person is asked what others answered
		key += "\n" + c.author()
	}
	queue, err := recentlyOrLate(c, p.looks, key, late, func(ctx context.Context) (*review.Page, error) {
		return p.svc.Review().List(ctx, review.Query{
			Limit: review.MaxPage, Kinds: kinds, Order: order, Filter: review.Filter{Person: c.author()},
		})
	})
	return narrowed(p.Server, c, queue, err)
}

// requeue makes the kept queues agree with a decision: the pairs of its entities are read again, and no others.
func (p *site) requeue(ctx context.Context, made *decisions.Decided) {
	for _, order := range append(review.Orders(), review.Second) {
		if order != review.Best {
			p.looks.drop(reviewLook + string(order))
		}
	}
	if !made.Pair() {
		return
	}
	var ids []locality.ID
	for _, id := range []locality.ID{made.EntityA, made.EntityB} {
		if !id.IsZero() && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	found, err := p.svc.Review().Of(ctx, ids)
	if err != nil {
		p.looks.drop(reviewLook)
		return
	}
	amend(p.looks, bestLook, func(key string, was *review.Page) *review.Page {
		gone := slices.Clone(ids)
		for _, pair := range was.Pairs { // the entities of before
			if pair.A == made.RefA || pair.A == made.RefB {
				gone = append(gone, pair.EntityA)
			}
			if pair.B == made.RefA || pair.B == made.RefB {
				gone = append(gone, pair.EntityB)
			}
		}
		is := &review.Page{Next: was.Next}
		for _, pair := range was.Pairs {
			if !slices.Contains(gone, pair.EntityA) && !slices.Contains(gone, pair.EntityB) {
				is.Pairs = append(is.Pairs, pair)
			}
		}
		kinds := strings.Fields(strings.TrimPrefix(key, bestLook))
		for _, pair := range found {
			beyond := was.Next != "" && len(was.Pairs) > 0 && pair.Explanation.Weight < was.Pairs[len(was.Pairs)-1].Explanation.Weight
			if !beyond && (len(kinds) == 0 || slices.Contains(kinds, pair.Kind)) {
				is.Pairs = append(is.Pairs, pair)
			}
		}
		slices.SortStableFunc(is.Pairs, func(a, b review.Pair) int {
			return cmp.Compare(b.Explanation.Weight, a.Explanation.Weight)
		})
		return is
	})
}
