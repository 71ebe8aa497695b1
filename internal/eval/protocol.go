// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/match"
)

// PairsOptions name a set of labelled pairs.
type PairsOptions struct {
	Name    string            // of the report. Defaults to the path
	Path    string            // JSON lines, or the "COL name VAL value" lines of a .txt file
	Split   string            // keep the pairs of this split only. Defaults to all
	Also    []string          // further files whose records are counted for the statistics, unlabelled
	Mapping map[string]string // column → attribute. Defaults to equal names
	Schema  *match.Schema     // Defaults to match.Place()
}

// TablesOptions name two tables without duplicates inside, and the pairs across.
type TablesOptions struct {
	Name              string // of the report. Defaults to the left path
	Left, Right, Gold string // CSV files with a header
	LeftID, RightID   string // columns. Default to "id"
	GoldLeft          string // column of the gold with the left id
	GoldRight         string
	OneToOne          bool              // every row has at most one partner: the best ones are taken first
	Mapping           map[string]string // column → attribute
	Schema            *match.Schema     // Defaults to match.Place()
}

// ClustersOptions name a table with duplicates and the column that tells them.
type ClustersOptions struct {
	Name    string            // of the report. Defaults to the path
	Path    string            // CSV file with a header
	Truth   string            // column: rows of one value are one thing
	Mapping map[string]string // column → attribute
	Schema  *match.Schema     // Defaults to match.Place()
}

// worst is the number of errors that a report spells out.
const worst = 20

// set is loaded records with all that a protocol needs of them.
type set struct {
	matcher   *match.Matcher
	records   []*match.Record
	normalise time.Duration // mean
}

// newSet normalises records. Statistics are counted over distinct records, and
// without labels. A record's key is the hash of its content, so that neither
// an id nor the order of rows can leak into a decision.
func newSet(schema *match.Schema, sources []string, records []match.Attributes, also []match.Attributes) *set {
	if schema == nil {
		schema = match.Place()
	}
	keys := make([]string, len(records))
	var distinct []match.Attributes
	seen := map[string]int{}
	keyOf := func(a match.Attributes) string {
		content, _ := json.Marshal(a) // maps of strings are written with sorted keys, and always can be
		return strconv.FormatUint(xxhash.Sum64(content), 16)
	}
	for i, a := range records {
		key := keyOf(a)
		if seen[key] == 0 {
			distinct = append(distinct, a)
		}
		seen[key]++
		keys[i] = key + "." + strconv.Itoa(seen[key])
	}
	for _, a := range also {
		key := keyOf(a)
		if seen[key] == 0 {
			distinct = append(distinct, a)
		}
		seen[key]++
	}
	s := &set{matcher: match.New(schema, match.BuildPack(schema, slices.Values(distinct)))}
	start := time.Now()
	for i, a := range records {
		s.records = append(s.records, s.matcher.Normalise(sources[i], keys[i], a))
	}
	s.normalise = time.Since(start) / time.Duration(max(len(records), 1))
	return s
}

// compared is a pair of records with its vector.
type compared struct {
	a, b   int
	vector match.Vector
	score  match.Score
}

// compare fills in the vectors of pairs and answers with the mean time of one.
func (s *set) compare(ctx context.Context, pairs [][2]int32) ([]compared, time.Duration, error) {
	out := make([]compared, len(pairs))
	start := time.Now()
	for n, p := range pairs {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		v := s.matcher.Compare(s.records[p[0]], s.records[p[1]])
		out[n] = compared{int(p[0]), int(p[1]), v, s.matcher.Score(v)}
	}
	return out, time.Since(start) / time.Duration(max(len(pairs), 1)), nil
}

// report fills in what all protocols report alike.
func (s *set) report(name, protocol string, pairs []compared, took time.Duration) *Report {
	r := &Report{Name: name, Protocol: protocol, Compared: len(pairs), Normalise: s.normalise, Compare: took, Errors: []Error{}}
	for _, p := range pairs {
		switch s.matcher.Decide(p.score) {
		case match.Same:
			r.Outcomes.Same++
		case match.Unsure:
			r.Outcomes.Unsure++
		case match.Different:
			r.Outcomes.Different++
		}
	}
	features := 0
	for _, rec := range s.records {
		features += len(rec.Features())
	}
	r.Records = len(s.records)
	r.Features = float64(features) / float64(max(len(s.records), 1))
	r.Candidates = float64(len(pairs)) / float64(max(len(s.records), 1))
	return r
}

// mistake is an error before it is spelled out.
type mistake struct {
	a, b     int
	positive bool // decided for one thing
	score    match.Score
}

// worstOf spells out the mistakes that are furthest from the threshold.
func (s *set) worstOf(mistakes []mistake) []Error {
	distance := func(m mistake) match.Score {
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
		e.Met = len(e.Explanation.Features) > 0
		errors = append(errors, e)
	}
	return errors
}

// loadPairs reads the pairs of a file by its ending.
func loadPairs(o PairsOptions) ([]pair, error) {
	if err := checkMapping(o.Mapping); err != nil {
		return nil, err
	}
	if !strings.HasSuffix(o.Path, ".txt") {
		return readPairs(o.Path, o.Mapping)
	}
	pairs, err := readDitto(o.Path, o.Split, o.Mapping)
	if err != nil {
		return nil, err
	}
	for _, path := range o.Also {
		more, err := readDitto(path, "\x00statistics only", o.Mapping)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, more...)
	}
	return pairs, nil
}

// Pairs measures decisions about given pairs: each is compared, and is one
// thing if its score reaches the threshold.
func Pairs(ctx context.Context, o PairsOptions) (*Report, error) {
	pairs, err := loadPairs(o)
	if err != nil {
		return nil, err
	}
	var records, others []match.Attributes
	var sources []string
	var list [][2]int32
	var truth []bool
	for _, p := range pairs {
		if o.Split != "" && p.split != o.Split {
			others = append(others, p.a, p.b)
			continue
		}
		n := int32(len(records))
		list = append(list, [2]int32{n, n + 1})
		records, sources, truth = append(records, p.a, p.b), append(sources, "a", "b"), append(truth, p.same)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: %s has no pair of split %q", ErrSet, o.Path, o.Split)
	}
	s := newSet(o.Schema, sources, records, others)
	results, took, err := s.compare(ctx, list)
	if err != nil {
		return nil, err
	}
	r := s.report(cmp.Or(o.Name, o.Path), "pairs", results, took)
	units := make([]Counts, len(results))
	judgements := make([]judged, len(results))
	var mistakes []mistake
	met := 0
	for i, c := range results {
		judgements[i] = judged{c.score, truth[i]}
		units[i] = decided(c.score >= match.Threshold, truth[i])
		if truth[i] {
			r.Positives++
			if sharesFeature(s.records[c.a], s.records[c.b]) {
				met++
			}
		}
		if (c.score >= match.Threshold) != truth[i] {
			mistakes = append(mistakes, mistake{c.a, c.b, !truth[i], c.score})
		}
	}
	r.finish(units, judgements, 0)
	r.Blocking = ratio(met, r.Positives)
	r.Errors = s.worstOf(mistakes)
	return r, nil
}

// decided counts one decision.
func decided(positive, truth bool) Counts {
	switch {
	case positive && truth:
		return Counts{TruePositive: 1}
	case positive:
		return Counts{FalsePositive: 1}
	case truth:
		return Counts{FalseNegative: 1}
	}
	return Counts{}
}

// finish fills in the figures; lost is the number of true pairs never compared.
func (r *Report) finish(units []Counts, pairs []judged, lost int) {
	for _, u := range units {
		r.Counts.add(u)
	}
	r.Precision, r.Recall, r.F1 = figures(units)
	if pairs != nil {
		r.Average, r.Curve = averagePrecision(pairs, lost), curve(pairs, lost)
	}
}

func sharesFeature(a, b *match.Record) bool {
	x, y := a.Features(), b.Features()
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0].Hash < y[0].Hash:
			x = x[1:]
		case x[0].Hash > y[0].Hash:
			y = y[1:]
		default:
			return true
		}
	}
	return false
}
