// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// PairsOptions describes a set of labelled pairs.
type PairsOptions struct {
	Name          string            // of the report; defaults to the path
	Path          string            // JSON lines, or the "COL name VAL value" lines of a .txt file
	Split         string            // only the pairs of this split; defaults to all
	Also          []string          // further files whose records are counted for the statistics, without labels
	Mapping       map[string]string // column → attribute, in addition to columns named like one
	Kind          *match.Schema     // defaults to place
	Configuration                   // without Learn and Answers: given pairs are no data to learn from
}

// Pairs measures decisions about given pairs: a pair counts as the same thing if its score reaches the threshold.
func Pairs(ctx context.Context, o PairsOptions) (*Report, error) {
	pairs, err := loadPairs(o)
	if err != nil {
		return nil, err
	}
	var records, others []match.Attributes
	var sources []string
	var list [][2]int
	var truth []bool
	for _, p := range pairs {
		if o.Split != "" && p.split != o.Split {
			others = append(others, p.a, p.b)
			continue
		}
		n := len(records)
		list = append(list, [2]int{n, n + 1})
		records, sources, truth = append(records, p.a, p.b), append(sources, "a", "b"), append(truth, p.same)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: %s has no pair of split %q", ErrSet, o.Path, o.Split)
	}
	s := newSet(kindOr(o.Kind), o.Terms, sources, records, others)
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
			if sharesKey(s.records[c.a], s.records[c.b]) {
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
	if o.Judge {
		same := func(a, _ int) bool { return truth[a/2] }
		r.WithJudge = s.judge(results, same, func(cluster []int) []Counts {
			for i := range units {
				units[i] = decided(cluster[2*i] == cluster[2*i+1], truth[i])
			}
			return units
		})
		for i, c := range results {
			judgements[i].score = r.WithJudge.weigh(c)
		}
		r.WithJudge.AtRecall = precisionAt(automaticRecall, judgements, 0)
	}
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

// loadPairs reads the pairs of a file; the extension determines the format.
func loadPairs(o PairsOptions) ([]pair, error) {
	c, err := columnsFor(kindOr(o.Kind), o.Mapping)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(o.Path, ".txt") {
		return readPairs(o.Path, c)
	}
	pairs, err := readDitto(o.Path, o.Split, c)
	if err != nil {
		return nil, err
	}
	for _, path := range o.Also {
		more, err := readDitto(path, "\x00statistics only", c)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, more...)
	}
	return pairs, nil
}

func sharesKey(a, b *match.Record) bool {
	return slices.ContainsFunc(a.BlockingKeys(), func(f match.BlockingKey) bool {
		_, _, ok := b.BlockingKey(f.Hash)
		return ok
	})
}
