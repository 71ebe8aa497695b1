// SPDX-License-Identifier: Apache-2.0

package mirror

import "github.com/locus-db/locus/locality"

// side is one of two that are compared: states in the order of their ids, read page by page.
type side struct {
	read  func(after locality.ID) ([]State, error)
	page  []State
	after locality.ID
	over  bool
}

func newSide(read func(after locality.ID) ([]State, error)) *side { return &side{read: read} }

// peek is the next state, nil at the end.
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

// next goes on behind what peek answered with.
func (s *side) next() {
	s.after, s.page = s.page[0].ID, s.page[1:]
}

// pass goes on behind an id, if that is the next.
func (s *side) pass(id locality.ID) {
	if len(s.page) > 0 && s.page[0].ID == id {
		s.next()
	}
}

// first is the lowest of the next states of several sides, nil if all are at their end.
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
