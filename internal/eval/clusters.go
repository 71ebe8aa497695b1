// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"context"

	"github.com/locus-db/locus/match"
)

// ClustersOptions describes a table with duplicates and its column with the truth.
type ClustersOptions struct {
	Name    string              // of the report; defaults to the path
	Path    string              // CSV file with a header
	Truth   string              // column: rows with the same value are the same thing
	TruthOf func(string) string // maps the value of that column, if set
	Mapping map[string]string   // column → attribute, in addition to columns named like one
	Kind    *match.Schema       // defaults to place
	Configuration
}

// Clusters measures the resolution of one table. Pairs that share a blocking key are compared and the records
// clustered; F1 is over the pairs of rows in one cluster.
func Clusters(ctx context.Context, o ClustersOptions) (*Report, error) {
	c, err := columnsFor(kindOr(o.Kind), o.Mapping)
	if err != nil {
		return nil, err
	}
	rows, err := readCSV(o.Path, c, o.Truth)
	if err != nil {
		return nil, err
	}
	records, sources, truth := make([]match.Attributes, len(rows)), make([]string, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		records[i], sources[i], truth[i] = row.attributes, "set", row.columns[o.Truth]
		if o.TruthOf != nil {
			truth[i] = o.TruthOf(truth[i])
		}
	}
	s := newSet(c.kind, o.Terms, sources, records, nil)
	if o.Learn {
		s.learn()
	}
	pairs := match.Candidates(s.records)
	same := func(a, b int) bool { return truth[a] == truth[b] }
	if o.Answers > 0 {
		s.ask(o.Configuration, pairs, same)
	}
	results, took, err := s.compare(ctx, pairs)
	if err != nil {
		return nil, err
	}
	r := s.report(cmp.Or(o.Name, o.Path), "clusters", results, took)
	s.judgeClusters(r, s.clusters(s.edges(results)), results, truth)
	if o.Judge {
		r.WithJudge = s.judge(results, same, func(cluster []int) []Counts { return countClusters(cluster, truth) })
	}
	return r, nil
}

// judgeClusters fills in figures and errors. A unit of the bootstrap is a true entity with the pairs of its rows; a
// wrong pair belongs to the entity of its first row.
func (s *set) judgeClusters(r *Report, cluster []int, results []compared, truth []string) {
	size := map[int]int{}
	for _, n := range cluster {
		size[n]++
		r.Largest = max(r.Largest, size[n])
	}
	r.Clusters = len(size)
	unit := map[string]int{}
	var units []Counts
	for _, t := range truth {
		if _, ok := unit[t]; !ok {
			unit[t] = len(units)
			units = append(units, Counts{})
		}
	}
	met := make(map[[2]int]bool, len(results))
	for _, c := range results {
		met[[2]int{c.a, c.b}] = true
	}
	leads := match.Leaders(s.records) // identical records share the candidates of the first of them
	meet := func(i, j int) bool {
		i, j = leads[i], leads[j]
		return i == j || met[[2]int{min(i, j), max(i, j)}]
	}
	found := 0
	var mistakes []mistake
	for i := range truth {
		for j := i + 1; j < len(truth); j++ {
			same, together := truth[i] == truth[j], cluster[i] == cluster[j]
			if !same && !together {
				continue
			}
			units[unit[truth[i]]].add(decided(together, same))
			if same {
				r.Positives++
				if meet(i, j) {
					found++
				}
			}
			if same != together {
				mistakes = append(mistakes, mistake{i, j, together, s.matcher.Sum(s.matcher.Compare(s.records[i], s.records[j]))})
			}
		}
	}
	r.finish(units, nil, 0)
	r.BCubed = bCubed(cluster, truth)
	r.Blocking = ratio(found, r.Positives)
	r.Errors = s.worstOf(mistakes)
}
