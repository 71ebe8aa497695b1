// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

// Batch resolves a set of records from scratch, in memory: entities = f(live records, decisions, schema, term-frequency
// table). The newest decision on a topic counts. Batch is the oracle of the tests: whatever the history of puts,
// deletes, decisions and crashes, the Resolver must produce the entities that Batch computes from the remaining
// records. It is therefore independent of the Resolver and as simple as possible; it uses package match only, without
// postings or a graph of edges. It returns the members of every entity, the anchor first, ordered by the anchors' birth
// ids. It compares every pair that shares a blocking key, so the set must fit into memory.
func Batch(m *match.Matcher, records []*entity.Record, decisions ...entity.Decision) [][]*entity.Record {
	norms, nodes := make([]*match.Record, len(records)), make([]match.NodeKey, len(records))
	for i, rec := range records {
		norms[i] = m.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
		nodes[i] = match.NodeKey(rec.Ref)
	}
	among := m.Among(match.CountNames(norms))
	decided, chosen := decidedPairs(records, decisions)
	var linked []match.Edge
	for pair, d := range decided {
		e, at := decidedEdge(d)
		linked = append(linked, match.Edge{A: pair[0], B: pair[1], Weight: e.Weight, Decided: at})
	}
	for _, p := range match.Candidates(norms) {
		_, said := decided[p]
		if v, weight, is := among.Link(norms[p[0]], norms[p[1]]); is && (!said || weight == match.Equal) {
			linked = append(linked, match.Edge{A: p[0], B: p[1], Weight: weight, Vector: v})
		}
	}
	unmet := m.UnmetOf(func(i int) *match.Record { return norms[i] })
	var entities [][]*entity.Record
	for _, group := range match.ClusterAll(nodes, linked, unmet) {
		members := make([]*entity.Record, len(group))
		for n, i := range group {
			members[n] = records[i]
		}
		slices.SortFunc(members, func(a, b *entity.Record) int {
			return cmp.Or(chosen[b.PUID].Compare(chosen[a.PUID]), compareBirth(a.Birth, b.Birth))
		})
		slices.SortFunc(members[1:], func(a, b *entity.Record) int { return compareBirth(a.Birth, b.Birth) })
		entities = append(entities, members)
	}
	slices.SortFunc(entities, func(a, b []*entity.Record) int { return bytes.Compare(a[0].Birth[:], b[0].Birth[:]) })
	return entities
}

// decidedPairs returns the newest decisions about pairs, by the positions of their records, lower first,
// and the times at which records were chosen as anchors.
func decidedPairs(records []*entity.Record, decisions []entity.Decision) (pairs map[[2]int]entity.Decision, chosen map[entity.PUID]time.Time) {
	newest := map[entity.DecisionKey]entity.Decision{}
	for _, d := range decisions {
		d = lower(d)
		if old, there := newest[d.Key()]; !there || d.At.After(old.At) {
			newest[d.Key()] = d
		}
	}
	at := map[entity.PUID]int{}
	for i, rec := range records {
		at[rec.PUID] = i
	}
	pairs, chosen = map[[2]int]entity.Decision{}, map[entity.PUID]time.Time{}
	for _, d := range newest {
		i, a := at[d.A]
		j, b := at[d.B]
		switch {
		case d.Withdrawn || !a:
		case d.Verdict == entity.VerdictAnchor:
			chosen[d.A] = d.At
		case d.Pair() && b:
			pairs[[2]int{min(i, j), max(i, j)}] = d
		}
	}
	return pairs, chosen
}

// compareBirth orders records by time of birth, then by birth id.
func compareBirth(a, b locality.ID) int {
	if c := bytes.Compare(a[10:], b[10:]); c != 0 {
		return c
	}
	return a.Compare(b)
}
