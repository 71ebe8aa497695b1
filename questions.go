// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

// Limits of what is decided and reviewed.
const (
	MaxAuthor   = 255  // bytes of an author
	MaxReason   = 1024 // bytes of a reason
	MaxReview   = 100  // pairs of a page
	MaxUnmerged = 100  // records of one Unmerge
)

// Decide is a decision to be made, or withdrawn. A and B are addresses: SOURCE:KEY, a puid, or an entity
// id, which stands for its anchor.
type Decide struct {
	Verdict   entity.Verdict
	A, B      string // B of a pair only
	Attribute string // of VerdictValue
	Value     string
	Author    string // at most 255 bytes
	Reason    string // at most 1024 bytes
	// Withdraw takes back what was decided on the topic.
	Withdraw bool
}

// Decided is a decision as it stands, with the keys of its records; a record that was deleted has none.
type Decided struct {
	entity.Decision
	RefA entity.Ref `json:"ref_a,omitzero"`
	RefB entity.Ref `json:"ref_b,omitzero"`
	// EntityA and EntityB are where the records are now; zero for one that was deleted.
	EntityA locality.ID `json:"entity_a,omitzero"`
	EntityB locality.ID `json:"entity_b,omitzero"`
	// Pending tells that the decision is durable and that what follows from it is not worked out yet.
	Pending bool `json:"pending,omitempty"`
	// Conflict says, in a sentence, why entities are not as it says: newer decisions speak against it.
	Conflict string `json:"conflict,omitempty"`
}

// DecideResult is what became of one Decide.
type DecideResult struct {
	Decided
	// Watermark is a place in the logs at or after the decision; see PutResult.
	Watermark Watermark
	// Err is set if this one was refused or failed; it is an *InvalidError for what could not be accepted.
	Err error
}

// By is who decides, and why.
type By struct{ Author, Reason string }

// DecisionQuery asks for decisions.
type DecisionQuery struct {
	// Of is the address of a record, or of an entity, whose decisions are asked for: those about any of its
	// records. "" asks for all there are.
	Of string
	// Withdrawn takes in those that were withdrawn.
	Withdrawn bool
	After     string // the Next of the page before; "" to begin
	Limit     int    // 1 to 1000; 0 for 100
}

// DecisionPage is a page of decisions. Next is the After of the next one, "" if there is none.
type DecisionPage struct {
	Decisions []Decided `json:"decisions"`
	Next      string    `json:"next,omitempty"`
}

// ReviewQuery asks for pairs that a person should decide about.
type ReviewQuery struct {
	After string // the Next of the page before; "" to begin
	Limit int    // 1 to MaxReview; 0 for 20
}

// ReviewPage is a page of the review queue, the best pairs first. Next is the After of the next one, ""
// if there is none.
type ReviewPage struct {
	Pairs []ReviewPair `json:"pairs"`
	Next  string       `json:"next,omitempty"`
}

// ReviewPair is a pair of records in two entities that a person should decide about.
type ReviewPair struct {
	A           entity.Ref        `json:"a"`
	B           entity.Ref        `json:"b"`
	EntityA     locality.ID       `json:"entity_a"`
	EntityB     locality.ID       `json:"entity_b"`
	Explanation match.Explanation `json:"explanation"`
	// Merges is how many records one entity would have if the two are the same thing.
	Merges int `json:"merges"`
}

// Relation is what two entities are to each other without being one.
type Relation struct {
	// Relation is part_of: this entity is a part of the other; has_part: the other is a part of this one;
	// or co_located: two things at one spot.
	Relation string        `json:"relation"`
	Entity   locality.ID   `json:"entity"` // the other one
	Name     string        `json:"name"`
	Via      [2]entity.Ref `json:"via"` // the records by which it was seen, this entity's first
	Bits     match.Score   `json:"bits"`
}

// How tells how an entity came to be: the steps of clustering that its records went through, in order,
// and what the log still knows of it.
type How struct {
	Entity    *entity.Entity `json:"entity"`
	Requested locality.ID    `json:"requested"`
	Threshold match.Score    `json:"threshold"`
	// Component is how many records were clustered together with those of the entity; Cut is the score that
	// an edge had to have to connect them, the threshold unless they were too many.
	Component int         `json:"component"`
	Cut       match.Score `json:"cut"`
	Steps     []HowStep   `json:"steps"`
	// Events are the latest changes of the entity and of its records that the logs still hold; see History.
	Events []CellChange  `json:"events"`
	Since  time.Time     `json:"since,omitzero"`
	Took   time.Duration `json:"took_ns"`
}

// History is what the logs still hold of an entity and of the records that it has: their puts, the entities
// that they were, and the merges and splits in between.
type History struct {
	Entity *entity.Entity `json:"entity"`
	// Events, the oldest first. Between two cells their clocks tell which was first.
	Events []CellChange `json:"events"`
	// Since is from when on there is nothing missing; zero is from the beginning.
	Since time.Time `json:"since,omitzero"`
}

// HowStep is one step: two groups of records that became one because of a pair of them, or did not.
type HowStep struct {
	A      []entity.Ref `json:"a"`
	B      []entity.Ref `json:"b"`
	Pair   Join         `json:"pair"`
	Sum    match.Sum    `json:"sum"`    // the evidence across all pairs of the two groups
	Absent int          `json:"absent"` // pairs that share no clue: each counts against
	Joined bool         `json:"joined"`
	// Decided is what a person said of the pair, if that made the step, or kept it from being made.
	Decided *entity.Decision `json:"decided,omitempty"`
	Against string           `json:"against,omitempty"` // what kept the two apart, in a sentence
}

// WhatIf asks what entities would be if something were otherwise. Nothing is written. The fields add up.
type WhatIf struct {
	// Of is the address of a record or an entity: what is looked at is all that it is connected with.
	Of string `json:"of"`
	// Delete are the addresses of records that would not be there.
	Delete []string `json:"delete,omitempty"`
	// Decide are decisions that would be made.
	Decide []Decide `json:"decide,omitempty"`
	// Bits are bits that a level of agreement would have, by "field: level" as explanations name them.
	Bits map[string]match.Score `json:"bits,omitempty"`
	// Threshold in bits; 0 is the one that is.
	Threshold match.Score `json:"threshold,omitempty"`
}

// Supposed is the answer to WhatIf.
type Supposed struct {
	Before []SupposedEntity `json:"before"` // those that are, and would change or be no more
	After  []SupposedEntity `json:"after"`  // those that would be
	Took   time.Duration    `json:"took_ns"`
}

// SupposedEntity is an entity as it is or would be.
type SupposedEntity struct {
	ID      locality.ID  `json:"id"`
	Kind    string       `json:"kind"`
	Records []entity.Ref `json:"records"`
	View    entity.View  `json:"view"`
}
