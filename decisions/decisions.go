// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
)

// Handle makes, lists and looks up decisions. Get it from DB.Decisions of package locus. It is safe for concurrent use.
type Handle struct {
	engine   *engine.Engine
	records  *records.Handle
	entities *entities.Handle
}

// New returns the decisions handle of an installation.
func New(e *engine.Engine, r *records.Handle, en *entities.Handle) *Handle { return &Handle{e, r, en} }

// Limits of decisions.
const (
	MaxAuthor   = 255  // bytes of an author
	MaxBy       = 320  // bytes of a principal
	MaxReason   = 1024 // bytes of a reason
	MaxUnmerged = 100  // records of one Unmerge
)

// Input is a decision to make or withdraw. A and B are addresses: SOURCE:KEY, a puid, or an entity id, which means the
// entity's anchor. That two entity ids are the same thing is a decision about the entities: see Merge.
type Input struct {
	Verdict   entity.Verdict
	A, B      string // B only for a decision about a pair
	Attribute string // for VerdictValue
	Value     string
	Author    string // at most 255 bytes
	By        string // the proved principal, see entity.Decision; at most 320 bytes
	Reason    string // at most 1024 bytes
	// Withdraw withdraws the decision on this topic; with Batch only if it is of that batch.
	Withdraw bool
	// Batch and Settles have the meaning of entity.Decision.
	Batch   string
	Settles bool
}

// Decided is a stored decision with the keys of its records; the key of a deleted record is zero.
type Decided struct {
	entity.Decision
	RefA entity.Ref `json:"ref_a,omitzero"`
	RefB entity.Ref `json:"ref_b,omitzero"`
	// EntityA and EntityB are the entities the records are in now; zero for a deleted record.
	EntityA locality.ID `json:"entity_a,omitzero"`
	EntityB locality.ID `json:"entity_b,omitzero"`
	// Kind is the kind of the records, "" if the first one is deleted.
	Kind string `json:"kind,omitempty"`
	// Hidden means that Value is withheld from the reader.
	Hidden bool `json:"hidden,omitempty"`
	// Pending reports that the decision is durable but not applied to entities yet.
	Pending bool `json:"pending,omitempty"`
	// Conflict says in a sentence why entities do not follow the decision: newer decisions override it.
	Conflict string `json:"conflict,omitempty"`
}

// Result is the result of one Input.
type Result struct {
	Decided
	// Watermark is a position in the logs at or after the decision; see records.Result.
	Watermark changelog.Watermark
	// Err is set if this item was rejected or failed. It is a *locus.InvalidError for invalid input.
	Err error
}

// By names the author of a decision, the reason, and the principal that proves the author, "" if none does.
type By struct{ Author, Reason, Principal string }
