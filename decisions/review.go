// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/match/learn"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// Order is an order of the review queue.
type Order string

const (
	// Best lists the possible matches, the highest match weight first.
	Best Order = "best"
	// Teaches lists the possible matches and the weakest pairs within entities, what teaches most first: one of each pattern
	// of levels, and among these by ReviewPair.Teaches.
	Teaches Order = "teaches"
	// Chance lists all compared pairs by chance, from each stratum of Quality. What people answer about these says how good
	// the entities are.
	Chance Order = "chance"
)

// Orders are the orders of the review queue, the default first.
func Orders() []Order { return []Order{Best, Teaches, Chance} }

// ReviewQuery selects a page of the review queue.
type ReviewQuery struct {
	After string // Next of the previous page; "" to begin
	Limit int    // 1 to MaxReview; 0 for 20
	// Order of the pairs; "" for Best.
	Order Order
	// Kinds are those whose pairs are listed, nil for all.
	Kinds []string
	// Read is from how many possible matches on the page ends, though it has fewer pairs than Limit; 0 for no bound.
	Read int
}

// ReviewPage is a page of the review queue. Next is the After of the next page, "" at the end.
type ReviewPage struct {
	Pairs []ReviewPair `json:"pairs"`
	Next  string       `json:"next,omitempty"`
}

// ReviewPair is a pair of records for a human to decide: in two entities, or in one if Joined.
type ReviewPair struct {
	A           entity.Ref        `json:"a"`
	B           entity.Ref        `json:"b"`
	EntityA     locality.ID       `json:"entity_a"`
	EntityB     locality.ID       `json:"entity_b"`
	Kind        string            `json:"kind"`
	Explanation match.Explanation `json:"explanation"`
	// Merges is how many records the entity would have if the two are the same thing.
	Merges int `json:"merges"`
	// Joined reports that the two are in one entity already.
	Joined bool `json:"joined,omitempty"`
	// Teaches is how many bits the answer teaches, 0 to 9; see learn.Bits.
	Teaches float64 `json:"teaches"`
	settles int     // pairs of records that the answer is about
}

// bestFirst returns a page in the order Best.
func (h *Handle) bestFirst(ctx context.Context, q ReviewQuery) (*ReviewPage, error) {
	queue, err := h.possible(q.After)
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
		for i, pair := range pairs {
			if pair == nil || q.Kinds != nil && !slices.Contains(q.Kinds, pair.Kind) {
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

// possible merges the lists of possible matches of all cells.
type possibleMatches struct {
	engine *engine.Engine
	cells  []*possibleCell
}

// possibleCell buffers the unread part of a cell's list.
type possibleCell struct {
	id    cell.ID
	after derived.Edge
	edges []derived.Edge
	end   bool
}

func (h *Handle) possible(after string) (*possibleMatches, error) {
	at := derived.Edge{Weight: match.Threshold}
	if after != "" {
		if n, err := fmt.Sscanf(after, "%d %d %d", &at.Weight, &at.A, &at.B); n != 3 || err != nil {
			return nil, errBadAfter
		}
	}
	u := &possibleMatches{engine: h.engine}
	for _, id := range h.engine.Map().Cells() {
		u.cells = append(u.cells, &possibleCell{id: id, after: at})
	}
	return u, nil
}

// next returns the n next best pairs.
func (u *possibleMatches) next(ctx context.Context, n int) (edges []derived.Edge, err error) {
	for len(edges) < n {
		errs := make([]error, len(u.cells))
		engine.Parallel(len(u.cells), func(i int) { errs[i] = u.fill(ctx, u.cells[i], n) })
		for i, err := range errs {
			if err != nil {
				return nil, fmt.Errorf("possible matches of cell %v: %w", u.cells[i].id, err)
			}
		}
		var best *possibleCell
		for _, c := range u.cells {
			if len(c.edges) > 0 && (best == nil || better(c.edges[0], best.edges[0])) {
				best = c
			}
		}
		if best == nil {
			return edges, nil
		}
		edges, best.edges = append(edges, best.edges[0]), best.edges[1:]
	}
	return edges, nil
}

// fill reads the next page of a cell if its buffer is empty.
func (u *possibleMatches) fill(ctx context.Context, c *possibleCell, n int) error {
	if len(c.edges) > 0 || c.end {
		return nil
	}
	return u.engine.View(ctx, c.id, func(tx storage.Tx) (err error) {
		if c.edges, err = tx.PossibleMatches(ctx, c.after, n); len(c.edges) > 0 {
			c.after = c.edges[len(c.edges)-1]
		}
		c.end = len(c.edges) < n
		return err
	})
}

// byRank compares places in the queue.
func byRank(a, b derived.Edge) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
}

func better(a, b derived.Edge) bool { return byRank(a, b) < 0 }

// pairs turns edges into pairs, nil for those that need no decision in an order.
func (h *Handle) pairs(ctx context.Context, edges []derived.Edge, order Order) ([]*ReviewPair, error) {
	puids := make([]entity.PUID, 0, 2*len(edges))
	for _, e := range edges {
		puids = append(puids, e.A, e.B)
	}
	records, err := h.engine.Records(ctx, puids)
	if err != nil {
		return nil, err
	}
	of, err := h.entitiesOf(ctx, records)
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
		pair := ReviewPair{A: a.Ref, B: b.Ref, EntityA: x.ID, EntityB: y.ID, Kind: a.Kind, Joined: x.ID == y.ID}
		switch {
		case pair.Joined:
			pair.Merges, pair.settles = len(x.Members), len(x.Members)-1
			if order == Best || order == Teaches && (m.Decide(v) != match.Same || extreme[ordered(a.Anchor, b.Anchor)] != edges[i]) {
				continue
			}
		default:
			pair.Merges, pair.settles = len(x.Members)+len(y.Members), len(x.Members)*len(y.Members)
			if order != Chance && (m.Decide(v) != match.Possible || Between(decisions, x.PUIDs(), y.PUIDs()) != nil || extreme[ordered(a.Anchor, b.Anchor)] != edges[i]) {
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
		between := ordered(a, b)
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

// entitiesOf reads the entities of records, by anchor. Entities changed by a concurrent merge or deletion are left out.
func (h *Handle) entitiesOf(ctx context.Context, records []*entity.Record) (map[entity.PUID]*entity.Entity, error) {
	var anchors []entity.PUID
	for _, rec := range records {
		if rec != nil && !rec.Deleted() {
			anchors = append(anchors, rec.Anchor)
		}
	}
	slices.Sort(anchors)
	anchors = slices.Compact(anchors)
	found, err := h.engine.Stored(ctx, anchors)
	if err != nil {
		return nil, err
	}
	of := map[entity.PUID]*entity.Entity{}
	for i, e := range found {
		if e != nil {
			of[anchors[i]] = e
		}
	}
	for _, rec := range records {
		if rec != nil && !rec.Deleted() && rec.Anchor == rec.PUID && of[rec.PUID] == nil {
			of[rec.PUID] = h.engine.Resolver.Alone(rec)
		}
	}
	return of, nil
}

// taught returns how many bits the answer about a pair teaches, to a hundredth.
func taught(weight, threshold match.Weight, settles int) float64 {
	return math.Round(100*learn.Bits(float64(weight-threshold)/100, settles)) / 100
}

// checkOrder sets the default order.
func (q *ReviewQuery) checkOrder() error {
	if q.Order = cmp.Or(q.Order, Best); !slices.Contains(Orders(), q.Order) {
		return problem.Invalid("/order", "invalid", "%.60q is no order: there are best, teaches and chance", string(q.Order))
	}
	return nil
}
