// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/locus-db/locus/bench/internal/compare"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

func BenchmarkGroupPuids(b *testing.B) {
	puids, _ := draw(million())
	var groups cell.Groups
	if err := cell.GroupPuids(&groups, grown, puids); err != nil { // takes the memory that later calls use
		b.Fatal(err)
	}
	suite.Run(b,
		batches(puids, func(part []int64) { compare.Fail(cell.GroupPuids(&groups, grown, part)) }),
		appended(puids, grown.Puid),
	)
}

func BenchmarkGroupEntities(b *testing.B) {
	_, ids := draw(million())
	var groups cell.Groups
	if err := cell.GroupEntities(&groups, grown, ids); err != nil {
		b.Fatal(err)
	}
	suite.Run(b,
		batches(ids, func(part []locality.ID) { compare.Fail(cell.GroupEntities(&groups, grown, part)) }),
		appended(ids, grown.Entity),
	)
}

// batches groups n addresses, a million at a time.
func batches[K any](addresses []K, group func([]K)) subject {
	return subject{Peer: "locus", Loop: func(n int) {
		for n > 0 {
			part := addresses[:min(n, len(addresses))]
			group(part)
			n -= len(part)
		}
	}}
}

// appended is the short way to group: a map of slices.
func appended[K any](addresses []K, cellOf func(K) (cell.ID, error)) subject {
	s := batches(addresses, func(part []K) {
		groups := map[cell.ID][]int{}
		for i, a := range part {
			c, err := cellOf(a)
			compare.Fail(err)
			groups[c] = append(groups[c], i)
		}
	})
	s.Peer = "append"
	return s
}
