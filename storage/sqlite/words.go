// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/document"
)

// vocabulary adds a table of the words of the search index and their entities to the connection. It belongs to the
// connection, not to the file, so a connection that only reads must be allowed to write for a moment.
func (c *conn) vocabulary(writer bool) error {
	sqls := []string{
		"PRAGMA query_only = OFF", "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, search, instance)",
		"PRAGMA query_only = ON",
	}
	if writer {
		sqls = sqls[:2]
	}
	for _, sql := range sqls {
		if _, err := c.do(sql); err != nil {
			return fmt.Errorf("add the list of words: %w", err)
		}
	}
	return nil
}

const sqlOccurrences = "SELECT term, doc FROM vocabulary WHERE term >= ?1 AND term < ?2 AND (term > ?1 OR doc > ?3) ORDER BY term LIMIT +?4"

// Occurrences reads the search index in the order of words and anchors, without the ranges of words that do not come
// from text.
func (t *tx) Occurrences(ctx context.Context, after entity.Occurrence, limit int) (all []entity.Occurrence, err error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	first, last := document.Marks()
	for _, r := range [][2]string{{"", first}, {last, "\U0010ffff"}} {
		if from := max(r[0], after.Word); len(all) < limit && from < r[1] {
			some, err := rows(ctx, t, func(r row) (entity.Occurrence, error) {
				return entity.Occurrence{Word: r.text(0), Anchor: entity.PUID(r.int(1))}, nil
			}, sqlOccurrences, from, r[1], int64(after.Anchor), int64(limit-len(all)))
			if err != nil {
				return nil, fmt.Errorf("list words: %w", err)
			}
			all = append(all, some...)
		}
	}
	return all, nil
}
