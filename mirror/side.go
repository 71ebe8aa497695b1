// SPDX-License-Identifier: Apache-2.0

package mirror

import "github.com/locus-db/locus/locality"

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
