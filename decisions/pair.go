// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"cmp"
	"strconv"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// ReviewPair is a pair of records for a human to decide: in two entities, or in one if Joined.
type ReviewPair struct {
	A           entity.Ref        `json:"a"`
	B           entity.Ref        `json:"b"`
	EntityA     locality.ID       `json:"entity_a"`
	EntityB     locality.ID       `json:"entity_b"`
	Kind        string            `json:"kind"`
	Explanation match.Explanation `json:"explanation"`
	// Merges is how many records the entity would have if the two are the same thing.
	Merges int `json:"merges"`
	// Joined reports that the two are in one entity already.
	Joined bool `json:"joined,omitempty"`
	// Teaches is how many bits the answer teaches, 0 to 9; see learn.Bits.
	Teaches float64 `json:"teaches"`
	// Assigned is the assignment of the pair, nil if there is none.
	Assigned *Assignment `json:"assigned,omitempty"`
	settles  int         // pairs of records that the answer is about
	puids    derived.Pair
}

// Assignment is the person who is to answer a pair, and the time until which the pair is reserved.
type Assignment struct {
	To    string    `json:"to"`
	By    string    `json:"by,omitempty" doc:"Person who assigned it"`
	Until time.Time `json:"until"`
}

// WholeBits are the whole bits of a match weight, as Filter.Bits has them.
func WholeBits(w match.Weight) string { return strconv.Itoa(int(w) / 100) }

// Disagreements returns the attributes that weigh against the pair.
func (p *ReviewPair) Disagreements() (names []string) {
	for _, l := range p.Explanation.Lines {
		if l.Weight < 0 {
			names = append(names, l.Attribute)
		}
	}
	return names
}

// question is a pair with its place in an order. The cursor of a page is the place of its last question.
type question struct {
	place int64
	edge  derived.Edge
	pair  *ReviewPair // nil until it is read
}

func (q *question) compare(place int64, a, b entity.PUID) int {
	return cmp.Or(cmp.Compare(q.place, place), cmp.Compare(q.edge.A, a), cmp.Compare(q.edge.B, b))
}
