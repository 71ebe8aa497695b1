// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/entity"
)

const (
	sqlAddWords = "INSERT INTO word (word) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING"
	sqlWords    = "SELECT word FROM word WHERE word > $1 ORDER BY word LIMIT $2"

	// The lock waits for transactions that may have found a word that this one deletes, and keeps others from it.
	sqlPruneWords = `BEGIN; LOCK TABLE word IN SHARE ROW EXCLUSIVE MODE;
		DELETE FROM word AS w WHERE NOT EXISTS (SELECT FROM entity AS e WHERE e.words @@ quote_literal(w.word)::tsquery); COMMIT`
)

// addWords notes the words of entities for the list of words.
func (t *tx) addWords(entities []entity.Indexed) {
	for _, e := range entities {
		for _, word := range e.Words {
			if entity.IsListed(word) {
				t.words = append(t.words, word)
			}
		}
	}
}

// queueWords queues one statement that adds words to the list. A transaction that adds a word waits for another one
// that adds it too: they do so in the same order, and as late as they can.
func (t *tx) queueWords() {
	if len(t.words) == 0 {
		return
	}
	slices.Sort(t.words)
	t.exec(sqlAddWords, slices.Compact(t.words))
	t.words = nil
}

// Words reads the list in its order.
func (t *tx) Words(ctx context.Context, after string, limit int) ([]string, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	t.queueWords()
	words, err := rows(ctx, t, scalar[string], sqlWords, after, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list words: %w", err)
	}
	return words, nil
}
