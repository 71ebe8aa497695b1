// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/resolve/derived"
)

// Limits of a read of the queue, so that its cost does not depend on the size of the installation.
const (
	maxQueue  = 1000 // pairs of the head of the queue
	queueRead = 2000 // possible matches that are read for them: others are decided, or not the best of two entities
)

// Head returns the head of the review queue of some kinds, nil for all, at most 1,000 pairs in the order Best. Next
// is not empty if there are more.
func (h *Handle) Head(ctx context.Context, kinds []string) (*Page, error) {
	const calls = maxQueue / MaxPage
	all := &Page{}
	for range calls {
		page, err := h.List(ctx, Query{After: all.Next, Limit: MaxPage, Kinds: kinds, Read: queueRead / calls})
		if err != nil {
			return nil, err
		}
		if all.Pairs, all.Next = append(all.Pairs, page.Pairs...), page.Next; all.Next == "" {
			break
		}
	}
	return all, nil
}

// Chosen names a pair by the addresses of its records.
type Chosen struct {
	A string `json:"a" doc:"Puid or SOURCE:KEY"`
	B string `json:"b" doc:"Puid or SOURCE:KEY"`
}

// Selection chooses pairs of the review queue: by name, or else by a filter from the head of the head.
type Selection struct {
	Pairs  []Chosen
	Filter Filter
	Kinds  []string // nil for all
	// More is set by Choose if there are pairs beyond the head of the queue, which were not looked at.
	More bool
}

// Choose returns the chosen pairs that are in the head of the review head. A named pair that is not there is an error.
func (h *Handle) Choose(ctx context.Context, s *Selection) ([]Pair, error) {
	if err := s.Filter.check(); err != nil {
		return nil, err
	}
	if len(s.Pairs) > maxQueue {
		return nil, problem.Invalid("/pairs", "too_large", "there are %d pairs, more than %d", len(s.Pairs), maxQueue)
	}
	head, err := h.Head(ctx, s.Kinds)
	if err != nil {
		return nil, err
	}
	s.More = head.Next != ""
	if len(s.Pairs) == 0 {
		return h.Assigned(ctx, head.Pairs, &s.Filter)
	}
	all, err := h.Assigned(ctx, head.Pairs, &Filter{})
	if err != nil {
		return nil, err
	}
	at := map[[2]string]*Pair{}
	for i := range all {
		p := &all[i]
		for _, a := range []string{p.A.String(), p.puids.A.String()} {
			for _, b := range []string{p.B.String(), p.puids.B.String()} {
				at[[2]string{a, b}], at[[2]string{b, a}] = p, p
			}
		}
	}
	var chosen []Pair
	taken := map[derived.Pair]bool{}
	for i, c := range s.Pairs {
		p := at[[2]string{c.A, c.B}]
		if p == nil {
			return nil, problem.Invalid(fmt.Sprintf("/pairs/%d", i), "invalid",
				"%.300s and %.300s are not in the review queue: it was answered, or it is further down", c.A, c.B)
		}
		if !taken[p.puids] {
			taken[p.puids] = true
			chosen = append(chosen, *p)
		}
	}
	return chosen, nil
}
