// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/entity"
)

// OFFSET 0 keeps the condition on the anchor out of the inner query. Inside, PostgreSQL would read the entity by its
// key instead of using the index of words.
const sqlUnfound = `SELECT q.anchor FROM unnest($1::bigint[], $2::text[]) AS q (anchor, match) WHERE NOT EXISTS (
		SELECT FROM (SELECT anchor FROM entity WHERE words @@ q.match::tsquery OFFSET 0) AS e WHERE e.anchor = q.anchor)`

// Unfound searches for each entity: the index skips entries of the longest lists that the shortest list lacks.
func (t *tx) Unfound(ctx context.Context, entities []entity.Indexed) ([]entity.PUID, error) {
	if err := t.use(ctx); err != nil || len(entities) == 0 {
		return nil, err
	}
	anchors, matches := make([]int64, len(entities)), make([]string, len(entities))
	for i, e := range entities {
		anchors[i], matches[i] = int64(e.Anchor()), words(e, and)
	}
	unfound, err := rows(ctx, t, scalar[entity.PUID], sqlUnfound, anchors, matches)
	if err != nil {
		return nil, fmt.Errorf("search for each entity: %w", err)
	}
	return unfound, nil
}
