// SPDX-License-Identifier: Apache-2.0

package review

import (
	"cmp"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

// question is a pair with its place in an order. The cursor of a page is the place of its last question.
type question struct {
	place int64
	edge  derived.Edge
	pair  *Pair // nil until it is read
}

func (q *question) compare(place int64, a, b entity.PUID) int {
	return cmp.Or(cmp.Compare(q.place, place), cmp.Compare(q.edge.A, a), cmp.Compare(q.edge.B, b))
}
