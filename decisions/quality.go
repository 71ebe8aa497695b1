// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/locus-db/locus/internal/estimate"
	"github.com/locus-db/locus/match"
)

// confidence is the probability with which the intervals of a Quality contain the true value, if people answer right.
const confidence = .9

// Quality is the estimated quality of the entities of an installation.
type Quality struct {
	// Records is how many records were examined; Whole reports that there are no others.
	Records int           `json:"records"`
	Whole   bool          `json:"whole"`
	Kinds   []KindQuality `json:"kinds"`
}

// KindQuality is the estimated quality of the entities of a kind.
type KindQuality struct {
	Kind string `json:"kind"`
	// Pairs is how many pairs of records were compared and not found different. Decided of them have a decision, and
	// the estimate is based on Drawn decided pairs, which were drawn at random.
	Pairs   int `json:"pairs"`
	Decided int `json:"decided"`
	Drawn   int `json:"drawn"`
	// Precision is the share of the pairs within entities that are the same thing, Recall the share of the pairs that
	// are the same thing that are within entities.
	Precision Interval         `json:"precision"`
	Recall    Interval         `json:"recall"`
	Strata    []StratumQuality `json:"strata"`
}

// Interval is an estimate with an interval that contains the true value with a probability of 90 %.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// StratumQuality describes the pairs of a stratum.
type StratumQuality struct {
	// Joined reports whether they are within entities.
	Joined bool `json:"joined"`
	// From and To limit the match weight, in bits; To is excluded. Each is missing if there is no limit.
	From *match.Weight `json:"from,omitempty"`
	To   *match.Weight `json:"to,omitempty"`
	// Pairs, Drawn and Decided count as in KindQuality, DrawnSame are the drawn pairs that are the same thing.
	Pairs     int `json:"pairs"`
	Drawn     int `json:"drawn"`
	DrawnSame int `json:"drawn_same"`
	Decided   int `json:"decided"`
}

// Quality estimates precision and recall of the entities, as they are with all decisions in force, from these
// decisions. kinds limits it to these kinds, nil for all. Pairs that share no blocking key, or that the matcher finds
// different, are not considered.
func (h *Handle) Quality(ctx context.Context, kinds []string) (*Quality, error) {
	s, err := h.survey(ctx, kinds, false)
	if err != nil {
		return nil, err
	}
	of := map[string][]surveyedPair{}
	for _, p := range s.pairs {
		of[p.a.Kind] = append(of[p.a.Kind], p)
	}
	q := &Quality{Records: s.records, Whole: s.whole, Kinds: []KindQuality{}}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		parts, err := h.sampled(ctx, of[kind])
		if err != nil {
			return nil, err
		}
		q.Kinds = append(q.Kinds, qualityOf(kind, h.engine.Kind(kind).Matcher.Threshold(), parts))
	}
	return q, nil
}

func qualityOf(kind string, threshold match.Weight, parts []stratum) KindQuality {
	k := KindQuality{Kind: kind, Strata: []StratumQuality{}}
	counts := make([]estimate.Stratum, 0, len(parts))
	for i, part := range parts {
		n := estimate.Stratum{Joined: strata[i].joined, Pairs: len(part.pairs)}
		drawn := part.drawn()
		for j := range part.pairs {
			same, decided := part.pairs[j].verdict()
			if !decided {
				continue
			}
			n.Decided++
			if same {
				n.DecidedSame++
			}
			if j < drawn {
				n.Drawn++
				if same {
					n.DrawnSame++
				}
			}
		}
		if n.Pairs == 0 {
			continue
		}
		counts = append(counts, n)
		k.Pairs, k.Decided, k.Drawn = k.Pairs+n.Pairs, k.Decided+n.Decided, k.Drawn+n.Drawn
		line := StratumQuality{Joined: n.Joined, Pairs: n.Pairs, Drawn: n.Drawn, DrawnSame: n.DrawnSame, Decided: n.Decided}
		if from := strata[i].from; from > math.MinInt16 {
			from += threshold
			line.From = &from
		}
		if i+1 < len(strata) && strata[i+1].joined == n.Joined {
			to := strata[i+1].from + threshold
			line.To = &to
		}
		k.Strata = append(k.Strata, line)
	}
	estimated := estimate.Quality(counts, confidence)
	k.Precision, k.Recall = Interval(estimated.Precision), Interval(estimated.Recall)
	return k
}
