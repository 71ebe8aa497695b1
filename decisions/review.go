// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// Order is an order of the review queue.
type Order string

const (
	// Best lists the possible matches, the highest match weight first.
	Best Order = "best"
	// Teaches lists the possible matches and the weakest pairs within entities, the most informative first: one of each
	// pattern of levels in turn, each turn ordered by ReviewPair.Teaches.
	Teaches Order = "teaches"
	// Chance lists all compared pairs in random order, from each stratum of Quality. Answers to these pairs estimate the
	// quality of the entities.
	Chance Order = "chance"
	// Second lists, in random order, pairs that another person has answered and Filter.Person has not, without the
	// answer. The answers show how often people agree; see Team.
	Second Order = "second"
)

// Orders are the orders of the review queue, the default first. Second is not among them, because its pairs are
// answered already.
func Orders() []Order { return []Order{Best, Teaches, Chance} }

// ReviewQuery selects a page of the review queue.
type ReviewQuery struct {
	After string // Next of the previous page; "" to begin
	Limit int    // 1 to MaxReview; 0 for 20
	// Order of the pairs; "" for Best.
	Order Order
	// Kinds are the kinds whose pairs are listed, nil for all.
	Kinds []string
	// Filter selects among the pairs. With one, a page may have fewer pairs than Limit though others follow.
	Filter Filter
	// Read is from how many possible matches on the page ends, though it has fewer pairs than Limit; 0 for no bound.
	Read int
}

// ReviewPage is a page of the review queue. Next is the After of the next page, "" at the end.
type ReviewPage struct {
	Pairs []ReviewPair `json:"pairs"`
	Next  string       `json:"next,omitempty"`
}

// bestFirst returns a page in the order Best.
func (h *Handle) bestFirst(ctx context.Context, q ReviewQuery) (*ReviewPage, error) {
	queue, err := h.possible(q.After)
	if err != nil {
		return nil, err
	}
	of, err := h.assignments(ctx, &q.Filter)
	if err != nil {
		return nil, err
	}
	page := &ReviewPage{Pairs: []ReviewPair{}}
	for read := 0; ; {
		edges, err := queue.next(ctx, q.Limit)
		if err != nil {
			return nil, err
		}
		if len(edges) == 0 {
			return page, nil
		}
		pairs, err := h.pairs(ctx, edges, Best)
		if err != nil {
			return nil, err
		}
		assign(pairs, of)
		for i, pair := range pairs {
			if pair == nil || q.Kinds != nil && !slices.Contains(q.Kinds, pair.Kind) || !q.Filter.Takes(pair) {
				continue
			}
			page.Pairs = append(page.Pairs, *pair)
			if last := edges[i]; len(page.Pairs) == q.Limit {
				page.Next = nextPair(last)
				return page, nil
			}
		}
		if read += len(edges); q.Read > 0 && read >= q.Read {
			page.Next = nextPair(edges[len(edges)-1])
			return page, nil
		}
	}
}

// nextPair returns the After of the page that begins after an edge.
func nextPair(e derived.Edge) string { return fmt.Sprintf("%d %d %d", e.Weight, e.A, e.B) }

// pairs turns edges into pairs, nil for edges that need no decision in an order.
func (h *Handle) pairs(ctx context.Context, edges []derived.Edge, order Order) ([]*ReviewPair, error) {
	puids := make([]entity.PUID, 0, 2*len(edges))
	for _, e := range edges {
		puids = append(puids, e.A, e.B)
	}
	records, err := h.engine.Records(ctx, puids)
	if err != nil {
		return nil, err
	}
	of, err := h.engine.EntitiesOf(ctx, records)
	if err != nil {
		return nil, err
	}
	var about []entity.PUID
	for _, e := range of {
		about = append(about, e.PUIDs()...)
	}
	slices.Sort(about)
	about = slices.Compact(about)
	decisions, err := h.engine.Decisions(ctx, about)
	if err != nil {
		return nil, err
	}
	var others []derived.Edge
	if err := h.engine.Retry(ctx, func() (err error) {
		others, err = h.engine.Resolver.EdgesOf(ctx, about)
		return err
	}); err != nil {
		return nil, err
	}
	extreme := h.extremes(of, others)
	pairs := make([]*ReviewPair, len(edges))
	for i := range edges {
		a, b := records[2*i], records[2*i+1]
		if a == nil || b == nil || a.Deleted() || b.Deleted() || a.Kind != b.Kind {
			continue
		}
		x, y := of[a.Anchor], of[b.Anchor]
		if x == nil || y == nil {
			continue
		}
		m := h.engine.Kind(a.Kind).Matcher
		v := edges[i].Vector // weighted by current name frequencies
		pair := ReviewPair{A: a.Ref, B: b.Ref, EntityA: x.ID, EntityB: y.ID, Kind: a.Kind, Joined: x.ID == y.ID,
			puids: derived.PairOf(a.PUID, b.PUID)}
		switch {
		case pair.Joined:
			pair.Merges, pair.settles = len(x.Members), len(x.Members)-1
			if order == Best || order == Teaches &&
				(m.Decide(v) != match.Same || extreme[derived.PairOf(a.Anchor, b.Anchor)] != edges[i]) {
				continue
			}
		default:
			pair.Merges, pair.settles = len(x.Members)+len(y.Members), len(x.Members)*len(y.Members)
			if order != Chance && (m.Decide(v) != match.Possible || Between(decisions, x.PUIDs(), y.PUIDs()) != nil || extreme[derived.PairOf(a.Anchor, b.Anchor)] != edges[i]) {
				continue
			}
		}
		pair.Explanation = m.Explain(h.engine.Normalise(a), h.engine.Normalise(b), v).Facing(match.NodeKey(a.Ref))
		pair.Teaches = taught(pair.Explanation.Weight, m.Threshold(), pair.settles)
		pairs[i] = &pair
	}
	return pairs, nil
}

// extremes returns the best possible match between each two entities, and the pair of the lowest weight that joins
// within each, by their anchors.
func (h *Handle) extremes(of map[entity.PUID]*entity.Entity, edges []derived.Edge) map[derived.Pair]derived.Edge {
	anchors := map[entity.PUID]entity.PUID{}
	for anchor, e := range of {
		for _, p := range e.PUIDs() {
			anchors[p] = anchor
		}
	}
	found := map[derived.Pair]derived.Edge{}
	for _, e := range edges {
		a, known := anchors[e.A]
		b, other := anchors[e.B]
		if e.A > e.B || !known || !other {
			continue
		}
		between := derived.PairOf(a, b)
		was, some := found[between]
		switch {
		case a == b:
			if e.Weight >= h.engine.Kind(of[a].Kind).Matcher.Threshold() && (!some || better(was, e)) {
				found[between] = e
			}
		case e.Weight < match.Threshold && (!some || better(e, was)):
			found[between] = e
		}
	}
	return found
}

// taught returns how many bits the answer about a pair teaches, to a hundredth.
func taught(weight, threshold match.Weight, settles int) float64 {
	return math.Round(100*learn.Bits(float64(weight-threshold)/100, settles)) / 100
}

// checkOrder sets the default order.
func (q *ReviewQuery) checkOrder() error {
	if q.Order = cmp.Or(q.Order, Best); q.Order != Second && !slices.Contains(Orders(), q.Order) {
		return problem.Invalid("/order", "invalid", "%.60q is not an order: want best, teaches, chance or second",
			string(q.Order))
	}
	return nil
}
