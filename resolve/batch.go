// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"bytes"
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

// Batch resolves a set of records from nothing, in memory: entities = f(live records, schema,
// pack). It is written apart from the Resolver and as simply as can be, of package match alone and
// without postings or a graph of edges, for it is the oracle: what the Resolver has made of any
// history of puts and deletes, with any crashes in between, must be what Batch makes of the records
// that are left. It answers with the members of every entity, the anchor first, ordered by the
// anchors' birth ids. It compares every pair that shares a feature: use it on sets that fit into
// memory.
func Batch(m *match.Matcher, records []*entity.Record) [][]*entity.Record {
	norms, nodes := make([]*match.Record, len(records)), make([]match.NodeKey, len(records))
	for i, rec := range records {
		norms[i] = m.Normalise(rec.Source, rec.Key, match.Attributes(rec.Attributes))
		nodes[i] = match.NodeKey(rec.Ref)
	}
	var linked []match.Edge
	for _, p := range match.Candidates(norms) {
		if v := m.Compare(norms[p[0]], norms[p[1]]); m.Decide(v) != match.Different {
			linked = append(linked, match.Edge{A: p[0], B: p[1], Score: m.Weight(v)})
		}
	}
	var entities [][]*entity.Record
	for _, group := range match.ClusterAll(nodes, linked) {
		members := make([]*entity.Record, len(group))
		for n, i := range group {
			members[n] = records[i]
		}
		slices.SortFunc(members, func(a, b *entity.Record) int { return compareBirth(a.Birth, b.Birth) })
		entities = append(entities, members)
	}
	slices.SortFunc(entities, func(a, b []*entity.Record) int { return bytes.Compare(a[0].Birth[:], b[0].Birth[:]) })
	return entities
}

// compareBirth orders records by the time of their birth, then by birth id.
func compareBirth(a, b locality.ID) int {
	if c := bytes.Compare(a[10:], b[10:]); c != 0 {
		return c
	}
	return a.Compare(b)
}
