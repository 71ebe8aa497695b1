// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"bytes"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// Batch resolves a set of records from nothing, in memory: entities = f(live records, schema,
// pack). It is written apart from the Resolver and as simply as can be, for it is the oracle: what
// the Resolver has made of any history of puts and deletes, with any crashes in between, must be
// what Batch makes of the records that are left. It answers with the members of every entity, the
// anchor first, ordered by the anchors' birth ids. It compares every pair that shares a feature:
// use it on sets that fit into memory.
func Batch(m *match.Matcher, records []*entity.Record) [][]*entity.Record {
	norms := make([]*match.Record, len(records))
	carriers := map[uint64][]int{}
	for i, rec := range records {
		norms[i] = m.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
		for _, f := range norms[i].Features() {
			carriers[f.Hash] = append(carriers[f.Hash], i)
		}
	}
	scores := map[[2]int]match.Score{}
	for _, group := range carriers {
		if len(group) > MaxCarriers {
			continue
		}
		for n, i := range group {
			for _, j := range group[n+1:] {
				if score := m.Score(m.Compare(norms[i], norms[j])); m.Decide(score) != match.Different {
					scores[[2]int{i, j}] = score
				}
			}
		}
	}
	all := make([]int, len(records))
	for i := range all {
		all[i] = i
	}
	var entities [][]*entity.Record
	for _, component := range cut(all, scores, match.Threshold) {
		keys := make([]match.NodeKey, len(component))
		var linked []match.Edge
		for n, i := range component {
			keys[n] = match.NodeKey(records[i].Ref)
			for k, j := range component[:n] {
				if score, ok := scores[[2]int{j, i}]; ok {
					linked = append(linked, match.Edge{A: k, B: n, Score: score})
				}
			}
		}
		for _, group := range match.Cluster(keys, linked) {
			members := make([]*entity.Record, len(group))
			for n, k := range group {
				members[n] = records[component[k]]
			}
			slices.SortFunc(members, func(a, b *entity.Record) int { return compareBirth(a.Birth, b.Birth) })
			entities = append(entities, members)
		}
	}
	slices.SortFunc(entities, func(a, b []*entity.Record) int { return bytes.Compare(a[0].Birth[:], b[0].Birth[:]) })
	return entities
}

// cut splits records, in ascending order, into components over edges of at least the given score,
// and those that are too large again at a higher one.
func cut(records []int, scores map[[2]int]match.Score, least match.Score) [][]int {
	parent := make(map[int]int, len(records))
	for _, i := range records {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for pair, score := range scores {
		_, inA := parent[pair[0]]
		_, inB := parent[pair[1]]
		if inA && inB && score >= least {
			parent[root(pair[0])] = root(pair[1])
		}
	}
	parts := map[int][]int{}
	for _, i := range records {
		parts[root(i)] = append(parts[root(i)], i)
	}
	var components [][]int
	for _, part := range parts {
		switch {
		case len(part) <= match.MaxComponent, least >= match.CutMax && len(part) <= MaxLinked:
			components = append(components, part)
		case least >= match.CutMax:
			for _, i := range part {
				components = append(components, []int{i})
			}
		default:
			components = append(components, cut(part, scores, least+match.CutStep)...)
		}
	}
	return components
}
