// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
)

var errLater = errors.New("not built yet")

// Decide makes decisions, and withdraws some. Results are in the order of the list; one that was refused
// says so and harms no other.
func (s *Service) Decide(ctx context.Context, list []Decide) ([]DecideResult, error) {
	return nil, errLater
}

// Decisions lists what people decided.
func (s *Service) Decisions(ctx context.Context, q DecisionQuery) (*DecisionPage, error) {
	return nil, errLater
}

// Merge says that two entities are one thing: a must-link between their anchors.
func (s *Service) Merge(ctx context.Context, a, b string, by By) (*DecideResult, error) {
	return nil, errLater
}

// Unmerge says that records are not of the entity that they are in: it withdraws the decisions which
// hold them there, and each of them is different from every other member.
func (s *Service) Unmerge(ctx context.Context, entity string, records []string, by By) ([]DecideResult, error) {
	return nil, errLater
}

// Review answers with pairs of records in two entities that a person should decide about.
func (s *Service) Review(ctx context.Context, q ReviewQuery) (*ReviewPage, error) {
	return nil, errLater
}
