// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

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
	page.Decisions, err = h.Describe(ctx, found)
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
		return key, engine.ErrBadAfter
	}
	return entity.DecisionKey{A: entity.PUID(n), Topic: topic}, nil
}

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
func (h *Handle) list(ctx context.Context, after entity.DecisionKey, limit int,
	listed func(entity.Decision) bool) (list []entity.Decision, err error) {
	err = h.engine.Whole(ctx, func([]cell.ID) error {
		list = nil
		for _, id := range h.engine.ByPUID() {
			if err := h.listCell(ctx, id, after, limit, listed, &list); err != nil {
				return fmt.Errorf("decisions of cell %v: %w", id, err)
			}
		}
		return nil
	})
	return list, err
}

// listCell adds the decisions of a cell up to the limit.
func (h *Handle) listCell(ctx context.Context, id cell.ID, after entity.DecisionKey, limit int,
	listed func(entity.Decision) bool, list *[]entity.Decision) error {
	lo, hi := h.engine.Map().PuidRange(id)
	if int64(after.A) >= hi {
		return nil
	}
	if int64(after.A) < lo {
		after = entity.DecisionKey{A: entity.PUID(lo)}
	}
	for more := true; more && len(*list) < limit; {
		if err := h.engine.View(ctx, id, func(tx storage.Tx) error {
			rows, err := tx.ListDecisions(ctx, after, limit)
			for _, d := range rows {
				if after = d.Key(); listed(d) && len(*list) < limit {
					*list = append(*list, d)
				}
			}
			more = len(rows) == limit
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// pageOfAll is how many decisions are read at a time where all are.
const pageOfAll = 1000

// EachPair calls fn once for each decision about a pair, including withdrawn ones.
func (h *Handle) EachPair(ctx context.Context, fn func(*entity.Decision)) error {
	_, err := h.list(ctx, entity.DecisionKey{A: math.MinInt64}, pageOfAll, func(d entity.Decision) bool {
		if d.Pair() && d.A < d.B {
			fn(&d)
		}
		return false
	})
	return err
}

// Between returns the decision in force between two sets of records, which is the newest; nil if there is none.
func Between(decisions []entity.Decision, a, b []entity.PUID) *entity.Decision {
	var newest *entity.Decision
	for i := range decisions {
		d := &decisions[i]
		if d.Pair() && !d.Withdrawn && slices.Contains(a, d.A) && slices.Contains(b, d.B) &&
			(newest == nil || d.At.After(newest.At)) {
			newest = d
		}
	}
	return newest
}
