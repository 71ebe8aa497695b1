// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"context"
	"maps"
	"slices"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/estimate"
	"github.com/locus-db/locus/internal/survey"
	"github.com/locus-db/locus/match"
)

// Handle estimates the quality of entities and profiles data. Get it from DB.Quality of package locus. It is safe for
// concurrent use.
type Handle struct{ engine *engine.Engine }

// New returns the quality handle of an installation.
func New(e *engine.Engine) *Handle { return &Handle{e} }

// confidence is the probability with which the intervals of an Estimate contain the true value, if people answer right.
const confidence = .9

// Estimate is the estimated quality of the entities of an installation.
type Estimate struct {
	// Records is how many records were examined; Whole reports that there are no others.
	Records int            `json:"records"`
	Whole   bool           `json:"whole"`
	Kinds   []KindEstimate `json:"kinds"`
}

// KindEstimate is the estimated quality of the entities of a kind.
type KindEstimate struct {
	Kind string `json:"kind"`
	// Pairs is how many pairs of records were compared and not found different. Decided of them have a decision, and
	// the estimate is based on Drawn decided pairs, which were drawn at random.
	Pairs   int `json:"pairs"`
	Decided int `json:"decided"`
	Drawn   int `json:"drawn"`
	// Precision is the share of the pairs within entities that are the same thing, Recall the share of the pairs that
	// are the same thing that are within entities.
	Precision Interval          `json:"precision"`
	Recall    Interval          `json:"recall"`
	Strata    []StratumEstimate `json:"strata"`
}

// Interval is an estimate with an interval that contains the true value with a probability of 90 %.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// StratumEstimate describes the pairs of a stratum.
type StratumEstimate struct {
	// Joined reports whether they are within entities.
	Joined bool `json:"joined"`
	// From and To limit the match weight, in bits; To is excluded. Each is missing if there is no limit.
	From *match.Weight `json:"from,omitempty"`
	To   *match.Weight `json:"to,omitempty"`
	// Pairs, Drawn and Decided count as in KindEstimate, DrawnSame are the drawn pairs that are the same thing.
	Pairs     int `json:"pairs"`
	Drawn     int `json:"drawn"`
	DrawnSame int `json:"drawn_same"`
	Decided   int `json:"decided"`
}

// Estimate estimates precision and recall of the entities, as they are with all decisions in force, from these
// decisions. kinds limits it to these kinds, nil for all. Pairs that share no blocking key, or that the matcher finds
// different, are not considered.
func (h *Handle) Estimate(ctx context.Context, kinds []string) (*Estimate, error) {
	s, err := survey.Take(ctx, h.engine, kinds, false)
	if err != nil {
		return nil, err
	}
	of := s.ByKind()
	all := &Estimate{Records: s.Records, Whole: s.Whole, Kinds: []KindEstimate{}}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		strata, err := survey.Strata(ctx, h.engine, of[kind])
		if err != nil {
			return nil, err
		}
		all.Kinds = append(all.Kinds, estimateOf(kind, h.engine.Kind(kind).Matcher.Threshold(), strata))
	}
	return all, nil
}

func estimateOf(kind string, threshold match.Weight, strata []survey.Stratum) KindEstimate {
	k := KindEstimate{Kind: kind, Strata: []StratumEstimate{}}
	counts := make([]estimate.Stratum, 0, len(strata))
	for i := range strata {
		s := &strata[i]
		n := counted(s)
		if n.Pairs == 0 {
			continue
		}
		counts = append(counts, n)
		k.Pairs, k.Decided, k.Drawn = k.Pairs+n.Pairs, k.Decided+n.Decided, k.Drawn+n.Drawn
		line := StratumEstimate{Joined: n.Joined, Pairs: n.Pairs, Drawn: n.Drawn, DrawnSame: n.DrawnSame, Decided: n.Decided}
		if s.From != survey.Lowest {
			from := s.From + threshold
			line.From = &from
		}
		if s.To != survey.Highest {
			to := s.To + threshold
			line.To = &to
		}
		k.Strata = append(k.Strata, line)
	}
	estimated := estimate.Quality(counts, confidence)
	k.Precision, k.Recall = Interval(estimated.Precision), Interval(estimated.Recall)
	return k
}

// counted counts the pairs of a stratum and the answers about them.
func counted(s *survey.Stratum) estimate.Stratum {
	n := estimate.Stratum{Joined: s.Joined, Pairs: len(s.Pairs)}
	drawn := s.Drawn()
	for i := range s.Pairs {
		same, decided := s.Pairs[i].Verdict()
		if !decided {
			continue
		}
		n.Decided++
		if same {
			n.DecidedSame++
		}
		if i < drawn {
			n.Drawn++
			if same {
				n.DrawnSame++
			}
		}
	}
	return n
}
