// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"context"
	"fmt"

	"github.com/locus-db/locus/match"
)

// LabelledOptions describes a table and labelled pairs of its rows.
type LabelledOptions struct {
	Name          string
	Path          string // CSV file with a header
	ID            string // its id column
	Labels        string // CSV file: two ids and a label, 1 for the same thing
	Left, Right   string // id columns in Labels
	Label         string
	Mapping       map[string]string // column → attribute, in addition to columns named like one
	Kind          *match.Schema     // defaults to place
	Configuration                   // without Answers and Judge
}

// Labelled measures decisions about the labelled pairs of a table. The rows are resolved as in Clusters; a pair in one
// cluster counts as the same thing.
func Labelled(ctx context.Context, o LabelledOptions) (*Report, error) {
	c, err := columnsFor(kindOr(o.Kind), o.Mapping)
	if err != nil {
		return nil, err
	}
	rows, err := readCSV(o.Path, c, o.ID)
	if err != nil {
		return nil, err
	}
	labels, err := readCSV(o.Labels, columns{kind: c.kind}, o.Left, o.Right, o.Label)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	records, sources := make([]match.Attributes, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		at[row.columns[o.ID]], records[i], sources[i] = i, row.attributes, "set"
	}
	s := newSet(c.kind, o.Terms, sources, records, nil)
	if o.Learn {
		s.learn()
	}
	results, took, err := s.compare(ctx, match.Candidates(s.records))
	if err != nil {
		return nil, err
	}
	r := s.report(cmp.Or(o.Name, o.Path), "labelled", results, took)
	cluster := s.clusters(s.edges(results))
	units := map[string]*Counts{}
	met := 0
	var mistakes []mistake
	for n, label := range labels {
		i, ok := at[label.columns[o.Left]]
		j, also := at[label.columns[o.Right]]
		if !ok || !also {
			return nil, fmt.Errorf("%w: label %d of %s names a row that the table does not have", ErrSet, n+1, o.Labels)
		}
		same, together := isOne(label.columns[o.Label]), cluster[i] == cluster[j]
		if units[label.columns[o.Left]] == nil {
			units[label.columns[o.Left]] = &Counts{}
		}
		units[label.columns[o.Left]].add(decided(together, same))
		if same {
			r.Positives++
			if sharesKey(s.records[i], s.records[j]) {
				met++
			}
		}
		if same != together {
			mistakes = append(mistakes, mistake{i, j, together, s.matcher.Sum(s.matcher.Compare(s.records[i], s.records[j]))})
		}
	}
	list := make([]Counts, 0, len(units))
	for _, id := range sortedKeys(units) {
		list = append(list, *units[id])
	}
	r.finish(list, nil, 0)
	r.Blocking = ratio(met, r.Positives)
	r.Errors = s.worstOf(mistakes)
	return r, nil
}

func isOne(label string) bool { return label == "1" || label == "1.0" }

// edges returns the compared pairs that are not different.
func (s *set) edges(results []compared) (edges []match.Edge) {
	for _, c := range results {
		if v, score, linked := s.matcher.Link(s.records[c.a], s.records[c.b]); linked {
			edges = append(edges, match.Edge{A: c.a, B: c.b, Weight: score, Vector: v})
		}
	}
	return edges
}

// clusters returns the cluster of every record.
func (s *set) clusters(edges []match.Edge) []int {
	unmet := s.matcher.UnmetOf(func(i int) *match.Record { return s.records[i] })
	nodes := make([]match.NodeKey, len(s.records))
	for i, record := range s.records {
		nodes[i] = match.NodeKey{Source: record.Source(), Key: record.Key()}
	}
	cluster := make([]int, len(s.records))
	for n, members := range match.ClusterAll(nodes, edges, unmet) {
		for _, m := range members {
			cluster[m] = n
		}
	}
	return cluster
}
