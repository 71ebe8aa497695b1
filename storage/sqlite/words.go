// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/document"
)

// vocabulary adds a table of the words of the search index to the connection. It belongs to the connection, not to the
// file, so a connection that only reads must be allowed to write for a moment.
func (c *conn) vocabulary(writer bool) error {
	sqls := []string{"PRAGMA query_only = OFF", "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, search, row)", "PRAGMA query_only = ON"}
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

const sqlWords = `SELECT term FROM vocabulary WHERE term >= ?1 AND term < ?2 AND term > ?1 AND length(term) BETWEEN 2 AND ?3 AND term NOT GLOB '*[0-9]*' ORDER BY term LIMIT +?4`

// Words reads the list of the search index, without the ranges of words that are not of a text.
func (t *tx) Words(ctx context.Context, after string, limit int) (words []string, err error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	first, last := document.Marks()
	for _, r := range [][2]string{{"", first}, {last, "\U0010ffff"}} {
		if from := max(r[0], after); len(words) < limit && from < r[1] {
			some, err := rows(ctx, t, func(r row) (string, error) { return r.text(0), nil }, sqlWords, from, r[1], int64(entity.MaxListed), int64(limit-len(words)))
			if err != nil {
				return nil, fmt.Errorf("list words: %w", err)
			}
			words = append(words, some...)
		}
	}
	return words, nil
}
