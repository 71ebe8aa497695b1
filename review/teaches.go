// SPDX-License-Identifier: Apache-2.0

package review

import (
	"cmp"
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/internal/survey"
	"github.com/locus-db/locus/resolve/derived"
)

const (
	// mostAsked limits the possible matches that the order Teaches considers, and the pairs within entities: those
	// nearest to the threshold.
	mostAsked = 400
	// mostRead limits the possible matches that are read to find these.
	mostRead = 4000
	// wellJoined is the match weight from the threshold, in hundredths of a bit, from which a pair within an entity is
	// no question: 9 bits for most kinds.
	wellJoined = 400
	// mostKnown is how many decided pairs, the newest, are used to assess a pattern.
	mostKnown = 1000
)

// teaching returns the questions, the most informative first. Their position consists of their turn and the bits that
// they teach. It does not change when other questions are answered, so that a page begins where the last one ended.
func (h *Handle) teaching(ctx context.Context, kinds []string) ([]question, error) {
	s, err := survey.Take(ctx, h.engine, kinds, false)
	if err != nil {
		return nil, err
	}
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
		k.questions = append(k.questions, learn.Question{Lines: p.Explanation.Lines, Settles: p.settles})
		k.at = append(k.at, i)
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
func (h *Handle) uncertain(ctx context.Context, s *survey.Survey,
	kinds []string) (pairs []*Pair, edges []derived.Edge, err error) {
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
	weakest := map[entity.PUID]*survey.Pair{} // that joins, of each entity, by its anchor
	for i := range s.Pairs {
		p := &s.Pairs[i]
		joins := p.Joined() && p.Weight >= h.engine.Kind(p.Kind()).Matcher.Threshold()
		if was := weakest[p.RecordA.Anchor]; joins && (was == nil || better(was.Edge, p.Edge)) {
			weakest[p.RecordA.Anchor] = p
		}
	}
	var joined []derived.Edge
	for _, p := range weakest {
		if p.Decision == nil && p.Weight-h.engine.Kind(p.Kind()).Matcher.Threshold() < wellJoined {
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
func (h *Handle) known(s *survey.Survey) map[string]map[string]int {
	var decided []*survey.Pair
	for i := range s.Pairs {
		if s.Pairs[i].Decision != nil {
			decided = append(decided, &s.Pairs[i])
		}
	}
	slices.SortFunc(decided, func(a, b *survey.Pair) int {
		return cmp.Or(b.Decision.At.Compare(a.Decision.At), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	known := map[string]map[string]int{}
	for _, p := range decided[:min(len(decided), mostKnown)] {
		of := known[p.Kind()]
		if of == nil {
			of = map[string]int{}
			known[p.Kind()] = of
		}
		m := h.engine.Kind(p.Kind()).Matcher
		of[learn.Pattern(m.Explain(h.engine.Normalise(p.RecordA), h.engine.Normalise(p.RecordB), p.Vector).Lines)]++
	}
	return known
}
