// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"slices"

	"github.com/locus-db/locus/match"
)

// candidates answers with the pairs of records (first index lower) that share a
// feature which is not generic, ordered. Only pairs that allow admits are named.
func candidates(records []*match.Record, allow func(i, j int) bool) [][2]int32 {
	postings := map[uint64][]int32{}
	for i, r := range records {
		for _, f := range r.Features() {
			postings[f.Hash] = append(postings[f.Hash], int32(i))
		}
	}
	met := make([]int32, len(records)) // the last record that met this one, plus one
	var pairs [][2]int32
	for i, r := range records {
		for _, f := range r.Features() {
			list := postings[f.Hash]
			if len(list) > match.GenericAbove {
				continue
			}
			for _, j := range list {
				if int(j) > i && met[j] != int32(i)+1 && allow(i, int(j)) {
					met[j] = int32(i) + 1
					pairs = append(pairs, [2]int32{int32(i), j})
				}
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return pairs
}
