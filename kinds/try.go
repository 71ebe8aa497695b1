// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"context"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/match"
)

// Tried is how two records compare.
type Tried struct {
	Explanation match.Explanation `json:"explanation"`
	Threshold   match.Weight      `json:"threshold"`
}

// Try compares two records, stored or not, by the rules of a kind or by proposed ones. Nothing is written. Shared phone
// numbers are weighed by the names that have them in the installation.
func (h *Handle) Try(ctx context.Context, p Proposal, a, b match.Attributes) (*Tried, error) {
	m, err := h.Matcher(ctx, p)
	if err != nil {
		return nil, err
	}
	x, y := m.Normalise("a", "1", a), m.Normalise("b", "2", b)
	names, err := h.engine.Resolver.Names(ctx, []*match.Record{x, y})
	if err != nil {
		return nil, engine.Wrap(err)
	}
	m = m.Among(names)
	return &Tried{m.Explain(x, y, m.Compare(x, y)), m.Threshold()}, nil
}

// Matcher returns the matcher of proposed rules.
func (h *Handle) Matcher(ctx context.Context, p Proposal) (*match.Matcher, error) {
	schema, terms, err := h.proposed(ctx, p)
	if err != nil {
		return nil, err
	}
	return match.New(schema, terms), nil
}
