// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/match"
)

// worst is the number of errors in a report.
const worst = 20

func kindOr(kind *match.Schema) *match.Schema {
	if kind == nil {
		return match.Place()
	}
	return kind
}

// set holds loaded records and the data that the protocols need.
type set struct {
	matcher   *match.Matcher
	records   []*match.Record
	normalise time.Duration // mean
	learned   *learn.Draft  // the weights are from the draft, if it was not refused
	answered  *learn.Fitted // the same
}

// newSet normalises records. If terms is nil, they are counted over the records and those in also, without labels. A
// record's key is the hash of its content, so that neither an id nor the order of rows can influence a decision.
func newSet(kind *match.Schema, terms *match.TermFrequencies, sources []string, records []match.Attributes,
	also []match.Attributes) *set {
	keys := make([]string, len(records))
	seen := map[string]int{}
	keyOf := func(a match.Attributes) string {
		content, _ := json.Marshal(a) // sorted keys; cannot fail for maps of strings
		return strconv.FormatUint(xxhash.Sum64(content), 16)
	}
	for i, a := range records {
		key := keyOf(a)
		seen[key]++
		keys[i] = key + "." + strconv.Itoa(seen[key])
	}
	if terms == nil {
		terms = match.TermsOf(kind, slices.Values(slices.Concat(records, also)))
	}
	s := &set{matcher: match.New(kind, terms)}
	start := time.Now()
	for i, a := range records {
		s.records = append(s.records, s.matcher.Normalise(sources[i], keys[i], a))
	}
	s.matcher = s.matcher.Among(match.CountNames(s.records))
	s.normalise = time.Since(start) / time.Duration(max(len(records), 1))
	return s
}

// learn replaces the weights by weights learned from the set without its labels, unless they are refused.
func (s *set) learn() {
	s.learned = learn.Weights(s.matcher, s.records)
	if len(s.learned.Refused()) == 0 {
		s.reweigh(s.learned.Schema)
	}
}

// reweigh replaces the weights by those of a kind that differs in them alone.
func (s *set) reweigh(kind *match.Schema) {
	s.matcher = match.New(kind, s.matcher.TermFrequencies()).Among(match.CountNames(s.records))
}

// compared is a pair of records with its score and decision.
type compared struct {
	a, b    int
	score   match.Weight
	outcome match.Outcome
}

// compare compares pairs and returns the results and the mean time per pair.
func (s *set) compare(ctx context.Context, pairs [][2]int) ([]compared, time.Duration, error) {
	out := make([]compared, len(pairs))
	start := time.Now()
	for n, p := range pairs {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		v := s.matcher.Compare(s.records[p[0]], s.records[p[1]])
		out[n] = compared{p[0], p[1], s.matcher.Evidence(v), s.matcher.Decide(v)}
	}
	return out, time.Since(start) / time.Duration(max(len(pairs), 1)), nil
}

// report fills in the parts common to all protocols.
func (s *set) report(name, protocol string, pairs []compared, took time.Duration) *Report {
	r := &Report{Name: name, Kind: s.matcher.Schema().Kind, Protocol: protocol, Compared: len(pairs),
		Normalise: s.normalise, Compare: took, Errors: []Error{}}
	for _, p := range pairs {
		switch p.outcome {
		case match.Same:
			r.Outcomes.Same++
		case match.Possible:
			r.Outcomes.PossibleMatches++
		case match.PartOf, match.CoLocated:
			r.Outcomes.Related++
		case match.Different:
			r.Outcomes.Different++
		}
	}
	if s.learned != nil {
		r.Learned = taken(s.learned.Refused())
	}
	if s.answered != nil {
		r.Learned, r.Asked = taken(s.answered.Refused()), s.answered.Answers
	}
	keys := 0
	for _, rec := range s.records {
		keys += len(rec.BlockingKeys())
	}
	r.Records = len(s.records)
	r.BlockingKeys = float64(keys) / float64(max(len(s.records), 1))
	r.Candidates = float64(len(pairs)) / float64(max(len(s.records), 1))
	return r
}

// taken returns the outcome of learning weights.
func taken(refused []string) string {
	if len(refused) > 0 {
		return "refused: " + strings.Join(refused, "; ")
	}
	return "taken"
}

// mistake is an error before its details are filled in.
type mistake struct {
	a, b     int
	positive bool // decided to be the same thing
	score    match.Weight
}

// worstOf returns the details of the mistakes furthest from the threshold.
func (s *set) worstOf(mistakes []mistake) []Error {
	distance := func(m mistake) match.Weight {
		if m.positive {
			return m.score - match.Threshold
		}
		return match.Threshold - m.score
	}
	slices.SortFunc(mistakes, func(x, y mistake) int {
		return cmp.Or(cmp.Compare(distance(y), distance(x)), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	errors := []Error{}
	for _, m := range mistakes[:min(len(mistakes), worst)] {
		a, b := s.records[m.a], s.records[m.b]
		e := Error{Kind: "false negative", Explanation: s.matcher.Explain(a, b, s.matcher.Compare(a, b))}
		if m.positive {
			e.Kind = "false positive"
		}
		e.Met = len(e.Explanation.BlockingKeys) > 0
		errors = append(errors, e)
	}
	return errors
}

// finish fills in the figures; lost is the number of true pairs that were never compared.
func (r *Report) finish(units []Counts, pairs []judged, lost int) {
	for _, u := range units {
		r.Counts.add(u)
	}
	r.Precision, r.Recall, r.F1 = figures(units)
	if pairs != nil {
		r.Average, r.AtRecall, r.Curve = averagePrecision(pairs, lost), precisionAt(automaticRecall, pairs,
			lost), curve(pairs, lost)
	}
}
