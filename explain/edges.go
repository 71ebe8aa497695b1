// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// Edges returns the stored comparisons of records of one kind that are matches, possible matches or relations, ordered
// by A, then B, each with its match weight. An edge between two of the records is returned under both. It reads all of
// them at once: pass some thousand records at most.
func (h *Handle) Edges(ctx context.Context, kind string, puids []entity.PUID) (edges []derived.Edge, err error) {
	k := h.engine.Kind(kind)
	if k == nil {
		return nil, h.engine.UnknownKind(kind)
	}
	if err := h.engine.Retry(ctx, func() (err error) {
		edges, err = h.engine.Resolver.EdgesOf(ctx, puids)
		return err
	}); err != nil {
		return nil, fmt.Errorf("edges of %d records: %w", len(puids), err)
	}
	for i := range edges {
		if edges[i].Weight == match.Equal { // identical records are joined whatever they weigh
			edges[i].Weight = k.Matcher.Sum(edges[i].Vector)
		}
	}
	return edges, nil
}
