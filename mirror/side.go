// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"fmt"
	"iter"

	"github.com/locus-db/locus/locality"
)

// side is one of the two sides of a comparison: states in ID order, read page by page.
type side struct {
	read  func(after locality.ID) ([]State, error)
	page  []State
	after locality.ID
	over  bool
}

func newSide(read func(after locality.ID) ([]State, error)) *side { return &side{read: read} }

// peek returns the next state, nil at the end.
func (s *side) peek() (*State, error) {
	if len(s.page) == 0 && !s.over {
		page, err := s.read(s.after)
		if err != nil {
			return nil, err
		}
		s.page, s.over = page, len(page) == 0
	}
	if s.over {
		return nil, nil
	}
	return &s.page[0], nil
}

// next skips the state that peek returned.
func (s *side) next() {
	s.after, s.page = s.page[0].ID, s.page[1:]
}

// pass skips an ID if it is the next one.
func (s *side) pass(id locality.ID) {
	if len(s.page) > 0 && s.page[0].ID == id {
		s.next()
	}
}

// first returns the lowest of the next states of several sides, nil if all are at their end.
func first(sides []*side) (lowest *State, err error) {
	for _, s := range sides {
		state, err := s.peek()
		if err != nil {
			return nil, err
		}
		if state != nil && (lowest == nil || state.ID.Compare(lowest.ID) < 0) {
			lowest = state
		}
	}
	return lowest, nil
}

// sidesOf returns a side for each cell of an installation.
func sidesOf(ctx context.Context, source Source) (sides []*side, err error) {
	_, cells, err := source.Installation(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the cell map: %w", err)
	}
	for _, id := range cells {
		sides = append(sides, newSide(func(after locality.ID) ([]State, error) {
			page, err := source.ListStates(ctx, id, after, MostStates)
			if err != nil {
				err = fmt.Errorf("list the ids of cell %v: %w", id, err)
			}
			return page, err
		}))
	}
	return sides, nil
}

// All returns the states of all IDs of an installation, in the order of the IDs. It ends after an error.
func All(ctx context.Context, source Source) iter.Seq2[*State, error] {
	return func(yield func(*State, error) bool) {
		sides, err := sidesOf(ctx, source)
		for err == nil {
			var lowest *State
			if lowest, err = first(sides); lowest == nil {
				break
			}
			id := lowest.ID
			if !yield(lowest, nil) {
				return
			}
			for _, s := range sides {
				s.pass(id)
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}
