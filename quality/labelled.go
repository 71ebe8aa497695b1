// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"cmp"
	"context"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/survey"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// maxLabelled is how many decided pairs a draft is compared on: the newest.
const maxLabelled = 1000

// Labelled compares two sets of rules on the pairs that people decided, each pair in isolation.
type Labelled struct {
	Same      int `json:"same"`      // decided so
	Different int `json:"different"` // decided so
	// SameNow and SameDraft are how many of Same match, DifferentNow and DifferentDraft how many of Different do not.
	SameNow        int `json:"same_now"`
	SameDraft      int `json:"same_draft"`
	DifferentNow   int `json:"different_now"`
	DifferentDraft int `json:"different_draft"`
}

// Labelled compares the rules of a kind with a draft on decisions of people: the newest ones about the records that
// Estimate examines.
func (h *Handle) Labelled(ctx context.Context, draft *match.Matcher) (*Labelled, error) {
	kind := draft.Schema().Kind
	s, err := survey.Take(ctx, h.engine, []string{kind}, false)
	if err != nil {
		return nil, err
	}
	seen := map[derived.Pair]bool{} // a decision is stored under both of its records
	said := slices.DeleteFunc(s.Decisions, func(d entity.Decision) bool {
		a, b, pair := s.Known[d.A], s.Known[d.B], derived.PairOf(d.A, d.B)
		if seen[pair] {
			return true
		}
		seen[pair] = d.Pair()
		return !d.Pair() || d.Withdrawn || d.ByAgent() || a == nil || b == nil || a.Kind != kind || b.Kind != kind
	})
	slices.SortFunc(said, func(a, b entity.Decision) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	said = said[:min(len(said), maxLabelled)]
	if len(said) == 0 {
		return &Labelled{}, nil
	}
	now, err := h.matches(ctx, h.engine.Kind(kind).Matcher, s, said)
	if err != nil {
		return nil, err
	}
	then, err := h.matches(ctx, draft, s, said)
	if err != nil {
		return nil, err
	}
	l := &Labelled{}
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for i, d := range said {
		same := d.Verdict == entity.VerdictSame
		count(&l.Same, same)
		count(&l.Different, !same)
		count(&l.SameNow, same && now[i])
		count(&l.SameDraft, same && then[i])
		count(&l.DifferentNow, !same && !now[i])
		count(&l.DifferentDraft, !same && !then[i])
	}
	return l, nil
}

// matches reports for each decided pair whether, according to a matcher, the two are the same.
func (h *Handle) matches(ctx context.Context, m *match.Matcher, s *survey.Survey,
	said []entity.Decision) ([]bool, error) {
	norms := make([]*match.Record, 0, 2*len(said))
	for _, d := range said {
		for _, p := range []entity.PUID{d.A, d.B} {
			rec := s.Known[p]
			norms = append(norms, m.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes)))
		}
	}
	names, err := h.engine.Resolver.Names(ctx, norms)
	if err != nil {
		return nil, err
	}
	m = m.Among(names)
	found := make([]bool, len(said))
	for i := range said {
		found[i] = m.Decide(m.Compare(norms[2*i], norms[2*i+1])) == match.Same
	}
	return found, nil
}
