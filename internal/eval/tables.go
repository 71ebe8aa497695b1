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

// TablesOptions describes two tables without internal duplicates, and the true pairs across them.
type TablesOptions struct {
	Name              string            // of the report; defaults to the left path
	Left, Right, Gold string            // CSV files with a header
	LeftID, RightID   string            // columns; default to "id"
	GoldLeft          string            // column of the gold file with the left id; defaults to its first
	GoldRight         string            // column with the right id; defaults to its second
	OneToOne          bool              // every row has at most one partner: the best pairs are taken first
	Mapping           map[string]string // column → attribute, in addition to columns named like one
	Kind              *match.Schema     // defaults to place
	Configuration
}

// Tables measures matching across two tables. Pairs that share a blocking key are compared; F1 is over the pairs
// decided to be the same thing.
func Tables(ctx context.Context, o TablesOptions) (*Report, error) {
	c, err := columnsFor(kindOr(o.Kind), o.Mapping)
	if err != nil {
		return nil, err
	}
	leftID, rightID := cmp.Or(o.LeftID, "id"), cmp.Or(o.RightID, "id")
	left, err := readCSV(o.Left, c, leftID)
	if err != nil {
		return nil, err
	}
	right, err := readCSV(o.Right, c, rightID)
	if err != nil {
		return nil, err
	}
	names := []string{o.GoldLeft, o.GoldRight} // empty ones are filled in
	gold, err := readCSV(o.Gold, columns{kind: c.kind}, names...)
	if err != nil {
		return nil, err
	}
	var records []match.Attributes
	var sources []string
	at := [2]map[string]int{{}, {}}
	for side, rows := range [2][]row{left, right} {
		for _, row := range rows {
			at[side][row.columns[[2]string{leftID, rightID}[side]]] = len(records)
			records, sources = append(records, row.attributes), append(sources, [2]string{"left", "right"}[side])
		}
	}
	truth := map[[2]int]bool{}
	for n, row := range gold {
		i, ok := at[0][row.columns[names[0]]]
		j, also := at[1][row.columns[names[1]]]
		if !ok || !also {
			return nil, fmt.Errorf("%w: pair %d of %s names a row that no table has", ErrSet, n+1, o.Gold)
		}
		truth[[2]int{i, j}] = true
	}
	if o.OneToOne {
		kind := *c.kind
		kind.Sources = map[string]match.Source{"left": {Deduplicated: true}, "right": {Deduplicated: true}}
		c.kind = &kind
	}
	s := newSet(c.kind, o.Terms, sources, records, nil)
	if o.Learn {
		s.learn()
	}
	across := s.across(len(left))
	if o.Answers > 0 {
		s.ask(o.Configuration, across, func(a, b int) bool { return truth[[2]int{a, b}] })
	}
	results, took, err := s.compare(ctx, across)
	if err != nil {
		return nil, err
	}
	r := s.report(cmp.Or(o.Name, o.Left), "tables", results, took)
	r.Positives = len(truth)
	taken := s.takePairs(results, o.OneToOne)
	s.judgeTables(r, results, taken, truth, len(left))
	if o.Judge { // as an installation with the records of both
		if results, _, err = s.compare(ctx, match.Candidates(s.records)); err != nil {
			return nil, err
		}
		r.WithJudge = s.judge(results, sameThings(len(records), truth), func(cluster []int) []Counts {
			return countAcross(cluster, truth, len(left))
		})
	}
	return r, nil
}

// across returns the candidate pairs of two tables. Identical records share the candidates of the first of them.
func (s *set) across(left int) [][2]int {
	leads := match.Leaders(s.records)
	alike := make([][]int, len(s.records))
	for i, first := range leads {
		alike[first] = append(alike[first], i)
	}
	var pairs [][2]int
	add := func(first, second []int) {
		for _, i := range first {
			for _, j := range second {
				if i < left && j >= left {
					pairs = append(pairs, [2]int{i, j})
				}
			}
		}
	}
	for _, p := range match.Candidates(s.records) {
		if leads[p[0]] == p[0] && leads[p[1]] == p[1] {
			add(alike[p[0]], alike[p[1]])
			add(alike[p[1]], alike[p[0]])
		}
	}
	for _, same := range alike {
		add(same, same)
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return pairs
}

// takePairs returns the pairs decided to be the same thing. Equal scores are ordered by content, because the order of
// rows is not evidence.
func (s *set) takePairs(results []compared, oneToOne bool) map[[2]int]bool {
	taken := map[[2]int]bool{}
	if oneToOne {
		results = slices.Clone(results)
		slices.SortFunc(results, func(x, y compared) int {
			return cmp.Or(cmp.Compare(y.score, x.score), strings.Compare(s.records[x.a].Key(), s.records[y.a].Key()),
				strings.Compare(s.records[x.b].Key(), s.records[y.b].Key()))
		})
	}
	used := map[int]bool{}
	for _, c := range results {
		if c.score < match.Threshold || oneToOne && (used[c.a] || used[c.b]) {
			continue
		}
		taken[[2]int{c.a, c.b}] = true
		used[c.a], used[c.b] = true, true
	}
	return taken
}

// judgeTables fills in figures and errors. A unit of the bootstrap is a row of the left table with all its pairs.
func (s *set) judgeTables(r *Report, results []compared, taken, truth map[[2]int]bool, left int) {
	units := make([]Counts, left)
	judgements := make([]judged, len(results))
	met := map[[2]int]bool{}
	var mistakes []mistake
	for i, c := range results {
		p := [2]int{c.a, c.b}
		met[p] = true
		judgements[i] = judged{c.score, truth[p]}
		units[c.a].add(decided(taken[p], truth[p]))
		if taken[p] != truth[p] {
			mistakes = append(mistakes, mistake{c.a, c.b, taken[p], c.score})
		}
	}
	lost := 0
	for p := range truth {
		if !met[p] {
			lost++
			units[p[0]].add(Counts{FalseNegative: 1})
			mistakes = append(mistakes, mistake{p[0], p[1], false,
				s.matcher.Sum(s.matcher.Compare(s.records[p[0]], s.records[p[1]]))})
		}
	}
	r.finish(units, judgements, lost)
	r.Blocking = ratio(len(truth)-lost, len(truth))
	r.Errors = s.worstOf(mistakes)
}
