// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve"
)

// Limits of a supposition.
const (
	MaxSupposed = 100 // records deleted, decisions and bits together
	maxBits     = 100 * 100
)

// WhatIf answers with what entities would be if something were otherwise: computed by the code that resolves,
// from what is stored. Nothing is written. A feature that more than resolve.MaxCarriers records carry tells
// nothing apart, though some of them were deleted.
func (s *Service) WhatIf(ctx context.Context, q WhatIf) (*Supposed, error) {
	begin := time.Now()
	if err := q.check(); err != nil {
		return nil, err
	}
	rec, err := s.recordAt(ctx, q.Of)
	if err != nil {
		return nil, pointAt("/of", err)
	}
	if _, err := s.kind(rec.Kind).Matcher.With(q.Bits, q.Threshold); err != nil {
		return nil, &InvalidError{[]Problem{{"/bits", "unknown_field", err.Error()}}}
	}
	about := resolve.Supposition{Of: []entity.PUID{rec.PUID}, Bits: q.Bits, Threshold: q.Threshold}
	for i, address := range q.Delete {
		gone, err := s.recordAt(ctx, address)
		if err != nil {
			return nil, pointAt(fmt.Sprintf("/delete/%d", i), err)
		}
		about.Without = append(about.Without, gone.PUID)
	}
	var before, after []*entity.Entity
	err = s.again(ctx, func() (err error) {
		before, after, err = s.resolver.Suppose(ctx, s.kind(rec.Kind), about)
		return err
	})
	if errors.Is(err, resolve.ErrTooMany) {
		return nil, &InvalidError{[]Problem{{"/of", "too_large", fmt.Sprintf("more than %d records are connected with it", resolve.MaxLinked)}}}
	}
	if err != nil {
		return nil, fmt.Errorf("what if: %w", err)
	}
	return &Supposed{Before: supposed(before), After: supposed(after), Took: time.Since(begin)}, nil
}

// check holds that something is supposed, and within limits.
func (q *WhatIf) check() error {
	var problems []Problem
	switch n := len(q.Delete) + len(q.Decide) + len(q.Bits); {
	case n > MaxSupposed:
		problems = append(problems, Problem{"", "too_large", fmt.Sprintf("%d things are supposed, more than %d", n, MaxSupposed)})
	case n == 0 && q.Threshold == 0:
		problems = append(problems, Problem{"", "invalid", "nothing is supposed: say what is deleted, decided, or weighs otherwise"})
	}
	if q.Threshold < 0 || q.Threshold > maxBits {
		problems = append(problems, Problem{"/threshold", "invalid", "a threshold lies above 0 bits and is at most 100"})
	}
	for _, name := range slices.Sorted(maps.Keys(q.Bits)) {
		if bits := q.Bits[name]; bits < -maxBits || bits > maxBits {
			problems = append(problems, Problem{"/bits", "invalid", fmt.Sprintf("the bits of %.80q lie between -100 and 100", name)})
		}
	}
	if problems != nil {
		return &InvalidError{problems}
	}
	return nil
}

func supposed(entities []*entity.Entity) []SupposedEntity {
	list := make([]SupposedEntity, len(entities))
	for i, e := range entities {
		list[i] = SupposedEntity{ID: e.ID, Kind: e.Kind, View: e.View}
		for _, m := range e.Members {
			list[i].Records = append(list[i].Records, m.Ref)
		}
	}
	return list
}
