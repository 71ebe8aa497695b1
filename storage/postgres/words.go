// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/document"
)

const sqlOccurrences = `SELECT w.word, e.anchor FROM entity AS e CROSS JOIN LATERAL unnest(tsvector_to_array(e.words)) AS w (word)
	WHERE (e.anchor > $1 OR e.anchor = $1 AND w.word COLLATE "C" > $2) AND e.anchor >= $1 AND (w.word COLLATE "C" < $3 OR w.word COLLATE "C" >= $4)
	ORDER BY e.anchor, w.word COLLATE "C" LIMIT $5`

// Occurrences reads the entities in their order, without the words that are not of a text.
func (t *tx) Occurrences(ctx context.Context, after entity.Occurrence, limit int) ([]entity.Occurrence, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	from := int64(after.Anchor)
	if after == (entity.Occurrence{}) {
		from = math.MinInt64
	}
	first, last := document.Marks()
	all, err := rows(ctx, t, func(r pgx.Rows) (o entity.Occurrence, err error) {
		err = r.Scan(&o.Word, &o.Anchor)
		return o, err
	}, sqlOccurrences, from, after.Word, first, last, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list words: %w", err)
	}
	return all, nil
}
