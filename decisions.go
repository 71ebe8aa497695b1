// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

// decisionsOf reads what stands under records, by record and topic.
func (s *Service) decisionsOf(ctx context.Context, puids []entity.PUID) ([]entity.Decision, error) {
	groups := map[cell.ID][]entity.PUID{}
	for _, p := range puids {
		id, err := located(ctx, s, int64(p), (*cell.Map).Puid)
		if err != nil {
			return nil, fmt.Errorf("record %v: %w", p, err)
		}
		groups[id] = append(groups[id], p)
	}
	var all []entity.Decision
	for id, group := range groups {
		if err := s.view(ctx, id, func(tx resolve.Tx) error {
			found, err := tx.Decisions(ctx, group)
			all = append(all, found...)
			return err
		}); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b entity.Decision) int { return a.Key().Compare(b.Key()) })
	return all, nil
}

// Decisions lists what people decided, in the order of the records' puids. One about a pair stands in the
// list once, under the smaller puid of the two.
func (s *Service) Decisions(ctx context.Context, q DecisionQuery) (*DecisionPage, error) {
	limit, err := checkLimit(q.Limit)
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
		found, err = s.decisionsAbout(ctx, q.Of)
		found = slices.DeleteFunc(found, func(d entity.Decision) bool { return !listed(d) || d.Key().Compare(after) <= 0 })
		found = found[:min(len(found), limit+1)]
	} else {
		found, err = s.listDecisions(ctx, after, limit+1, func(d entity.Decision) bool {
			return listed(d) && !(d.Pair() && d.B < d.A)
		})
	}
	if err != nil {
		return nil, err
	}
	page := &DecisionPage{}
	if len(found) > limit {
		found = found[:limit]
		last := found[limit-1].Key()
		page.Next = strconv.FormatInt(int64(last.A), 10) + " " + last.Topic
	}
	page.Decisions, err = s.told(ctx, found)
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

var errBadAfter = &InvalidError{[]Problem{{"/after", "invalid", "it is not the next of a page before"}}}

// decisionsAbout are those under the record of an address, or under any record of an entity; a pair of two
// of its records once.
func (s *Service) decisionsAbout(ctx context.Context, address string) ([]entity.Decision, error) {
	var puids []entity.PUID
	if id, err := locality.Parse(address); err == nil {
		e, err := s.Entity(ctx, id)
		if err != nil {
			return nil, pointAt("/of", err)
		}
		puids = members(e.Entity)
	} else {
		rec, err := s.decidedAt(ctx, address, true)
		if err != nil {
			return nil, pointAt("/of", err)
		}
		puids = []entity.PUID{rec.PUID}
	}
	found, err := s.decisionsOf(ctx, puids)
	return slices.DeleteFunc(found, func(d entity.Decision) bool {
		return d.Pair() && d.B < d.A && slices.Contains(puids, d.B)
	}), err
}

// listDecisions reads cell after cell.
func (s *Service) listDecisions(ctx context.Context, after entity.DecisionKey, limit int, listed func(entity.Decision) bool) (list []entity.Decision, err error) {
	cells := slices.SortedFunc(slices.Values(s.Map().Cells()), func(a, b cell.ID) int {
		loA, _ := s.Map().PuidRange(a)
		loB, _ := s.Map().PuidRange(b)
		return cmp.Compare(loA, loB)
	})
	for _, id := range cells {
		lo, hi := s.Map().PuidRange(id)
		if int64(after.A) >= hi {
			continue
		}
		at := after
		if int64(at.A) < lo {
			at = entity.DecisionKey{A: entity.PUID(lo)}
		}
		for more := true; more && len(list) < limit; {
			if err := s.view(ctx, id, func(tx resolve.Tx) error {
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

// decidedBetween finds what counts among decisions about two sets of records, the newest; nil if nobody decided.
func decidedBetween(decisions []entity.Decision, a, b []entity.PUID) *entity.Decision {
	var newest *entity.Decision
	for i := range decisions {
		d := &decisions[i]
		if d.Pair() && !d.Withdrawn && slices.Contains(a, d.A) && slices.Contains(b, d.B) && (newest == nil || d.At.After(newest.At)) {
			newest = d
		}
	}
	return newest
}
