// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
)

// Handle makes, lists and looks up decisions. Get it from DB.Decisions of package locus. It is safe for concurrent use.
type Handle struct {
	engine   *engine.Engine
	records  *records.Handle
	entities *entities.Handle
}

// New returns the decisions handle of an installation.
func New(e *engine.Engine, r *records.Handle, en *entities.Handle) *Handle { return &Handle{e, r, en} }

// Limits of decisions and of the review queue.
const (
	MaxAuthor   = 255  // bytes of an author
	MaxBy       = 320  // bytes of a principal
	MaxReason   = 1024 // bytes of a reason
	MaxReview   = 100  // pairs of a page
	MaxUnmerged = 100  // records of one Unmerge
)

// Input is a decision to make or withdraw. A and B are addresses: SOURCE:KEY, a puid, or an entity id, which means the
// entity's anchor.
type Input struct {
	Verdict   entity.Verdict
	A, B      string // B only for a decision about a pair
	Attribute string // for VerdictValue
	Value     string
	Author    string // at most 255 bytes
	By        string // the proved principal, see entity.Decision; at most 320 bytes
	Reason    string // at most 1024 bytes
	// Withdraw withdraws the decision on this topic.
	Withdraw bool
}

// Decided is a stored decision with the keys of its records; the key of a deleted record is zero.
type Decided struct {
	entity.Decision
	RefA entity.Ref `json:"ref_a,omitzero"`
	RefB entity.Ref `json:"ref_b,omitzero"`
	// EntityA and EntityB are the entities the records are in now; zero for a deleted record.
	EntityA locality.ID `json:"entity_a,omitzero"`
	EntityB locality.ID `json:"entity_b,omitzero"`
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

// Query selects decisions.
type Query struct {
	// Of is the address of a record or an entity. It selects the decisions about that record, or about any record of
	// that entity. "" selects all.
	Of string
	// Withdrawn includes withdrawn decisions.
	Withdrawn bool
	After     string // Next of the previous page; "" to begin
	Limit     int    // 1 to 1000; 0 for 100
}

// Page is a page of decisions. Next is the After of the next page, "" at the end.
type Page struct {
	Decisions []Decided `json:"decisions"`
	Next      string    `json:"next,omitempty"`
}

// List returns decisions in the order of their records' puids. A decision about a pair is listed once, under the
// smaller puid.
func (h *Handle) List(ctx context.Context, q Query) (*Page, error) {
	limit, err := engine.Limit(q.Limit)
	if err != nil {
		return nil, err
	}
	after, err := parseAfter(q.After)
	if err != nil {
		return nil, err
	}
	listed := func(d entity.Decision) bool { return q.Withdrawn || !d.Withdrawn }
	var found []entity.Decision
	if q.Of != "" {
		found, err = h.about(ctx, q.Of)
		found = slices.DeleteFunc(found, func(d entity.Decision) bool { return !listed(d) || d.Key().Compare(after) <= 0 })
		found = found[:min(len(found), limit+1)]
	} else {
		found, err = h.list(ctx, after, limit+1, func(d entity.Decision) bool {
			return listed(d) && !(d.Pair() && d.B < d.A)
		})
	}
	if err != nil {
		return nil, err
	}
	page := &Page{}
	if len(found) > limit {
		found = found[:limit]
		last := found[limit-1].Key()
		page.Next = strconv.FormatInt(int64(last.A), 10) + " " + last.Topic
	}
	page.Decisions, err = h.describe(ctx, found)
	return page, err
}

func parseAfter(after string) (key entity.DecisionKey, err error) {
	key.A = math.MinInt64
	if after == "" {
		return key, nil
	}
	puid, topic, _ := strings.Cut(after, " ")
	n, err := strconv.ParseInt(puid, 10, 64)
	if err != nil {
		return key, errBadAfter
	}
	return entity.DecisionKey{A: entity.PUID(n), Topic: topic}, nil
}

var errBadAfter = problem.Invalid("/after", "invalid", "it is not the next of a page before")

// about returns the decisions about the record at an address, or about any record of the entity there. A decision about
// two of its records is listed once.
func (h *Handle) about(ctx context.Context, address string) ([]entity.Decision, error) {
	var puids []entity.PUID
	if id, err := locality.Parse(address); err == nil {
		e, err := h.entities.Get(ctx, id)
		if err != nil {
			return nil, problem.At("/of", err)
		}
		puids = e.Entity.PUIDs()
	} else {
		rec, err := h.record(ctx, address, true)
		if err != nil {
			return nil, problem.At("/of", err)
		}
		puids = []entity.PUID{rec.PUID}
	}
	found, err := h.engine.Decisions(ctx, puids)
	return slices.DeleteFunc(found, func(d entity.Decision) bool {
		return d.Pair() && d.B < d.A && slices.Contains(puids, d.B)
	}), err
}

// list reads decisions cell by cell.
func (h *Handle) list(ctx context.Context, after entity.DecisionKey, limit int, listed func(entity.Decision) bool) (list []entity.Decision, err error) {
	for _, id := range h.engine.ByPUID() {
		lo, hi := h.engine.Map().PuidRange(id)
		if int64(after.A) >= hi {
			continue
		}
		at := after
		if int64(at.A) < lo {
			at = entity.DecisionKey{A: entity.PUID(lo)}
		}
		for more := true; more && len(list) < limit; {
			if err := h.engine.View(ctx, id, func(tx storage.Tx) error {
				rows, err := tx.ListDecisions(ctx, at, limit)
				for _, d := range rows {
					if at = d.Key(); listed(d) && len(list) < limit {
						list = append(list, d)
					}
				}
				more = len(rows) == limit
				return err
			}); err != nil {
				return nil, fmt.Errorf("decisions of cell %v: %w", id, err)
			}
		}
	}
	return list, nil
}

// Between returns the decision in force between two sets of records, which is the newest; nil if there is none.
func Between(decisions []entity.Decision, a, b []entity.PUID) *entity.Decision {
	var newest *entity.Decision
	for i := range decisions {
		d := &decisions[i]
		if d.Pair() && !d.Withdrawn && slices.Contains(a, d.A) && slices.Contains(b, d.B) && (newest == nil || d.At.After(newest.At)) {
			newest = d
		}
	}
	return newest
}
