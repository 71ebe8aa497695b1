// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"testing"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/demo"
	"github.com/locus-db/locus/match"
)

// BenchmarkBuild builds the entities of the demo, as a load does: from records that are not normalised. An operation is
// a record.
func BenchmarkBuild(b *testing.B) {
	const all = 20_000
	kind, generator := newKind(match.New(match.Place(), nil)), demo.New(1, all)
	places, records := map[int64][]int{}, make([]*entity.Record, all)
	var order []int64
	for i := range records {
		r := generator.Record(int64(i))
		records[i] = &entity.Record{
			PUID: entity.PUID(i + 1), Ref: entity.Ref{Source: r.Source, Key: r.Key}, Kind: "place", Version: 1,
			Observed: time.UnixMilli(1), Attributes: r.Attributes,
		}
		if places[r.Place] == nil {
			order = append(order, r.Place)
		}
		places[r.Place] = append(places[r.Place], i)
	}
	resolver, built := &Resolver{}, 0
	b.ReportAllocs()
	for built < b.N {
		for _, place := range order {
			c := &cluster{}
			for _, i := range places[place] {
				c.nodes = append(c.nodes, &node{Record: records[i], kind: kind})
			}
			if resolver.build(c); built+len(c.nodes) > b.N {
				return
			}
			built += len(c.nodes)
		}
	}
}
