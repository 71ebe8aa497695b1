// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/resolve/derived"
)

const (
	// mostAsked limits the possible matches that the order Teaches considers, and the pairs within entities: those
	// nearest to the threshold.
	mostAsked = 400
	// mostRead limits the possible matches that are read to find these.
	mostRead = 4000
	// wellJoined is the match weight from the threshold, in hundredths of a bit, from which a pair within an entity is no
	// question: 9 bits for most kinds.
	wellJoined = 400
	// mostKnown is how many decided pairs, the newest, are used to assess a pattern.
	mostKnown = 1000
)

// Review returns possible matches between two entities, the best first, and only the best pair of any two entities.
// Entities with a decision between them are left out, so that deciding removes the pair from the queue. The orders
// Teaches and Chance have pairs within entities, too. They are taken from a sample of the records of a large
// installation.
func (h *Handle) Review(ctx context.Context, q ReviewQuery) (*ReviewPage, error) {
	if q.Limit == 0 {
		q.Limit = 20
	}
	if q.Limit < 0 || q.Limit > MaxReview {
		return nil, problem.Invalid("/limit", "invalid", "a page has 1 to %d pairs", MaxReview)
	}
	if err := q.checkOrder(); err != nil {
		return nil, err
	}
	if err := q.Filter.check(); err != nil {
		return nil, err
	}
	switch q.Order {
	case Best:
		return h.bestFirst(ctx, q)
	case Second:
		all, err := h.answered(ctx, q)
		if err != nil {
			return nil, err
		}
		return h.page(ctx, q, all)
	}
	s, err := h.survey(ctx, q.Kinds, false)
	if err != nil {
		return nil, err
	}
	var all []question
	if q.Order == Chance {
		all, err = h.byChance(ctx, s)
	} else {
		all, err = h.teaching(ctx, s, q.Kinds)
	}
	if err != nil {
		return nil, err
	}
	return h.page(ctx, q, all)
}

// page returns the questions after a cursor, and reads the pairs of questions that have none yet.
func (h *Handle) page(ctx context.Context, q ReviewQuery, all []question) (*ReviewPage, error) {
	if q.After != "" {
		var place int64
		var a, b entity.PUID
		order := ""
		if n, err := fmt.Sscanf(q.After, "%s %d %d %d", &order, &place, &a, &b); n != 4 || err != nil || Order(order) != q.Order {
			return nil, errBadAfter
		}
		all = slices.DeleteFunc(all, func(q question) bool { return q.compare(place, a, b) <= 0 })
	}
	of, err := h.assignments(ctx, &q.Filter)
	if err != nil {
		return nil, err
	}
	page := &ReviewPage{Pairs: []ReviewPair{}}
	for len(all) > 0 {
		some := all[:min(len(all), q.Limit-len(page.Pairs))]
		all = all[len(some):]
		if err := h.readPairs(ctx, some); err != nil {
			return nil, err
		}
		for _, one := range some {
			if assign([]*ReviewPair{one.pair}, of); one.pair != nil && (q.Kinds == nil || slices.Contains(q.Kinds, one.pair.Kind)) && q.Filter.Takes(one.pair) {
				page.Pairs = append(page.Pairs, *one.pair)
			}
		}
		if last := some[len(some)-1]; len(page.Pairs) == q.Limit && len(all) > 0 {
			page.Next = fmt.Sprintf("%s %d %d %d", q.Order, last.place, last.edge.A, last.edge.B)
			break
		}
	}
	return page, nil
}

func (h *Handle) readPairs(ctx context.Context, some []question) error {
	var edges []derived.Edge
	for _, q := range some {
		if q.pair == nil {
			edges = append(edges, q.edge)
		}
	}
	if len(edges) == 0 {
		return nil
	}
	pairs, err := h.pairs(ctx, edges, Chance)
	if err != nil {
		return err
	}
	for i := range some {
		if some[i].pair == nil {
			some[i].pair, pairs = pairs[0], pairs[1:]
		}
	}
	return nil
}

// byChance returns the pairs of a survey that are not decided, as they are drawn: from each stratum as many as its
// share of the pairs, but at least a tenth.
func (h *Handle) byChance(ctx context.Context, s *survey) (all []question, err error) {
	of := map[string][]surveyedPair{}
	for _, p := range s.pairs {
		of[p.a.Kind] = append(of[p.a.Kind], p)
	}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		parts, err := h.sampled(ctx, of[kind])
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			share := max(float64(len(part.pairs))/float64(len(of[kind])), least)
			for i := range part.pairs {
				if _, decided := part.pairs[i].verdict(); !decided {
					all = append(all, question{place: int64(float64(i+1) / share * 1000), edge: part.pairs[i].Edge})
				}
			}
		}
	}
	slices.SortFunc(all, func(x, y question) int { return x.compare(y.place, y.edge.A, y.edge.B) })
	return all, nil
}

// teaching returns the questions, the most informative first. Their position consists of their turn and the bits that
// they teach. It does not change when other questions are answered, so that a page begins where the last one ended.
func (h *Handle) teaching(ctx context.Context, s *survey, kinds []string) ([]question, error) {
	pairs, edges, err := h.uncertain(ctx, s, kinds)
	if err != nil {
		return nil, err
	}
	type kindOf struct {
		questions []learn.Question
		at        []int
	}
	of := map[string]*kindOf{}
	for i, p := range pairs {
		k := of[p.Kind]
		if k == nil {
			k = &kindOf{}
			of[p.Kind] = k
		}
		k.questions, k.at = append(k.questions, learn.Question{Lines: p.Explanation.Lines, Settles: p.settles}), append(k.at, i)
	}
	known := h.known(s)
	var all []question
	for kind, k := range of {
		for _, t := range learn.Teaching(k.questions, h.engine.Kind(kind).Matcher.Threshold(), known[kind]) {
			place := 1000*int64(t.Turn) + int64(100*(learn.MostTaught-t.Bits))
			all = append(all, question{place: place, edge: edges[k.at[t.At]], pair: pairs[k.at[t.At]]})
		}
	}
	slices.SortFunc(all, func(x, y question) int { return x.compare(y.place, y.edge.A, y.edge.B) })
	return all, nil
}

// uncertain returns the pairs that can be asked about, with their edges.
func (h *Handle) uncertain(ctx context.Context, s *survey, kinds []string) (pairs []*ReviewPair, edges []derived.Edge, err error) {
	keep := func(some []derived.Edge) (kept int, err error) {
		found, err := h.pairs(ctx, some, Teaches)
		for i, p := range found {
			if p != nil && (kinds == nil || slices.Contains(kinds, p.Kind)) {
				pairs, edges = append(pairs, p), append(edges, some[i])
				kept++
			}
		}
		return kept, err
	}
	queue, err := h.possible("")
	if err != nil {
		return nil, nil, err
	}
	for kept, read := 0, 0; kept < mostAsked && read < mostRead; read += mostAsked {
		some, err := queue.next(ctx, mostAsked)
		if err != nil {
			return nil, nil, err
		}
		if len(some) == 0 {
			break
		}
		n, err := keep(some)
		if err != nil {
			return nil, nil, err
		}
		kept += n
	}
	weakest := map[entity.PUID]*surveyedPair{} // that joins, of each entity, by its anchor
	for i := range s.pairs {
		p := &s.pairs[i]
		if was := weakest[p.a.Anchor]; p.joined() && p.Weight >= h.engine.Kind(p.a.Kind).Matcher.Threshold() && (was == nil || better(was.Edge, p.Edge)) {
			weakest[p.a.Anchor] = p
		}
	}
	var joined []derived.Edge
	for _, p := range weakest {
		if p.said == nil && p.Weight-h.engine.Kind(p.a.Kind).Matcher.Threshold() < wellJoined {
			joined = append(joined, p.Edge)
		}
	}
	slices.SortFunc(joined, func(a, b derived.Edge) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	_, err = keep(joined[:min(len(joined), mostAsked)])
	return pairs, edges, err
}

// known counts the decided pairs of a survey by kind and pattern.
func (h *Handle) known(s *survey) map[string]map[string]int {
	var decided []*surveyedPair
	for i := range s.pairs {
		if s.pairs[i].said != nil {
			decided = append(decided, &s.pairs[i])
		}
	}
	slices.SortFunc(decided, func(a, b *surveyedPair) int {
		return cmp.Or(b.said.At.Compare(a.said.At), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	known := map[string]map[string]int{}
	for _, p := range decided[:min(len(decided), mostKnown)] {
		of := known[p.a.Kind]
		if of == nil {
			of = map[string]int{}
			known[p.a.Kind] = of
		}
		m := h.engine.Kind(p.a.Kind).Matcher
		of[learn.Pattern(m.Explain(h.engine.Normalise(p.a), h.engine.Normalise(p.b), p.Vector).Lines)]++
	}
	return known
}
