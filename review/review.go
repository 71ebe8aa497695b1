// SPDX-License-Identifier: Apache-2.0

package review

import (
	"strconv"
	"time"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// Handle lists pairs to review, assigns them, and decides about many at once. Get it from DB.Review of package locus.
// It is safe for concurrent use.
type Handle struct {
	engine    *engine.Engine
	entities  *entities.Handle
	decisions *decisions.Handle
}

// New returns the review handle of an installation.
func New(e *engine.Engine, en *entities.Handle, d *decisions.Handle) *Handle {
	return &Handle{e, en, d}
}

// MaxPage is the maximum number of pairs of a page.
const MaxPage = 100

// Page is a page of the review queue. Next is the After of the next page, "" at the end.
type Page struct {
	Pairs []Pair `json:"pairs"`
	Next  string `json:"next,omitempty"`
}

// Pair is a pair of records for a human to decide: in two entities, or in one if Joined.
type Pair struct {
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
func (p *Pair) Disagreements() (names []string) {
	for _, l := range p.Explanation.Lines {
		if l.Weight < 0 {
			names = append(names, l.Attribute)
		}
	}
	return names
}
