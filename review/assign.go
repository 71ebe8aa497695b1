// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/decisions"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

const (
	// maxAssigned is how many pairs of an installation are assigned at a time.
	maxAssigned = 2000
	// DefaultAssigned and LongestAssigned are for how long a pair is assigned.
	DefaultAssigned = 7 * 24 * time.Hour
	LongestAssigned = 90 * 24 * time.Hour
	// assignedName is the row of the authority with all assignments.
	assignedName = "assignments"
)

// assigned is a stored assignment. Records are named by their puids, so that the row has no key of a record that is
// erased.
type assigned struct {
	derived.Pair
	Assignment
}

// Assign assigns pairs of the review queue to a person for some time, 0 for DefaultAssigned, in place of their former
// assignments. With to "" it releases them. It returns how many assignments were made or ended.
func (h *Handle) Assign(ctx context.Context, pairs []Pair, to, by string,
	keep time.Duration) (n int, err error) {
	if err := h.engine.CheckWrites(); err != nil {
		return 0, err
	}
	if err := checkAssignee(to); err != nil {
		return 0, err
	}
	if keep == 0 {
		keep = DefaultAssigned
	}
	if keep < 0 || keep > LongestAssigned {
		return 0, problem.Invalid("/days", "invalid", "a pair is assigned for 1 to %d days", int(LongestAssigned.Hours()/24))
	}
	now := h.engine.Now().UTC().Truncate(time.Millisecond)
	err = h.engine.Update(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		list, err := readAssigned(ctx, tx, now)
		if err != nil {
			return err
		}
		n = 0
		for i := range pairs {
			p := pairs[i].puids
			if p == (derived.Pair{}) {
				continue
			}
			before := len(list)
			list = slices.DeleteFunc(list, func(a assigned) bool { return a.Pair == p })
			switch {
			case to != "":
				list = append(list, assigned{p, Assignment{to, by, now.Add(keep)}})
				n++
			case len(list) < before:
				n++
			}
		}
		if len(list) > maxAssigned {
			return problem.Invalid("/pairs", "too_large",
				"%d pairs would be assigned at a time, more than %d: release some first", len(list), maxAssigned)
		}
		body, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("row %s: %w", assignedName, err)
		}
		return tx.PutDefinition(ctx, assignedName, body)
	})
	return n, engine.Wrap(err)
}

func checkAssignee(to string) error {
	switch {
	case to == ToAll || to == ToNone || to == ToMe || to == Open:
		return problem.Invalid("/to", "invalid", "%q is a word of the filter, not a name", to)
	case len(to) > decisions.MaxAuthor:
		return problem.Invalid("/to", "too_large", "%d bytes, at most %d are taken", len(to), decisions.MaxAuthor)
	case strings.TrimSpace(to) != to || strings.ContainsFunc(to, func(r rune) bool { return r < ' ' }):
		return problem.Invalid("/to", "invalid", "it begins or ends with a space, or holds a control character")
	}
	return nil
}

// readAssigned reads the assignments that hold at a time.
func readAssigned(ctx context.Context, tx storage.Tx, now time.Time) (list []assigned, err error) {
	body, err := tx.Definition(ctx, assignedName)
	if err == nil && body != nil {
		err = json.Unmarshal(body, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("row %s: %w", assignedName, err)
	}
	return slices.DeleteFunc(list, func(a assigned) bool { return !a.Until.After(now) }), nil
}

// assignments reads the current assignments. While the authority is unavailable, pairs are shown without them, unless
// the filter needs them.
func (h *Handle) assignments(ctx context.Context, f *Filter) (map[derived.Pair]*Assignment, error) {
	var list []assigned
	if err := h.engine.View(ctx, h.engine.Map().Authority(), func(tx storage.Tx) (err error) {
		list, err = readAssigned(ctx, tx, h.engine.Now())
		return err
	}); err != nil {
		if f.Assigned == "" || f.Assigned == ToAll {
			h.engine.Logger.Warn("review assignments unreadable", "err", err)
			return nil, nil
		}
		return nil, engine.Wrap(err)
	}
	of := make(map[derived.Pair]*Assignment, len(list))
	for i := range list {
		of[list[i].Pair] = &list[i].Assignment
	}
	return of, nil
}

// assign fills in the assignments of pairs, which may be nil.
func assign(pairs []*Pair, of map[derived.Pair]*Assignment) {
	for _, p := range pairs {
		if p != nil {
			p.Assigned = of[p.puids]
		}
	}
}

// Assigned returns the pairs with their current assignments that a filter selects.
func (h *Handle) Assigned(ctx context.Context, pairs []Pair, f *Filter) ([]Pair, error) {
	of, err := h.assignments(ctx, f)
	if err != nil {
		return nil, err
	}
	left := make([]Pair, 0, len(pairs))
	for _, p := range pairs {
		if p.Assigned = of[p.puids]; f.Takes(&p) {
			left = append(left, p)
		}
	}
	return left, nil
}
